"""Channels, threads, direct conversations, roles and rights through the real discord.py."""

import pytest

from tests.doubles.discord.client import Client, connected
from tests.doubles.discord.library import discord
from tests.doubles.discord.model import Channel, Guild, Intent, Person
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord.server import DiscordServer


async def test_the_bot_knows_its_guilds_channels_and_roles(
    server: DiscordServer, client: Client, guild: Guild, general: Channel, ana: Person
) -> None:
    teacher = server.role(guild, "teacher")
    server.has_roles(ana, guild, teacher)
    late = server.channel(guild, "late")
    await client.hears("guild_channel_create")
    known = client.get_guild(int(guild.id))
    assert known
    member = await known.fetch_member(int(ana.id))

    assert {channel.name for channel in known.text_channels} == {"general", "late"}
    assert known.get_channel(int(late.id))
    assert [role.name for role in member.roles] == ["@everyone", "teacher"]
    assert known.get_member(int(ana.id)) is None
    assert [member.id for member in known.members] == [int(server.bot.id)]


async def test_a_new_guild_an_outage_and_a_removal_are_heard(server: DiscordServer) -> None:
    async with connected(server, Client()) as client:
        await client.hears("ready")
        guild = server.guild("New")
        await client.hears("guild_join")
        server.outage(guild)
        server.outage_over(guild)
        server.removes_bot(guild)
        [gone] = await client.hears("guild_remove")

        assert gone.name == "New"
        assert [len(client.all_of(name)) for name in ("guild_unavailable", "guild_available")] == [1, 1]
        assert client.get_guild(int(guild.id)) is None


async def test_members_are_heard_of_only_with_the_privileged_intent() -> None:
    async with DiscordServer(granted=Intent.GUILD_MEMBERS) as server:
        guild = server.guild()
        server.person("ana", guild)
        intents = discord.Intents(guilds=True, members=True)
        async with connected(server, Client(intents, chunk_guilds_at_startup=False)) as client:
            server.has_roles(server.person("ben", guild), guild, server.role(guild, "teacher"))
            [joined] = await client.hears("member_join")
            await client.hears("member_update")
            found = await joined.guild.query_members("a")
            roles = [role.name for role in joined.guild.get_member(joined.id).roles]
    assert (joined.name, roles) == ("ben", ["@everyone", "teacher"])
    assert [member.name for member in found] == ["ana"]


async def test_a_private_channel_is_neither_seen_nor_heard(
    server: DiscordServer, client: Client, guild: Guild, ana: Person
) -> None:
    staff = server.channel(guild, "staff", private_to=[ana])
    server.rights(staff, server.bot, deny=Permission.VIEW_CHANNEL)
    await client.hears("guild_channel_delete")
    server.says(ana, staff, server.bot.mention)
    server.says(ana, server.dm(ana), "afterwards")
    [message] = await client.hears("message")
    with pytest.raises(discord.Forbidden) as refused:
        await client.get_partial_messageable(int(staff.id)).send("hello")

    assert message.content == "afterwards"
    assert refused.value.code == 50001
    with pytest.raises(AssertionError, match="ben cannot see staff"):
        server.says(server.person("ben", guild), staff, "hello")


async def test_a_missing_right_is_named(server: DiscordServer, client: Client, general: Channel, ana: Person) -> None:
    asked = server.says(ana, general, server.bot.mention)
    [message] = await client.hears("message")
    server.rights(general, server.bot, deny=Permission.SEND_MESSAGES | Permission.ADD_REACTIONS)
    with pytest.raises(discord.Forbidden) as unsaid:
        await message.channel.send("hello")
    with pytest.raises(discord.Forbidden) as unmarked:
        await message.add_reaction("🧠")
    server.reacts(ana, asked, "👍")
    await message.add_reaction("👍")

    assert (unsaid.value.code, unmarked.value.code) == (50013, 50013)
    assert server.marks(asked) == ["👍"]
    assert len(server.invalid_calls()) == 2


async def test_a_channel_or_person_that_is_not_there(server: DiscordServer, client: Client) -> None:
    with pytest.raises(discord.NotFound) as channel:
        await client.get_partial_messageable(1).send("hello")
    with pytest.raises(discord.HTTPException, match="not snowflake"):
        await client.http.request(discord.http.Route("GET", "/channels/nowhere"))
    with pytest.raises(discord.NotFound) as person:
        await client.fetch_user(1)
    closed = server.person("closed", accepts_dms=False)
    with pytest.raises(discord.Forbidden) as refused:
        await (await client.fetch_user(int(closed.id))).send("hello")

    assert (channel.value.code, person.value.code, refused.value.code) == (10003, 10013, 50007)


async def test_a_thread_is_started_from_a_message_and_written_to(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    server.says(ana, general, server.bot.mention)
    [message] = await client.hears("message")
    thread = await message.create_thread(name="Capitals")
    await thread.send("Paris.")
    [made] = server.threads(general)
    server.says(ana, made, f"{server.bot.mention} and Spain?")
    *_, asked = await client.hears("message", 3)

    assert (made.id, made.name, made.owner_id) == (str(message.id), "Capitals", server.bot.id)
    assert [said.content for said in server.said(made)] == ["Paris."]
    assert asked.channel.id == thread.id
    assert asked.channel.parent.name == "general"
    with pytest.raises(discord.HTTPException) as twice:
        await message.create_thread(name="Again")
    assert twice.value.code == 160004


async def test_an_archived_thread_wakes_up_and_a_locked_one_does_not(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    thread = server.thread(general, ana, "Talk")
    await client.hears("thread_create")
    server.archives(thread)
    await client.get_partial_messageable(int(thread.id)).send("hello")
    server.archives(thread, locked=True)
    with pytest.raises(discord.HTTPException) as refused:
        await client.get_partial_messageable(int(thread.id)).send("hello")
    server.deletes_channel(thread)
    await client.hears("raw_thread_delete")

    assert refused.value.code == 50083
    assert server.threads(general) == []


async def test_a_direct_conversation_is_one_and_the_same(server: DiscordServer, client: Client, ana: Person) -> None:
    server.says(ana, server.dm(ana), "hello")
    [message] = await client.hears("message")
    await message.channel.send("hi")
    person = await client.fetch_user(int(ana.id))
    await person.send("again")

    assert [said.content for said in server.messages(server.dm(ana))] == ["hello", "hi", "again"]


async def test_doctor_can_ask_what_the_app_may_do(server: DiscordServer, client: Client) -> None:
    application = await client.application_info()
    assert application.id == int(server.bot.id)
    assert not application.flags.gateway_message_content_limited
    assert [guild.name async for guild in client.fetch_guilds()] == ["Home"]
