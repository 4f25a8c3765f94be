"""The bot among people: what it answers without a mention, when it is quiet, and what still counts then."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation.goodbot import Goodbot
from bot.model import Address, PersonRateLimited, PersonRetry, ThreadSoFar, Unaddressed
from memory.model import ListeningMode, Role, Scope, Visibility
from memory.services import Answer, FinishedRun, Recording
from tests.doubles.conversation import ANA, BOB, TEA, Chat
from tests.doubles.memory_world import scope

HERE = replace(ANA, thread="t1")
SOMEBODY_ELSE = ThreadSoFar(people=frozenset({"ana", "bob"}), is_last_ours=False)


@pytest.fixture
async def chat() -> AsyncIterator[Chat]:
    chat = Chat()
    yield chat
    await chat.bot.idle()
    chat.executor.close()
    assert chat.world.memory.audit.check() == []


class Thread:
    """A thread as the platform shows it; counts how often it is looked at."""

    def __init__(self, so_far: ThreadSoFar | None) -> None:
        self.so_far = so_far
        self.looks = 0

    async def __call__(self) -> ThreadSoFar | None:
        self.looks += 1
        return self.so_far


ALONE = ThreadSoFar(people=frozenset({"ana"}), is_last_ours=True, last_text="the answer")


async def is_for_bot(
    bot: Goodbot, by: Scope, text: str = "and dinner?", thread: Thread | None = None, **more: str | bool
) -> bool:
    address = Address.FOLLOW_UP if by.thread else Address.OPEN
    read = thread or Thread(ALONE)
    return await bot.queries().is_for_bot(Unaddressed(scope=by, text=text, address=address, read_thread=read, **more))  # type: ignore[arg-type]


async def mentions(chat: Chat, text: str, by: Scope = HERE) -> str:
    await chat.sink(replace(chat.message(text, by), address=Address.MENTION))
    await chat.bot.idle()
    return f"post-{len(chat.messenger.posts)}"


def taught(chat: Chat, by: Scope, question: str) -> list[str]:
    """What answers just this question."""
    found = chat.world.memory.recalling.recall(by, question).exemplars
    return [each.episode.output for each in found if each.episode.goal == question]


async def test_a_follow_up_is_for_it_where_it_answered_its_author_and_nowhere_else(chat: Chat) -> None:
    assert not await is_for_bot(chat.bot, HERE)
    await mentions(chat, "lunch?")
    assert await is_for_bot(chat.bot, HERE)
    for elsewhere in (replace(HERE, thread="t2"), replace(HERE, channel="c2"), replace(HERE, workspace="terminal:v")):
        assert not await is_for_bot(chat.bot, elsewhere)
    assert not await is_for_bot(chat.bot, replace(BOB, thread="t1"))
    assert not await is_for_bot(chat.bot, HERE, thread=Thread(SOMEBODY_ELSE))


async def test_the_platform_is_asked_about_a_thread_only_where_that_decides(chat: Chat) -> None:
    thread = Thread(ALONE)
    await is_for_bot(chat.bot, HERE, thread=thread)
    await mentions(chat, "lunch?")
    await is_for_bot(chat.bot, replace(BOB, thread="t1"), thread=thread)
    await is_for_bot(chat.bot, HERE, thread=thread, is_for_others=True)
    assert thread.looks == 0
    await is_for_bot(chat.bot, HERE, thread=thread)
    assert thread.looks == 1


async def test_a_reply_to_its_answer_is_for_it_if_that_was_the_authors(chat: Chat) -> None:
    answer = await mentions(chat, "lunch?", ANA)
    assert await is_for_bot(chat.bot, ANA, replied_to=answer)
    assert not await is_for_bot(chat.bot, BOB, replied_to=answer)
    assert not await is_for_bot(chat.bot, ANA, replied_to="post-99")
    assert not await is_for_bot(chat.bot, ANA)


@pytest.mark.parametrize("how", ["🤐", ":zipper_mouth_face:", "words", "words with a mention"])
async def test_it_is_quiet_in_a_muted_thread_until_it_is_mentioned_there(chat: Chat, how: str) -> None:
    answer = await mentions(chat, "lunch?")
    posts = len(chat.messenger.posts)
    match how:
        case "words":
            assert not await is_for_bot(chat.bot, HERE, "not you")
        case "words with a mention":
            await mentions(chat, "not you")
        case emoji:
            await chat.react(answer, emoji, replace(BOB, thread=""))  # Slack does not say in which thread it was.
    assert not await is_for_bot(chat.bot, HERE)
    assert len(chat.messenger.posts) == posts
    await mentions(chat, "and elsewhere?", replace(HERE, thread="t2"))
    assert not await is_for_bot(chat.bot, HERE)
    await mentions(chat, "supper?")
    assert await is_for_bot(chat.bot, HERE)


async def test_a_mute_that_is_taken_back_mutes_nothing(chat: Chat) -> None:
    answer = await mentions(chat, "lunch?")
    await chat.react(answer, "🤐", HERE)
    await chat.react(answer, "🤐", HERE, added=False)
    assert await is_for_bot(chat.bot, HERE)


async def test_votes_and_corrections_count_where_it_is_quiet(chat: Chat) -> None:
    answer = await mentions(chat, "lunch?")
    await chat.react(answer, "🤐", HERE)
    await chat.react(answer, "👍", HERE)
    assert (answer, "🧠", True) in chat.messenger.marks
    await chat.correct("Soup.", HERE)
    assert "Soup." in taught(chat, HERE, "lunch?")


async def test_not_you_drops_what_it_works_on_for_the_person_without_a_word(chat: Chat) -> None:
    chat.oracle.gates["lunch?"] = asyncio.Event()
    await chat.sink(replace(chat.message("lunch?", HERE), address=Address.MENTION))
    await chat.oracle.arrived.get()
    assert not await is_for_bot(chat.bot, HERE, "not you")
    chat.oracle.gates["lunch?"].set()
    await chat.bot.idle()
    assert chat.messenger.posts == []
    assert not await is_for_bot(chat.bot, HERE)


# Modes ------------------------------------------------------------------------------------------------------------


async def test_a_teacher_chooses_for_a_channel_and_everybody_may_look(chat: Chat) -> None:
    assert "for teachers" in await chat.command("mode", "always")
    assert not await is_for_bot(chat.bot, BOB, "the door is open")
    assert "(`always`)" in await chat.command("mode", "always", by=TEA, role=Role.TEACHER)
    assert "(`always`)" in await chat.command("mode")
    assert await is_for_bot(chat.bot, BOB, "the door is open")
    assert not await is_for_bot(chat.bot, replace(BOB, channel="c2"), "the door is open")
    assert not await is_for_bot(chat.bot, BOB, "the door is open", is_for_others=True)
    await chat.command("mode", "default", by=TEA, role=Role.TEACHER)
    assert not await is_for_bot(chat.bot, BOB, "the door is open")


async def test_where_it_wants_a_mention_no_follow_up_is_for_it(chat: Chat) -> None:
    await mentions(chat, "lunch?")
    await chat.command("mode", "mention", by=TEA, role=Role.ADMIN)
    assert not await is_for_bot(chat.bot, HERE)


async def test_a_mode_is_kept_in_the_database(chat: Chat) -> None:
    await chat.command("mode", "always", by=TEA, role=Role.TEACHER)
    [change] = chat.world.memory.chat_settings.changes(TEA.workspace)
    assert (change.name, change.channel, change.before, change.after) == ("mode", TEA.channel, None, "always")
    assert change.changed_by == TEA.person
    again = Chat(chat.world)
    assert await is_for_bot(again.bot, BOB, "the door is open")
    again.executor.close()


async def test_a_teacher_is_offered_the_modes_as_buttons(chat: Chat) -> None:
    await chat.command("mode", by=TEA, role=Role.TEACHER)
    assert [choice.argument for choice in chat.messenger.posts[-1].choices] == list(ListeningMode)
    await chat.command("mode")
    assert chat.messenger.posts[-1].choices == ()


async def test_there_is_no_mode_in_direct_messages(chat: Chat) -> None:
    direct = replace(TEA, visibility=Visibility.DIRECT)
    assert "everything is for me" in await chat.command("mode", "mention", by=direct, role=Role.TEACHER)
    assert "(`threads`)" in await chat.command("mode", by=TEA)


# What it does not know --------------------------------------------------------------------------------------------

IN_SLACK = Scope(workspace="slack:T1", channel="C1", person="ana", thread="t1")


async def asked(chat: Chat, text: str, by: Scope) -> list[str]:
    """What is posted for a question nothing is known about."""
    before = len(chat.messenger.posts)
    chat.oracle.unknown.add(text)
    await chat.ask(text, by)
    return [post.text for post in chat.messenger.posts[before:]]


@pytest.mark.parametrize(
    ("request_", "is_question"),
    [
        ("remind me in 400 years to call Ana.", False),
        ("Please cancel the reminder about the report.", False),
        ("can you remind me to ask who has the key?", False),
        ("erinnere mich daran.", False),
        ("remind me who has the key?", True),
        ("set of keys.", True),
        ("the alarm code.", True),
        ("tell me the alarm code.", True),
        ("wer hat den Schlüssel.", True),
    ],
)
@pytest.mark.parametrize("by", [IN_SLACK, replace(IN_SLACK, visibility=Visibility.DIRECT)])
async def test_only_of_a_question_it_says_that_whoever_knows_it_may_tell(
    chat: Chat, request_: str, is_question: bool, by: Scope
) -> None:
    [told] = await asked(chat, request_, by)
    assert told.startswith(f"I do not know {request_}")
    assert ("Whoever knows it" in told) == (is_question and by is IN_SLACK)


async def test_after_a_request_to_do_something_it_still_says_of_a_question_how_to_teach_it(chat: Chat) -> None:
    await asked(chat, "remind me in 400 years to call Ana.", IN_SLACK)
    [told] = await asked(chat, "who has the key?", IN_SLACK)
    assert "Whoever knows it, tell me" in told


async def test_that_it_does_not_know_is_said_shortly_and_once_in_a_thread(chat: Chat) -> None:
    [short] = await asked(chat, "who has the key?", IN_SLACK)
    assert short == (
        "I do not know who has the key? Whoever knows it, tell me: `!correct ...`, and I will know it next time."
    )
    second = chat.message("who has the car?", replace(IN_SLACK, person="bob"), message_id="m2")
    chat.oracle.unknown.add(second.text)
    await chat.sink(second)
    await chat.bot.idle()
    assert len(chat.messenger.posts) == 1
    assert chat.messenger.marks == [("m2", "🤷", True)]
    assert chat.world.memory.recording.unfinished() == []
    assert await asked(chat, "who has the bike?", replace(IN_SLACK, thread="t2")) != []


async def test_alone_with_a_person_all_of_it_is_said_each_time(chat: Chat) -> None:
    direct = replace(IN_SLACK, channel="D1", thread="", visibility=Visibility.DIRECT)
    for number in range(2):
        [whole] = await asked(chat, f"who has key {number}?", direct)
        assert "nobody told me" in whole


async def test_outside_of_threads_it_is_said_once_to_each_person_and_day(chat: Chat) -> None:
    flat = replace(IN_SLACK, workspace="discord:1", thread="")
    counts = [len(await asked(chat, f"key {number}?", replace(flat, person=who))) for number, who in enumerate("aabab")]
    assert counts == [1, 0, 1, 0, 0]
    chat.world.clock.tick(days=1)
    assert len(await asked(chat, "key 9?", replace(flat, person="a"))) == 1


async def test_what_was_not_said_can_be_corrected_by_word_and_by_the_question_itself(chat: Chat) -> None:
    await asked(chat, "who has the key?", IN_SLACK)
    await asked(chat, "who has the car?", IN_SLACK)
    await chat.correct("Bo has it.", IN_SLACK)
    assert "Bo has it." in taught(chat, IN_SLACK, "who has the car?")
    third = chat.message("who has the bike?", IN_SLACK, message_id="m3")
    chat.oracle.unknown.add(third.text)
    await chat.sink(third)
    await chat.bot.idle()
    await chat.correct("Cy has it.", IN_SLACK, message_id="m3")
    assert "Cy has it." in taught(chat, IN_SLACK, third.text)


async def test_a_retry_is_always_answered(chat: Chat) -> None:
    await asked(chat, "who has the key?", IN_SLACK)
    before = len(chat.messenger.posts)
    await chat.sink(PersonRetry(event_id="r1", scope=IN_SLACK, message_id=f"post-{before}", at=chat.world.clock.tick()))
    await chat.bot.idle()
    assert len(chat.messenger.posts) == before + 1


async def test_outside_of_threads_a_correction_means_the_answer_to_ones_own_question_while_that_is_young(
    chat: Chat,
) -> None:
    await chat.ask("lunch?", ANA)
    await chat.ask("supper?", BOB)
    await chat.correct("Soup.", ANA)
    assert "Soup." in taught(chat, ANA, "lunch?")
    await chat.correct("Bread.", TEA, role=Role.TEACHER)  # asked nothing
    assert "Bread." in taught(chat, BOB, "supper?")
    chat.world.clock.tick(minutes=11)
    await chat.correct("Cheese.", ANA)
    assert "Cheese." in taught(chat, ANA, "supper?")


# The pace guard ---------------------------------------------------------------------------------------------------


async def test_who_is_too_fast_hears_privately_when_they_are_answered_again(chat: Chat) -> None:
    event = PersonRateLimited(event_id="e", scope=ANA, at=chat.world.clock(), rest=timedelta(minutes=1))
    await chat.sink(event)
    [post] = chat.messenger.posts
    assert post.private_to == ANA.person
    assert "in 1 minute:" in post.text
    await chat.sink(replace(event, event_id="f", scope=scope("bob"), rest=timedelta(hours=1)))
    assert "in 60 minutes:" in chat.messenger.posts[-1].text


async def test_what_is_worked_out_anew_after_an_edit_is_said_all_the_same(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, finished = Recording.finish, list[FinishedRun]()

    def late(self: Recording, run: FinishedRun) -> Answer | None:
        if not finished:
            chat.world.memory.changes.reword(IN_SLACK.workspace, IN_SLACK.channel, "m1", "who has the key?")
        finished.append(run)
        return finish(self, run)

    monkeypatch.setattr(Recording, "finish", late)
    chat.oracle.unknown |= {"who has teh key?", "who has the key?"}
    await chat.sink(chat.message("who has teh key?", IN_SLACK, message_id="m1"))
    await chat.bot.idle()
    assert len(finished) == 2
    assert [post.text for post in chat.messenger.posts] == [
        "I do not know who has the key? Whoever knows it, tell me: `!correct ...`, and I will know it next time."
    ]
    assert chat.messenger.marks == []
