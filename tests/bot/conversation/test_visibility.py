"""The bot in a channel that others come to read: corrections, answers on their way, what is told in passing."""

import asyncio
from dataclasses import replace

import pytest

from bot.conversation import messages
from bot.model import ChannelChanged, PersonRetry, UserTurn
from memory.errors import StoreUnavailable
from memory.model import Audience, Episode, Incoming, Progress, Role, Scope, Verdict, Visibility
from memory.ports import EpisodeFilter
from memory.services.topics import FieldInput, Ingest
from tests.doubles.conversation import ANA, BOB, TEA, Chat, direct

PUBLIC, PRIVATE, SHARED = Visibility.PUBLIC, Visibility.PRIVATE, Visibility.SHARED
ELSEWHERE = replace(BOB, channel="c2")
QUESTION = "where is the key?"


def now(who: Scope, visibility: Visibility) -> Scope:
    return replace(who, visibility=visibility)


async def becomes(chat: Chat, visibility: Visibility) -> None:
    event_id = chat.world.ids()
    await chat.sink(ChannelChanged(event_id=event_id, scope=now(ANA, visibility), at=chat.world.clock()))


def by(chat: Chat, author: str) -> Episode:
    """The one episode of an author."""
    (found,) = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter(author=author))
    return found


def message(chat: Chat, event_id: str) -> Incoming:
    with chat.store.read() as tx:
        found = tx.deliveries.incoming(ANA.workspace, event_id)
    assert found is not None
    return found


async def prompt(chat: Chat, seat: Scope) -> str:
    """What the model reads when this person asks here."""
    await chat.ask(QUESTION, seat)
    return "".join(turn.text for turn in chat.oracle.requests[-1].turns if isinstance(turn, UserTurn))


async def test_an_old_answer_corrected_after_its_channel_was_closed_teaches_that_channel_alone() -> None:
    chat = Chat()
    answered = await chat.ask(QUESTION)
    await chat.correct("in the safe, row 4711", now(TEA, PRIVATE), message_id=answered, role=Role.TEACHER)
    lesson = by(chat, "tea")
    assert "4711" in await chat.command("memory", by=now(BOB, PRIVATE))
    for seat in (ELSEWHERE, replace(TEA, channel="c2"), direct("bob")):
        assert "4711" not in await prompt(chat, seat)
        for command in ("memory", "review", f"promote {lesson.id[-8:]} workspace", f"why {lesson.id[-8:]}"):
            name, _, argument = command.partition(" ")
            assert "4711" not in await chat.command(name, argument, by=seat, role=Role.ADMIN)
    assert chat.world.episode(lesson).promoted is None


async def test_what_was_said_while_it_was_closed_stays_closed_when_it_opens_again() -> None:
    chat = Chat()
    answered = await chat.ask(QUESTION)
    chat.world.memory.teaching.correct(
        now(TEA, PRIVATE),
        by(chat, "ana").run_id,
        "in the safe, row 4711",
        role=Role.TEACHER,
        at=chat.world.clock.tick(),
        reason="4711 is the new row",
    )
    await becomes(chat, PUBLIC)
    for seat in (BOB, ELSEWHERE, TEA):
        assert "4711" not in await prompt(chat, seat)
        for command in ("memory", "review"):
            assert "4711" not in await chat.command(command, by=seat, role=Role.TEACHER)
    assert "4711" not in await chat.command("why", message_id=answered)


async def test_a_promoted_lesson_leaves_the_workspace_with_its_channel_and_comes_back_with_it() -> None:
    chat = Chat()
    answered = await chat.ask(QUESTION)
    await chat.react(answered, by=TEA, role=Role.ADMIN)
    lesson = by(chat, "ana")
    chat.world.memory.curation.promote(lesson.workspace, lesson.id, Audience.WORKSPACE, actor="tea", role=Role.ADMIN)
    places = {}
    for visibility in (PUBLIC, PRIVATE, SHARED, PUBLIC):
        await becomes(chat, visibility)
        places[visibility] = [
            seat.channel
            for seat in (ELSEWHERE, direct("ana"), now(BOB, visibility))
            if lesson.id in chat.world.recalled(QUESTION, seat)
        ]
    assert places == {PUBLIC: ["c2", "D-ana", "c1"], PRIVATE: ["D-ana", "c1"], SHARED: ["D-ana"]}


