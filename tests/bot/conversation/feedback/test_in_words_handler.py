"""Feedback in words through the bot: what the asker's next message teaches, shows, and takes back."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.conversation.feedback.feedback_in_words import APPROVED, REFUSED, FeedbackReading
from bot.conversation.feedback.feedback_messages import NOT_DONE
from bot.conversation.feedback.feedback_record import feedback_record, recorded_feedback
from bot.errors import MessengerUnavailable
from bot.model import Address, BotMessage, Choice
from memory.model import Progress, Role, Scope, Visibility
from memory.ports import EpisodeFilter
from memory.rules.chat_settings import ALLOWED_PEOPLE
from tests.doubles.conversation import ANA, BOB, TEA, Chat, direct
from tests.doubles.memory_world import scope
from tests.doubles.model import call
from tests.doubles.stores import content

ALL = EpisodeFilter(limit=None)
QUESTION, WRONG, RIGHT = "where is the spare key?", "under the red pot", "it's in room 5"
NOTED = (
    f"Noted: for “{QUESTION}” the answer is “{RIGHT}”. Saved as your lesson; for others here it is a proposal until "
    "somebody else approves it. `!undo` takes it back."
)


@pytest.fixture
def chat() -> Chat:
    chat = Chat()
    chat.oracle.answers[QUESTION] = WRONG
    return chat


def votes(chat: Chat) -> dict[str, int]:
    """Who holds which vote, by what was answered."""
    memory, found = chat.world.memory, {}
    for root in memory.audit.episodes(ANA.workspace, ALL):
        for vote in memory.audit.run(ANA.workspace, root.run_id).votes:
            if vote.value:
                found[f"{vote.actor}: {root.output}"] = vote.value
    return found


def last(chat: Chat) -> BotMessage:
    return chat.messenger.posts[-1]


def buttons(chat: Chat) -> list[str]:
    return [choice.label for choice in last(chat).choices]


async def press(
    chat: Chat, label: str, by: Scope = ANA, post: BotMessage | None = None, role: Role = Role.MEMBER
) -> str:
    choice: Choice = next(each for each in (post or last(chat)).choices if each.label == label)
    said = await chat.command(choice.command, choice.argument, by, role=role)
    await chat.bot.idle()
    return said


async def test_a_correction_is_learned_once_and_shown_to_its_author_alone(chat: Chat) -> None:
    await chat.ask(QUESTION)
    message = chat.message(f"No, {RIGHT}")
    for _ in range(2):
        await chat.sink(message)
        await chat.bot.idle()
    assert chat.messenger.answers == [WRONG]
    assert chat.messenger.notices == [NOTED]
    assert (last(chat).private_to, buttons(chat)) == ("ana", ["Undo"])
    assert votes(chat) == {f"ana: {WRONG}": -1, f"ana: {RIGHT}": 1}
    assert chat.oracle.asked == [QUESTION]
    [lesson] = [each for each in chat.world.memory.audit.episodes(ANA.workspace, ALL) if each.output == RIGHT]
    assert lesson.goal == QUESTION
    assert chat.world.memory.audit.check() == []


@pytest.mark.parametrize(
    ("message", "learned"),
    [
        ("it's room 5", "it's room 5"),
        ("it moved to room 5", "it moved to room 5"),
        ("Room 3 is for guests, the spare key is in room 5", "the spare key is in room 5"),
        ("Room 3? No, room 5", "room 5"),
        ("wrong room, it's 5", "it's 5"),
        ("I think it's room 5", "it's room 5"),
    ],
)
async def test_what_says_otherwise_without_a_no_is_learned(chat: Chat, message: str, learned: str) -> None:
    chat.oracle.answers[QUESTION] = "Room 3"
    await chat.ask(QUESTION)
    await chat.ask(message)
    assert votes(chat) == {"ana: Room 3": -1, f"ana: {learned}": 1}, last(chat).text
    assert (last(chat).private_to, buttons(chat)) == ("ana", ["Undo"])
    assert chat.oracle.asked == [QUESTION]


@pytest.mark.parametrize("remarks", [["thanks!"], ["hmm", "ok"], ["thanks anyway!"], ["good bot"]])
async def test_a_remark_after_the_answer_is_not_what_feedback_is_about(chat: Chat, remarks: list[str]) -> None:
    await chat.ask(QUESTION)
    for remark in remarks:
        await chat.ask(remark)
    await chat.ask(f"No, {RIGHT}")
    assert votes(chat) == {f"ana: {WRONG}": -1, f"ana: {RIGHT}": 1}


async def test_what_answers_a_question_of_the_bot_is_no_remark(chat: Chat) -> None:
    chat.oracle.answers[QUESTION] = "Do you mean the one of the van?"
    chat.oracle.answers["yes"] = WRONG
    await chat.ask(QUESTION)
    await chat.ask("yes")
    await chat.ask("no")
    assert votes(chat) == {f"ana: {WRONG}": -1}


async def test_a_no_after_a_remark_alone_judges_nothing(chat: Chat) -> None:
    for text in ("yes", "no"):
        await chat.ask(text)
    assert votes(chat) == {}


async def test_a_no_to_an_answer_that_knows_only_a_part_is_asked_about_and_names_the_part(chat: Chat) -> None:
    both, rest = f"{QUESTION} and who has it?", "who has it?"
    chat.oracle.unknown.add(rest)
    chat.oracle.answers[both] = call("expand", flow="parallel", subgoals=[QUESTION, rest])
    await chat.ask(both)
    await chat.ask(f"No, {RIGHT}")
    assert last(chat).text == f"Was that a correction? Then for “{rest}” the answer is “{RIGHT}”."
    assert (votes(chat), buttons(chat)) == ({}, ["Yes", "No"])
    assert f"for “{rest}” the answer is “{RIGHT}”" in await press(chat, "Yes")


async def test_a_teachers_correction_counts_for_the_channel_and_a_guests_for_nobody(chat: Chat) -> None:
    for person, role, reach in (
        (TEA, Role.TEACHER, "for everybody in #c1"),
        (BOB, Role.GUEST, "a guest teaches counts when a teacher approves it"),
    ):
        await chat.ask(QUESTION, person)
        await chat.sink(chat.message(f"no, {RIGHT}", person, role=role))
        await chat.bot.idle()
        assert reach in last(chat).text


OTHERS = "Is that about my answer to somebody else's question?"


@pytest.mark.parametrize(
    ("words", "is_explained"),
    [
        *((each, True) for each in (f"No, {RIGHT}", "nope", "👎", "thanks, that worked", "too long")),
        *((each, False) for each in ("No, thanks", "thanks!", "and the van's?")),
    ],
)
async def test_who_judges_what_somebody_else_was_answered_is_told_how(
    chat: Chat, words: str, is_explained: bool
) -> None:
    posted = await chat.ask(QUESTION)
    message = replace(chat.message(words, BOB), address=Address.MENTION, reply_to=posted)
    await chat.sink(message)
    await chat.bot.idle()
    assert last(chat).text.startswith(OTHERS) == is_explained
    assert last(chat).reply_to == message.message_id
    assert chat.oracle.asked == [QUESTION, *([] if is_explained else [words])]
    assert votes(chat) == {}


async def test_who_sends_it_once_more_is_answered_and_of_another_answer_told_again(chat: Chat) -> None:
    told = []
    for _ in range(2):
        posted = await chat.ask(QUESTION)
        for _ in range(2):
            await chat.sink(replace(chat.message("nope", BOB), address=Address.MENTION, reply_to=posted))
            await chat.bot.idle()
            told.append(last(chat).text.startswith(OTHERS))
    assert told == [True, False, True, False]


async def test_a_nope_that_follows_nothing_is_no_feedback_on_others(chat: Chat) -> None:
    nowhere = [replace(each, thread="") for each in (ANA, BOB)]
    await chat.ask(QUESTION, nowhere[0])
    await chat.sink(replace(chat.message("nope", nowhere[1]), address=Address.MENTION))
    await chat.bot.idle()
    assert chat.oracle.asked == [QUESTION, "nope"]


async def test_who_may_not_use_the_bot_is_told_nothing(chat: Chat) -> None:
    posted = await chat.ask(QUESTION)
    chat.world.memory.chat_settings.change(TEA, Role.ADMIN, ALLOWED_PEOPLE, "ana", everywhere=True)
    for words in (f"No, {RIGHT}", "correct it is in room 5"):
        await chat.sink(replace(chat.message(words, BOB), address=Address.MENTION, reply_to=posted))
        await chat.bot.idle()
    assert len(chat.messenger.posts) == 1


async def test_who_approves_that_nothing_is_known_approves_nothing(chat: Chat) -> None:
    chat.oracle.unknown.add("and the van's?")
    await chat.ask("and the van's?")
    await chat.ask("👍")
    assert (chat.oracle.asked[-1], votes(chat)) == ("👍", {})
    overheard = replace(chat.message("Thanks, that worked"), address=Address.FOLLOW_UP)
    posted = len(chat.messenger.posts)
    await chat.ask("and the van's?")
    await chat.sink(replace(overheard, at=chat.world.clock.tick()))
    await chat.bot.idle()
    assert (len(chat.messenger.posts), votes(chat)) == (posted + 1, {})
    await chat.ask("and the van's?")
    await chat.ask("nope")
    assert list(votes(chat).values()) == [-1]


async def test_a_secret_is_taken_out_and_the_lesson_held_back(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask("No, it's room 5 with AKIAIOSFODNN7EXAMPLE")
    assert "I will not use it before a teacher has looked at it" in last(chat).text
    assert "AKIAIOSFODNN7EXAMPLE" not in "".join(post.text for post in chat.messenger.posts)


@pytest.mark.parametrize(
    ("message", "value", "reply"),
    [
        ("nope", -1, "was wrong (👎). What would have been right? `!correct ...` tells me; `!undo` takes it back."),
        ("Thanks, that worked", 1, "was right (👍). `!undo` takes it back."),
        (":+1::skin-tone-3:", 1, "was right (👍). `!undo` takes it back."),
        ("👍", 1, "was right (👍). `!undo` takes it back."),
    ],
)
async def test_a_vote_in_words(chat: Chat, message: str, value: int, reply: str) -> None:
    answer = await chat.ask(QUESTION)
    await chat.ask(message)
    assert votes(chat) == {f"ana: {WRONG}": value}
    assert last(chat).text == f"Noted: my answer to “{QUESTION}” {reply}"
    assert chat.mark[answer]


@pytest.mark.parametrize("message", [f"No, {RIGHT}", "nope", "Thanks, that worked"])
@pytest.mark.parametrize("by_button", [True, False])
async def test_undo_restores_exactly_what_was(chat: Chat, message: str, by_button: bool) -> None:
    answer = await chat.ask(QUESTION)
    await chat.react(answer, "👍")
    memory = chat.world.memory
    before = [each for each in memory.audit.episodes(ANA.workspace, ALL) if each.archived_at is None]
    await chat.ask(message)
    assert votes(chat) != {f"ana: {WRONG}": 1} or message.startswith("Thanks")
    said = await (press(chat, "Undo") if by_button else chat.command("undo"))
    assert said.startswith(("Forgotten: your correction", "Taken back: your vote"))
    after = [each for each in memory.audit.episodes(ANA.workspace, ALL) if each.archived_at is None]
    assert [(each.id, each.verdicts, each.correction, each.strength) for each in after] == [
        (each.id, each.verdicts, each.correction, each.strength) for each in before
    ]
    assert votes(chat) == {f"ana: {WRONG}": 1}
    assert memory.audit.check() == []


async def test_what_was_taken_back_is_answered_like_any_message_if_wanted(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask(f"No, {RIGHT}")
    await press(chat, "Undo")
    for _ in range(2):
        await press(chat, "Answer it instead", post=last(chat) if buttons(chat) else chat.messenger.posts[-2])
        assert chat.messenger.answers == [WRONG, f"the answer to No, {RIGHT}"]
    assert f"ana: {RIGHT}" not in votes(chat)


async def test_nobody_else_can_take_it_back(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask("nope")
    assert await press(chat, "Undo", BOB) == "There is nothing of yours to take back."
    assert votes(chat) == {f"ana: {WRONG}": -1}


async def test_only_the_asker_is_listened_to(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask(f"No, {RIGHT}", BOB)
    assert votes(chat) == {}
    assert chat.messenger.answers[-1] == f"the answer to No, {RIGHT}"


@pytest.mark.parametrize("no", ["no", "nope", "No!"])
async def test_a_no_to_what_it_asked_to_confirm_judges_no_answer(chat: Chat, no: str) -> None:
    await chat.ask(QUESTION)
    assert "cannot be undone" in await chat.command("forget", "me")
    await chat.ask(no, BOB)
    await chat.ask(no)
    assert last(chat).text == NOT_DONE
    assert votes(chat) == {}
    await chat.command("forget", "me")
    chat.oracle.answers["what is for lunch?"] = "Soup."
    await chat.ask("what is for lunch?")
    await chat.ask(no)
    assert votes(chat) == {"ana: Soup.": -1}


async def test_only_the_next_message_judges_and_only_soon(chat: Chat) -> None:
    await chat.ask(QUESTION)
    chat.world.clock.tick(hours=5)
    await chat.ask("nope")
    await chat.ask("nope")  # This one is not about the answer to the first, which is a remark.
    assert votes(chat) == {}


async def test_a_message_that_overtook_the_answer_judges_nothing(chat: Chat) -> None:
    chat.oracle.gates[QUESTION] = asyncio.Event()
    await chat.sink(chat.message(QUESTION))
    await chat.sink(chat.message("nope"))
    chat.world.clock.tick(seconds=30)
    chat.oracle.gates[QUESTION].set()
    await chat.bot.idle()
    assert votes(chat) == {}


async def test_a_second_correction_takes_the_place_of_the_first_and_thanks_are_for_the_reply(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask(f"No, {RIGHT}")
    await chat.ask("Sorry, that's wrong: it's in room 6")
    await chat.ask("Thanks, that's correct")
    live = [each.output for each in chat.world.memory.audit.episodes(ANA.workspace, ALL) if each.archived_at is None]
    assert sorted(live) == ["it's in room 6", "the answer to Thanks, that's correct", WRONG]
    assert votes(chat)[f"ana: {WRONG}"] == -1


@pytest.mark.parametrize("message", [f"No, {RIGHT}", "No, it's broken"])
async def test_what_was_written_is_gone_with_a_lesson_that_is_deleted(chat: Chat, message: str) -> None:
    await chat.ask(QUESTION)
    await chat.ask(message)
    if "Yes" in buttons(chat):
        await press(chat, "Yes")
    memory, words = chat.world.memory, message.removeprefix("No, ")
    (lesson,) = [each for each in memory.audit.episodes(ANA.workspace, ALL) if each.output == words]
    assert words.encode() in content(chat.store)
    memory.privacy.erase_run(ANA.workspace, lesson.run_id)
    assert words.encode() not in content(chat.store)
    await chat.ask("and now?")
    assert words not in repr(chat.oracle.requests[-1])
    assert memory.audit.check() == []


async def test_half_evidence_is_asked_and_one_tap_settles_it(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask("No, it's broken")
    asked = last(chat)
    assert asked.text == f"Was that a correction? Then for “{QUESTION}” the answer is “it's broken”."
    assert (asked.private_to, buttons(chat), votes(chat)) == ("ana", ["Yes", "No"], {})
    assert "do not know that question" in await press(chat, "Yes", BOB)
    assert (await press(chat, "Yes", post=asked)).startswith(f"Noted: for “{QUESTION}” the answer is “it's broken”.")
    assert buttons(chat) == ["Undo"]
    assert await press(chat, "Yes", post=asked) == "I have taken that in already."
    assert votes(chat) == {f"ana: {WRONG}": -1, "ana: it's broken": 1}


async def test_what_was_no_feedback_is_answered(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask("No, it's broken")
    await press(chat, "No")
    assert chat.messenger.answers[-1] == "the answer to No, it's broken"
    assert votes(chat) == {}


@pytest.mark.parametrize("label", ["Yes", "No"])
async def test_a_doubt_about_what_was_said_in_private_is_settled_among_its_readers_alone(
    chat: Chat, label: str
) -> None:
    private, public = (replace(ANA, visibility=each) for each in (Visibility.PRIVATE, Visibility.PUBLIC))
    await chat.ask(QUESTION, private)
    await chat.ask("No, it's broken", private)
    asked, posted = last(chat), len(chat.messenger.answers)
    assert "do not know that question" in await press(chat, label, public, asked)
    assert votes(chat) == {}
    assert len(chat.messenger.answers) == posted
    assert chat.world.memory.channels.last_known(ANA).visibility is Visibility.PUBLIC


async def test_a_doubt_settled_after_the_channel_was_closed_leaves_it_closed(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask("No, it's broken")
    await press(chat, "No", replace(ANA, visibility=Visibility.PRIVATE))
    assert chat.messenger.answers[-1] == "the answer to No, it's broken"
    assert chat.world.memory.channels.last_known(ANA).visibility is Visibility.PRIVATE


async def test_what_a_restart_left_is_asked_for_nobody_knows_any_more_in_what_role_it_was_written(chat: Chat) -> None:
    await chat.ask(QUESTION)
    message = chat.message(f"No, {RIGHT}")
    chat.bot.shut_down()
    await chat.sink(message)
    await chat.bot.idle()
    again = Chat(chat.world, messenger=chat.messenger)
    assert await again.bot.recovery.resume(again.messenger) == 1
    await again.bot.idle()
    assert buttons(again) == ["Yes", "No"]
    await press(again, "Yes", role=Role.TEACHER)
    assert votes(again) == {f"ana: {WRONG}": -1, f"ana: {RIGHT}": 1}


async def test_a_reply_that_was_committed_is_posted_after_a_restart_with_its_button(chat: Chat) -> None:
    await chat.ask(QUESTION)
    chat.messenger.fails = {"post"}
    await chat.ask(f"No, {RIGHT}")
    assert votes(chat) == {f"ana: {WRONG}": -1, f"ana: {RIGHT}": 1}
    chat.messenger.fails = set()
    again = Chat(chat.world, messenger=chat.messenger)
    assert await again.bot.recovery.resume(again.messenger) == 1
    await again.bot.idle()
    assert (last(again).text, last(again).is_answer, buttons(again)) == (NOTED, False, ["Undo"])
    await press(again, "Undo")
    assert votes(again) == {}


async def test_a_role_that_the_platform_cannot_tell_now_is_asked_for(chat: Chat) -> None:
    async def unknown() -> Role:
        raise MessengerUnavailable("Slack is down")

    await chat.ask(QUESTION)
    message = chat.message("nope")
    object.__setattr__(message, "find_role", unknown)
    await chat.sink(message)
    await chat.bot.idle()
    assert last(chat).text == f"Was that a 👎 for my answer to “{QUESTION}”?"


async def test_commands_after_the_reply_mean_the_answer(chat: Chat) -> None:
    await chat.ask(QUESTION, direct("ana"))
    await chat.ask("nope", direct("ana"))
    assert QUESTION in await chat.command("why", by=direct("ana"))
    await chat.correct("in room 6", direct("ana"))
    assert votes(chat) == {f"ana: {WRONG}": -1, "ana: in room 6": 1}


async def test_what_the_bot_asked_for_is_answered(chat: Chat) -> None:
    chat.oracle.answers[QUESTION] = "Do you mean the red one?"
    await chat.ask(QUESTION)
    await chat.ask("nope, the blue one")
    assert chat.messenger.answers[-1] == "the answer to nope, the blue one"


async def test_the_reply_and_the_lesson_are_one(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed in the middle leaves nothing of it."""
    await chat.ask(QUESTION)
    before = votes(chat)
    monkeypatch.setattr("bot.conversation.feedback.feedback_messages.noted_message", lambda *_: 1 / 0)
    message = chat.message(f"No, {RIGHT}")
    await chat.sink(message)
    await chat.bot.idle()
    assert votes(chat) == before
    with chat.store.read() as tx:
        stored = tx.deliveries.incoming(ANA.workspace, message.event_id)
    assert stored is not None
    assert stored.progress is Progress.ACCEPTED


async def test_other_channels_are_other_conversations(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask("nope", scope("ana", channel="c2"))
    assert votes(chat) == {}
    chat.world.clock.tick(seconds=timedelta(minutes=1).total_seconds())


@pytest.mark.parametrize("reading", [APPROVED, REFUSED, FeedbackReading(correction="it's room 5\nor 6")])
@pytest.mark.parametrize("is_sure", [True, False])
def test_what_was_understood_is_read_back(reading: FeedbackReading, is_sure: bool) -> None:
    reading = replace(reading, is_sure=is_sure)
    assert recorded_feedback(feedback_record(reading)) == reading


@pytest.mark.parametrize("text", ["", "where is it? 👍", "👍👍", "👎 it's room 5"])
def test_other_texts_are_no_readings(text: str) -> None:
    assert recorded_feedback(text) is None
