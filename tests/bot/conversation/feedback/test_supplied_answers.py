"""A plain answer to what the bot did not know, which it asks about with one tap; edits of feedback in words."""

from dataclasses import replace
from datetime import datetime

import pytest

from bot.conversation.feedback.feedback_in_words import supplied_answer_in
from bot.errors import MessengerUnavailable
from bot.model import PersonDeletion, PersonEdit, PersonMessage
from memory.model import Audience, Role
from tests.bot.conversation.feedback.test_in_words_handler import (
    ALL,
    QUESTION,
    RIGHT,
    WRONG,
    buttons,
    last,
    press,
    votes,
)
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.model import call
from tests.doubles.stores import rows


@pytest.fixture
def chat() -> Chat:
    chat = Chat()
    chat.oracle.answers[QUESTION] = WRONG
    chat.oracle.unknown.add(LADDER)
    return chat


async def says(chat: Chat, text: str) -> PersonMessage:
    message = chat.message(text)
    await chat.sink(message)
    await chat.bot.idle()
    return message


async def deletes(chat: Chat, message: PersonMessage) -> None:
    """As on Discord, which does not tell whose it was."""
    at, of, somebody = chat.world.clock.tick(), message.event_id, replace(message.scope, person="somebody")
    await chat.sink(
        PersonDeletion(event_id=f"{of}/deleted", scope=somebody, message_id=message.message_id, at=at, of_event=of)
    )


async def edits(chat: Chat, message: PersonMessage, text: str, at: datetime | None = None) -> None:
    at, of = at or chat.world.clock.tick(), message.event_id
    event = PersonEdit(
        event_id=f"{of}/{at}", scope=ANA, message_id=message.message_id, text=text, at=at, of_event=of, role=Role.MEMBER
    )
    await chat.sink(event)
    await chat.bot.idle()


LADDER, ATTIC = "where is the ladder?", "it's in the attic"
SUPPLIED = f"Was that the answer to “{LADDER}”? Then I keep “{ATTIC}”."


async def test_a_statement_after_what_is_not_known_is_asked_about_once(chat: Chat) -> None:
    await chat.ask(LADDER)
    await chat.ask(ATTIC)
    assert (last(chat).text, last(chat).private_to, buttons(chat)) == (SUPPLIED, "ana", ["Yes", "No"])
    assert votes(chat) == {}
    assert f"for “{LADDER}” the answer is “{ATTIC}”" in await press(chat, "Yes")
    assert [text for text in votes(chat) if ATTIC in text] == [f"ana: {ATTIC}"]
    await chat.ask("it's behind the red door")
    assert chat.oracle.asked == [LADDER, "it's behind the red door"]
    assert chat.world.memory.audit.check() == []


async def test_a_statement_that_was_no_answer_is_answered(chat: Chat) -> None:
    await chat.ask(LADDER)
    await chat.ask(ATTIC)
    await press(chat, "No")
    assert (chat.messenger.answers[-1], votes(chat)) == (f"the answer to {ATTIC}", {})


async def test_who_repeats_it_with_a_no_teaches_it(chat: Chat) -> None:
    chat.oracle.unknown.add(LADDER)
    for text in (LADDER, ATTIC, f"no, {ATTIC}"):
        await chat.ask(text)
    assert last(chat).text.startswith(f"Noted: for “{LADDER}” the answer is “{ATTIC}”.")


@pytest.mark.parametrize("words", ["it's in the attic?", "and in winter?", "thanks", "the saw is in the attic"])
async def test_what_is_no_statement_about_it_is_answered(chat: Chat, words: str) -> None:
    await chat.ask(LADDER)
    await chat.ask(words)
    assert chat.messenger.answers[-1] == f"the answer to {words}"


async def test_a_statement_after_a_question_of_the_bot_answers_that(chat: Chat) -> None:
    options = [{"answer": "In the yard."}, {"answer": "In the shed."}]
    chat.oracle.answers["where do I leave it?"] = call("ask_person", question="Which bike?", options=options)
    await chat.ask("where do I leave it?")
    await chat.ask("it's the one in the yard")
    assert chat.messenger.answers[-1] == "the answer to it's the one in the yard"


async def test_a_statement_after_an_answer_or_of_somebody_else_is_answered(chat: Chat) -> None:
    await chat.ask(QUESTION)
    await chat.ask(ATTIC)
    assert chat.messenger.answers[-1] == f"the answer to {ATTIC}"
    await chat.ask(LADDER)
    await chat.ask(ATTIC, BOB)
    assert (chat.messenger.answers[-1], votes(chat)) == (f"the answer to {ATTIC}", {})


@pytest.mark.parametrize(
    ("question", "message", "is_answer"),
    [
        ("who is my boss?", "my boss is Tess.", True),
        ("when is my birthday?", "My birthday is on 4 May", True),
        ("where is my desk?", "my desk is in room 5", True),
        ("who is my boss?", "my laptop is broken", False),
        ("who is the boss?", "my boss is Tess", False),
        ("where is my desk?", "my desk is not where it was", False),
    ],
)
def test_what_is_said_of_oneself_answers_only_a_question_about_the_same(
    question: str, message: str, is_answer: bool
) -> None:
    reading = supplied_answer_in(message, question)
    assert (reading.correction if reading else "") == (message.rstrip(".") if is_answer else "")


