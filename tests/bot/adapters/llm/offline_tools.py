"""What the offline model is offered in its tests: the built-in tools and the control tools."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.agent.decision import CONTROL_TOOLS
from bot.agent.tools.calculator import calculator_tool
from bot.agent.tools.clock import clock_tool
from bot.agent.tools.conversation import conversation_tool
from bot.agent.tools.knowledge import KnowledgeBase, knowledge_tool
from bot.agent.tools.notes import recall_tool, remember_tool
from memory.model import Incoming, Scope, Vector

NOW = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)


class _SaidNothing:
    async def __call__(self, scope: Scope, limit: int) -> list[Incoming]:
        return []


async def _embed_nothing(texts: Sequence[str]) -> Sequence[Vector]:
    raise AssertionError(f"only the description of the tool is used here, yet {texts} came to be embedded")


CLOCK, CALCULATOR = clock_tool(lambda: NOW), calculator_tool()
BUILT_IN = tuple(
    tool.spec
    for tool in (
        CLOCK,
        CALCULATOR,
        remember_tool(lambda: NOW),
        recall_tool(),
        conversation_tool(_SaidNothing(), _embed_nothing),
        knowledge_tool(KnowledgeBase(Path("nowhere"), _embed_nothing)),
    )
)
OFFERED = (*BUILT_IN, *CONTROL_TOOLS)
