"""What people asked while the bot was away: found in the channels, answered once, and marked as late."""

from datetime import timedelta
from pathlib import Path

from bot.conversation.messages import LATE
from memory.adapters.system import utc_now
from tests.doubles.discord import DiscordServer, Message
from tests.doubles.discord.permissions import Permission
from tests.doubles.whole_bot import DiscordBot, discord_bot

SUM, ANSWER = "what is 6*7?", "6 * 7 = 42"


def answers(server: DiscordServer, question: Message) -> list[str]:
    return [message.content for message in server.said(question.channel_id) if message.reply_to == question.id]


async def caught_up(bot: DiscordBot) -> None:
    """Until everything that happened before is done with."""
    context = bot.session.messenger._context
    assert context is not None
    await bot.session.server.until(lambda: "catch up" not in str(context.tasks._running))
    await context.tasks.finished()
    await bot.idle()


async def test_a_question_from_while_it_was_away_is_answered_once_and_marked_as_late(
    server: DiscordServer, tmp_path: Path
) -> None:
    async with discord_bot(server, tmp_path) as bot:
        session = bot.session
        heard = session.asks("what is 3*3?")
        await server.until(lambda: answers(server, heard))
        ben = server.person("ben", session.guild)
        thread = server.thread(session.general, ben)
    missed = [session.asks(SUM), session.asks(SUM, person=ben, channel=thread)]
    others = [server.says(ben, session.general, "lunch?"), session.asks("help")]
    live: list[Message] = []
    for _ in range(2):
        async with discord_bot(server, tmp_path) as bot:
            await server.until(lambda: all(answers(server, each) for each in missed))
            await caught_up(bot)
            live.append(bot.session.asks("what is 5*5?"))
            await server.until(lambda: all(answers(server, each) for each in live))
    for question in missed:
        [answer] = answers(server, question)
        assert ANSWER in answer
        assert LATE in answer
    assert [len(answers(server, each)) for each in (heard, *others)] == [1, 0, 0]
    assert LATE not in "".join(text for each in (heard, *live) for text in answers(server, each))


async def test_what_is_older_than_an_hour_and_what_it_may_not_read_is_left_alone(tmp_path: Path) -> None:
    times = [utc_now() - timedelta(minutes=61)]
    async with DiscordServer(clock=lambda: times[-1]) as server:
        async with discord_bot(server, tmp_path) as bot:
            session = bot.session
            closed = server.channel(session.guild, "closed")
            server.rights(closed, server.bot, deny=Permission.READ_MESSAGE_HISTORY)
        old = session.asks(SUM)
        times.append(utc_now())
        unread = session.asks(SUM, channel=closed)
        async with discord_bot(server, tmp_path) as bot:
            live = bot.session.asks("what is 5*5?")
            await server.until(lambda: answers(server, live))
            await caught_up(bot)
        assert (answers(server, old), answers(server, unread)) == ([], [])
