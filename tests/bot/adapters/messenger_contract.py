"""What every messenger must do, whatever the platform. A platform brings a `Driver` and a two-line subclass.

The driver plays the platform and its people: it makes things happen there and reports what arrived there.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol, TypeVar

import pytest

from bot.errors import ChannelNotFound
from bot.model import BotMessage, MessageRef, PersonEvent, PersonMessage, PersonReaction
from bot.ports import EventSink, Messenger

E = TypeVar("E", bound=PersonEvent)


class Driver(Protocol):
    """One platform as the tests see it. Every method returns when the platform has done it."""

    workspace: str
    channel: str

    @property
    def messenger(self) -> Messenger:
        """The adapter under test."""
        ...

    async def person_posts(self, text: str, person: str = "ana") -> None:
        """A person writes to the bot."""
        ...

    async def person_reacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        """A person puts an emoji, spelt as this platform spells it, on one of the bot's messages."""
        ...

    async def person_unreacts(self, ref: MessageRef, emoji: str, person: str = "ana") -> None:
        """A person takes their emoji off again."""
        ...

    async def ends(self) -> None:
        """The platform closes the connection for good."""
        ...

    def sent(self) -> str:
        """Everything the bot has said so far, as people see it."""
        ...

    def emoji_spellings(self) -> list[str]:
        """Spellings of reactions that must reach the bot unchanged."""
        ...


@dataclass
class Heard:
    """A sink that remembers, and that can be waited on."""

    events: list[PersonEvent] = field(default_factory=list)
    _more: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def __call__(self, event: PersonEvent) -> None:
        async with self._more:
            self.events.append(event)
            self._more.notify_all()

    async def of(self, kind: type[E], count: int) -> list[E]:
        """The events of one kind, once there are at least `count`."""

        def found() -> list[E]:
            return [event for event in self.events if isinstance(event, kind)]

        async with asyncio.timeout(10), self._more:
            await self._more.wait_for(lambda: len(found()) >= count)
        return found()


@asynccontextmanager
async def taking_in(messenger: Messenger, sink: EventSink) -> AsyncIterator["asyncio.Task[None]"]:
    """The task in which a messenger runs, until it is closed at the end."""
    task = asyncio.create_task(messenger.run(sink))
    try:
        yield task
    finally:
        await messenger.close()
        async with asyncio.timeout(10):
            await task


