"""Follow-ups and messages that stand alone, through the real bot with the packaged embedder."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from bot.app.wiring.build import assemble, open_memory
from bot.config import load_settings
from bot.conversation.goodbot import Goodbot
from bot.model import PersonMessage, PersonTeaching
from memory.adapters.system import utc_now
from memory.model import Audience, Incoming, Role, Scope
from memory.services import Memory
from tests.bot.conversation.answers.follow_ups.cases import FOLLOW_UPS, STAND_ALONE
from tests.doubles.conversation import RecordingMessenger
from tests.doubles.packaged_embedder import packaged_embedder

pytestmark = [pytest.mark.model, pytest.mark.slow]


class Channel:
    """A flat channel with the bot in it, where a teacher taught answers."""

    def __init__(self, memory: Memory, goodbot: Goodbot) -> None:
        self.messenger = RecordingMessenger()
        self._memory, self._goodbot = memory, goodbot
        self._sink = goodbot.sink(self.messenger)
        self._count = 0

    async def teach(self, question: str, answer: str) -> None:
        await self._sink(
            PersonTeaching(
                event_id=self._next(),
                scope=_scope("tea"),
                at=utc_now(),
                role=Role.TEACHER,
                question=question,
                answer=answer,
                audience=Audience.CHANNEL,
            )
        )

    async def ask(self, person: str, text: str) -> Incoming:
        """The message as it is stored once it is answered."""
        event_id = self._next()
        at = utc_now() + timedelta(microseconds=self._count)
        await self._sink(PersonMessage(event_id=event_id, scope=_scope(person), at=at, message_id=event_id, text=text))
        await self._goodbot.idle()
        with self._memory.store.read() as tx:
            message = tx.deliveries.incoming("terminal:local", event_id)
        assert message is not None
        assert message.progress == "delivered"
        return message

    def _next(self) -> str:
        self._count += 1
        return f"e{self._count:05}"


def _scope(person: str) -> Scope:
    return Scope(workspace="terminal:local", channel="c", person=person)


@asynccontextmanager
async def channel(folder: Path) -> AsyncIterator[Channel]:
    environment = {
        "DATABASE_URL": f"sqlite:///{folder / 'goodbot.db'}",
        "GOODBOT_LOG_FILE": str(folder / "goodbot.log"),
    }
    settings = load_settings(environment, config_path=None, cwd=folder, data_dir=folder)
    with open_memory(settings, packaged_embedder()) as memory:
        running = assemble(settings, memory)
        try:
            yield Channel(memory, running.goodbot)
        finally:
            await running.close()


async def answered(here: Channel, numbers: Sequence[int]) -> list[str]:
    """The follow-ups that were answered wrongly, with what was said."""
    wrong: list[str] = []
    for number in numbers:
        case = FOLLOW_UPS[number]
        await here.ask(f"p{number}", case.question)
        message = await here.ask(f"p{number}", case.short)
        said = here.messenger.posts[-1].text
        if said != case.right:
            wrong.append(f"{case.question} {case.short} ({message.understood}): {said}")
    return wrong


async def test_follow_ups_are_answered_by_what_they_mean(tmp_path: Path) -> None:
    async with channel(tmp_path) as here:
        for case in FOLLOW_UPS:
            await here.teach(case.question, case.answer)
            await here.teach(case.whole, case.right)
        wrong = await answered(here, range(len(FOLLOW_UPS)))
        assert len(FOLLOW_UPS) >= 60
        assert len(wrong) <= 10, wrong


async def test_no_message_that_stands_alone_is_changed(tmp_path: Path) -> None:
    async with channel(tmp_path) as here:
        for case in FOLLOW_UPS:
            await here.teach(case.question, case.answer)
            await here.teach(case.whole, case.right)
        changed: list[tuple[str, str]] = []
        for number, (before, text) in enumerate(STAND_ALONE):
            await here.ask(f"p{number}", before)
            message = await here.ask(f"p{number}", text)
            if message.understood:
                changed.append((text, message.understood))
        assert len(STAND_ALONE) >= 60
        assert changed == []


@pytest.mark.parametrize("between", ["too long", "No, it's Lyon", "thanks, that worked", "that's wrong"])
async def test_what_was_said_of_the_answer_is_not_what_is_followed_up(tmp_path: Path, between: str) -> None:
    case = FOLLOW_UPS[0]
    async with channel(tmp_path) as here:
        await here.teach(case.question, case.answer)
        await here.teach(case.whole, case.right)
        await here.ask("ana", case.question)
        await here.ask("ana", between)
        message = await here.ask("ana", case.short)
        assert message.understood == case.whole
        said = here.messenger.posts[-1]
        assert (said.text, said.private_to) == (case.right, "")


@pytest.mark.parametrize(
    ("question", "short", "whole"),
    [
        ("What is the on-call number for payments?", "same for search?", "What is the on-call number for search?"),
        ("Who do I ask about invoices?", "the same for contracts?", "Who do I ask about contracts?"),
        ("What is 12 times 7?", "and times 8?", "What is 12 times 8?"),
        ("What is 12 times 7?", "and plus 8?", "What is 12 times 7? and plus 8?"),
    ],
)
async def test_what_takes_a_place_takes_the_right_one(tmp_path: Path, question: str, short: str, whole: str) -> None:
    async with channel(tmp_path) as here:
        await here.ask("ana", question)
        assert (await here.ask("ana", short)).understood == whole
