"""The whole bot in Slack, with its database: answered once, counted once, whatever Slack and the network do."""

import logging
from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters import forms
from bot.adapters.slack.outgoing import blocks
from memory.errors import StoreUnavailable
from memory.model import Incoming, Progress, Visibility
from memory.services.recording.record import Recording
from tests.bot.adapters.slack.conversing import say
from tests.doubles.slack import (
    ConnectionReset,
    Hang,
    Person,
    RateLimited,
    Refused,
    ResponseLost,
    ServerBroken,
    SlackServer,
)
from tests.doubles.slack.faults import Fault
from tests.doubles.slack.state import Message
from tests.doubles.whole_bot import SlackBot, slack_bot

SUM, ANSWER = "what is 6*7?", "6 * 7 = 42"


async def ask(bot: SlackBot, ana: Person, channel: str, text: str = SUM) -> Message:
    """Ask and wait until the bot has done what it can."""
    return await say(bot, ana, channel, text)


async def approve(bot: SlackBot, ana: Person, answer: Message) -> None:
    ana.reacts(answer, "+1")
    await bot.session.settled()


def answers(server: SlackServer, channel: str, question: Message) -> list[str]:
    return [message.text for message in server.said_by_bot(channel, question.ts) if ANSWER in message.text]


async def test_events_that_come_three_times_and_after_a_restart_are_answered_and_counted_once(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        question = await ask(bot, ana, general)
        [answer] = server.said_by_bot(general, question.ts)
        await approve(bot, ana, answer)
        sent = [each for each in server.deliveries.sent if each.kind == "events_api"]
        for delivery in sent:
            server.deliveries.repeat(delivery, times=2)
        await bot.session.settled()
        await bot.idle()
        assert bot.votes(bot.session.workspace) == [(ana.id, 1)]
    async with slack_bot(server, tmp_path) as bot:
        for delivery in reversed(sent):
            server.deliveries.repeat(delivery)
        await bot.session.settled()
        await bot.idle()
        assert bot.votes(bot.session.workspace) == [(ana.id, 1)]
        assert bot.approved(bot.session.workspace) == [SUM]
    assert answers(server, general, question) == [answer.text]


async def test_a_reaction_taken_back_that_is_heard_in_the_wrong_order_stays_taken_back(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    async with slack_bot(server, tmp_path) as bot:
        question = await ask(bot, ana, general)
        [answer] = server.said_by_bot(general, question.ts)
        server.deliveries.hold()
        ana.reacts(answer, "+1")
        ana.unreacts(answer, "+1")
        server.deliveries.release(order=[1, 0])
        await bot.session.settled()
        assert bot.votes(bot.session.workspace) == []
        assert bot.approved(bot.session.workspace) == []


@pytest.mark.parametrize("way", ["refresh", "close", "cut"])
async def test_what_is_said_while_the_connection_is_gone_is_answered_once(
    server: SlackServer, ana: Person, general: str, tmp_path: Path, way: str
) -> None:
    async with slack_bot(server, tmp_path, ping_interval_s=0.1) as bot:
        before = await ask(bot, ana, general)
        [answer] = server.said_by_bot(general, before.ts)
        if way == "refresh":
            await server.socket_mode.ask_to_refresh()
        elif way == "close":
            await server.socket_mode.close_politely()
        else:
            server.socket_mode.cut()
        meanwhile = ana.says(general, SUM)
        ana.reacts(answer, "+1")
        await server.wait_for(lambda: server.socket_mode.opened == 2)
        server.deliveries.redeliver_unacked()
        await bot.session.settled()
        await bot.idle()
        assert bot.votes(bot.session.workspace) == [(ana.id, 1)]
    assert len(answers(server, general, meanwhile)) == 1


@pytest.mark.parametrize("fault", [ResponseLost(), ConnectionReset(), ServerBroken(503), RateLimited(1)])
async def test_a_post_that_meets_trouble_is_there_once_and_a_reaction_on_it_counts(
    server: SlackServer, ana: Person, general: str, tmp_path: Path, fault: Fault
) -> None:
    server.faults.next("chat.postMessage", fault)
    async with slack_bot(server, tmp_path) as bot:
        question = await ask(bot, ana, general)
        [answer] = server.said_by_bot(general, question.ts)
        await approve(bot, ana, answer)
        assert bot.approved(bot.session.workspace) == [SUM]
        assert "brain" in answer.reactions
        assert bot.unfinished() == []


@pytest.mark.parametrize("fault", [ServerBroken(503), RateLimited(3600), ConnectionReset(), ResponseLost()])
async def test_an_answer_that_slack_would_not_take_is_offered_again(
    server: SlackServer, ana: Person, general: str, tmp_path: Path, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    server.faults.next("chat.postMessage", fault, times=6)
    # Nor does Slack say what was posted, so that only a later look can tell.
    server.faults.next("conversations.replies", ServerBroken(503), times=None)
    async with slack_bot(server, tmp_path) as bot:
        question = await ask(bot, ana, general)
        assert bot.unfinished() == [Progress.ANSWERED]
        await bot.redeliver()
        server.faults.clear()
        await bot.redeliver()
        [answer] = server.said_by_bot(general, question.ts)
        await approve(bot, ana, answer)
        assert bot.approved(bot.session.workspace) == [SUM]
        assert bot.unfinished() == []
    assert [
        record.message for record in caplog.records if record.levelno >= logging.ERROR and "part 1" in record.message
    ]


@pytest.mark.parametrize("is_new_process", [False, True])
async def test_a_question_asked_while_its_channel_cannot_be_looked_up_is_answered(
    server: SlackServer,
    ana: Person,
    general: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_new_process: bool,
) -> None:
    monkeypatch.setattr("bot.adapters.slack.directory._TTL", timedelta(seconds=-1))  # over as soon as it was looked up
    async with slack_bot(server, tmp_path) as bot:
        await ask(bot, ana, general, "what is 1+1?")
    async with slack_bot(server, tmp_path) as bot:
        if not is_new_process:
            await ask(bot, ana, general, "what is 1+1?")
        server.faults.next("conversations.info", ServerBroken(503), times=3)
        server.faults.next("chat.postMessage", ServerBroken(503), times=6)
        question = await ask(bot, ana, general)
        assert bot.unfinished() == [Progress.ANSWERED]
        server.faults.clear()
        await ask(bot, ana, general, "what is 2+2?")
        await bot.redeliver()
        with bot.memory.store.read() as tx:
            known = tx.channels.get(bot.session.workspace, general)
    assert len(answers(server, general, question)) == 1
    assert known is not None
    assert known.visibility is Visibility.PUBLIC


async def test_an_answer_to_a_channel_that_was_archived_meanwhile_is_given_up_with_one_clear_line(
    server: SlackServer, ana: Person, general: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hang = Hang()
    server.faults.next("chat.postMessage", hang)
    async with slack_bot(server, tmp_path) as bot:
        question = ana.says(general, SUM)
        await server.wait_for(lambda: server.calls("chat.postMessage"))
        server.archive(general, ana)
        hang.release()
        await bot.idle()
        assert bot.unfinished() == []
        kept = bot.message(bot.session.workspace, f"{general}/{question.ts}")
        assert kept is not None
        assert kept.progress is Progress.UNDELIVERABLE
        assert await bot.redeliver() == 0
    [line] = [record.message for record in caplog.records if record.levelno >= logging.ERROR]
    assert "given up" in line
    assert "is_archived" in line


async def test_without_the_right_to_react_votes_count_all_the_same(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    server.faults.next("reactions.add", Refused("missing_scope", {"needed": "reactions:write"}), times=None)
    async with slack_bot(server, tmp_path) as bot:
        question = await ask(bot, ana, general)
        [answer] = server.said_by_bot(general, question.ts)
        await approve(bot, ana, answer)
        assert bot.approved(bot.session.workspace) == [SUM]
        assert server.calls("reactions.add")


async def test_what_was_neither_stored_nor_answered_for_is_not_acknowledged_and_answered_when_it_comes_again(
    server: SlackServer, ana: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with slack_bot(server, tmp_path) as bot:

        def fails(recording: Recording, message: Incoming, **_: object) -> Incoming | None:
            raise StoreUnavailable("the disk is full")

        with monkeypatch.context() as patched:
            patched.setattr(Recording, "accept", fails)
            server.faults.next("chat.postMessage", ServerBroken(503), times=None)
            question = ana.says(ana.dm, SUM)
            await server.wait_for(lambda: len(server.calls("chat.postMessage")) == 3)
        server.faults.clear()
        ana.says(ana.dm, "what is 3*3?")
        await server.wait_for(lambda: len(server.deliveries.unacked()) == 1 and server.said_by_bot(ana.dm))
        server.deliveries.redeliver_unacked()
        await bot.session.settled()
        await bot.idle()
    assert len(answers(server, ana.dm, question)) == 1


@pytest.mark.usefixtures("short_streams")
async def test_a_stream_that_a_killed_process_left_open_is_completed_by_the_next_one(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    server.faults.next("chat.stopStream", Hang())
    async with slack_bot(server, tmp_path, answers="stream") as bot:
        question = ana.says(general, SUM)
        await server.wait_for(lambda: server.calls("chat.stopStream"))
        await bot.running.goodbot.conversations.cancel_all(5.0)
        assert bot.unfinished() == [Progress.ANSWERED]
        [begun] = server.said_by_bot(general, question.ts)
        assert begun.stream is not None
        assert begun.stream.state == "open"
    # The killed process's call never reached Slack.
    server.faults.next("chat.stopStream", ConnectionReset())
    async with slack_bot(server, tmp_path, answers="stream") as bot:
        await bot.idle()
        assert bot.unfinished() == []
        [answer] = server.said_by_bot(general, question.ts)
        assert answer.ts == begun.ts
        await approve(bot, ana, answer)
        assert bot.approved(bot.session.workspace) == [SUM]


async def test_what_the_workspace_knows_is_not_shown_where_another_organisation_reads(
    server: SlackServer, ana: Person, general: str, tmp_path: Path
) -> None:
    tea, eve = server.person("tea"), server.person("eve", external_team="T9999")
    partners, elsewhere = server.channel("partners", shared=True), server.channel("elsewhere")
    async with slack_bot(server, tmp_path, teachers=(tea.id,)) as bot:
        said = tea.says(general, "Under the blue pot.", mention=False)
        await tea.uses_shortcut(said, blocks.TEACH_SHORTCUT).answered()
        await tea.submits({forms.QUESTION: "where is the spare key?", forms.AUDIENCE: "workspace"}).answered()
        known = await ask(bot, ana, elsewhere, "where is the spare key?")
        asked = [await ask(bot, person, partners, "where is the spare key?") for person in (eve, ana)]
        for person in (eve, ana):
            person.says(partners, "memory")
            person.says(partners, "why")
        await bot.session.settled()
    assert "blue pot" in str(server.said_by_bot(elsewhere, known.ts))
    shown = [server.said_by_bot(partners, question.ts) for question in asked]
    assert all(shown)
    told = [server.ephemerals(person, partners) for person in (eve, ana)]
    assert all(told)
    assert "blue pot" not in str(shown) + str(told)
