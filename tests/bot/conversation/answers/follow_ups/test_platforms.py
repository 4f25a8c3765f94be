"""Each shape of conversation on each platform: a model over HTTP that answers only what is in its prompt.

The prompts' blocks are written out here as they are sent.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.doubles.discord import DiscordServer, Intent, Message as DiscordMessage
from tests.doubles.discord.permissions import Permission
from tests.doubles.openai_server import OpenAIServer, Scripted, text
from tests.doubles.slack import SlackServer
from tests.doubles.slack.state import Message as SlackMessage
from tests.doubles.whole_bot import DiscordBot, SlackBot, discord_bot, slack_bot

FRANCE, SPAIN = "What is the capital of France?", "What is the capital of Spain?"
CAPITALS = {FRANCE: "Paris", SPAIN: "Madrid"}
BOTH = f"- asker: {FRANCE}\n- you: Paris"


def read(prompt: str) -> Scripted:
    """The capital if the goal asks for it; what a follow-up means if the conversation says so."""
    block = prompt.partition("<conversation>\n")[2].partition("\n</conversation>")[0]
    if "<last-message>" in prompt:
        return text(SPAIN if "of Spain?" in prompt and FRANCE in block and ": Paris" in block else "?")
    goal = prompt.rpartition("<goal>\n")[2].removesuffix("\n</goal>")
    return text(CAPITALS.get(goal, "I do not know."))


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(read) as server:
        yield server


def environment(model: OpenAIServer, **more: str) -> dict[str, str]:
    return {
        "GOODBOT_MODEL": "openai:test-model",
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "sk-test",
        **more,
    }


def block(model: OpenAIServer) -> str:
    """The conversation in the last prompt; empty without."""
    prompt = str(model.asked[-1].body["messages"][1]["content"])
    return prompt.partition("<conversation>\n")[2].partition("\n</conversation>")[0]


# Slack ------------------------------------------------------------------------------------------------------------


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    async with SlackServer() as running:
        yield running


async def slack_says(
    bot: SlackBot, person: str, channel: str, words: str, *, thread: str = "", mention: bool = True
) -> SlackMessage:
    said = bot.session.server.person(person).says(channel, words, thread_ts=thread, mention=mention)
    await bot.session.settled()
    await bot.idle()
    return said


def slack_heard(bot: SlackBot, message: SlackMessage) -> list[str]:
    thread = message.thread_ts or message.ts
    return [each.text for each in bot.session.server.said_by_bot(message.channel, thread)]


async def test_a_slack_thread(slack: SlackServer, model: OpenAIServer, tmp_path: Path) -> None:
    general = slack.channel("general")
    slack.person("bob"), slack.person("eve")
    async with slack_bot(slack, tmp_path, environment(model)) as bot:
        root = await slack_says(bot, "bob", general, "Geography quiz at noon!", mention=False)
        await slack_says(bot, "ana", general, FRANCE, thread=root.ts)
        assert block(model) == '- person "bob": Geography quiz at noon!'
        await slack_says(bot, "bob", general, "and of Spain?", thread=root.ts)
        assert block(model) == (f'- asker: Geography quiz at noon!\n- person "ana": {FRANCE}\n- you: Paris')
        assert slack_heard(bot, root)[-1] == "Madrid"
        await slack_says(bot, "eve", general, "and of Spain?")
        assert block(model) == ""


async def test_a_slack_message_that_begins_a_thread_goes_on_from_the_askers_last(
    slack: SlackServer, model: OpenAIServer, tmp_path: Path
) -> None:
    general = slack.channel("general")
    async with slack_bot(slack, tmp_path, environment(model)) as bot:
        await slack_says(bot, "ana", general, FRANCE)
        said = await slack_says(bot, "ana", general, "and of Spain?")
        assert slack_heard(bot, said) == ["Madrid"]
        assert block(model) == BOTH


async def test_slack_direct_messages_until_new(slack: SlackServer, model: OpenAIServer, tmp_path: Path) -> None:
    ana, bob = slack.person("ana"), slack.person("bob")
    async with slack_bot(slack, tmp_path, environment(model)) as bot:
        await slack_says(bot, "ana", ana.dm, FRANCE)
        await slack_says(bot, "bob", bob.dm, "and of Spain?")
        assert block(model) == ""
        said = await slack_says(bot, "ana", ana.dm, "and of Spain?")
        assert (slack_heard(bot, said), block(model)) == (["Madrid"], BOTH)
        await slack_says(bot, "ana", ana.dm, "new")
        await slack_says(bot, "ana", ana.dm, "and of Spain?")
        assert block(model) == ""


async def test_others_in_a_slack_channel_only_if_it_is_set(
    slack: SlackServer, model: OpenAIServer, tmp_path: Path
) -> None:
    general, other = slack.channel("general"), slack.channel("other")
    bob = slack.person("bob")
    others = environment(model, GOODBOT_CONVERSATION_OTHERS="2")
    async with slack_bot(slack, tmp_path, others) as bot:
        unknown = "<@U404> <!subteam^S404> <#C404>"
        for words in ("one", f"two, <@{slack.person('ana').id}>", f"three {unknown}"):
            await slack_says(bot, "bob", general, words, mention=False)
        await slack_says(bot, "bob", other, "elsewhere", mention=False)
        await slack_says(bot, "ana", general, "What do they count?")
        assert block(model) == '- person "bob": two, @ana\n- person "bob": three @somebody @a-group #a-channel'
        assert bob.id not in str(model.asked[-1].body)
        stored = bot.memory.store.read()
        with stored as tx:
            assert tx.deliveries.messages_of(bot.session.workspace, "", bob.id, 10) == []


# Discord ----------------------------------------------------------------------------------------------------------


@pytest.fixture
async def discord() -> AsyncIterator[DiscordServer]:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as running:
        yield running


async def discord_answer(bot: DiscordBot, question: DiscordMessage) -> DiscordMessage:
    def answers() -> list[DiscordMessage]:
        said = bot.session.server.said(question.channel_id)
        return [each for each in said if each.reply_to == question.id and each.components]

    await bot.session.server.until(answers)
    await bot.idle()
    return answers()[0]


async def test_a_flat_discord_channel_by_asker_and_by_reply(
    discord: DiscordServer, model: OpenAIServer, tmp_path: Path
) -> None:
    async with discord_bot(discord, tmp_path, environment(model)) as bot:
        bob = discord.person("bob", bot.session.guild)
        first = await discord_answer(bot, bot.session.asks(FRANCE))
        second = await discord_answer(bot, bot.session.asks("and of Spain?"))
        assert (second.content, block(model)) == ("Madrid", BOTH)
        await discord_answer(bot, bot.session.asks("and of Spain?", person=bob))
        assert block(model) == ""
        third = await discord_answer(bot, bot.session.asks("and of Spain?", person=bob, reply_to=first))
        assert third.content == "Madrid"
        assert block(model) == f'- person "Ana": {FRANCE}\n- you (replied to now): Paris'


async def test_a_discord_thread_has_the_message_it_began_with(
    discord: DiscordServer, model: OpenAIServer, tmp_path: Path
) -> None:
    async with discord_bot(discord, tmp_path, environment(model), reads="everything") as bot:
        bob = discord.person("bob", bot.session.guild)
        root = discord.says(bob, bot.session.general, "Geography quiz at noon!")
        thread = discord.thread(bot.session.general, bob, "quiz", source=root)
        await discord_answer(bot, bot.session.asks(FRANCE, channel=thread))
        assert block(model) == '- person "Bob": Geography quiz at noon!'
        said = await discord_answer(bot, bot.session.asks("and of Spain?", channel=thread, person=bob))
        assert said.content == "Madrid"
        assert block(model) == f'- asker: Geography quiz at noon!\n- person "Ana": {FRANCE}\n- you: Paris'


async def test_a_discord_reply_to_somebodys_message_looks_it_up(
    discord: DiscordServer, model: OpenAIServer, tmp_path: Path
) -> None:
    async with discord_bot(discord, tmp_path, environment(model), reads="everything") as bot:
        bob = discord.person("bob", bot.session.guild)
        said = discord.says(bob, bot.session.general, f"The build is red, {bot.session.ana.mention}")
        await discord_answer(bot, bot.session.asks("What does he mean?", reply_to=said))
        assert block(model) == '- person "Bob" (replied to now): The build is red, @Ana'


async def test_discord_direct_messages(discord: DiscordServer, model: OpenAIServer, tmp_path: Path) -> None:
    async with discord_bot(discord, tmp_path, environment(model)) as bot:
        bob = discord.person("bob", bot.session.guild)
        own, other = discord.dm(bot.session.ana), discord.dm(bob)
        await discord_answer(bot, discord.says(bot.session.ana, own, FRANCE))
        await discord_answer(bot, discord.says(bob, other, "and of Spain?"))
        assert block(model) == ""
        said = await discord_answer(bot, discord.says(bot.session.ana, own, "and of Spain?"))
        assert (said.content, block(model)) == ("Madrid", BOTH)


async def test_others_in_a_discord_channel_only_if_it_is_set(
    discord: DiscordServer, model: OpenAIServer, tmp_path: Path
) -> None:
    others = environment(model, GOODBOT_CONVERSATION_OTHERS="2")
    async with discord_bot(discord, tmp_path, others, reads="everything") as bot:
        bob = discord.person("bob", bot.session.guild)
        inner = discord.channel(bot.session.guild, "inner")
        discord.rights(inner, discord.bot, allow=Permission.VIEW_CHANNEL)
        discord.rights(inner, discord.state.roles[bot.session.guild.id], deny=Permission.VIEW_CHANNEL)
        named = f"three <@404> <@&404> <#404> <#{inner.id}> <#{bot.session.general.id}> <@{bob.id}>"
        for words in ("one", "two", named):
            discord.says(bob, bot.session.general, words)
        await discord_answer(bot, bot.session.asks("What do they count?"))
        assert (
            block(model)
            == '- person "Bob": two\n- person "Bob": three @somebody @a-role #a-channel #a-channel #general @Bob'
        )
