"""Reminders as people meet them: asked for in words, in their own time zone, told there, listed and cancelled."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from bot.agent.tools.reminders import cancel_tool, list_tool, remind_tool
from bot.conversation.answers.people import People
from bot.conversation.executor import Executor
from bot.conversation.notices.reminders import ReminderNotifier, add_reminder
from bot.errors import MessengerUnavailable
from bot.model import ChannelCard, PersonRetry, Profile, ToolTurn
from memory.model import Scope, Visibility
from tests.doubles.conversation import ANA, BOB, Chat, RecordingMessenger, direct
from tests.doubles.memory_world import World
from tests.doubles.model import call
from tests.doubles.stores import content


class Knowing(RecordingMessenger):
    """A platform that tells time zones."""

    def __init__(self, zone: str = "Europe/Berlin") -> None:
        super().__init__()
        self.zone = zone

    async def profile(self, scope: Scope) -> Profile:
        if not self.zone:
            raise MessengerUnavailable("down")
        return Profile(zone=self.zone)

    async def channel_card(self, scope: Scope) -> ChannelCard:
        return ChannelCard()


class Reminding:
    """A chat whose agent has the tools of reminders."""

    def __init__(self, zone: str = "Europe/Berlin") -> None:
        self.world, self.messenger = World(), Knowing(zone)
        run, memory = Executor(threads=1).as_async, self.world.memory
        reminders_of = run(memory.reminders.of)
        people = People({"terminal": self.messenger}, "UTC")
        tools = [
            remind_tool(run(partial(add_reminder, memory)), people.zone_of, self.world.clock),
            list_tool(reminders_of),
            cancel_tool(reminders_of, run(memory.reminders.cancel)),
        ]
        self.chat = Chat(self.world, messenger=self.messenger, tools=tools)
        self.teller = ReminderNotifier(
            self.world.memory, self.chat.executor, self.chat.bot.recovery.redeliver, [self.messenger]
        )

    async def asks(self, what: str, when: str) -> str:
        """Ask for a reminder; the model calls the tool, and is asked no more once it has its result."""
        goal = f"remind me {when} to {what}"
        self.chat.oracle.answers[goal] = call("remind", what=what, when=when)
        await self.chat.ask(goal)
        turns = self.chat.oracle.requests[-1].turns
        return "\n".join(turn.content for turn in turns if isinstance(turn, ToolTurn))

    async def looks(self) -> None:
        await self.teller.post_due()
        await self.chat.bot.idle()


async def test_in_the_persons_own_zone_told_once_where_it_was_asked() -> None:
    here = Reminding()
    assert "on Sunday 22 November 2026 at 09:00 (Europe/Berlin)" in await here.asks("call Ana", "tomorrow at 9")
    here.world.clock.now = datetime(2026, 11, 22, 8, 0, 3, tzinfo=UTC)
    await here.looks()
    await here.looks()
    told = [post for post in here.messenger.posts if "⏰" in post.text]
    assert [(post.text, post.channel, post.thread) for post in told] == [
        ("⏰ Reminder: call Ana", ANA.channel, ANA.thread)
    ]
    assert told[0].reply_to


async def test_a_platform_that_is_down_gets_it_later() -> None:
    here = Reminding("")
    await here.asks("call Ana", "in 10 minutes")
    here.world.clock.tick(minutes=10, seconds=1)
    here.messenger.fails.add("post")
    await here.looks()
    here.messenger.fails.clear()
    here.world.clock.tick(seconds=10)
    await here.looks()
    assert here.messenger.answers[-1] == "⏰ Reminder: call Ana"


async def test_what_is_told_late_says_so() -> None:
    here = Reminding()
    await here.asks("call Ana", "tomorrow at 9")
    here.world.clock.tick(days=2)
    await here.looks()
    assert here.messenger.answers[-1].endswith("(This is late: it was for 09:00 on Sunday, when I was away.)")


async def test_a_time_that_is_over_and_one_that_makes_no_sense_are_told_to_the_model() -> None:
    here = Reminding()
    assert "that time is in the past" in await here.asks("call Ana", "2026-01-01 09:00")
    assert "I cannot tell when" in await here.asks("call Ana", "whenever")
    assert "When? Say it with a time, for example: remind me tomorrow at 9 to feed Rex" in await here.asks(
        "feed Rex", ""
    )


async def test_who_has_somebody_elses_request_tried_again_gets_no_reminder_in_their_words() -> None:
    here = Reminding()
    await here.asks("call the lawyer", "tomorrow at 9")
    again = PersonRetry(event_id="again", scope=BOB, message_id="post-1", at=here.world.clock.tick())
    await here.chat.sink(again)
    await here.chat.bot.idle()
    assert "You have no reminders here" in await here.chat.command("reminders", by=BOB)
    assert "lawyer" in await here.chat.command("reminders")
    await here.chat.command("forget", "yes")
    assert b"lawyer" not in content(here.chat.store)


@pytest.mark.parametrize("thanks", ["👍", "thanks, that worked"])
async def test_thanks_for_a_reminder_are_no_judgement_and_no_failure(thanks: str) -> None:
    here = Reminding()
    await here.asks("call Ana", "in 5 minutes")
    here.world.clock.tick(minutes=6)
    await here.looks()
    await here.chat.ask(thanks)
    assert here.messenger.answers[-1] == f"the answer to {thanks}"
    await here.chat.ask("1")
    assert here.messenger.notices[-1].startswith("There is nothing to choose that way")


async def test_the_command_lists_and_cancels_ones_own() -> None:
    here = Reminding()
    assert "You have no reminders here" in await here.chat.command("reminders")
    await here.asks("call Ana", "every weekday at 8:30")
    assert "1. “call Ana”, every weekday, next on Monday" in await here.chat.command("reminders")
    (cancel,) = here.messenger.posts[-1].choices
    assert (cancel.label, cancel.command) == ("Cancel 1", "reminders")
    assert "You have no reminders" in await here.chat.command("reminders", by=BOB)
    assert "no such reminder" in await here.chat.command("reminders", cancel.argument, by=BOB)
    assert "Cancelled: “call Ana”." in await here.chat.command("reminders", cancel.argument)
    here.world.clock.now += timedelta(days=7)
    await here.looks()
    assert not [post for post in here.messenger.posts if "⏰" in post.text]


async def test_a_reminder_from_a_channel_that_others_read_now_is_listed_to_its_person_alone() -> None:
    here = Reminding()
    private = replace(ANA, visibility=Visibility.PRIVATE)
    await here.chat.ask("lunch?", private)
    tomorrow = here.world.clock().replace(tzinfo=None) + timedelta(days=1)
    here.world.memory.reminders.add(private, "call the lawyer", tomorrow, "UTC")
    assert "lawyer" in await here.chat.command("reminders", by=private)
    (cancel,) = here.messenger.posts[-1].choices
    for argument in ("", cancel.argument):
        assert "lawyer" not in await here.chat.command("reminders", argument)
    assert "lawyer" in await here.chat.command("reminders", by=direct("ana"))
