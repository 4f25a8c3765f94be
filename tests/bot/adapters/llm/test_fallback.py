"""The next model replies where one cannot."""

import pytest

from bot.adapters.llm.fallback import PAUSE_S, FallbackModel
from bot.errors import MalformedReply, ModelError, ModelRefused, ModelRejected, ModelUnavailable
from bot.model import ModelReply, ModelRequest, UserTurn
from tests.doubles.model import ScriptedModel, answer

REQUEST = ModelRequest(system="", turns=(UserTurn(text="hello"),))


class Chain:
    """Two scripted models, and a clock that is set by hand."""

    def __init__(self, first: list[ModelReply | ModelError], second: list[ModelReply | ModelError]) -> None:
        self.first, self.second = ScriptedModel(first), ScriptedModel(second)
        self.now = 0.0
        self.model = FallbackModel([self.first, self.second], monotonic=lambda: self.now)

    async def says(self) -> str:
        return (await self.model.reply(REQUEST)).turn.text


@pytest.mark.parametrize("fault", [ModelUnavailable("down"), ModelRejected("no quota"), MalformedReply("empty")])
async def test_the_second_replies_where_the_first_cannot(fault: ModelError) -> None:
    chain = Chain([fault], [answer("from the second")])
    assert await chain.says() == "from the second"


async def test_a_model_that_failed_is_left_alone_for_a_while() -> None:
    chain = Chain([ModelUnavailable("down"), answer("up again")], [answer("2"), answer("2")])
    assert [await chain.says(), await chain.says()] == ["2", "2"]
    assert len(chain.first.requests) == 1
    chain.now = PAUSE_S
    assert await chain.says() == "up again"


async def test_a_model_that_rests_is_asked_if_no_other_replies() -> None:
    chain = Chain([ModelUnavailable("down"), answer("1")], [answer("2"), ModelUnavailable("down too")])
    assert [await chain.says(), await chain.says()] == ["2", "1"]


async def test_what_is_declined_no_other_is_asked() -> None:
    chain = Chain([ModelRefused("no")], [answer("never")])
    with pytest.raises(ModelRefused):
        await chain.says()
    assert not chain.second.requests


async def test_if_all_fail_the_first_says_why() -> None:
    chain = Chain([ModelUnavailable("the first is down")], [ModelRejected("the second has no key")])
    with pytest.raises(ModelUnavailable, match="the first is down"):
        await chain.says()
