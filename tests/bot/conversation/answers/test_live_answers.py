"""Answers that are shown while they are written: what is shown, what never is, and how they end."""

import asyncio
import itertools
import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from bot.adapters.llm.provider_model import ProviderModel
from bot.adapters.slack.outgoing.mrkdwn import defuse_mentions
from bot.conversation.answers.live_answers import LiveAnswer, LiveAnswers, complete_beginning
from bot.errors import MessengerUnavailable
from bot.model import BotMessage
from memory.adapters.secrets import FormatFinder
from memory.rules.redaction import Redactor
from tests.doubles.conversation import Chat, RecordingMessenger
from tests.doubles.openai_server import OpenAIServer, Scripted, failure, text, tool_call

LONG = "The spare key hangs behind the front desk, on the left, below the clock that is always late."


class StreamingMessenger(RecordingMessenger):
    """Also keeps what it is shown of answers that are still written."""

    pace_s = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.partials: list[BotMessage] = []
        self.dropped: list[str] = []
        self.has_partial, self.has_shown = asyncio.Event(), threading.Event()

    async def stream_partial(self, message: BotMessage) -> None:
        if "stream_partial" in self.fails:
            raise MessengerUnavailable("the platform is down")
        self.partials.append(message)
        self.has_partial.set()
        self.has_shown.set()

    async def drop_partial(self, message: BotMessage) -> None:
        self.dropped.append(message.run_id)

    @property
    def steps(self) -> list[str]:
        return [each.text for each in self.partials]


@asynccontextmanager
async def chatting(
    *replies: Scripted, tool_calls: str = "native", waits_at: int = 0
) -> AsyncIterator[tuple[Chat, StreamingMessenger]]:
    """A chat whose model writes these over HTTP, piece by piece; at one piece it waits until something was shown."""
    messenger, pieces = StreamingMessenger(), itertools.count(1)
    with OpenAIServer() as server:
        server.between = lambda: next(pieces) == waits_at and messenger.has_shown.wait(15)
        server.script(*replies)
        model = ProviderModel("openai:gpt-4o-mini", base_url=server.base_url, api_key="k", retries=0)
        chat = Chat(model=model, messenger=messenger)
        answering = chat.bot._answering
        answering._live_answers = LiveAnswers(chat.world.memory, chat.executor)
        object.__setattr__(answering._agent, "tool_calls", tool_calls)
        try:
            yield chat, messenger
        finally:
            await model.close()


def final(said: str) -> Scripted:
    return tool_call("final_answer", json.dumps({"text": said}))


async def test_an_answer_is_shown_while_it_is_written() -> None:
    async with chatting(final(LONG), waits_at=12) as (chat, messenger):
        await chat.ask("where is the spare key of the van?")
    assert messenger.answers == [LONG]
    assert messenger.steps
    assert all(LONG.startswith(step) for step in messenger.steps)
    assert messenger.steps == sorted(set(messenger.steps), key=len)
    posted = messenger.posts[-1]
    assert {(each.run_id, each.part, each.channel) for each in messenger.partials} == {
        (posted.run_id, 1, posted.channel)
    }
    assert messenger.dropped == []


async def test_the_written_form_is_shown_from_its_label_on() -> None:
    said = f"Thought: I know where it hangs, for I was told.\nAnswer: {LONG}"
    async with chatting(text(said), tool_calls="text", waits_at=18) as (chat, messenger):
        await chat.ask("where is the spare key of the van?")
    assert messenger.answers == [LONG]
    assert messenger.steps
    assert all(LONG.startswith(step) for step in messenger.steps)


@pytest.mark.parametrize(
    "first",
    [
        tool_call("nothing_like_that", json.dumps({"text": LONG}), content=f"I shall look it up now. {LONG}"),
        tool_call("think", json.dumps({"thought": LONG})),
        tool_call("final_answer", json.dumps({"thought": LONG})),
        tool_call("final_answer", f'{{"text": ["{LONG}"]}}'),
        text(LONG, finish_reason="stop"),
    ],
)
async def test_thoughts_calls_and_plain_text_are_not_shown_as_the_answer(first: Scripted) -> None:
    async with chatting(first, text("It hangs there.")) as (chat, messenger):
        await chat.ask("where is the spare key of the van?")
    assert messenger.steps == []
    assert len(messenger.answers) == 1


