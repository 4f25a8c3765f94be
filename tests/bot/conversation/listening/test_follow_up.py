"""Which messages without a mention are for the bot."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from bot.conversation.feedback.handler import dismisses_bot
from bot.conversation.feedback.remarks import is_greeting, is_remark
from bot.conversation.listening.follow_up import MessageFacts, asks_something, depends_on_thread, is_for_bot
from bot.model import ThreadSoFar
from memory.model import ListeningMode

ALONE = ThreadSoFar(people=frozenset({"ana"}), is_last_ours=True, last_text="Paris.")
AMONG_PEOPLE = replace(ALONE, people=frozenset({"ana", "bob"}))
SOMEBODY_SPOKE = replace(AMONG_PEOPLE, is_last_ours=False, last_text="I think so")
WHICH = replace(AMONG_PEOPLE, last_text="Which of the two rooms?")
FACTS = MessageFacts(
    text="and of Spain?",
    author="ana",
    mode=ListeningMode.THREADS,
    is_muted=False,
    asker="ana",
    is_in_thread=True,
    thread=ALONE,
)
FOR_IT = {
    "alone with it": FACTS,
    "alone with it, without a question": replace(FACTS, text="I meant the old one"),
    "alone with it, with a picture only": replace(FACTS, text=""),
    "alone with it, before its answer": replace(FACTS, thread=replace(ALONE, is_last_ours=False)),
    "right after its answer": replace(FACTS, thread=AMONG_PEOPLE),
    "the rest of a question": replace(FACTS, thread=AMONG_PEOPLE, text="and of Spain"),
    "an order": replace(FACTS, thread=AMONG_PEOPLE, text="show me the other one please"),
    "what it asked for": replace(FACTS, thread=WHICH, text="the blue one"),
    "yes, where it asked": replace(FACTS, thread=WHICH, text="sure"),
    "a correction right after its answer": replace(FACTS, thread=AMONG_PEOPLE, text="No, it's room 5"),
    "a refusal right after its answer": replace(FACTS, thread=AMONG_PEOPLE, text="nope"),
    "approval right after its answer": replace(FACTS, thread=AMONG_PEOPLE, text="Thanks, that worked"),
    "approval, alone with it": replace(FACTS, text="that's right"),
    "a reply to it later": replace(FACTS, thread=SOMEBODY_SPOKE, replies_to_bot=True),
    "a reply to it outside of threads": replace(FACTS, is_in_thread=False, replies_to_bot=True, thread=None),
    "anybody's, where it always answers": replace(
        FACTS,
        mode=ListeningMode.ALWAYS,
        asker="",
        author="bob",
        is_in_thread=False,
        thread=None,
        text="the door is open",
    ),
}
NOT_FOR_IT = {
    "another person's": replace(FACTS, author="bob", thread=AMONG_PEOPLE),
    "between people": replace(FACTS, thread=SOMEBODY_SPOKE),
    "no question": replace(FACTS, thread=AMONG_PEOPLE, text="that room has no window"),
    "to a colleague": replace(FACTS, is_for_others=True),
    "to a colleague, where it always answers": replace(FACTS, mode=ListeningMode.ALWAYS, is_for_others=True),
    "thanks": replace(FACTS, text="thx"),
    "thanks, where it always answers": replace(FACTS, mode=ListeningMode.ALWAYS, text="Thanks a lot!"),
    "consent": replace(FACTS, text="sure"),
    "a smile": replace(FACTS, text="🙂"),
    "muted": replace(FACTS, is_muted=True),
    "muted, where it always answers": replace(FACTS, mode=ListeningMode.ALWAYS, is_muted=True),
    "only mentions": replace(FACTS, mode=ListeningMode.MENTION),
    "where it takes no part": replace(FACTS, asker=""),
    "outside of threads": replace(FACTS, is_in_thread=False, thread=None),
    "somebody else's correction": replace(FACTS, author="bob", thread=AMONG_PEOPLE, text="No, it's room 5"),
    "a correction of what somebody else wrote": replace(FACTS, thread=SOMEBODY_SPOKE, text="No, it's room 5"),
    "politeness that begins like a refusal": replace(FACTS, thread=AMONG_PEOPLE, text="No, thanks"),
    "a correction to a colleague": replace(FACTS, thread=AMONG_PEOPLE, text="No, it's room 5", is_for_others=True),
    "a correction, muted": replace(FACTS, thread=AMONG_PEOPLE, text="No, it's room 5", is_muted=True),
    "an unknown thread": replace(FACTS, thread=None),
    "yes, where it asked nothing": replace(FACTS, thread=AMONG_PEOPLE, text="yes"),
}


@pytest.mark.parametrize("facts", FOR_IT.values(), ids=FOR_IT)
def test_what_is_clearly_for_it(facts: MessageFacts) -> None:
    assert is_for_bot(facts)


@pytest.mark.parametrize("facts", NOT_FOR_IT.values(), ids=NOT_FOR_IT)
def test_what_is_not_clearly_for_it(facts: MessageFacts) -> None:
    assert not is_for_bot(facts)


threads = st.none() | st.builds(
    ThreadSoFar,
    people=st.frozensets(st.sampled_from(["ana", "bob", "cy"])),
    is_last_ours=st.booleans(),
    last_text=st.sampled_from(["Paris.", "Which one?", ""]),
)
texts = (
    st.sampled_from(["and of Spain?", "thx", "nope", "", "the door is open", "not you", "🙂", "No, it's room 5"])
    | st.text()
)
people = st.sampled_from(["ana", "bob"])
facts = st.builds(
    MessageFacts,
    text=texts,
    author=people,
    mode=st.sampled_from(ListeningMode),
    is_muted=st.booleans(),
    asker=people | st.just(""),
    is_in_thread=st.booleans(),
    replies_to_bot=st.booleans(),
    is_for_others=st.booleans(),
    thread=threads,
)


@given(facts)
def test_a_stricter_mode_never_answers_more(given_facts: MessageFacts) -> None:
    answered = [is_for_bot(replace(given_facts, mode=mode)) for mode in ListeningMode]
    assert answered == sorted(answered)
    assert not answered[0]


@given(facts)
def test_a_mute_and_a_mention_of_somebody_else_end_it_in_every_mode(given_facts: MessageFacts) -> None:
    assert not is_for_bot(replace(given_facts, is_muted=True))
    assert not is_for_bot(replace(given_facts, is_for_others=True))


@given(facts)
def test_by_default_only_the_asker_is_answered(given_facts: MessageFacts) -> None:
    if is_for_bot(replace(given_facts, mode=ListeningMode.THREADS)):
        assert given_facts.author == given_facts.asker


@given(facts, st.sampled_from(["bob", "cy"]))
def test_more_people_in_a_thread_never_make_it_answer_more(given_facts: MessageFacts, other: str) -> None:
    if given_facts.thread is None:
        return
    fuller = replace(given_facts.thread, people=given_facts.thread.people | {other})
    assert is_for_bot(given_facts) or not is_for_bot(replace(given_facts, thread=fuller))


@given(facts, threads)
def test_a_thread_that_would_not_matter_is_not_looked_at(given_facts: MessageFacts, thread: ThreadSoFar | None) -> None:
    unread = replace(given_facts, thread=None)
    read = replace(given_facts, thread=thread if given_facts.is_in_thread else None)
    if not depends_on_thread(unread) and not (unread.mode is ListeningMode.ALWAYS and is_remark(unread.text)):
        assert is_for_bot(read) == is_for_bot(unread)


@pytest.mark.parametrize(
    "text",
    [
        "what about Spain",
        "And what's the other?",
        "can you show me",
        "¿y de España?",
        "그건요？",
        "please tell me more",
    ],
)
def test_what_asks(text: str) -> None:
    assert asks_something(text)
    assert not is_remark(text)


@pytest.mark.parametrize("text", ["whatever", "the candle is lit", "I can do it", "ofcourse", "Isabel has it"])
def test_what_does_not_ask(text: str) -> None:
    assert not asks_something(text)


@pytest.mark.parametrize(
    "text",
    [
        *("thx", "Thank you so much!", "ok, got it", "sure", "no problem :)", "👍", "that worked, thanks", "haha"),
        *("thanks anyway!", "ok, thanks a lot anyway", "thanks again", "thanks everyone", "thank you for trying"),
        *("good bot", "well done, thanks", "you're the best!"),
    ],
)
def test_remarks(text: str) -> None:
    assert is_remark(text)


@pytest.mark.parametrize(
    "text",
    [
        *("thanks, and of Spain", "ok then which one?", "sure thing is broken", "", "no, room 5"),
        *("again", "thanks, try again", "thanks for the key, it fits not", "good bottles", "you are the owner"),
    ],
)
def test_more_than_remarks(text: str) -> None:
    assert not is_remark(text)


@pytest.mark.parametrize("text", ["not you", "Not you!", "no, not you", "not for you", "not you, bot"])
def test_words_that_mute(text: str) -> None:
    assert dismisses_bot(text)


@pytest.mark.parametrize("text", ["not your fault", "not you but the other one", "is it not you?", "you"])
def test_words_that_do_not_mute(text: str) -> None:
    assert not dismisses_bot(text)


@pytest.mark.parametrize("text", ["hi", "Hello!", "hey there 👋", "Good morning, bot", "hallo", "Guten Tag."])
def test_greetings(text: str) -> None:
    assert is_greeting(text)


@pytest.mark.parametrize("text", ["", "hi what is 6*7?", "hire whom?", "hello world program", "hi all hands", "thanks"])
def test_more_than_greetings(text: str) -> None:
    assert not is_greeting(text)