async def test_outsiders_neither_see_nor_correct_nor_repeat_what_was_said_before_they_came() -> None:
    chat = Chat()
    answered = await chat.ask("what did the lawyer say?")
    eve = replace(ANA, person="eve", visibility=SHARED)
    assert await chat.command("why", by=eve, message_id=answered) == messages.NOT_YOURS
    assert await chat.correct("nothing", eve, message_id=answered) == messages.NO_SUCH_ANSWER
    event_id = chat.world.ids()
    retry = PersonRetry(event_id=event_id, scope=eve, message_id=answered, at=chat.world.clock())
    await chat.sink(retry)
    await chat.bot.idle()
    assert chat.messenger.posts[-1].text == messages.NO_SUCH_ANSWER
    await chat.react(answered, by=eve, role=Role.GUEST)
    assert "lawyer" not in await chat.command("ratings", by=eve)
    assert "lawyer" not in await chat.command("undo", by=eve)
    assert by(chat, "ana").verdict is Verdict.PENDING


async def test_undo_does_not_repeat_words_of_another_conversation() -> None:
    chat = Chat()
    answered = await chat.ask("what is my salary?", direct("ana"))
    await chat.react(answered, by=direct("ana"))
    told = await chat.command("undo")
    assert "salary" not in told
    assert "another conversation" in told


def guessed(who: Scope) -> Scope:
    """As a platform gives it that cannot be asked just now."""
    return replace(who, visibility=PRIVATE, is_visibility_known=False)


async def test_a_guess_at_who_reads_a_channel_is_not_taken_for_what_is_known() -> None:
    chat = Chat()
    answered = await chat.ask("first")
    await chat.react(answered, by=guessed(TEA), role=Role.TEACHER)
    assert chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter())[0].channel_visibility is PUBLIC
    chat.oracle.gates["second"] = asyncio.Event()
    await chat.sink(chat.message("second", guessed(ANA), event_id="e2"))
    await chat.oracle.arrived.get()
    await chat.sink(chat.message("third", event_id="e3"))
    chat.oracle.gates["second"].set()
    await chat.bot.idle()
    assert [message(chat, each).progress for each in ("e2", "e3")] == [Progress.DELIVERED, Progress.DELIVERED]
    assert message(chat, "e2").scope == ANA


async def test_a_guess_about_a_channel_nothing_is_known_of_holds_for_its_event_alone() -> None:
    chat = Chat()
    await chat.ask("first", guessed(ANA))
    (first,) = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter())
    assert (first.visibility, first.channel_visibility) == (PRIVATE, None)
    await chat.ask("second")
    assert {each.channel_visibility for each in chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter())} == {
        PUBLIC
    }
    assert "first" not in await prompt(chat, ELSEWHERE)


async def test_a_change_to_nobody_knows_what_ends_what_was_known() -> None:
    chat = Chat()
    await chat.ask("first")
    await chat.sink(ChannelChanged(event_id="changed", scope=guessed(ANA), at=chat.world.clock()))
    await chat.ask("second", guessed(ANA))
    episodes = chat.world.memory.audit.episodes(ANA.workspace, EpisodeFilter())
    assert {each.goal: (each.visibility, each.channel_visibility) for each in episodes} == {
        "first": (PUBLIC, PRIVATE), "second": (PRIVATE, PRIVATE),
    }  # fmt: skip


async def test_a_question_is_not_answered_before_people_who_came_since() -> None:
    chat = Chat()
    inside = now(ANA, PRIVATE)
    chat.oracle.gates["first"] = asyncio.Event()
    await chat.sink(chat.message("first", inside, event_id="e1"))
    await chat.oracle.arrived.get()
    await chat.sink(chat.message("second", inside, event_id="e2"))
    await becomes(chat, PUBLIC)
    chat.oracle.gates["first"].set()
    await chat.bot.idle()
    assert [post.text for post in chat.messenger.posts] == [messages.answer_withheld("#c1")] * 2
    assert {post.private_to for post in chat.messenger.posts} == {"ana"}
    assert chat.oracle.asked == ["first"]
    assert [message(chat, each).progress for each in ("e1", "e2")] == [Progress.UNDELIVERABLE, Progress.WITHDRAWN]


