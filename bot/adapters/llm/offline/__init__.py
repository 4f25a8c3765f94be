"""The default model: no language model, but a small deterministic one in the same loop.

It picks tools and known answers by embedding similarity and by the lessons in its prompt, and says so plainly. Like any
other model it sees the messages and tool definitions of a request, nothing else.
"""

from typing import TYPE_CHECKING, Any

from bot.adapters.llm.offline.similarity import Embed
from bot.adapters.llm.pydantic_ai import PydanticAIModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model


def offline_model(embed: Embed, *, timeout_s: float = 60.0) -> PydanticAIModel:
    """The offline model behind the port. `embed` may be slow at first (it loads) and is called in threads."""

    def make() -> "Model[Any]":
        from bot.adapters.llm.offline.model import OfflineModel

        return OfflineModel(embed)

    return PydanticAIModel("offline", make, timeout_s=timeout_s)
