"""The whole bot among people on Discord: what it answers where it may read along, and what counts where it is quiet."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doubles.discord import Channel, DiscordServer, File, Hang, Intent, Message, failing
from tests.doubles.whole_bot import DiscordBot, discord_bot

SUM, MORE = "what is 6*7?", "what is 6*8?"


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as running:
        yield running


@pytest.fixture
async def bot(server: DiscordServer, tmp_path: Path) -> AsyncIterator[DiscordBot]:
    async with discord_bot(server, tmp_path, reads="everything", answers="post") as running:
        yield running


async def begun(bot: DiscordBot) -> Channel:
    """A thread in which ana asked and was answered."""
    thread = bot.session.server.thread(bot.session.general, bot.session.ana)
    bot.session.asks(SUM, channel=thread)
    await bot.settled()
    assert said(bot, thread) == ["6 * 7 = 42"]
    return thread


def said(bot: DiscordBot, where: Channel) -> list[str]:
    return [message.content.split("\n")[0] for message in bot.session.server.said(where)]


async def test_follow_ups_are_answered_while_nobody_else_is_there(bot: DiscordBot, server: DiscordServer) -> None:
    thread, ben = await begun(bot), server.person("ben", bot.session.guild)
    server.says(bot.session.ana, thread, MORE)
    await bot.settled()
    server.says(bot.session.ana, thread, "thx")
    server.says(bot.session.ana, thread, f"{ben.mention} can you check {MORE}")
    server.says(ben, thread, "sure, it is 48")
    server.says(bot.session.ana, thread, MORE)
    server.says(ben, thread, "what is 1+1?")
    await bot.settled()
    assert said(bot, thread) == ["6 * 7 = 42", "6 * 8 = 48"]


async def test_among_people_its_asker_may_go_on_right_after_its_answer(bot: DiscordBot, server: DiscordServer) -> None:
    thread, ben = await begun(bot), server.person("ben", bot.session.guild)
    server.says(ben, thread, "interesting")
    bot.session.asks(SUM, channel=thread)
    await bot.settled()
    server.says(bot.session.ana, thread, MORE)
    await bot.settled()
    assert said(bot, thread)[-1] == "6 * 8 = 48"


async def test_a_reply_to_its_answer_is_for_it_without_a_ping(bot: DiscordBot, server: DiscordServer) -> None:
    general, ben = bot.session.general, server.person("ben", bot.session.guild)
    bot.session.asks(SUM)
    await bot.settled()
    [answer] = server.said(general)
    server.says(ben, general, "what is 1+1?", reply_to=answer.id, ping=False)
    server.says(bot.session.ana, general, "what is 2+2?")
    server.says(bot.session.ana, general, "I see", reply_to=answer.id, ping=False)
    server.says(bot.session.ana, general, MORE, reply_to=answer.id, ping=False)
    await bot.settled()
    assert said(bot, general) == ["6 * 7 = 42", "6 * 8 = 48"]


async def test_it_is_quiet_where_discord_does_not_say_who_else_is_there(bot: DiscordBot, server: DiscordServer) -> None:
    thread = await begun(bot)
    server.fault("GET /channels/*/messages", failing(503), times=None)
    server.says(bot.session.ana, thread, MORE)
    await bot.settled()
    assert len(said(bot, thread)) == 1


async def test_a_mute_lasts_until_a_mention_and_buttons_forms_and_reactions_count_meanwhile(
    bot: DiscordBot, server: DiscordServer
) -> None:
    thread = await begun(bot)
    [answer] = server.said(thread)
    server.reacts(bot.session.ana, answer, "🤐")
    await bot.settled()
    server.says(bot.session.ana, thread, MORE)
    await bot.settled()
    assert len(said(bot, thread)) == 1

    server.reacts(bot.session.ana, answer, "👍")
    await server.until(lambda: server.marks(answer) == ["🧠"])
    server.unreacts(bot.session.ana, answer, "👍")
    await server.until(lambda: server.marks(answer) == [])
    server.clicks(bot.session.ana, answer, "👍")
    await server.until(lambda: server.marks(answer) == ["🧠"])

    bot.session.asks(SUM, channel=thread)
    await bot.settled()
    server.says(bot.session.ana, thread, MORE)
    await bot.settled()
    assert said(bot, thread)[1:] == ["6 * 7 = 42", "6 * 8 = 48"]


async def test_a_teacher_makes_a_channel_one_where_it_always_answers(server: DiscordServer, tmp_path: Path) -> None:
    guild = server.guild("Home")
    teacher = server.person("teacher", guild)
    async with discord_bot(server, tmp_path, reads="everything", teachers=(teacher.id,)) as bot:
        general = bot.session.general
        server.says(bot.session.ana, general, SUM)
        await bot.settled()
        bot.session.asks("mode always", person=teacher)
        await bot.settled()
        server.says(bot.session.ana, general, SUM)
        server.says(bot.session.ana, general, f"{teacher.mention} what is 1+1?")
        await bot.settled()
        assert [text for text in said(bot, general) if "=" in text] == ["6 * 7 = 42"]


async def test_an_ignored_message_that_is_edited_to_mention_it_is_answered(
    bot: DiscordBot, server: DiscordServer
) -> None:
    asked = server.says(bot.session.ana, bot.session.general, SUM)
    await bot.settled()
    server.edits(asked, f"{server.bot.mention} {SUM}")
    await bot.settled()
    assert said(bot, bot.session.general) == ["6 * 7 = 42"]


async def test_nobody_waits_in_a_channel_for_anothers_slow_file(bot: DiscordBot, server: DiscordServer) -> None:
    ben = server.person("ben", bot.session.guild)
    slow = server.fault("GET /attachments/**", Hang())
    bot.session.asks("what is in it?", files=[File(name="a.txt", content=b"tea", media_type="text/plain")])
    asked = bot.session.asks(SUM, person=ben)

    def answer() -> list[Message]:
        return [each for each in server.said(bot.session.general) if each.reply_to == asked.id]

    await server.until(answer)
    assert "6 * 7 = 42" in answer()[0].content
    server.release(slow)


async def test_who_is_too_fast_reads_so_in_their_direct_messages_once(bot: DiscordBot, server: DiscordServer) -> None:
    for number in range(25):
        bot.session.asks(f"what is {number}*2?")
    await bot.settled()
    assert len(server.said(bot.session.general)) == 20
    [notice] = server.said(server.dm(bot.session.ana))
    assert "I answer you here again in 1 minute" in notice.content
    bot.session.asks("No, it's 99 in our units")
    bot.session.asks("No thanks, it's fine")
    await bot.settled()
    assert sorted(value for _, value in bot.votes(bot.session.workspace)) == [-1, 1]
    assert server.said(server.dm(bot.session.ana)) == [notice]
    assert len(server.said(bot.session.general)) == 20


async def test_only_what_is_taken_off_its_own_message_ends_a_mute(bot: DiscordBot, server: DiscordServer) -> None:
    session = bot.session
    thread = server.thread(session.general, session.ana)
    session.asks("what is 2+2?", channel=thread)
    await bot.settled()
    [answer] = server.said(thread)
    server.reacts(session.ana, answer, "🤐")
    await bot.settled()
    remark = server.says(session.ana, thread, "what is 3+3?")
    await bot.settled()
    server.reacts(session.ana, remark, "🤐")
    server.unreacts(session.ana, remark, "🤐")
    await bot.settled()
    server.says(session.ana, thread, "what is 4+4?")
    await bot.settled()
    assert server.said(thread) == [answer]
    server.unreacts(session.ana, answer, "🤐")
    await bot.settled()
    server.says(session.ana, thread, "what is 5+5?")
    await bot.settled()
    assert [each.content.split("\n")[0] for each in server.said(thread)][1:] == ["5 + 5 = 10"]
