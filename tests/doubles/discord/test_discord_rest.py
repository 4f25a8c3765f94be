"""The rarer calls: what a moderating bot does, and what a clumsy client gets told."""

from io import BytesIO
from typing import Any

import aiohttp
import pytest

from tests.doubles.discord.client import Client
from tests.doubles.discord.ids import time_of
from tests.doubles.discord.library import discord
from tests.doubles.discord.model import Channel, Guild, Person
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord.server import DiscordServer

INTENTS = 1 << 0 | 1 << 9


@pytest.fixture
def moderated(server: DiscordServer, guild: Guild, general: Channel) -> Channel:
    """A channel where the bot may do everything."""
    everything = Permission.MANAGE_MESSAGES | Permission.MANAGE_THREADS | Permission.CREATE_PRIVATE_THREADS
    return server.rights(general, server.bot, allow=everything)


async def test_a_moderating_bot_deletes_and_clears(
    server: DiscordServer, client: Client, moderated: Channel, ana: Person
) -> None:
    said = [server.says(ana, moderated, server.bot.mention) for _ in range(3)]
    messages = await client.hears("message", 3)
    for emoji in ("👍", "👎", "🎉"):
        server.reacts(ana, said[0], emoji)
    first = messages[0]
    await first.remove_reaction("👍", discord.Object(int(ana.id)))
    await first.clear_reaction("👎")
    left = [reaction.emoji for reaction in server.reactions(said[0])]
    await first.clear_reactions()
    channel = client.get_channel(int(moderated.id))
    assert isinstance(channel, discord.TextChannel)
    await channel.delete_messages(messages[1:])
    await first.delete()

    assert left == ["🎉"]
    assert server.messages(moderated) == []
    assert len(client.all_of("raw_bulk_message_delete")) == 1


async def test_history_around_a_message_and_without_the_right_to_read_it(
    server: DiscordServer, client: Client, general: Channel, ana: Person
) -> None:
    said = [server.says(ana, general, str(number)) for number in range(9)]
    channel = client.get_partial_messageable(int(general.id))
    around = [message.id async for message in channel.history(limit=3, around=discord.Object(int(said[4].id)))]
    server.rights(general, server.bot, deny=Permission.READ_MESSAGE_HISTORY)
    hidden = [message async for message in channel.history()]
    with pytest.raises(discord.HTTPException) as no_reply:
        await channel.send(
            "hello", reference=discord.MessageReference(message_id=int(said[0].id), channel_id=channel.id)
        )

    assert sorted(around) == [int(message.id) for message in said[3:6]]
    assert hidden == []
    assert no_reply.value.code == 160002
    assert time_of(said[0].id).replace(microsecond=0) == said[0].at.replace(microsecond=0)


async def test_files_can_be_kept_added_and_removed_by_an_edit(
    server: DiscordServer, client: Client, general: Channel
) -> None:
    files = [discord.File(BytesIO(b"1"), "one.txt"), discord.File(BytesIO(b"2"), "two.txt")]
    message = await client.get_partial_messageable(int(general.id)).send("files", files=files)
    await message.edit(attachments=[message.attachments[1], discord.File(BytesIO(b"3"), "three.txt")])
    [stands] = server.said(general)
    await message.edit(attachments=[])

    assert [one.file.name for one in stands.attachments] == ["two.txt", "three.txt"]
    assert server.current(stands).attachments == ()
    with pytest.raises(discord.HTTPException) as empty:
        await message.edit(content="")
    assert empty.value.code == 50006
    with pytest.raises(discord.NotFound):
        await discord.Attachment(data=_attachment(server), state=client._connection).read()


def _attachment(server: DiscordServer) -> Any:
    url = f"{server.api_url.removesuffix('/api/v10')}/attachments/1/2/gone.txt"
    return {"id": "2", "size": 1, "filename": "gone.txt", "url": url, "proxy_url": url}


async def test_a_private_thread_is_started_joined_renamed_and_deleted(
    server: DiscordServer, client: Client, moderated: Channel, ana: Person
) -> None:
    parent = client.get_channel(int(moderated.id))
    assert isinstance(parent, discord.TextChannel)
    private = await parent.create_thread(name="private")
    public = server.thread(moderated, ana, "public")
    [_, other] = await client.hears("thread_create", 2)
    await other.join()
    active = {thread.name for thread in await parent.guild.active_threads()}
    await private.edit(name="renamed", archived=True)
    renamed = next(thread for thread in server.threads(moderated) if thread.id == str(private.id))
    await private.delete()

    assert active == {"private", "public"}
    assert (renamed.name, renamed.archived) == ("renamed", True)
    assert [thread.name for thread in server.threads(moderated)] == ["public"]
    assert server.bot.id in server.threads(moderated)[0].recipients
    assert public.recipients == (ana.id,)
    assert {channel.name for channel in await parent.guild.fetch_channels()} == {"general"}
    assert {role.name for role in await parent.guild.fetch_roles()} == {"@everyone"}


async def test_a_path_that_is_not_served_says_so(server: DiscordServer, client: Client) -> None:
    with pytest.raises(discord.NotFound, match="does not serve GET /voice/regions"):
        await client.http.request(discord.http.Route("GET", "/voice/regions"))


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([{"op": 3}], 4003),
        ([{"op": 2, "d": {"token": "wrong", "intents": INTENTS}}], 4004),
        ([{"op": 2, "d": {"intents": INTENTS}}] * 2, 4005),
        ([{"op": 6, "d": {"token": "wrong", "session_id": "session-1", "seq": 0}}], 4004),
        ([{"op": 2, "d": {"intents": INTENTS, "shard": [2, 2]}}], 4010),
        ([{"op": 2, "d": {"intents": -1}}], 4013),
        ([{"op": 2, "d": {"intents": 1 << 15}}], 4014),
        ([{"op": 2, "d": {"intents": INTENTS}}, {"op": 99}], 4002),
    ],
)
async def test_wrong_frames_close_the_connection(server: DiscordServer, frames: list[Any], code: int) -> None:
    async with aiohttp.ClientSession() as session, session.ws_connect(server.gateway_url) as socket:
        for frame in frames:
            data = {"token": server.token, **frame.get("d", {})}
            await socket.send_json({**frame, "d": data})
        async for _ in socket:
            pass
        assert socket.close_code == code


async def test_a_sequence_from_the_future_cannot_be_resumed(server: DiscordServer, client: Client) -> None:
    [session] = server.gateway.sessions
    async with aiohttp.ClientSession() as http, http.ws_connect(server.gateway_url) as socket:
        await socket.send_json({"op": 6, "d": {"token": server.token, "session_id": session, "seq": 999}})
        async for _ in socket:
            pass
        assert socket.close_code == 4007
