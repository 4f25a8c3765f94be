"""A colleague's answer becomes a lesson, through the whole bot on the local Discord."""

from pathlib import Path
from typing import Any

from tests.doubles.discord import DiscordServer, Intent
from tests.doubles.discord.model import Channel, Message, Person
from tests.doubles.whole_bot import DiscordBot, discord_bot

QUESTION, ANSWER = "where is the spare key?", "Under the blue pot."
BOOKS = "📚"
READING: dict[str, Any] = {"reads": "everything", "answers": "post"}


async def talk(bot: DiscordBot, asker: Person, helper: Person, channel: Channel, answer: str = ANSWER) -> Message:
    """Two people, without the bot. Returns the answer, which replies to the question."""
    server = bot.session.server
    asked = server.says(asker, channel, QUESTION)
    said = server.says(helper, channel, answer, reply_to=asked)
    await bot.settled()
    return said


async def answer_to(bot: DiscordBot, person: Person, channel: Channel) -> str:
    """The first line that the bot answers; nothing where it only shrugs, because it did not know that before either."""
    before = len(bot.session.server.said(channel))
    bot.session.asks(QUESTION, channel=channel, person=person)
    await bot.settled()
    answers = bot.session.server.said(channel)[before:]
    return answers[-1].content.split("\n")[0] if answers else ""


async def hears(bot: DiscordBot, person: Person, words: str) -> Message:
    """The last thing the bot says to this person directly, once that has these words in it."""
    server, dm = bot.session.server, bot.session.server.dm(person)
    await server.until(lambda: [each for each in server.said(dm)[-1:] if words in each.content])
    return server.said(dm)[-1]


async def test_a_teachers_save_counts_until_it_is_taken_back(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            ana, general = bot.session.ana, bot.session.general
            server.person("tess", bot.session.guild)
            ben = server.person("ben", bot.session.guild)
            said = await talk(bot, ana, ben, general)
            assert server.calls("GET /channels/*/messages/*") == []
            server.reacts(tess, said, BOOKS)
            await hears(bot, tess, "what Ben answered")
            assert server.said(general) == []
            assert await answer_to(bot, ana, general) == ANSWER
            server.unreacts(tess, said, BOOKS)
            await hears(bot, tess, "Forgotten: what Ben answered")
            assert await answer_to(bot, ana, general) != ANSWER


async def test_a_members_save_waits_and_an_edit_reopens_and_a_deletion_retires(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            ana, general = bot.session.ana, bot.session.general
            server.person("tess", bot.session.guild)
            ben = server.person("ben", bot.session.guild)
            said = await talk(bot, ana, ben, general)
            server.reacts(ana, said, BOOKS)
            await hears(bot, ana, "when a teacher approves it")
            assert await answer_to(bot, ben, general) != ANSWER
            server.reacts(tess, said, BOOKS)
            await hears(bot, tess, "for everybody in")
            assert await answer_to(bot, ben, general) == ANSWER
            server.edits(said, "Under the red pot.")
            await hears(bot, ben, "waits for a teacher's approval")
            assert await answer_to(bot, ana, general) not in (ANSWER, "Under the red pot.")
            server.unreacts(tess, said, BOOKS)
            server.reacts(tess, said, BOOKS)
            await bot.settled()
            assert await answer_to(bot, ana, general) == "Under the red pot."
            server.deletes(said)
            await bot.settled()
            assert await answer_to(bot, ana, general) != "Under the red pot."


async def test_in_a_thread_the_question_is_what_began_it(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            ana, general = bot.session.ana, bot.session.general
            server.person("tess", bot.session.guild)
            ben = server.person("ben", bot.session.guild)
            root = server.says(ana, general, f"{server.bot.mention} {QUESTION}")
            await bot.settled()
            thread = server.thread(general, ana, source=root)
            said = server.says(ben, thread, f"Ask {ana.mention}.")
            await bot.settled()
            server.reacts(tess, said, BOOKS)
            await hears(bot, tess, "what Ben answered")
            assert await answer_to(bot, ben, general) == "Ask @Ana."


async def test_remember_this_asks_first_and_links_to_the_message(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), **READING) as bot:
            ana, general = bot.session.ana, bot.session.general
            server.person("tess", bot.session.guild)
            ben = server.person("ben", bot.session.guild)
            said = await talk(bot, ana, ben, general)
            for button in ("Cancel", "Keep it"):
                bot.session.asks("remember this", person=tess, reply_to=said)
                shown = await hears(bot, tess, f"> {ANSWER}")
                assert await answer_to(bot, ben, general) != ANSWER
                server.clicks(tess, shown, button)
                await hears(bot, tess, "Then I keep nothing" if button == "Cancel" else "Saved what Ben answered")
            assert await answer_to(bot, ben, general) == ANSWER
            bot.session.asks("why", person=ben)
            await hears(bot, ben, f"/{general.id}/{said.id}")


async def test_messages_of_bots_and_what_answers_nothing_are_not_saved(tmp_path: Path) -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        discord_bot(server, tmp_path, **READING) as bot,
    ):
        ana, general = bot.session.ana, bot.session.general
        asked = server.says(ana, general, QUESTION)
        robot = server.person("robot", bot.session.guild, is_bot=True)
        by_a_bot = server.says(robot, general, ANSWER, reply_to=asked)
        for message in (by_a_bot, asked):
            server.reacts(ana, message, BOOKS)
            await hears(bot, ana, "answers no question")
        await bot.settled()
        assert len(server.said(server.dm(ana))) == 1
        assert await answer_to(bot, ana, general) != ANSWER


async def test_without_the_intent_it_saves_what_mentions_it_and_says_why_nothing_else(tmp_path: Path) -> None:
    async with DiscordServer() as server:
        tess = server.person("tess")
        async with discord_bot(server, tmp_path, teachers=(tess.id,), answers="post") as bot:
            ana, general = bot.session.ana, bot.session.general
            server.person("tess", bot.session.guild)
            ben = server.person("ben", bot.session.guild)
            server.reacts(tess, await talk(bot, ana, ben, general), BOOKS)
            await hears(bot, tess, "whoever runs me can let me read more")
            asked = bot.session.asks(QUESTION)
            await bot.settled()
            server.reacts(tess, server.says(ben, general, f"{server.bot.mention} {ANSWER}", reply_to=asked), BOOKS)
            await hears(bot, tess, "Saved what Ben answered")
            await bot.settled()  # what mentions the bot is answered as well
            assert await answer_to(bot, ana, general) == ANSWER
