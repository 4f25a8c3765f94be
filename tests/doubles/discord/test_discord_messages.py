"""Messages, from people and from the bot, through the real discord.py."""

from io import BytesIO
from typing import Any

import pytest

from tests.doubles.discord.client import USED_INTENTS, Client, connected
from tests.doubles.discord.library import discord
from tests.doubles.discord.model import Channel, File, Guild, Intent, MessageFlag, Person
from tests.doubles.discord.server import DiscordServer


def place(client: Client, channel: Channel) -> discord.PartialMessageable:
    """Where the client posts."""
    return client.get_partial_messageable(int(channel.id), guild_id=int(channel.guild_id or 0) or None)


# what the bot hears


async def test_a_mention_arrives_with_its_text_and_the_author_s_membership(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    server.says(ana, general, f"{server.bot.mention} capital of France?")
    [message] = await client.hears("message")

    assert message.content == f"{server.bot.mention} capital of France?"
    assert (message.channel.name, message.guild.name, message.author.name) == ("general", "Home", "ana")
    assert message.author.joined_at is not None
    assert [person.id for person in message.mentions] == [int(server.bot.id)]


async def test_without_the_privileged_intent_only_what_is_meant_for_the_bot_has_text(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    place_of_bot = place(client, general)
    answer = await place_of_bot.send("an answer")
    note = File(name="note.txt", content=b"secret")
    server.says(ana, general, "to nobody", files=[note])
    server.says(ana, general, "with ping", reply_to=str(answer.id))
    server.says(ana, general, "without ping", reply_to=str(answer.id), ping=False)
    server.says(ana, server.dm(ana), "in private")
    own, *others = await client.hears("message", 5)

    assert own.content == "an answer"
    assert [message.content for message in others] == ["", "with ping", "", "in private"]
    assert others[0].attachments == []
    assert others[1].reference.message_id == answer.id
    assert others[1].type is discord.MessageType.reply
    assert others[3].guild is None


async def test_with_the_privileged_intent_all_text_is_there() -> None:
    async with DiscordServer(granted=Intent.MESSAGE_CONTENT) as server:
        guild = server.guild()
        general, ana = server.channel(guild), server.person("ana", guild)
        intents = discord.Intents(USED_INTENTS.value)
        intents.message_content = True
        async with connected(server, Client(intents)) as client:
            server.says(ana, general, "to nobody")
            [message] = await client.hears("message")
            [stored] = [found async for found in place(client, general).history()]
    assert (message.content, stored.content) == ("to nobody", "to nobody")


async def test_other_bots_webhooks_and_the_system_can_be_told_apart(
    server: DiscordServer, client: Client, guild: Guild, general: Channel, ana: Person
) -> None:
    server.says(server.person("helper", guild, is_bot=True), general, server.bot.mention)
    server.webhook_says(general, server.bot.mention, name="Alerts")
    server.says(ana, general, kind=7)
    bot, webhook, newcomer = await client.hears("message", 3)

    assert bot.author.bot
    assert not bot.webhook_id
    assert webhook.author.name == "Alerts"
    assert webhook.webhook_id == webhook.author.id
    assert newcomer.is_system()


async def test_an_edit_a_preview_and_deletions_arrive_as_raw_events(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    asked = server.says(ana, general, f"{server.bot.mention} one")
    server.unfurls(asked)
    server.edits(asked, f"{server.bot.mention} two")
    server.deletes(asked)
    server.deletes(server.says(ana, general), server.says(ana, general))
    preview, edit = await client.hears("raw_message_edit", 2)
    [deletion] = await client.hears("raw_message_delete")
    [purge] = await client.hears("raw_bulk_message_delete")

    assert preview.data["edited_timestamp"] is None
    assert preview.message.embeds
    assert edit.data["edited_timestamp"] is not None
    assert edit.message.content.endswith("two")
    assert deletion.message_id == int(asked.id)
    assert len(purge.message_ids) == 2
    assert server.messages(general) == []


async def test_attached_files_can_be_read(server: DiscordServer, client: Client, ana: Person) -> None:
    server.says(ana, server.dm(ana), "look", files=[File(name="a b.txt", content=b"text", media_type="text/plain")])
    [message] = await client.hears("message")
    [attachment] = message.attachments

    assert (attachment.filename, attachment.content_type, attachment.size) == ("a b.txt", "text/plain", 4)
    assert await attachment.read() == b"text"


# what the bot says


async def test_what_the_bot_posts_stands_there_and_comes_back_as_its_own(
    server: DiscordServer, client: Client, general: Channel
) -> None:
    sent = await place(client, general).send("hello", silent=True, suppress_embeds=True)
    [echo] = await client.hears("message")
    [stands] = server.said(general)

    assert (stands.id, stands.content, stands.author) == (str(sent.id), "hello", server.bot)
    assert stands.flags == MessageFlag.SUPPRESS_NOTIFICATIONS | MessageFlag.SUPPRESS_EMBEDS
    assert (echo.id, echo.author.id) == (sent.id, int(server.bot.id))
    assert echo.author.bot


async def test_nobody_is_pinged_who_is_not_allowed_to_be(
    server: DiscordServer, client: Client, guild: Guild, general: Channel, ana: Person
) -> None:
    everybody = f"{ana.mention} {server.role(guild, 'team').mention} @everyone"
    await place(client, general).send(everybody)
    await place(client, general).send(everybody, allowed_mentions=discord.AllowedMentions.none())
    only_ana = discord.AllowedMentions(users=[discord.Object(int(ana.id))], roles=False, everyone=False)
    await place(client, general).send(everybody, allowed_mentions=only_ana)
    loud, silent, chosen = server.said(general)

    assert len(loud.pings) == 3
    assert "everyone" in loud.pings
    assert silent.pings == frozenset()
    assert silent.allowed_mentions == {"parse": []}
    assert chosen.pings == {ana.id}


async def test_a_reply_pings_the_author_only_where_allowed(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    server.says(ana, general, server.bot.mention)
    [question] = await client.hears("message")
    none = discord.AllowedMentions.none()
    await question.reply("loud", allowed_mentions=none, mention_author=True)
    await question.reply("quiet", allowed_mentions=none)
    loud, quiet = server.said(general)

    assert loud.pings == {ana.id}
    assert quiet.pings == frozenset()
    assert quiet.reply_to == str(question.id)


async def test_a_reply_to_what_was_deleted_fails_unless_told_not_to(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    gone = server.says(ana, general, server.bot.mention)
    [question] = await client.hears("message")
    server.deletes(gone)
    with pytest.raises(discord.HTTPException, match="Unknown message") as refused:
        await question.reply("answer")
    reference = question.to_reference(fail_if_not_exists=False)
    await place(client, general).send("answer", reference=reference)

    assert refused.value.code == 50035
    assert [message.reply_to for message in server.said(general)] == [""]


async def test_a_repeated_nonce_is_the_same_message(server: DiscordServer, client: Client, general: Channel) -> None:
    first = await place(client, general).send("once", nonce="run-1-part-1")
    again = await place(client, general).send("once", nonce="run-1-part-1")
    other = await place(client, general).send("once", nonce="run-1-part-2")

    assert first.id == again.id
    assert first.id != other.id
    assert len(server.said(general)) == 2
    assert len(server.calls("POST /channels/*/messages")) == 3


async def test_messages_are_edited_deleted_and_looked_up(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    message = await place(client, general).send("draft")
    await message.edit(content="final", embed=discord.Embed(description="more"))
    fetched = await place(client, general).fetch_message(message.id)
    asked = server.says(ana, general, "theirs")
    with pytest.raises(discord.Forbidden) as not_mine:
        await place(client, general).get_partial_message(int(asked.id)).edit(content="mine")
    with pytest.raises(discord.Forbidden) as not_deletable:
        await place(client, general).get_partial_message(int(asked.id)).delete()
    await message.delete()
    with pytest.raises(discord.NotFound) as gone:
        await place(client, general).fetch_message(message.id)

    assert (fetched.content, fetched.embeds[0].description) == ("final", "more")
    assert fetched.edited_at is not None
    assert (not_mine.value.code, not_deletable.value.code, gone.value.code) == (50005, 50013, 10008)
    assert server.said(general) == []


async def test_files_are_uploaded_with_their_message(server: DiscordServer, client: Client, ana: Person) -> None:
    person = await client.fetch_user(int(ana.id))
    sent = await person.send("your data", file=discord.File(BytesIO(b'{"a": 1}'), "export.json"))
    [message] = server.said(server.dm(ana))

    assert message.content == "your data"
    assert [(a.file.name, a.file.content) for a in message.attachments] == [("export.json", b'{"a": 1}')]
    assert await sent.attachments[0].read() == b'{"a": 1}'


async def test_history_is_paged_from_the_newest(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    said = [server.says(ana, general, f"{server.bot.mention} {number}") for number in range(120)]
    newest = [message.id async for message in place(client, general).history(limit=110)]
    after = [m.id async for m in place(client, general).history(limit=None, after=discord.Object(int(said[9].id)))]

    assert newest == [int(message.id) for message in said[:-111:-1]]
    assert after == [int(message.id) for message in said[10:]]
    assert len(server.calls("GET /channels/*/messages")) == 4


async def test_typing_is_seen(server: DiscordServer, client: Client, general: Channel) -> None:
    async with place(client, general).typing():
        await server.until(lambda: server.typing(general) == 1)
    assert len(server.calls("POST /channels/*/typing")) == 1


async def test_the_limits_of_messages_are_kept(client: Client, general: Channel) -> None:
    channel = place(client, general)
    too_much: list[dict[str, Any]] = [
        {"content": "a" * 2001},
        {"embed": discord.Embed(description="a" * 4097)},
        {"embeds": [discord.Embed(description="a" * 4000), discord.Embed(description="a" * 2001)]},
        {"nonce": "n" * 26, "content": "a"},
    ]
    for message in too_much:
        with pytest.raises(discord.HTTPException) as refused:
            await channel.send(**message)
        assert (refused.value.status, refused.value.code) == (400, 50035)
    with pytest.raises(discord.HTTPException) as empty:
        await channel.send(" ")
    assert empty.value.code == 50006
    assert len((await channel.send("a" * 2000, embed=discord.Embed(description="a" * 4096))).content) == 2000
