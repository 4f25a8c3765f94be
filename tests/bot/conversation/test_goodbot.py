"""The bot from a person's event to what it says: messages, reactions, corrections, commands, and what goes wrong."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from bot.errors import ModelUnavailable
from bot.model import PersonCorrection
from memory.errors import EmbeddingFailed, StoreUnavailable
from memory.model import Progress, Role, Vector
from tests.doubles.conversation import ANA, BOB, PART, TEA, Chat, direct
from tests.doubles.memory_world import World, scope
from tests.doubles.stores import content


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


def progress(chat: Chat) -> list[Progress]:
    return [each.incoming.progress for each in chat.world.memory.recording.unfinished()]


# Messages ---------------------------------------------------------------------------------------------------------


async def test_a_question_is_answered_where_it_was_asked(chat: Chat) -> None:
    thread = replace(ANA, thread="t1")
    await chat.ask("lunch?", thread, message_id="m1")
    (post,) = chat.messenger.posts
    assert (post.text, post.channel, post.thread, post.reply_to) == ("the answer to lunch?", "c1", "t1", "m1")
    assert (post.is_answer, post.private_to, post.lessons) == (True, "", ())
    assert chat.messenger.shown[0] == "thinking"
    assert chat.messenger.shown[-1] == ""
    assert progress(chat) == []


@pytest.mark.parametrize("same", ["event_id", "message_id"])
async def test_the_same_message_delivered_three_times_is_answered_once(chat: Chat, same: str) -> None:
    deliveries = [chat.message("lunch?", **{same: "x1"}) for _ in range(3)]  # type: ignore[arg-type]
    await asyncio.gather(*(chat.sink(each) for each in deliveries))
    await chat.bot.idle()
    await chat.sink(deliveries[0])
    await chat.bot.idle()
    assert chat.messenger.answers == ["the answer to lunch?"]
    assert chat.oracle.asked == ["lunch?"]


async def test_a_message_is_safe_once_the_sink_returned(chat: Chat) -> None:
    chat.oracle.gates["lunch?"] = asyncio.Event()
    await chat.sink(chat.message("lunch?"))
    assert progress(chat) == [Progress.ACCEPTED]
    chat.oracle.gates["lunch?"].set()


async def test_in_order_within_a_conversation_side_by_side_across(chat: Chat) -> None:
    gate = chat.oracle.gates["slow"] = asyncio.Event()
    for text in ("slow", "second", "third"):
        await chat.sink(chat.message(text))
    await chat.sink(chat.message("in a thread", replace(ANA, thread="t1")))
    await chat.sink(chat.message("elsewhere", scope("bob", channel="c2")))
    for _ in range(2):
        await chat.messenger.arrived.get()
    assert sorted(chat.messenger.answers) == ["the answer to elsewhere", "the answer to in a thread"]
    gate.set()
    await chat.bot.idle()
    assert chat.messenger.answers[2:] == [f"the answer to {text}" for text in ("slow", "second", "third")]


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
async def test_an_empty_message_is_nothing(chat: Chat, text: str) -> None:
    await chat.ask(text)
    assert (chat.messenger.posts, progress(chat)) == ([], [])


async def test_text_that_cannot_be_kept_is_refused_with_the_reason(chat: Chat) -> None:
    await chat.ask("half a character \ud800")
    await chat.ask("nul \0")
    assert [("lone surrogate" in notice, "NUL" in notice) for notice in chat.messenger.notices] == [
        (True, False),
        (False, True),
    ]
    assert progress(chat) == []


async def test_other_bots_are_not_heard_whatever_they_do(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.sink(chat.message("hello, fellow bot", BOB, role=Role.BOT))
    await chat.react(posted, "👍", role=Role.BOT)
    await chat.correct("obey", BOB, role=Role.BOT)
    await chat.command("forget", "yes", BOB, role=Role.BOT)
    assert len(chat.messenger.posts) == 1
    assert chat.mark == {}


async def test_a_long_answer_goes_out_in_parts_and_each_part_takes_reactions(chat: Chat) -> None:
    chat.oracle.answers["lunch?"] = f"one{PART}two{PART}three"
    await chat.ask("lunch?")
    assert chat.messenger.answers == ["one", "two", "three"]
    assert [post.part for post in chat.messenger.posts] == [1, 2, 3]
    await chat.react("post-2", "👍")
    assert chat.mark == {"post-3": True}


# Reactions --------------------------------------------------------------------------------------------------------


async def test_the_mark_comes_with_the_thumb_and_goes_with_it(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍🏽")
    assert chat.mark == {posted: True}
    await chat.react(posted, "👍🏽", added=False)
    assert chat.mark == {posted: False}
    await chat.react(posted, "🤷")
    await chat.react("no-such-message", "👍")
    assert len(chat.messenger.marks) == 2


async def test_a_thumb_down_asks_once_what_would_have_been_right(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👎", event_id="e1")
    await chat.react(posted, "👎", event_id="e1")
    await chat.react(posted, "❌")
    assert len(chat.messenger.notices) == 1
    assert "!correct" in chat.messenger.notices[0]
    assert chat.messenger.posts[-1].private_to == "ana"
    assert chat.mark == {posted: True}
    await chat.react(posted, "👎", BOB)
    assert [post.private_to for post in chat.messenger.posts[1:]] == ["ana", "bob"]


async def test_a_guest_is_neither_counted_nor_promised_anything(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👎", BOB, role=Role.GUEST)
    assert (chat.messenger.notices, chat.mark) == ([], {})
    said = await chat.correct("at noon", BOB, role=Role.GUEST)
    assert "Saved" not in said
    assert chat.world.recalled("lunch?", BOB) == []


async def test_a_reaction_that_overtook_its_answer_shows_the_mark(chat: Chat) -> None:
    """The platform may deliver a reaction before the bot has noted what it posted."""

    async def react_at_once() -> None:
        await chat.react("post-1", "👍")

    chat.messenger.after_post = react_at_once
    await chat.ask("lunch?")
    assert chat.mark == {"post-1": True}
    assert len(chat.world.recalled("lunch?", ANA)) == 1


async def test_a_mark_that_cannot_be_shown_costs_nothing_else(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    chat.messenger.fails.add("mark")
    await chat.react(posted, "👍")
    assert chat.messenger.notices == []
    assert len(chat.world.recalled("lunch?", ANA)) == 1


# Corrections ------------------------------------------------------------------------------------------------------


async def test_a_correction_becomes_a_lesson_that_the_next_answer_names(chat: Chat) -> None:
    chat.oracle.answers |= {"when is lunch?": "at three", "when is lunch today?": "at noon in the canteen"}
    posted = await chat.ask("when is lunch?")
    await chat.react(posted, "👎")
    said = await chat.correct("at noon in the canteen")
    assert "your lesson" in said
    assert "!undo" in said
    assert chat.mark == {posted: True}
    await chat.ask("when is lunch today?")
    assert "at noon in the canteen" in str(chat.oracle.requests[-1])
    (lesson,) = chat.messenger.posts[-1].lessons
    assert "when is lunch?" in lesson
    assert "taught by ana" in lesson


async def test_a_teachers_correction_says_that_it_counts_for_everybody(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    said = await chat.correct("at noon", TEA, message_id=posted, role=Role.TEACHER)
    assert "everybody in #c1" in said
    assert chat.world.recalled("lunch?", BOB) != []


async def test_undoing_a_correction_takes_its_mark_away(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.correct("at noon")
    assert chat.mark == {posted: True}
    assert "your correction" in await chat.command("undo")
    assert chat.mark == {posted: False}
    assert await chat.command("undo") == "There is nothing of yours to take back."


async def test_a_correction_delivered_twice_is_one(chat: Chat) -> None:
    await chat.ask("lunch?")
    for _ in range(2):
        await chat.correct("at noon", event_id="e1")
    assert len(chat.messenger.notices) == 1


async def test_a_correction_of_nothing_or_by_nothing_is_refused_kindly(chat: Chat) -> None:
    assert await chat.correct("at noon") == "There is no answer here yet."
    posted = await chat.ask("lunch?")
    assert "do not know that answer" in await chat.correct("at noon", message_id="no-such")
    assert "do not know that answer" in await chat.correct("at noon", scope(channel="c2"), message_id=posted)
    assert (await chat.correct("   ")).startswith("A correction needs a text")
    assert "8000" in await chat.correct("x" * 8001)
    assert chat.mark == {}


async def test_a_refusal_that_cannot_be_delivered_is_logged_and_the_bot_goes_on(
    chat: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    await chat.ask("lunch?")
    chat.messenger.fails.add("post")
    await chat.sink(PersonCorrection(event_id="e1", scope=ANA, text="", at=chat.world.clock()))
    assert "could not be told" in caplog.text
    await chat.react("post-1", "👎")
    assert "the platform is down" in caplog.text
    assert [each for each in caplog.records if each.exc_info] == [], "a platform that is down is no error in here"
    chat.messenger.fails.clear()
    await chat.ask("dinner?")
    assert chat.messenger.answers[-1] == "the answer to dinner?"


# Commands ---------------------------------------------------------------------------------------------------------


async def test_help_and_privacy_name_the_commands_as_they_are_typed_here(chat: Chat) -> None:
    helped = await chat.command("help")
    assert all(f"`!{name}`" in helped for name in ("why", "memory", "undo", "export", "forget", "privacy", "stop"))
    assert "`!forget`" in await chat.command("privacy")
    assert "`!help`" in await chat.command("abracadabra")
    assert {post.private_to for post in chat.messenger.posts} == {"ana"}


async def test_memory_lists_what_counts_for_this_person_here(chat: Chat) -> None:
    assert "learned nothing yet" in await chat.command("memory")
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👎")
    await chat.react(posted, "👎", TEA, role=Role.TEACHER)
    await chat.correct("trust me, at ten", BOB, message_id=posted)
    assert "👎 avoid “lunch?”" in await chat.command("memory", by=ANA)
    assert "trust me" not in await chat.command("memory", by=ANA)
    assert "trust me" in await chat.command("memory", by=BOB)
    assert "learned nothing yet" in await chat.command("memory", by=scope("cy", channel="c2"))


async def test_why_tells_lessons_steps_and_votes(chat: Chat) -> None:
    assert await chat.command("why") == "There is no answer here yet."
    first = await chat.ask("when is lunch?")
    assert "none was near enough" in await chat.command("why")
    await chat.react(first, "👍")
    second = await chat.ask("when is lunch today?")
    told = await chat.command("why", message_id=second)
    assert "REPEAT “when is lunch?” by ana" in told
    assert "Verdict**: nobody has decided" in told
    assert "approved (ana 👍)" in await chat.command("why", message_id=first)


async def test_why_counts_the_lessons_a_reader_may_not_see_and_shows_none_of_them(chat: Chat) -> None:
    chat.oracle.answers["when is lunch?"] = "a secret answer"
    await chat.react(await chat.ask("when is lunch?"), "👍")
    second = await chat.ask("when is lunch today?")
    told = await chat.command("why", by=BOB, message_id=second)
    assert "1 that are not yours to see" in told
    assert "when is lunch?”" not in told
    assert "secret" not in told


async def test_why_keeps_a_correction_back_until_somebody_approved_it(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.correct("trust me, at ten", BOB, message_id=posted)
    assert "trust me" not in await chat.command("why", by=ANA, message_id=posted)
    assert "trust me" in await chat.command("why", by=BOB, message_id=posted)


async def test_why_about_another_channel_is_not_told(chat: Chat) -> None:
    posted = await chat.ask("my secret?", direct("ana"))
    told = await chat.command("why", by=BOB, message_id=posted)
    assert "do not know that answer" in told


async def test_undo_takes_back_one_thing_at_a_time_and_refreshes_the_mark(chat: Chat) -> None:
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍")
    await chat.react(posted, "👎", TEA, role=Role.TEACHER)
    assert "👍" in await chat.command("undo")
    assert chat.mark == {posted: True}
    assert "👎" in await chat.command("undo", by=TEA)
    assert chat.mark == {posted: False}


async def test_export_hands_over_the_persons_data(chat: Chat) -> None:
    assert await chat.command("export") == "I keep nothing about you here."
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍")
    await chat.ask("a question of bob's", BOB)
    for wanted in ("", "csv", "prompt"):
        await chat.command("export", wanted)
    whole, table, prompt = chat.messenger.files
    written = json.loads(whole.content)
    assert [message["text"] for message in written["messages"]] == ["lunch?"]
    assert [(file.name, file.media_type) for file in (whole, table, prompt)] == [
        ("goodbot-export.json", "application/json"),
        ("goodbot-export.csv", "text/csv"),
        ("goodbot-export.txt", "text/plain"),
    ]
    assert "REPEAT" in prompt.content.decode()
    assert not any(b"bob" in file.content for file in chat.messenger.files)


async def test_forget_asks_first_and_then_forgets(chat: Chat) -> None:
    assert await chat.command("forget") == "I keep nothing about you here."
    await chat.react(await chat.ask("zyzzyva?"), "👍")
    asked = await chat.command("forget")
    assert "1 message, 1 remembered answer, 1 vote" in asked
    assert "`!forget yes`" in asked
    assert chat.world.recalled("zyzzyva?", ANA) != []
    assert await chat.command("forget", " YES ") == ("Erased: 1 message, 1 remembered answer, 1 vote.")
    assert b"zyzzyva" not in content(chat.store)
    assert await chat.command("forget", "yes") == "I keep nothing about you here."


async def test_forget_while_the_agent_works_means_no_answer_and_no_trace(chat: Chat) -> None:
    gate = chat.oracle.gates["zyzzyva?"] = asyncio.Event()
    await chat.sink(chat.message("zyzzyva?"))
    await chat.command("forget", "yes")
    gate.set()
    await chat.bot.idle()
    assert chat.messenger.answers == []
    assert b"zyzzyva" not in content(chat.store)


async def test_stop_ends_the_running_answer_with_what_it_has(chat: Chat) -> None:
    assert await chat.command("stop") == "I am not working on anything here."
    chat.oracle.gates["slow"] = asyncio.Event()
    await chat.sink(chat.message("slow"))
    await chat.oracle.arrived.get()
    assert "not working" in await chat.command("stop", by=scope("bob", channel="c2"))
    assert await chat.command("stop") == "Stopped."
    await chat.bot.idle()
    assert len(chat.messenger.answers) == 1
    await chat.ask("next")
    assert chat.messenger.answers[-1] == "the answer to next"


# What goes wrong --------------------------------------------------------------------------------------------------


async def test_whose_reply_is_lost_is_not_told_that_nothing_was_done(chat: Chat) -> None:
    await chat.react(await chat.ask("lunch?"))
    told = await chat.command("undo")
    assert told == "Taken back: your 👍 on the answer to “lunch?”."
    await chat.react("post-1", "🎉")
    chat.messenger.fails.add(told.replace("👍", "🎉"))
    assert (await chat.command("undo")).startswith("Sorry, my reply did not get through. What you did may count")
    chat.messenger.fails.clear()
    assert await chat.command("undo") == "There is nothing of yours to take back."


async def test_a_model_out_of_reach_ends_in_a_friendly_answer_and_a_log_line_with_the_same_id(
    chat: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    chat.oracle.answers["lunch?"] = ModelUnavailable("connection to 10.0.0.7 refused")
    await chat.ask("lunch?")
    (said,) = chat.messenger.answers
    assert "10.0.0.7" not in said
    assert "Traceback" not in said
    short_id = said.rpartition("this id: ")[2].removesuffix(")")
    assert len(short_id) == 8
    assert f"[{short_id}]" in caplog.text
    assert "connection to 10.0.0.7 refused" in caplog.text
    assert progress(chat) == []
    await chat.react("post-1", "👎")
    assert (chat.messenger.notices, chat.mark) == ([], {})


@pytest.mark.parametrize("error", [RuntimeError("a bug: 'x' in secrets.py"), StoreUnavailable("disk /dev/sda is full")])
async def test_an_unexpected_failure_is_told_with_an_id_and_the_bot_goes_on(
    chat: Chat, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    chat.oracle.answers["lunch?"] = error
    caplog.set_level(logging.ERROR)
    await chat.ask("lunch?")
    (said,) = [post.text for post in chat.messenger.posts]
    assert str(error) not in said
    short_id = said.rpartition("this id: ")[2].removesuffix(")")
    assert any(
        f"[{short_id}]" in record.getMessage() and str(error) in record.getMessage() for record in caplog.records
    )
    await chat.ask("dinner?")
    assert chat.messenger.answers[-1] == "the answer to dinner?"


async def test_a_failure_while_handling_a_reaction_does_not_reach_the_messenger() -> None:
    chat = Chat()
    posted = await chat.ask("lunch?")
    chat.store.close()
    await chat.react(posted, "👍")
    assert "Sorry" in chat.messenger.notices[-1]
    chat.messenger.fails.add("post")
    with pytest.raises(StoreUnavailable):
        await chat.react(posted, "👎")
    assert len(chat.messenger.notices) == 1
    chat.executor.close()


async def test_progress_that_cannot_be_shown_costs_nothing(chat: Chat) -> None:
    chat.messenger.fails.add("progress")
    await chat.ask("lunch?")
    assert chat.messenger.answers == ["the answer to lunch?"]


async def test_a_part_that_was_not_taken_is_posted_after_the_next_start(chat: Chat) -> None:
    chat.oracle.answers["lunch?"] = f"one{PART}two{PART}three"
    chat.messenger.fails.add("two")
    await chat.ask("lunch?")
    assert chat.messenger.answers == ["one"]
    assert progress(chat) == [Progress.ANSWERED]
    restarted = Chat(chat.world)
    assert await restarted.bot.recovery.resume(restarted.messenger) == 1
    await restarted.bot.idle()
    assert restarted.messenger.answers == ["two", "three"]
    assert progress(chat) == []
    assert await restarted.bot.recovery.resume(restarted.messenger) == 0
    restarted.executor.close()


async def test_a_restart_answers_what_was_accepted_and_posts_what_was_committed_once(chat: Chat) -> None:
    chat.messenger.fails.add("post")
    await chat.ask("committed")
    gate = chat.oracle.gates["accepted"] = asyncio.Event()
    await chat.sink(chat.message("accepted"))
    chat.bot.shut_down()
    await chat.bot.idle()
    assert not gate.is_set()
    assert progress(chat) == [Progress.ANSWERED, Progress.ACCEPTED]
    restarted = Chat(chat.world)
    elsewhere = Chat(chat.world)
    elsewhere.messenger.platform = "slack"
    assert await elsewhere.bot.recovery.resume(elsewhere.messenger) == 0
    assert await restarted.bot.recovery.resume(restarted.messenger) == 2
    await restarted.bot.idle()
    assert restarted.messenger.answers == ["the answer to committed", "the answer to accepted"]
    assert restarted.oracle.asked == ["accepted"]
    assert progress(chat) == []
    for each in (restarted, elsewhere):
        each.executor.close()


async def test_leaving_keeps_what_waits_for_the_next_start(chat: Chat) -> None:
    chat.oracle.gates["first"] = asyncio.Event()
    for text in ("first", "second"):
        await chat.sink(chat.message(text))
    chat.bot.shut_down()
    await chat.bot.idle()
    assert chat.messenger.answers == []
    assert progress(chat) == [Progress.ACCEPTED, Progress.ACCEPTED]


class Broken:
    """An embedder whose model cannot be loaded."""

    name, dimension = "broken", 2

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        raise EmbeddingFailed("no model")


async def test_without_an_embedder_the_bot_still_answers() -> None:
    chat = Chat(World(embedder=Broken()))
    posted = await chat.ask("lunch?")
    await chat.react(posted, "👍")
    assert chat.messenger.answers == ["the answer to lunch?"]
    assert chat.mark == {posted: True}
    chat.executor.close()


async def test_an_answer_nobody_takes_is_offered_for_a_day_and_then_given_up(
    chat: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    chat.messenger.fails.add("post")
    await chat.ask("lunch?")
    for _ in range(3):
        assert await chat.bot.recovery.redeliver(chat.messenger) == 1
        await chat.bot.idle()
    assert len([record for record in caplog.records if record.levelno >= logging.ERROR]) == 1
    assert progress(chat) == [Progress.ANSWERED]
    chat.world.clock.tick(hours=25)
    assert await chat.bot.recovery.redeliver(chat.messenger) == 1
    await chat.bot.idle()
    assert "given up" in caplog.text
    assert progress(chat) == []
    chat.messenger.fails.clear()
    assert await chat.bot.recovery.redeliver(chat.messenger) == 0
    assert await chat.bot.recovery.resume(chat.messenger) == 0
    assert chat.messenger.answers == []


async def test_beginning_no_more_lets_the_running_answer_end_and_keeps_the_next_for_the_next_start(chat: Chat) -> None:
    gate = chat.oracle.gates["first"] = asyncio.Event()
    await chat.sink(chat.message("first"))
    await chat.oracle.arrived.get()
    chat.bot.conversations.start_draining()
    await chat.sink(chat.message("second"))
    gate.set()
    await chat.bot.idle()
    assert chat.messenger.answers == ["the answer to first"]
    assert progress(chat) == [Progress.ACCEPTED]


async def test_an_answer_that_does_not_even_end_when_told_to_is_broken_off_and_kept(chat: Chat) -> None:
    stuck = asyncio.Event()
    chat.messenger.after_post = stuck.wait  # type: ignore[assignment]  # its result is of no interest
    await chat.sink(chat.message("first"))
    await chat.messenger.arrived.get()
    chat.bot.shut_down()
    await chat.bot.conversations.cancel_all(1.0)
    await chat.bot.idle()
    assert progress(chat) == [Progress.ANSWERED]


async def test_a_progress_that_breaks_in_an_unexpected_way_costs_no_answer(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: str) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(chat.messenger, "progress", broken)
    await chat.ask("lunch?")
    assert chat.messenger.answers == ["the answer to lunch?"]
