from bot.agent.tools.about import about_tool
from bot.agent.tools.calculator import calculator_tool
from bot.agent.tools.registry import ToolRegistry
from tests.bot.agent.test_tools_registry import CONTEXT
from tests.doubles.model import tool_call


async def replies(courtesy: str) -> str:
    registry = ToolRegistry([about_tool(lambda scope, role: registry.specs), calculator_tool()])
    return (await registry.run(tool_call("about_me", courtesy=courtesy), CONTEXT)).content


async def test_it_shows_what_can_be_asked_and_how_to_teach() -> None:
    told = await replies("abilities")
    assert "- what is 2+2?" in told
    assert "what can you do?" not in told
    assert "👎" in told


async def test_a_greeting_gets_one_line() -> None:
    assert await replies("hello") == "Hello! Ask me something, like “what is 2+2?”, or “what can you do?”"
    assert await replies("thanks") == "You are welcome."
    assert await replies("Goodbye") == "Goodbye!"
