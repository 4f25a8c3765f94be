"""Models of several providers, through the clients that pydantic-ai has, against a server on this machine."""

import json
from collections.abc import Iterator

import pytest

from bot.adapters.llm.provider_model import ProviderModel
from bot.adapters.llm.providers import PROVIDERS, require_provider
from bot.errors import ConfigError, ModelRejected, ModelUnavailable
from bot.model import ModelRequest, ToolSpec, UserTurn
from tests.doubles import openai_server as server_says
from tests.doubles.openai_server import OpenAIServer, Scripted

KEY = "key-canary-0123456789"
CLOCK = ToolSpec(name="clock", description="the time", parameters={"type": "object", "properties": {}})
REQUEST = ModelRequest(system="You are Goodbot.", turns=(UserTurn(text="What time is it?"),), tools=(CLOCK,))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        root = running.base_url.removesuffix("/v1")
        for name, address in (("ANTHROPIC", root), ("GROQ", root), ("OLLAMA", running.base_url)):
            monkeypatch.setenv(f"{name}_BASE_URL", address)
            monkeypatch.setenv(f"{name}_API_KEY", KEY)
        yield running


def claude(*content: object) -> Scripted:
    """A reply of Anthropic's messages interface."""
    reply = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": content,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 200},
    }
    return server_says.body(json.dumps(reply))


async def test_anthropic_speaks_its_own_protocol(server: OpenAIServer) -> None:
    server.script(claude({"type": "tool_use", "id": "t1", "name": "clock", "input": {"zone": "Oslo"}}))
    model = ProviderModel("anthropic:claude-haiku-4-5", api_key=KEY)
    reply = await model.reply(REQUEST)
    await model.close()
    [call] = reply.turn.calls
    assert (call.name, call.arguments, reply.usage.prompt_tokens) == ("clock", {"zone": "Oslo"}, 1000)
    assert reply.usage.cost_usd > 0
    [asked] = server.asked
    assert asked.path.startswith("/v1/messages")
    assert asked.body["tools"][0]["name"] == "clock"
    assert any(KEY in value for value in asked.headers.values())


@pytest.mark.parametrize("name", ["groq:llama-3.3-70b-versatile", "ollama:llama3.1"])
async def test_others_speak_chat_completions(server: OpenAIServer, name: str) -> None:
    server.script(server_says.text("It is noon."))
    model = ProviderModel(name, api_key=KEY)
    assert (await model.reply(REQUEST)).turn.text == "It is noon."
    await model.close()
    assert server.asked[0].body["model"] == name.partition(":")[2]


async def test_every_provider_has_the_same_time(server: OpenAIServer) -> None:
    server.script(server_says.hang())
    model = ProviderModel("anthropic:claude-haiku-4-5", api_key=KEY, timeout_s=0.2)
    await model.warm_up()
    with pytest.raises(ModelUnavailable, match=r"no reply within 0\.2 s"):
        await model.reply(REQUEST)
    await model.close()


async def test_a_refused_key_is_named_by_its_variable_and_not_shown(server: OpenAIServer) -> None:
    error = {"type": "error", "error": {"type": "authentication_error", "message": f"invalid x-api-key {KEY}"}}
    server.script(Scripted(status=401, body=json.dumps(error).encode(), headers={"content-type": "application/json"}))
    model = ProviderModel("anthropic:claude-haiku-4-5", api_key=KEY)
    with pytest.raises(ModelRejected, match="ANTHROPIC_API_KEY") as caught:
        await model.reply(REQUEST)
    await model.close()
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "environ", "said"),
    [
        ("anthropc:claude", {}, "known are openai, anthropic"),
        ("anthropic:claude", {}, "ANTHROPIC_API_KEY"),
        ("anthropic: ", {"ANTHROPIC_API_KEY": KEY}, "names no model"),
        ("ollama:llama3.1", {}, "OLLAMA_BASE_URL"),
    ],
)
def test_what_a_provider_lacks_is_named(name: str, environ: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        require_provider(name, environ)


def test_a_missing_client_library_is_named_by_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adapters.llm.providers.find_spec", lambda module: None)
    with pytest.raises(ConfigError, match=r"pip install 'goodbot\[google\]'"):
        require_provider("google:gemini-2.5-flash", {"GOOGLE_API_KEY": KEY})


def test_a_key_may_have_several_names() -> None:
    assert require_provider("alibaba:qwen", {"DASHSCOPE_API_KEY": KEY}) == KEY


def test_pydantic_ai_knows_every_provider() -> None:
    from pydantic_ai.providers import infer_provider_class

    for name, provider in PROVIDERS.items():
        if not provider.extra or provider.extra in ("anthropic", "groq"):
            assert infer_provider_class(name)
