"""What an asker's next message says of the answer."""

import pytest
from hypothesis import given, strategies as st

from bot.conversation.feedback.feedback_hints import LONGEST
from bot.conversation.feedback.feedback_in_words import (
    APPROVED,
    REFUSED,
    FeedbackReading,
    feedback_in,
    may_be_feedback,
    supplied_answer_in,
)

WHERE, POT = "where is the spare key?", "Under the red pot."
WHO, BOB = "who has the spare key?", "Bob has it."
HOW, PUSH = "how do I open the door?", "Push it."


@pytest.mark.parametrize(
    ("question", "answer", "message", "text"),
    [
        (WHERE, POT, "No, it's under the blue pot", "it's under the blue pot"),
        (WHERE, POT, "nope, under the blue one!", "under the blue one"),
        (WHERE, POT, "That's incorrect. Ana has it. 🙄", "Ana has it"),
        (WHERE, POT, "thats wrong it moved to the hall", "it moved to the hall"),
        (WHERE, POT, "Nein, der Schlüssel liegt bei Ana", "der Schlüssel liegt bei Ana"),
        (WHERE, POT, "Das ist leider veraltet, er hängt jetzt im Flur", "er hängt jetzt im Flur"),
        (WHERE, POT, "stimmt nicht, frag den Hausmeister", "frag den Hausmeister"),
        (WHERE, POT, "*blue pot", "blue pot"),
        (WHERE, POT, "Thanks, but that’s not right: the neighbours have it", "the neighbours have it"),
        (WHERE, POT, "that pot is gone, it's with the neighbours now", "it's with the neighbours now"),
        (WHO, BOB, "no, Ana", "Ana"),
        (WHO, BOB, "no, Ana :+1: :blush:!", "Ana :+1: :blush:"),
        (WHERE, POT, "no, it has been in room 7 since 10:30:", "it has been in room 7 since 10:30"),
        (WHO, BOB, "Nicht Bob, sondern Ana", "Ana"),
        (WHO, BOB, "Ana has it, not Bob", "Ana has it, not Bob"),
        ("what is the capital of Australia?", "Sydney.", "falsch, richtig ist Canberra", "Canberra"),
        ("is the cafeteria open on Sunday?", "Yes.", "no, it isn't open on Sunday", "it isn't open on Sunday"),
        ("how long is probation?", "Three months.", "Nope. Six months.", "Six months"),
        (HOW, PUSH, "That does not work, you need to pull it", "you need to pull it"),
        (HOW, PUSH, "no, pull it", "pull it"),
        (HOW, "Push it. Anything else I can do?", "no, pull it", "pull it"),
    ],
)
def test_corrections(question: str, answer: str, message: str, text: str) -> None:
    assert feedback_in(message, question, answer) == FeedbackReading(correction=text)


@pytest.mark.parametrize(
    "message",
    ["nope", "nein", "No.", "👎",
    "👎🏽", ":-1::skin-tone-3:", "👎👎",
    "that didn't help", "hat leider nicht geklappt", "wrong, try again", "no it doesn't",
     "That's not what I asked", "Das war falsch!", "I don't think that's right", "Nope, same error", "no, not there"],
)  # fmt: skip
def test_refusals(message: str) -> None:
    assert feedback_in(message, HOW, PUSH) == REFUSED


@pytest.mark.parametrize(
    "message",
    ["👍", "👍🏽", ":+1:", ":thumbsup::skin-tone-4:", "👍👍", ":+1: :+1:",
    "Thanks, that worked", "Danke, das hat geklappt", "it works!", "yes, that's right", "You were right",
    "found it, thx",
     "great, problem solved", "no way, that actually worked", "that did the trick, it is open again"],
)  # fmt: skip
def test_approvals(message: str) -> None:
    assert feedback_in(message, HOW, PUSH) == APPROVED


@pytest.mark.parametrize(
    "message",
    [
        "No, thanks", "no thank you", "nein danke, das reicht", "No, it's for tomorrow", "No, the other key",
        "no problem",
        "No, I mean the one in Berlin", "no need, I got it already", "No, there's no hurry", "No, make it shorter",
        "no clue what that means", "Nein, das brauche ich nicht", "actually never mind", "actually, show me the map",
        "actually I found it in my bag", "I solved it by restarting", "not right now, thanks", "wrong channel",
        "false alarm, it was in my pocket", "that's not wrong", "thanks a lot", "perfect", "sure",
        "No, in German please",
        "stimmt, danke für die Erinnerung", "exactly my thought", "oh no, it rains at 5", "No. 5 sounds good",
        "too long",
        "my old key is gone, I need a new one now", "it worked yesterday", "super helpful as always",
        "correct it please",
        "No, is it in room 5?", "@bob no, it's room 5", "> no, it's room 5", "no it is not urgent", "", "🙂",
        "no, it works now",
    ],
)  # fmt: skip
def test_ordinary_messages(message: str) -> None:
    assert feedback_in(message, WHERE, POT) is None


@pytest.mark.parametrize("message", ["nope, the big one", "No, it's room 5", "no", "that worked"])
def test_what_the_bot_asked_for_is_no_feedback(message: str) -> None:
    assert feedback_in(message, WHERE, "Do you mean the big room?") is None


