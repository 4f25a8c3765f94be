"""The whole bot in Discord, with its database: answered once, counted once, whatever Discord and the network do."""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from memory.model import Progress
from tests.doubles.discord import (
    DiscordServer,
    Hang,
    LostAnswer,
    Message,
    Reset,
    failing,
    rate_limited,
    refusing,
)
from tests.doubles.discord.interaction import Interaction
from tests.doubles.whole_bot import DiscordBot, discord_bot

SUM, ANSWER = "what is 6*7?", "6 * 7 = 42"
POSTS = "POST /channels/*/messages"
MARKS = "PUT /channels/*/messages/*/reactions/*/@me"


async def heard(bot: DiscordBot) -> None:
    """Until everything that happened before is done with. An answered question comes last."""
    marker = bot.session.asks("are we there yet?", channel=bot.session.server.channel(bot.session.guild, "marker"))
    await bot.session.server.until(lambda: bot.session.server.said(marker.channel_id))
    if bot.session.messenger._context:
        await bot.session.messenger._context.tasks.finished()
    await bot.idle()
    bot.session.server.deletes(*bot.session.server.messages(marker.channel_id))


def answers(bot: DiscordBot, question: Message) -> list[Message]:
    said = bot.session.server.said(bot.session.general)
    return [message for message in said if ANSWER in message.content and message.reply_to == question.id]


async def ask(bot: DiscordBot) -> tuple[Message, Message]:
    """Ask; returns the question and its one answer."""
    question = bot.session.asks(SUM)
    await bot.session.server.until(lambda: answers(bot, question))
    await bot.idle()
    [answer] = answers(bot, question)
    return question, answer


async def approve(bot: DiscordBot, answer: Message) -> None:
    bot.session.server.reacts(bot.session.ana, answer, "👍")
    await bot.session.server.until(lambda: bot.session.server.marks(answer) == ["🧠"])


async def test_events_that_come_three_times_and_after_a_restart_are_answered_and_counted_once(
    server: DiscordServer, tmp_path: Path
) -> None:
    async with discord_bot(server, tmp_path) as bot:
        server.repeats_events(3, events=1)
        question, answer = await ask(bot)
        server.repeats_events(3, events=1)
        await approve(bot, answer)
        server.redelivers("MESSAGE_REACTION_ADD", 2)
        await heard(bot)
        assert bot.votes(bot.session.workspace) == [(bot.session.ana.id, 1)]
    async with discord_bot(server, tmp_path) as bot:
        server.redelivers("MESSAGE_REACTION_ADD", 2)
        await heard(bot)
        assert bot.votes(bot.session.workspace) == [(bot.session.ana.id, 1)]
        assert bot.approved(bot.session.workspace) == [SUM]
        assert len(answers(bot, question)) == 1


async def test_a_question_that_comes_again_after_a_restart_is_not_answered_again(
    server: DiscordServer, tmp_path: Path
) -> None:
    async with discord_bot(server, tmp_path) as bot:
        question, _ = await ask(bot)
    async with discord_bot(server, tmp_path) as bot:
        server.redelivers("MESSAGE_CREATE", 3)
        await heard(bot)
        assert len(answers(bot, question)) == 1


Trouble = Callable[[DiscordServer], None]
GATEWAY: dict[str, Trouble] = {
    "closed": lambda server: server.closes_gateway(4000),
    "cut": lambda server: server.cuts_gateway(),
    "asked to reconnect": lambda server: server.asks_to_reconnect(),
    "invalid but resumable": lambda server: server.invalidates_sessions(resumable=True),
}


@pytest.mark.parametrize("trouble", GATEWAY.values(), ids=GATEWAY)
async def test_what_is_said_while_the_connection_is_gone_is_answered_once(
    server: DiscordServer, tmp_path: Path, trouble: Trouble
) -> None:
    async with discord_bot(server, tmp_path) as bot:
        _, answer = await ask(bot)
        trouble(server)
        question = bot.session.asks(SUM)
        server.replays_again(20)
        await approve(bot, answer)
        await server.until(lambda: answers(bot, question))
        await heard(bot)
        assert bot.votes(bot.session.workspace) == [(bot.session.ana.id, 1)]
        assert len(answers(bot, question)) == 1


async def test_after_an_invalid_session_it_identifies_again_and_old_answers_can_still_be_rated(
    server: DiscordServer, tmp_path: Path
) -> None:
    async with discord_bot(server, tmp_path) as bot:
        _, answer = await ask(bot)
        server.invalidates_sessions()
        await server.until(lambda: len(server.identifies()) == 2 and server.is_connected())
        await approve(bot, answer)
        await ask(bot)