@pytest.mark.parametrize("refusal", ["👎", "no"])
@pytest.mark.parametrize(
    ("question", "words"),
    [
        (LADDER, "in the attic"),
        (QUESTION, "11:30 to 14:00."),
        (QUESTION, "we keep it behind the shed"),
        (LADDER, ATTIC),
    ],
)
async def test_what_is_said_after_a_thumb_down_is_asked_about_once(
    chat: Chat, question: str, words: str, refusal: str
) -> None:
    posted = await chat.ask(question)
    await (chat.react(posted, refusal) if refusal == "👎" else chat.ask(refusal))
    assert "What would have been right?" in last(chat).text
    await chat.ask(words)
    said = words.rstrip(".")
    assert last(chat).text == f"Was that the answer to “{question}”? Then I keep “{said}”."
    assert f"for “{question}” the answer is “{said}”" in await press(chat, "Yes")
    await chat.ask("behind the red door")
    assert chat.messenger.answers[-1] == "the answer to behind the red door"


@pytest.mark.parametrize(
    "words",
    [
        "thanks",
        "when is lunch?",
        "remind me at 9 to call",
        "at what time then",
        "can you look again",
        "Never mind",
        "Hello",
        "reset my password",
    ],
)
async def test_what_tells_nothing_after_a_thumb_down_is_answered(chat: Chat, words: str) -> None:
    await chat.react(await chat.ask(LADDER), "👎")
    await chat.ask(words)
    assert chat.messenger.answers[-1] == f"the answer to {words}"


async def test_nothing_is_asked_after_a_thumb_up_or_another_persons_thumb_down(chat: Chat) -> None:
    posted = await chat.ask(QUESTION)
    await chat.react(posted, "👎", by=BOB)
    await chat.react(posted, "👍")
    await chat.ask("in the attic")
    assert chat.messenger.answers[-1] == "the answer to in the attic"


@pytest.mark.parametrize("words", [ATTIC, f"no, {ATTIC}"])
async def test_what_was_only_marked_as_not_known_can_be_answered_in_words(chat: Chat, words: str) -> None:
    there = replace(ANA, workspace="slack:T1", thread="t1")
    chat.oracle.unknown |= {"who has the saw?", LADDER}
    await chat.ask("who has the saw?", there)
    await chat.ask(LADDER, there)
    assert len(chat.messenger.posts) == 1
    await chat.ask(words, there)
    asked = last(chat)
    for n in range(6):
        await chat.ask(f"question {n}?", there)
    said = await press(chat, "Yes", there, asked) if words == ATTIC else asked.text
    assert said.startswith(f"Noted: for “{LADDER}” the answer is “{ATTIC}”.")


@pytest.mark.parametrize("is_edited_first", [False, True])
async def test_an_edit_of_such_an_answer_counts_with_the_new_words(chat: Chat, is_edited_first: bool) -> None:
    right = "it's in the cellar"
    await chat.ask(LADDER)
    message = await says(chat, ATTIC)
    asked = last(chat)
    if is_edited_first:
        await edits(chat, message, right)
        assert votes(chat) == {}
        assert f"for “{LADDER}” the answer is “{right}”" in await press(chat, "Yes", post=asked)
    else:
        await press(chat, "Yes")
        await edits(chat, message, right)
    assert f"ana: {right}" in votes(chat)
    assert f"ana: {ATTIC}" not in votes(chat)


async def test_a_no_after_such_an_edit_answers_the_new_words(chat: Chat) -> None:
    await chat.ask(LADDER)
    message = await says(chat, ATTIC)
    asked = last(chat)
    await edits(chat, message, "it's in the cellar")
    await press(chat, "No", post=asked)
    assert (chat.messenger.answers[-1], votes(chat)) == ("the answer to it's in the cellar", {})


async def test_after_an_edit_of_a_correction_the_next_one_is_about_the_same_answer(chat: Chat) -> None:
    await chat.ask(QUESTION)
    message = await says(chat, f"No, {RIGHT}")
    await edits(chat, message, "No, it's room 6")
    await chat.ask("no, it's room 7")
    assert last(chat).text.startswith(f"Noted: for “{QUESTION}” the answer is “it's room 7”.")
    assert votes(chat) == {f"ana: {WRONG}": -1, "ana: it's room 7": 1}


@pytest.mark.parametrize("words", ["remember that the door code is 12", f"No, {RIGHT}", QUESTION])
async def test_an_edit_that_changes_nothing_writes_nothing(chat: Chat, words: str) -> None:
    await chat.ask(QUESTION)
    message = await says(chat, words)
    for lesson in chat.world.memory.audit.episodes(ANA.workspace, ALL):
        chat.world.memory.curation.promote(ANA.workspace, lesson.id, Audience.CHANNEL, actor="tea", role=Role.TEACHER)
    before, said = rows(chat.store), len(chat.messenger.posts)
    await edits(chat, message, words)
    assert (rows(chat.store), len(chat.messenger.posts)) == (before, said)