def test_a_bare_no_may_decline_an_offer() -> None:
    assert feedback_in("no", HOW, "Push it. Let me know if you need anything else.") is None


@pytest.mark.parametrize(
    ("message", "right"),
    [
        ("Nein, im Keller", "im Keller"),
        ("Nein, sie ist im Keller", "sie ist im Keller"),
        ("Falsch, im Keller", "im Keller"),
    ],
)
def test_a_german_im_is_not_about_the_speaker(message: str, right: str) -> None:
    assert feedback_in(message, "wo ist die Leiter?", "In der Garage.") == FeedbackReading(correction=right)
    assert feedback_in("no, im lost", WHERE, POT) is None


@pytest.mark.parametrize("message", ["No, it's broken", "No, Ana knows that", "No, you have to see it"])
def test_half_evidence_is_not_sure(message: str) -> None:
    reading = feedback_in(message, WHERE, POT)
    assert reading is None or not reading.is_sure or message.startswith("No, you")


LADDER = "where is the ladder?"


@pytest.mark.parametrize(
    ("question", "message", "text"),
    [
        (LADDER, "it's in the attic", "it's in the attic"),
        (LADDER, "The ladder is in the attic.", "The ladder is in the attic"),
        ("where is the ladder", "we keep it behind the shed, thanks", "we keep it behind the shed"),
        ("who has the key?", "Ana has it", "Ana has it"),
        ("who has the key?", "Ana", "Ana"),
        ("who has the key?", "Ana Weber does", "Ana Weber does"),
        (LADDER, "in the attic", "in the attic"),
        (LADDER, "Under the blue pot.", "Under the blue pot"),
        ("when is lunch?", "at noon", "at noon"),
        ("when do we open?", "at 9:30", "at 9:30"),
        ("when do we open?", "on Mondays", "on Mondays"),
        ("wo ist die Leiter?", "im Keller", "im Keller"),
        ("what is the password?", "the password is swordfish", "the password is swordfish"),
        ("what is the password?", "it's swordfish", "it's swordfish"),
        ("when do we open?", "we open at 9", "we open at 9"),
        ("wo ist die Leiter?", "sie steht im Keller", "sie steht im Keller"),
        ("wer hat den Schlüssel?", "der Schlüssel ist bei Bob", "der Schlüssel ist bei Bob"),
    ],
)
def test_a_statement_may_be_the_answer_to_what_is_not_known(question: str, message: str, text: str) -> None:
    assert supplied_answer_in(message, question) == FeedbackReading(correction=text, is_sure=False)


@pytest.mark.parametrize(
    "message",
    ["and in winter?", "and in winter", "in winter", "now in Berlin", "is it in the attic", "it's in the attic?",
     "thanks", "ok", "in German please", "it's too long", "2", "the second one", "help", "show me the attic", "ask Bob",
     "look in the attic", "it's urgent", "it's not in the attic", "nobody knows", "that's a pity, Bob",
     "I left it in the attic", "the ladder in the attic is mine", "it's in the attic, can you keep that",
     "it's in the attic. What about the saw", "remember that the ladder is in the attic", "the saw is in the attic",
     "the ladder in the attic", "we need it at 5", "und die Leiter im Keller ist blau", "es ist dringend",
     "zeig mir den Keller", "", "🙂", "it's in the attic " * 40],
)  # fmt: skip
def test_what_is_no_plain_statement_about_it_is_no_such_answer(message: str) -> None:
    assert supplied_answer_in(message, LADDER) is None
    assert supplied_answer_in(message, "wo ist die Leiter?") is None


@pytest.mark.parametrize("message", ["Start the timer", "Mexico travel alerts", "Flip coin, heads"])
def test_not_every_capital_begins_a_name(message: str) -> None:
    assert supplied_answer_in(message, "who has the key?") is None
    assert supplied_answer_in("at the moment what is the time", LADDER) is None


def test_what_follows_no_question_answers_none() -> None:
    assert supplied_answer_in("it's in room 5", "the printer is broken") is None


words = st.lists(
    st.sampled_from(
        ["no", "nope", "that's", "wrong", "it's", "room", "5", "thanks", "worked", "not", "ask", "the", "desk", ",",
         ".", "nein", "das", "stimmt", "nicht", "geklappt", "but", "actually", "?", "\n", "👎", "*", "’", "I", "sorry"]
    )
)  # fmt: skip


@given(words.map(" ".join) | st.text(), st.text(), st.text())
def test_any_text_is_read(message: str, question: str, answer: str) -> None:
    reading = feedback_in(message, question, answer)
    if reading is None:
        return
    assert may_be_feedback(message)
    assert reading.correction.strip() == reading.correction
    assert reading.correction in message


@given(words.map(" ".join) | st.text())
def test_a_question_is_never_feedback(message: str) -> None:
    assert feedback_in(f"{message}?", HOW, PUSH) is None


def test_long_texts_are_no_remarks() -> None:
    assert feedback_in("No, " + "it is so " * LONGEST, HOW, PUSH) is None
