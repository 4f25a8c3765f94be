"""Streams that Slack does not let the bot end: the answer is there once, complete, and a reaction on it counts."""

from pathlib import Path

import pytest

from memory.model import Progress
from tests.doubles.slack import (
    ConnectionReset,
    RateLimited as Limited,
    Refused,
    ResponseLost,
    ServerBroken,
    SlackServer,
)
from tests.doubles.slack.faults import Fault
from tests.doubles.slack.state import Message
from tests.doubles.whole_bot import SlackBot, slack_bot

pytestmark = pytest.mark.usefixtures("short_streams")
SUM, ANSWER = "what is 6*7?", "6 * 7 = 42"


async def asked(bot: SlackBot) -> Message:
    """A question of ana's in a channel, once the bot has done what it can."""
    server = bot.session.server
    question = server.person("ana").says(server.channel("general"), SUM)
    await bot.session.settled()
    await bot.idle()
    return question


def said(server: SlackServer, question: Message) -> list[Message]:
    """What the bot said to it."""
    return [each for each in server.said_by_bot(question.channel, question.ts) if ANSWER in str(each)]


async def assert_counts(bot: SlackBot, answer: Message) -> None:
    """It is all there, with its thumbs, and a reaction on it makes a lesson."""
    assert [block["type"] for block in answer.blocks][-1] == "context_actions"
    bot.session.server.person("ana").reacts(answer, "+1")
    await bot.session.settled()
    assert bot.approved(bot.session.workspace) == [SUM]
    assert bot.unfinished() == []


@pytest.mark.parametrize("fault", [ServerBroken(503), Limited(3600), ConnectionReset()])
@pytest.mark.parametrize("is_restarted", [False, True])
async def test_a_stream_that_cannot_be_ended_now_is_ended_later(
    server: SlackServer, tmp_path: Path, fault: Fault, is_restarted: bool
) -> None:
    for method in ("chat.stopStream", "chat.update"):
        server.faults.next(method, fault, times=None)
    async with slack_bot(server, tmp_path, answers="stream") as bot:
        question = await asked(bot)
        [begun] = said(server, question)
        for _ in range(2):
            assert bot.unfinished() == [Progress.ANSWERED]
            await bot.redeliver()
        if not is_restarted:
            server.faults.clear()
            await bot.redeliver()
            assert said(server, question) == [begun]
            await assert_counts(bot, begun)
    if is_restarted:
        server.faults.clear()
        async with slack_bot(server, tmp_path, answers="stream") as bot:
            await bot.idle()
            assert said(server, question) == [begun]
            await assert_counts(bot, begun)
    assert len(server.calls("chat.startStream")) == 1


@pytest.mark.parametrize("code", ["cant_update_message", "edit_window_closed", "invalid_blocks"])
async def test_a_stream_that_may_never_be_completed_gives_way_to_one_post(
    server: SlackServer, tmp_path: Path, code: str
) -> None:
    server.faults.next("chat.stopStream", Refused("invalid_blocks"), times=None, where=lambda args: "blocks" in args)
    server.faults.next("chat.update", Refused(code), times=None)
    async with slack_bot(server, tmp_path, answers="stream") as bot:
        question = await asked(bot)
        assert await bot.redeliver() == 0
        [answer] = said(server, question)
        assert answer.stream is None
        await assert_counts(bot, answer)
    assert len(server.calls("chat.startStream")) == 1


async def test_what_was_streamed_and_can_not_even_be_deleted_is_posted_once(
    server: SlackServer, tmp_path: Path
) -> None:
    for method in ("chat.stopStream", "chat.update", "chat.delete"):
        server.faults.next(method, Refused("access_denied"), times=None)
    # The post fails at first, too: it is offered again, and no stream with it.
    server.faults.next("chat.postMessage", Limited(3600), times=2)
    async with slack_bot(server, tmp_path, answers="stream") as bot:
        question = await asked(bot)
        for left in (1, 1, 0):
            assert await bot.redeliver() == left
        [_, answer] = said(server, question)
        assert answer.stream is None
        await assert_counts(bot, answer)
    assert len(server.calls("chat.startStream")) == 1


async def test_a_stream_that_may_have_begun_is_looked_for_before_anything_is_posted(
    server: SlackServer, tmp_path: Path
) -> None:
    server.faults.next("chat.startStream", ResponseLost())
    server.faults.next("conversations.replies", ServerBroken(503), times=None)
    async with slack_bot(server, tmp_path, answers="stream") as bot:
        question = await asked(bot)
        assert bot.unfinished() == [Progress.ANSWERED]
        server.faults.clear()
        await bot.redeliver()
        [answer] = said(server, question)
        assert answer.stream is not None
        await assert_counts(bot, answer)
