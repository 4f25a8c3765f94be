"""A colleague's answer becomes a lesson, through the whole bot in the local Slack."""

from pathlib import Path

from tests.doubles.slack import Person, SlackServer
from tests.doubles.slack.state import Ephemeral, Message
from tests.doubles.whole_bot import SlackBot, slack_bot

QUESTION, ANSWER = "where is the spare key?", "Under the blue pot."
BOOKS = "books"


async def talk(bot: SlackBot, asker: Person, helper: Person, channel: str, answer: str = ANSWER) -> Message:
    """Two people, without the bot. Returns the answer."""
    root = asker.says(channel, QUESTION, mention=False)
    said = helper.says(channel, answer, thread_ts=root.ts, mention=False)
    await bot.settled()
    return said


async def answer_to(bot: SlackBot, person: Person, channel: str, question: str = QUESTION) -> str:
    """The first line that the bot answers."""
    asked = person.says(channel, question, mention=True)
    await bot.settled()
    return bot.session.server.said_by_bot(channel, asked.ts)[0].text.split("\n")[0]


async def hears(bot: SlackBot, person: Person, words: str) -> Ephemeral:
    """The last thing the bot says to this person alone, once that has these words in it."""
    server = bot.session.server
    await server.wait_for(lambda: [each for each in server.ephemerals(person)[-1:] if words in each.text])
    return server.ephemerals(person)[-1]


async def test_a_teachers_save_counts_at_once_until_it_is_taken_back(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            tess.joins(general)
            said = await talk(bot, ana, ben, general)
            assert server.calls("conversations.replies") == []
            tess.reacts(said, BOOKS)
            await bot.settled()
            await hears(bot, tess, "what ben answered")
            await hears(bot, tess, "for everybody in #general")
            assert await answer_to(bot, ana, general) == ANSWER
            tess.unreacts(said, BOOKS)
            await bot.settled()
            await hears(bot, tess, "Forgotten: what ben answered")
            assert await answer_to(bot, ana, general) != ANSWER
            assert server.said_by_bot(general, said.thread_ts) == []


async def test_a_members_save_waits_for_a_teacher(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            said = await talk(bot, ana, ben, general)
            ana.reacts(said, BOOKS)
            await bot.settled()
            await hears(bot, ana, "when a teacher approves it")
            assert await answer_to(bot, ben, general) != ANSWER
            tess.says(general, "review", mention=True)
            await bot.settled()
            await hears(bot, tess, ANSWER)
            tess.reacts(said, BOOKS)
            await bot.settled()
            assert await answer_to(bot, ben, general) == ANSWER


async def test_an_edit_reopens_and_a_deletion_retires(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            said = await talk(bot, ana, ben, general)
            tess.reacts(said, BOOKS)
            await bot.settled()
            ben.edits(said, "Under the red pot.")
            await bot.settled()
            await hears(bot, ben, "waits for a teacher's approval")
            assert await answer_to(bot, ana, general) not in (ANSWER, "Under the red pot.")
            tess.says(general, "review", mention=True)
            await hears(bot, tess, "Under the red pot.")
            tess.unreacts(said, BOOKS)
            await bot.settled()
            tess.reacts(said, BOOKS)
            await bot.settled()
            assert await answer_to(bot, ana, general) == "Under the red pot."
            ben.deletes(said)
            await bot.settled()
            assert await answer_to(bot, ana, general) != "Under the red pot."


async def test_why_names_who_said_it_and_links_to_the_message(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            said = await talk(bot, ana, ben, general)
            tess.reacts(said, BOOKS)
            await bot.settled()
            await answer_to(bot, ana, general)
            ana.says(general, "why", mention=True)
            await bot.settled()
            await hears(bot, ana, "said by ben")
            await hears(bot, ana, f"p{said.ts.replace('.', '')}")


async def test_remember_this_shows_what_it_would_keep_and_keeps_it_when_asked_to(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            said = await talk(bot, ana, ben, general)
            for button in ("Cancel", "Keep it"):
                tess.says(general, "remember this", thread_ts=said.thread_ts, mention=True)
                await bot.settled()
                shown = await hears(bot, tess, f"> {ANSWER}")
                assert await answer_to(bot, ben, general) != ANSWER
                [action] = [each for each in shown.blocks[-1]["elements"] if each["text"]["text"] == button]
                await tess.clicks(shown, action["action_id"]).answered()
                await bot.settled()
            assert await answer_to(bot, ben, general) == ANSWER


async def test_mentions_in_what_is_saved_are_names(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            said = await talk(bot, ana, ben, general, f"Ask <@{ana.id}>.")
            tess.reacts(said, BOOKS)
            await bot.settled()
            assert await answer_to(bot, ben, general) == "Ask @ana."


async def test_what_answers_nothing_is_explained_once_and_other_emoji_read_nothing(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ana, ben = server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            said = await talk(bot, ana, ben, general)
            alone = ben.says(general, "hello", mention=False)
            ana.reacts(said, "+1")
            await bot.settled()
            assert server.calls("conversations.replies") == []
            for _ in range(2):
                ana.reacts(alone, BOOKS)
                ana.unreacts(alone, BOOKS)
            await bot.settled()
            [explained] = server.ephemerals(ana)
            assert "answers no question" in explained.text
            answer = await answer_to(bot, ana, general, "what is 6*7?")
            assert answer == "6 * 7 = 42"


async def test_in_a_private_channel_it_stays_there_and_where_it_may_not_be_it_reads_nothing(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general, secret = server.channel("general"), server.channel("secret", private=True)
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            said = await talk(bot, ana, ben, secret)
            tess.reacts(said, BOOKS)
            await bot.settled()
            assert await answer_to(bot, ben, secret) == ANSWER
            assert await answer_to(bot, ben, general) != ANSWER
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general, open_to = server.channel("general"), server.channel("help")
        (folder := tmp_path / "other").mkdir()
        async with slack_bot(server, folder, teachers=(tess.id,), allowed_channels=(open_to,)) as bot:
            said = await talk(bot, ana, ben, general)
            tess.reacts(said, BOOKS)
            await bot.settled()
            assert server.calls("conversations.replies") == []


async def test_forgetting_its_author_forgets_it(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tess, ana, ben = server.person("tess"), server.person("ana"), server.person("ben")
        general = server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tess.id,)) as bot:
            said = await talk(bot, ana, ben, general)
            tess.reacts(said, BOOKS)
            await bot.settled()
            ben.says(general, "forget me yes", mention=True)
            await bot.settled()
            assert await answer_to(bot, ana, general) != ANSWER