@pytest.mark.parametrize(
    ("words", "right"), [("remember that the door code is {}", "the door code is {}"), ("No, it's {}", "it's {}")]
)
async def test_of_two_edits_that_change_places_the_later_one_counts(chat: Chat, words: str, right: str) -> None:
    await chat.ask(QUESTION)
    message = await says(chat, words.format(12))
    earlier = chat.world.clock.tick()
    await edits(chat, message, words.format(14))
    await edits(chat, message, words.format(13), earlier)
    assert votes(chat)[f"ana: {right.format(14)}"] == 1


async def test_an_edit_while_the_authors_role_is_unknown_takes_nothing_back(chat: Chat) -> None:
    async def find_role() -> Role:
        raise MessengerUnavailable("down")

    message = await says(chat, "remember that the door code is 12")
    await chat.sink(
        PersonEdit(
            event_id="e2",
            scope=ANA,
            message_id=message.message_id,
            text="remember that the door code is 13",
            at=chat.world.clock.tick(),
            of_event=message.event_id,
            role=Role.MEMBER,
            find_role=find_role,
        )
    )
    assert votes(chat) == {"ana: the door code is 12": 1}


@pytest.mark.parametrize("words", ["remember that the door code is {}", "No, it's {}"])
async def test_an_edit_that_arrives_after_the_deletion_of_its_message_teaches_nothing(chat: Chat, words: str) -> None:
    await chat.ask(QUESTION)
    message = await says(chat, words.format(12))
    earlier = chat.world.clock.tick()
    await deletes(chat, message)
    before = len(chat.messenger.posts)
    await edits(chat, message, words.format(13), earlier)
    assert 1 not in votes(chat).values()
    assert len(chat.messenger.posts) == before


@pytest.mark.parametrize("words", ["thanks!", "👍", "who keeps the codes?"])
async def test_an_edit_to_something_else_takes_back_the_correction(chat: Chat, words: str) -> None:
    await chat.ask(QUESTION)
    message = await says(chat, "No, it's 12")
    assert set(votes(chat).values()) == {1, -1}
    await edits(chat, message, words)
    assert not any(votes(chat).values())
    assert last(chat).text == "Forgotten: what your message corrected before you edited it."
    assert chat.world.memory.audit.check() == []


@pytest.mark.parametrize("words", ["remember that the door code is {}", "No, it's {}"])
async def test_an_edit_to_something_else_that_arrives_after_a_later_edit_takes_back_nothing(
    chat: Chat, words: str
) -> None:
    await chat.ask(QUESTION)
    message = await says(chat, words.format(12))
    earlier = chat.world.clock.tick()
    await edits(chat, message, words.format(14))
    before = votes(chat)
    await edits(chat, message, "who keeps the codes?", earlier)
    assert votes(chat) == before
    assert 1 in before.values()


async def test_an_edit_is_read_with_the_question_that_it_answers(chat: Chat) -> None:
    await chat.ask(QUESTION)
    message = await says(chat, "no, room 5")
    await edits(chat, message, "no, room 6")
    assert votes(chat) == {f"ana: {WRONG}": -1, "ana: room 6": 1}
    await chat.command("undo")
    assert votes(chat) == {}
    assert chat.world.memory.audit.check() == []


@pytest.mark.parametrize("words", [f"No, {RIGHT}", "nope", "Thanks, that worked"])
async def test_who_deletes_feedback_takes_it_back(chat: Chat, words: str) -> None:
    await chat.ask(QUESTION)
    message = await says(chat, words)
    assert votes(chat) != {}
    for _ in range(2):
        await deletes(chat, message)
    assert votes(chat) == {}
    assert chat.mark.get("post-1") is False
    assert chat.world.memory.audit.check() == []


async def test_who_deletes_a_correction_keeps_the_later_one(chat: Chat) -> None:
    def in_use() -> list[str]:
        return [each.output for each in chat.world.memory.audit.episodes(ANA.workspace, ALL)]

    await chat.ask(QUESTION)
    sent = [await says(chat, f"no, it's room {n}") for n in (5, 6, 7)]
    for n in (1, 0):
        await deletes(chat, sent[n])
        assert in_use() == ["it's room 7", WRONG]
        assert votes(chat) == {f"ana: {WRONG}": -1, "ana: it's room 7": 1}
    await deletes(chat, sent[2])
    assert votes(chat) == {}
    assert "it's room 7" not in in_use()


async def test_a_yes_is_about_the_question_that_was_named_even_if_that_is_deleted(chat: Chat) -> None:
    await chat.ask(QUESTION)
    ladder = await says(chat, LADDER)
    await says(chat, ATTIC)
    asked = last(chat)
    await deletes(chat, ladder)
    await press(chat, "Yes", post=asked)
    assert f"ana: {WRONG}" not in votes(chat)