@pytest.mark.parametrize(
    "trouble",
    [LostAnswer(), Reset(), failing(503), rate_limited(0.001)],
    ids=["lost answer", "reset", "503", "429"],
)
async def test_a_post_that_meets_trouble_is_there_once_and_a_reaction_on_it_counts(
    server: DiscordServer, tmp_path: Path, trouble: object
) -> None:
    server.fault(POSTS, trouble)  # type: ignore[arg-type]  # a union of troubles
    async with discord_bot(server, tmp_path) as bot:
        _, answer = await ask(bot)
        await approve(bot, answer)
        assert bot.approved(bot.session.workspace) == [SUM]
        assert bot.unfinished() == []


@pytest.mark.parametrize(
    "trouble",
    [LostAnswer(), Reset(), failing(503), rate_limited(3600.0), rate_limited(60.0, by_cloudflare=True)],
    ids=["lost answer", "reset", "503", "429 for an hour", "banned for a while"],
)
async def test_an_answer_that_discord_would_not_take_is_offered_again(
    server: DiscordServer, tmp_path: Path, trouble: object
) -> None:
    fault = server.fault(POSTS, trouble, times=None)  # type: ignore[arg-type]  # a union of troubles
    async with discord_bot(server, tmp_path, max_wait_s=30.0) as bot:
        question = bot.session.asks(SUM)
        await server.until(lambda: fault.hits)
        await bot.idle()
        assert bot.unfinished() == [Progress.ANSWERED]
        await bot.redeliver()
        server.clear_faults()
        assert await bot.redeliver() == 1
        [answer] = answers(bot, question)
        await approve(bot, answer)
        assert bot.unfinished() == []


async def test_an_answer_to_a_channel_that_was_deleted_meanwhile_is_given_up_with_one_clear_line(
    server: DiscordServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hanging = server.fault(POSTS, Hang())
    async with discord_bot(server, tmp_path) as bot:
        question = bot.session.asks(SUM)
        await server.until(lambda: hanging.hits)
        server.deletes_channel(bot.session.general)
        server.release(hanging)
        await bot.idle()
        assert bot.unfinished() == []
        kept = bot.message(bot.session.workspace, question.id)
        assert kept is not None
        assert kept.progress is Progress.UNDELIVERABLE
        assert await bot.redeliver() == 0
    [line] = [record.message for record in caplog.records if record.levelno >= logging.ERROR]
    assert "given up" in line
    assert bot.session.general.id in line


async def test_without_the_right_to_react_votes_count_all_the_same(server: DiscordServer, tmp_path: Path) -> None:
    refused = server.fault(MARKS, refusing(50013), times=None)
    async with discord_bot(server, tmp_path) as bot:
        _, answer = await ask(bot)
        server.reacts(bot.session.ana, answer, "👍")
        await server.until(lambda: refused.hits)
        assert bot.approved(bot.session.workspace) == [SUM]


async def test_of_those_who_only_take_reactions_off_each_other_s_messages_nothing_is_kept(
    server: DiscordServer, tmp_path: Path
) -> None:
    async with discord_bot(server, tmp_path) as bot:
        ben, cy = (server.person(name, bot.session.guild) for name in ("ben", "cy"))
        said = server.says(ben, bot.session.general, "lunch?")
        server.reacts(cy, said, "👍")
        server.unreacts(cy, said, "👍")
        await heard(bot)
        assert bot.memory.privacy.personal_data(bot.session.workspace, cy.id).is_empty


def _tells(pressed: Interaction, text: str) -> bool:
    return text in pressed.text


async def test_after_a_thumb_down_in_a_server_only_its_author_is_asked_which_parts_were_right(
    server: DiscordServer, tmp_path: Path
) -> None:
    async with discord_bot(server, tmp_path) as bot:
        ana, direct = bot.session.ana, server.dm(bot.session.ana)
        bot.session.asks("what is 6*7? and what is 3+3?")
        [answer] = await server.until(lambda: server.said(bot.session.general))
        await bot.idle()
        server.reacts(ana, answer, "👎")
        [asked] = await server.until(lambda: server.said(direct))
        assert "Which parts" in asked.content
        for part, judged in (("Right: what is 6*7?", "was right"), ("Wrong: what is 3+3?", "wrong way")):
            pressed = server.clicks(ana, asked, part)
            await server.until(partial(_tells, pressed, judged))
        await heard(bot)
        assert len(server.said(bot.session.general)) == 1
