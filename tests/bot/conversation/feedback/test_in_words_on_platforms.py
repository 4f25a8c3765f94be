"""Feedback in words through the whole bot, among people in the local Slack and on the local Discord."""

import json
from pathlib import Path

import pytest

from memory.ports import EpisodeFilter
from tests.doubles.discord import DiscordServer, Intent
from tests.doubles.openai_server import OpenAIServer, Scripted, text
from tests.doubles.slack import Person, SlackServer
from tests.doubles.slack.state import Message
from tests.doubles.whole_bot import SlackBot, discord_bot, slack_bot

SUM, ANSWER = "what is 6*7?", "6 * 7 = 42"
RIGHT = "it's 42.5 in our units"
NOTED = f"Noted: for “{SUM}” the answer is “{RIGHT}”."


async def says(bot: SlackBot, person: Person, channel: str, words: str, root: Message | None = None) -> Message:
    """A first message mentions the bot, those in its thread do not."""
    message = person.says(channel, words, thread_ts=root.ts if root else "", mention=root is None)
    await bot.session.settled()
    await bot.idle()
    return message


def posted(bot: SlackBot, root: Message) -> list[str]:
    return [each.text.split("\n")[0] for each in bot.session.server.said_by_bot(root.channel, root.ts)]


async def test_slack(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ana, ben, general = server.person("ana"), server.person("ben"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            root = await says(bot, ana, general, SUM)
            await says(bot, ben, general, "interesting", root)
            await says(bot, ben, general, f"no, {RIGHT}", root)
            assert bot.votes(bot.session.workspace) == []
            root = await says(bot, ana, general, SUM)
            await says(bot, ana, general, "No, thanks", root)
            assert posted(bot, root) == [ANSWER]
            await says(bot, ana, general, f"No, {RIGHT}", root)
            assert posted(bot, root) == [ANSWER]
            [noted] = server.ephemerals(ana)
            assert noted.text.startswith(NOTED)
            assert sorted(bot.votes(bot.session.workspace)) == [(ana.id, -1), (ana.id, 1)]
            await says(bot, ana, general, "nope", root)
            assert posted(bot, root) == [ANSWER]
        async with slack_bot(server, tmp_path) as bot:
            [button] = noted.blocks[-1]["elements"]
            assert button["text"]["text"] == "Undo"
            await ana.clicks(noted, button["action_id"]).answered()
            assert noted.text.startswith("Forgotten: your correction")
            assert bot.votes(bot.session.workspace) == []


async def test_an_edited_correction_on_discord_corrects_anew(tmp_path: Path) -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        discord_bot(server, tmp_path, reads="everything", answers="post") as bot,
    ):
        ana, general = bot.session.ana, bot.session.general
        for question, words in (("who feeds the cat?", "correct: {}"), ("who has the key?", "no, {}")):
            bot.session.asks(question)
            await bot.settled()
            said = server.says(ana, general, words.format("it's Bem"), reply_to=server.said(general)[-1])
            await bot.settled()
            server.edits(said, words.format("it's Ben"))
            await bot.settled()
            bot.session.asks(question)
            await bot.settled()
            assert server.said(general)[-1].content.startswith("it's Ben")


LADDER, ATTIC = "where is the ladder?", "it's in the attic"
SUPPLIED = f"Was that the answer to “{LADDER}”? Then I keep “{ATTIC}”."


async def test_a_statement_after_what_is_not_known_is_asked_about_in_slack(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ana, general = server.person("ana"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            root = await says(bot, ana, general, LADDER)
            await says(bot, ana, general, ATTIC, root)
            [asked] = server.ephemerals(ana)
            assert asked.text == SUPPLIED
            await ana.clicks(asked, asked.blocks[-1]["elements"][0]["action_id"]).answered()
            await bot.settled()
            noted = f"Noted: for “{LADDER}” the answer is “{ATTIC}”."
            assert [each for each in server.ephemerals(ana) if each.text.startswith(noted)] != []
            again = await says(bot, ana, general, LADDER)
            assert posted(bot, again) == [ATTIC]


async def test_a_statement_after_what_is_not_known_is_asked_about_on_discord(tmp_path: Path) -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        discord_bot(server, tmp_path, reads="everything", answers="post") as bot,
    ):
        ana = bot.session.ana
        thread = server.thread(bot.session.general, ana)
        for question in ("who has the saw?", LADDER):  # the second one is only marked
            bot.session.asks(question, channel=thread)
            await bot.settled()
        server.says(ana, thread, ATTIC)
        await bot.settled()
        assert server.said(thread)[-1].content == SUPPLIED
        server.says(ana, thread, f"no, {ATTIC}")
        await bot.settled()
        assert server.said(thread)[-1].content.startswith(f"Noted: for “{LADDER}” the answer is “{ATTIC}”.")


@pytest.mark.parametrize(("words", "count"), [("yes", 2), ("Yes.", 2), ("1", 2), ("👍", 2), ("ok", 2)])
async def test_what_is_asked_in_private_is_answered_in_the_thread(tmp_path: Path, words: str, count: int) -> None:
    async with SlackServer() as server:
        ana, ben, general = server.person("ana"), server.person("ben"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            root = await says(bot, ana, general, LADDER)
            await says(bot, ana, general, ATTIC, root)
            await says(bot, ben, general, "yes", root)
            assert bot.votes(bot.session.workspace) == []
            await says(bot, ana, general, words, root)
            await says(bot, ana, general, "yes", root)  # nothing is asked any more
            assert len(bot.votes(bot.session.workspace)) == count
            assert len(server.ephemerals(ana)) == 2


async def test_a_no_in_the_thread_answers_the_statement(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ana, general = server.person("ana"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            root = await says(bot, ana, general, LADDER)
            for words in (ATTIC, "no"):
                await says(bot, ana, general, words, root)
            assert (len(posted(bot, root)), bot.votes(bot.session.workspace)) == (2, [])


async def test_a_statement_after_which_lesson_is_meant_is_asked_about(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ana, general = server.person("ana"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            for place in ("office", "garage"):
                root = await says(bot, ana, general, f"where is the spare key of the {place}?")
                await says(bot, ana, general, f"correct: Under the {place}.", root)
            root = await says(bot, ana, general, "where is the spare key?")
            assert posted(bot, root) == ["I am not sure. Did you mean one of these?"]
            await says(bot, ana, general, "on the roof", root)
            asked = server.ephemerals(ana)[-1]
            assert asked.text == "Was that the answer to “where is the spare key?”? Then I keep “on the roof”."
            await says(bot, ana, general, "1", root)
            again = await says(bot, ana, general, "where is the spare key?")
            assert posted(bot, again) == ["on the roof"]


async def test_who_tells_the_bot_what_it_did_not_know_for_somebody_else_is_asked_in_slack(tmp_path: Path) -> None:
    async with SlackServer() as server:
        ana, ben, general = server.person("ana"), server.person("ben"), server.channel("general")
        async with slack_bot(server, tmp_path) as bot:
            root = await says(bot, ana, general, "where is the saw?")
            await says(bot, ana, general, LADDER, root)  # this one is only marked
            await says(bot, ben, general, ATTIC, root)
            assert server.ephemerals(ben) == []
            ben.says(general, ATTIC, thread_ts=root.ts)
            await bot.settled()
            [asked] = server.ephemerals(ben)
            assert asked.text == SUPPLIED
        async with slack_bot(server, tmp_path) as bot:
            await ben.clicks(asked, asked.blocks[-1]["elements"][0]["action_id"]).answered()
            await bot.settled()
            assert sorted(bot.votes(bot.session.workspace)) == [(ben.id, -1), (ben.id, 1)]
            again = await says(bot, ben, general, LADDER)
            assert posted(bot, again) == [ATTIC]


async def test_who_replies_to_what_the_bot_did_not_know_is_asked_on_discord(tmp_path: Path) -> None:
    async with DiscordServer() as server, discord_bot(server, tmp_path) as bot:
        general, ben = bot.session.general, server.person("ben", bot.session.guild)
        bot.session.asks(LADDER)
        await bot.settled()
        bot.session.asks(ATTIC, person=ben, reply_to=server.said(general)[-1])
        await bot.settled()
        assert server.said(general)[-1].content == SUPPLIED
        bot.session.asks("1", person=ben, reply_to=server.said(general)[-1])
        await bot.settled()
        assert sorted(bot.votes(bot.session.workspace)) == [(ben.id, -1), (ben.id, 1)]


async def test_a_teacher_in_slack_is_known_as_one(tmp_path: Path) -> None:
    async with SlackServer() as server:
        tea, general = server.person("tea"), server.channel("general")
        async with slack_bot(server, tmp_path, teachers=(tea.id,)) as bot:
            root = await says(bot, tea, general, SUM)
            await says(bot, tea, general, f"No, {RIGHT}", root)
            assert "a lesson for everybody in #general" in server.ephemerals(tea)[0].text


async def test_discord(tmp_path: Path) -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        async with discord_bot(server, tmp_path, reads="everything", answers="post") as bot:
            ana, ben = bot.session.ana, server.person("ben", bot.session.guild)
            thread = server.thread(bot.session.general, ana)
            server.says(ben, thread, "who can count?")
            bot.session.asks(SUM, channel=thread)
            await bot.settled()
            server.says(ben, thread, f"no, {RIGHT}")
            await bot.settled()
            assert bot.votes(bot.session.workspace) == []
            bot.session.asks(SUM, channel=thread)
            await bot.settled()
            server.says(ana, thread, f"No, {RIGHT}")
            await bot.settled()
            noted = server.said(thread)[-1]
            assert noted.content.startswith(NOTED)
            assert len(bot.votes(bot.session.workspace)) == 2
            server.says(ana, thread, "nope")
            await bot.settled()
            assert server.said(thread)[-1] == noted
        async with discord_bot(server, tmp_path, reads="everything", answers="post") as bot:
            other = server.clicks(ben, noted, "Undo")
            await server.until(lambda: other.replies)
            assert len(bot.votes(bot.session.workspace)) == 2
            own = server.clicks(bot.session.ana, noted, "Undo")
            await server.until(lambda: own.replies)
            assert bot.votes(bot.session.workspace) == []


async def test_with_a_language_model_only_what_hints_at_feedback_costs_a_request(tmp_path: Path) -> None:
    def reply(prompt: str) -> Scripted:
        if '<tool-output name="answer">' in prompt:
            return text(json.dumps({"kind": "correction", "right": "Madrid"}))
        return text("Barcelona")

    with OpenAIServer(reply) as model:
        environment = {
            "GOODBOT_MODEL": "openai:test-model",
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-test",
        }
        async with SlackServer() as server:
            ana = server.person("ana")
            async with slack_bot(server, tmp_path, environment) as bot:
                await says(bot, ana, ana.dm, "capital of Spain please")
                await says(bot, ana, ana.dm, "capital of Spain, dear bot")
                assert len(model.asked) == 2
                await says(bot, ana, ana.dm, "hmm, pretty sure you got that wrong and Madrid would have been it")
                assert len(model.asked) == 3
                assert "the answer is “Madrid”" in server.said_by_bot(ana.dm)[-1].text


async def test_a_language_model_reads_an_edited_correction_as_it_read_the_first(tmp_path: Path) -> None:
    def reply(prompt: str) -> Scripted:
        if '<tool-output name="answer">' in prompt:
            right = "Toledo" if "Toledo" in prompt else "Madrid"
            return text(json.dumps({"kind": "correction", "right": right}))
        return text("Barcelona")

    words = "hmm, pretty sure you got that wrong and {} would have been it"
    with OpenAIServer(reply) as model:
        environment = {
            "GOODBOT_MODEL": "openai:test-model",
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-test",
        }
        async with SlackServer() as server:
            ana = server.person("ana")
            async with slack_bot(server, tmp_path, environment) as bot:
                await says(bot, ana, ana.dm, "capital of Spain please")
                said = await says(bot, ana, ana.dm, words.format("Madrid"))
                ana.edits(said, words.format("Toledo"))
                await bot.settled()
                lessons = bot.memory.audit.episodes(bot.session.workspace, EpisodeFilter(roots_only=True, limit=None))
                assert [each.output for each in lessons] == ["Toledo", "Barcelona"]


async def test_how_to_answer_reaches_the_prompts_of_one_person_on_slack(tmp_path: Path) -> None:
    with OpenAIServer(lambda _: text("Under the pot.")) as model:
        environment = {
            "GOODBOT_MODEL": "openai:test-model",
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": "sk-test",
        }
        async with SlackServer() as server:
            ana, ben, general = server.person("ana"), server.person("ben"), server.channel("general")
            async with slack_bot(server, tmp_path, environment) as bot:
                root = await says(bot, ana, general, "where is the key?")
                await says(bot, ana, general, "in German please", root)
                [noted] = server.ephemerals(ana)
                assert noted.text.startswith("Noted, for my answers to you from now on: Answer in German.")
                assert bot.votes(bot.session.workspace) == []
                await says(bot, ben, general, "where is the lamp?")
                await says(bot, ana, general, "where is the bell?")
                told = ["Answer in German." in str(asked) for asked in model.asked]
                assert (told[:2], told[-1]) == ([False, False], True)
                [button] = noted.blocks[-1]["elements"]
                await ana.clicks(noted, button["action_id"]).answered()
                assert noted.text == "Forgotten: “Answer in German.”"


async def test_how_to_answer_on_discord(tmp_path: Path) -> None:
    async with (
        DiscordServer(granted=Intent.MESSAGE_CONTENT) as server,
        discord_bot(server, tmp_path, reads="everything", answers="post") as bot,
    ):
        ana = bot.session.ana
        thread = server.thread(bot.session.general, ana)
        bot.session.asks(SUM, channel=thread)
        await bot.settled()
        server.says(ana, thread, "no emoji please")
        await bot.settled()
        assert server.said(thread)[-1].content.startswith("Noted, for my answers to you from now on: Use no emoji.")
        assert bot.votes(bot.session.workspace) == []
        [kept] = bot.memory.preferences.of(bot.session.workspace, ana.id)
        assert kept.kind == "emoji"