async def test_the_answers_of_parts_are_not_shown() -> None:
    split = tool_call("expand", json.dumps({"flow": "sequence", "subgoals": ["find the van", "find the key"]}))
    async with chatting(split, final(LONG), final(LONG)) as (chat, messenger):
        await chat.ask("where are the van and its spare key?")
    assert messenger.steps == []
    assert messenger.answers == [f"{LONG}\n\n{LONG}"]


async def test_a_stream_that_breaks_off_is_followed_by_the_whole_answer() -> None:
    broken = replace(final(LONG), breaks_after=10)
    async with chatting(broken, final(LONG), waits_at=9) as (chat, messenger):
        await chat.ask("where is the spare key of the van?")
    assert messenger.answers == [LONG]
    assert messenger.steps


async def test_what_was_shown_is_taken_away_where_no_answer_comes() -> None:
    async with chatting(replace(final(LONG), breaks_after=12), *[failure(401, "no key")] * 2, waits_at=10) as (
        chat,
        messenger,
    ):
        await chat.ask("where is the spare key of the van?")
    # The apology takes its place.
    assert messenger.posts[-1].run_id == messenger.partials[-1].run_id
    assert LONG not in messenger.answers
    assert messenger.dropped == []


async def test_a_platform_that_does_not_show_it_gets_the_whole_answer() -> None:
    async with chatting(final(LONG)) as (chat, messenger):
        messenger.fails.add("stream_partial")
        await chat.ask("where is the spare key of the van?")
    assert messenger.answers == [LONG]


async def test_an_edited_question_takes_away_what_was_shown() -> None:
    messenger, told = StreamingMessenger(), BotMessage(workspace="w", channel="c", text="", run_id="r", is_answer=True)

    async def same(said: str) -> str:
        return said

    live_answer = LiveAnswer(messenger, told, same)
    live_answer.update(f"{LONG} and so on")
    await messenger.has_partial.wait()
    await live_answer.end()
    assert messenger.dropped == ["r"]
    live_answer.is_kept = True
    await live_answer.end()
    assert messenger.dropped == ["r"]


# What never slips through ---------------------------------------------------------------------------------------

_SECRETS = ("sk-" + "a1B2" * 8, "xoxb-" + "123456789012-abcdefghijkl", "AKIA" + "IOSFODNN7EXAMPLE", "hunter2xyz9")
_HIDDEN = (
    f"Use {_SECRETS[0]} for it, please.",
    f"The token is {_SECRETS[1]} as ever.",
    f"key {_SECRETS[2]}, and no other one",
    f"password: {_SECRETS[3]} is what opens it",
    f"postgres://bob:{_SECRETS[3]}@db.example/x is where",
)
_CALLS = ("<!channel>", "<!here|here now>", "<@U0123456>", "<@U0123456|John Q Public>", "@everyone", "&lt;!channel&gt;")
_WORDS = st.sampled_from(["The key", "hangs there,", "below\n", "a < b", "x > y", "`code`", "(see", "below)", "fine."])


@given(
    st.lists(st.one_of(_WORDS, st.sampled_from(_HIDDEN), st.sampled_from(_CALLS)), min_size=1, max_size=8),
    st.lists(st.integers(1, 40), min_size=1, max_size=30),
)
def test_no_secret_and_no_mention_slips_through_between_two_steps(words: Sequence[str], sizes: Sequence[int]) -> None:
    whole, redactor = " ".join(words), Redactor(FormatFinder())
    shown, at = "", 0
    while at < len(whole):
        at += sizes[at % len(sizes)]
        text_now = redactor.text(complete_beginning(whole[:at])).rstrip()
        if not text_now.startswith(shown):
            continue
        # What Slack has after this step is what it had, and the new piece behind it.
        before, now = defuse_mentions(shown), defuse_mentions(text_now)
        if now.startswith(before):
            assert before + now[len(before) :] == defuse_mentions(before + now[len(before) :])
        shown = text_now
        assert not any(secret in shown for secret in _SECRETS)
        assert defuse_mentions(now) == now
        assert "<!channel>" not in now
        assert "<@U0123456" not in now


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("one two thr", "one two "),
        ("one", ""),
        ("look at <@U1|John ", "look at "),
        ("look at <@U1|John Doe> and ", "look at <@U1|John Doe> and "),
        ("see [the docs](http://a b ", "see [the docs"),
        ("if a < b then\nthe next ", "if a < b then\nthe next "),
        ("if a < b then ", "if a "),
        ("look at &lt;!here|now ", "look at "),
    ],
)
def test_what_is_certain(said: str, shown: str) -> None:
    assert complete_beginning(said) == shown
