"""The default model: no language model, but a small deterministic one in the same loop.

It picks tools and known answers by embedding similarity and by the lessons in its prompt, and says so plainly. Like any
other model it sees the messages and tool definitions of a request, nothing else.
"""

from typing import TYPE_CHECKING, Any

from bot.adapters.llm.offline.similarity import Embed
from bot.adapters.llm.pydantic_ai import PydanticAIModel

if TYPE_CHECKING:
    from pydantic_ai.models import Model


def offline_model(embed: Embed, *, timeout_s: float = 60.0, must_choose: bool = False) -> PydanticAIModel:
    """The offline model behind the port. `embed` may be slow at first (it loads) and is called in threads.

    With `must_choose` it does the best it can think of where it would otherwise say that it does not know.
    """

    def make() -> "Model[Any]":
        from bot.adapters.llm.offline.model import OfflineModel

        return OfflineModel(embed, must_choose=must_choose)

    return PydanticAIModel("offline", make, timeout_s=timeout_s)