async def test_a_question_is_answered_where_fewer_read_it_now_with_what_they_know() -> None:
    chat = Chat()
    chat.world.memory.teaching.teach(
        now(TEA, PRIVATE), "second", "in row 4711", role=Role.TEACHER, audience=Audience.CHANNEL, at=chat.world.clock()
    )
    await becomes(chat, PUBLIC)
    chat.oracle.gates["first"] = asyncio.Event()
    await chat.sink(chat.message("first"))
    await chat.oracle.arrived.get()
    await chat.sink(chat.message("second"))
    await becomes(chat, PRIVATE)
    chat.oracle.gates["first"].set()
    await chat.bot.idle()
    assert [post.is_answer for post in chat.messenger.posts] == [True, True]
    assert "4711" in repr(chat.oracle.requests[-1].turns)


async def test_a_change_that_cannot_be_stored_is_left_to_the_platform_to_tell_again() -> None:
    chat = Chat()
    await chat.ask(QUESTION)
    chat.store.close()
    said = len(chat.messenger.posts)
    with pytest.raises(StoreUnavailable):
        await becomes(chat, PRIVATE)
    assert len(chat.messenger.posts) == said


async def test_lessons_joined_to_one_that_leaves_the_workspace_stand_for_themselves_again() -> None:
    chat = Chat()
    memory, elsewhere = chat.world.memory, replace(ANA, channel="c2")
    lessons = [
        memory.teaching.teach(
            who, QUESTION, "under the mat", role=Role.MEMBER, audience=Audience.PERSONAL, at=chat.world.clock.tick()
        )
        for who in (elsewhere, ANA)
    ]
    assert memory.upkeep.run("join").summary == "1 lessons joined, 0 parted"
    first, keeper = (each.id for each in lessons if each is not None)
    assert chat.world.recalled(QUESTION, elsewhere) == [keeper]
    await becomes(chat, PRIVATE)
    assert chat.world.recalled(QUESTION, elsewhere) == [first]


async def test_who_corrected_another_s_question_does_not_meet_it_alone_once_the_channel_closed() -> None:
    chat = Chat()
    answered = await chat.ask("what does the lawyer cost?")
    await chat.correct("nothing", BOB, message_id=answered)
    lesson = by(chat, "bob")
    assert chat.world.recalled("what does the lawyer cost?", direct("bob")) == [lesson.id]
    await becomes(chat, PRIVATE)
    assert chat.world.recalled("what does the lawyer cost?", direct("bob")) == []
    assert "lawyer" not in await chat.command("why", lesson.id[-8:], by=direct("bob"))
    assert lesson.id in chat.world.recalled("what does the lawyer cost?", now(BOB, PRIVATE))


async def test_a_topic_of_a_channel_that_closed_is_met_in_it_alone_and_not_joined_with_its_namesakes() -> None:
    chat = Chat()
    world = chat.world.memory.world

    def where(seat: Scope) -> list[object]:
        found = world.query(seat, {"q": "safe", "reinforce": False}).candidates
        return [field.history[0].value for bundle in found for field in bundle.fields]

    def told(seat: Scope, value: str) -> None:
        field = FieldInput(name="where", value=value)
        world.ingest(seat, Ingest(title="the safe", audience=Audience.WORKSPACE, fields=[field]))

    told(ANA, "behind the lawyer")
    assert where(ELSEWHERE) == ["behind the lawyer"]
    await becomes(chat, PRIVATE)
    told(ELSEWHERE, "in the hall")
    assert world.revise(ANA.workspace) == []
    assert where(ELSEWHERE) == where(direct("bob")) == ["in the hall"]
    assert sorted(map(str, where(now(BOB, PRIVATE)))) == ["behind the lawyer", "in the hall"]
    await becomes(chat, PUBLIC)
    assert sorted(map(str, where(ELSEWHERE))) == ["behind the lawyer", "in the hall"]