class MessengerContract:
    """Subclass it, and implement `make_driver`."""

    async def make_driver(self) -> Driver:
        """A fresh platform, nobody connected."""
        raise NotImplementedError

    @asynccontextmanager
    async def running(self) -> AsyncIterator[tuple[Driver, Heard]]:
        """A connected messenger, closed at the end."""
        driver = await self.make_driver()
        heard = Heard()
        async with taking_in(driver.messenger, heard):
            yield driver, heard

    @staticmethod
    def answer(driver: Driver, text: str = "Paris.") -> BotMessage:
        """An answer in the driver's channel."""
        return BotMessage(workspace=driver.workspace, channel=driver.channel, text=text, is_answer=True)

    async def test_a_message_arrives_with_everything_the_bot_needs(self) -> None:
        async with self.running() as (driver, heard):
            await driver.person_posts("capital of France?", person="ana")
            [event] = await heard.of(PersonMessage, 1)

        assert event.text == "capital of France?"
        assert (event.scope.workspace, event.scope.channel) == (driver.workspace, driver.channel)
        assert event.scope.platform == driver.messenger.platform
        assert event.scope.person
        assert event.message_id
        assert event.at.tzinfo is not None

    async def test_the_same_text_twice_is_two_events(self) -> None:
        async with self.running() as (driver, heard):
            await driver.person_posts("again")
            await driver.person_posts("again")
            first, second = await heard.of(PersonMessage, 2)

        assert first.event_id != second.event_id
        assert first.message_id != second.message_id

    async def test_two_people_are_two_people_in_one_channel(self) -> None:
        async with self.running() as (driver, heard):
            await driver.person_posts("hello", person="ana")
            await driver.person_posts("hello", person="ben")
            first, second = await heard.of(PersonMessage, 2)

        assert first.scope.person != second.scope.person
        assert first.scope.channel == second.scope.channel

    async def test_what_is_posted_is_seen_and_its_ref_comes_back_with_a_reaction(self) -> None:
        async with self.running() as (driver, heard):
            await driver.messenger.post(self.answer(driver, "something else"))
            ref = await driver.messenger.post(self.answer(driver, "Paris, of course."))
            await driver.person_reacts(ref, driver.emoji_spellings()[0])
            [event] = await heard.of(PersonReaction, 1)

        assert "Paris, of course." in driver.sent()
        back = MessageRef(workspace=event.scope.workspace, channel=event.scope.channel, message_id=event.message_id)
        assert back == ref
        assert event.on_own_message

    async def test_every_message_has_its_own_ref(self) -> None:
        async with self.running() as (driver, _):
            refs = [await driver.messenger.post(self.answer(driver)) for _ in range(5)]
        assert len(set(refs)) == 5

    async def test_adding_then_removing_an_emoji_is_heard_in_that_order(self) -> None:
        async with self.running() as (driver, heard):
            ref = await driver.messenger.post(self.answer(driver))
            emoji = driver.emoji_spellings()[0]
            await driver.person_reacts(ref, emoji)
            await driver.person_unreacts(ref, emoji)
            events = await heard.of(PersonReaction, 2)

        assert [event.added for event in events] == [True, False]
        assert len({event.event_id for event in events}) == 2
        assert {event.emoji for event in events} == {emoji}
        assert events[0].at <= events[1].at

    async def test_emoji_reach_the_bot_as_the_platform_spells_them(self) -> None:
        async with self.running() as (driver, heard):
            spellings = driver.emoji_spellings()
            for emoji in spellings:
                # One message each: platforms merge equal emoji on one message.
                await driver.person_reacts(await driver.messenger.post(self.answer(driver)), emoji)
            events = await heard.of(PersonReaction, len(spellings))
        assert [event.emoji for event in events] == spellings

    async def test_reactions_of_two_people_are_told_apart(self) -> None:
        async with self.running() as (driver, heard):
            ref = await driver.messenger.post(self.answer(driver))
            emoji = driver.emoji_spellings()[0]
            await driver.person_reacts(ref, emoji, person="ana")
            await driver.person_reacts(ref, emoji, person="ben")
            first, second = await heard.of(PersonReaction, 2)
        assert first.scope.person != second.scope.person
        assert first.message_id == second.message_id

    async def test_the_bot_s_own_marks_and_messages_never_come_back(self) -> None:
        async with self.running() as (driver, heard):
            ref = await driver.messenger.post(self.answer(driver))
            await driver.messenger.mark(ref, "🧠", True)
            await driver.messenger.mark(ref, "🧠", False)
            await driver.person_posts("afterwards")
            await heard.of(PersonMessage, 1)
        assert len(heard.events) == 1

    async def test_marking_twice_and_unmarking_twice_is_fine(self) -> None:
        async with self.running() as (driver, _):
            ref = await driver.messenger.post(self.answer(driver))
            for present in (False, True, True, False, False):
                await driver.messenger.mark(ref, "🧠", present)

    async def test_progress_may_begin_and_end_at_any_time(self) -> None:
        async with self.running() as (driver, _):
            for text in ("", "thinking", "still thinking", "", ""):
                await driver.messenger.progress(driver.workspace, driver.channel, "", text)

    async def test_a_channel_that_is_not_there_is_named(self) -> None:
        async with self.running() as (driver, _):
            nowhere = BotMessage(workspace=driver.workspace, channel="nowhere", text="anybody?")
            with pytest.raises(ChannelNotFound, match="nowhere"):
                await driver.messenger.post(nowhere)

    async def test_splitting_loses_nothing_and_keeps_code_fences_whole(self) -> None:
        driver = await self.make_driver()
        code = "\n".join(f"line_{i} = {i}" for i in range(150))
        text = f"Intro.\n\n```python\n{code}\n```\n\n" + "A sentence with 👍🏽 in it. " * 200
        parts = driver.messenger.split(text)
        await driver.messenger.close()

        assert all(part.count("```") % 2 == 0 for part in parts)
        joined = "".join(parts)
        assert [f"line_{i} = {i}" in joined for i in range(150)] == [True] * 150
        assert joined.count("👍🏽") == 200

    async def test_every_part_of_a_split_can_be_posted(self) -> None:
        async with self.running() as (driver, _):
            parts = driver.messenger.split("word " * 4000)
            refs = [await driver.messenger.post(self.answer(driver, part)) for part in parts]
        assert len(set(refs)) == len(parts)

    async def test_a_short_text_is_one_part(self) -> None:
        driver = await self.make_driver()
        assert driver.messenger.split("Paris.") == ["Paris."]
        await driver.messenger.close()

    async def test_closing_twice_is_fine_and_ends_run(self) -> None:
        async with self.running() as (driver, _):
            await driver.messenger.close()
            await driver.messenger.close()

    async def test_run_ends_when_the_platform_ends(self) -> None:
        driver = await self.make_driver()
        task = asyncio.create_task(driver.messenger.run(Heard()))
        await driver.ends()
        async with asyncio.timeout(10):
            await task
        await driver.messenger.close()

    async def test_no_vendor_type_leaks(self) -> None:
        async with self.running() as (driver, heard):
            ref = await driver.messenger.post(self.answer(driver))
            await driver.person_posts("hello")
            await driver.person_reacts(ref, driver.emoji_spellings()[0])
            await heard.of(PersonMessage, 1)
            await heard.of(PersonReaction, 1)
        assert {kind for value in (ref, *heard.events) for kind in _foreign(value)} == set()


def _foreign(value: object) -> set[str]:
    """Names of types inside a value that are neither plain nor the project's own; a way back to ask is no value."""
    if is_dataclass(value) and type(value).__module__.split(".")[0] in ("bot", "memory"):
        return {kind for f in fields(value) if f.compare for kind in _foreign(getattr(value, f.name))}
    if isinstance(value, tuple):
        return {kind for item in value for kind in _foreign(item)}
    plain = type(value) in (str, int, float, bool, type(None), datetime)
    return set() if plain or (isinstance(value, Enum) and isinstance(value, str)) else {type(value).__qualname__}


def overridden(subclass: type[MessengerContract]) -> list[str]:
    """The contract's tests that a subclass replaces; a platform may add tests but not weaken these."""
    own: dict[str, Callable[..., object]] = dict(inspect.getmembers(MessengerContract, inspect.isfunction))
    return [name for name in own if name.startswith("test_") and name in vars(subclass)]
