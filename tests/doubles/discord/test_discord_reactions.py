"""Reactions through the real discord.py."""

import pytest

from tests.doubles.discord.client import Client
from tests.doubles.discord.library import discord
from tests.doubles.discord.model import Channel, Guild, Message, Person
from tests.doubles.discord.server import DiscordServer


@pytest.fixture
def asked(server: DiscordServer, client: Client, general: Channel, ana: Person) -> Message:
    """A message both can react to."""
    return server.says(ana, general, server.bot.mention)


async def test_reactions_arrive_as_they_are_spelt(
    server: DiscordServer, client: Client, guild: Guild, asked: Message, ana: Person
) -> None:
    custom = server.emoji(guild, "partyparrot")
    for emoji in ("👍🏽", "❤️", custom):
        server.reacts(ana, asked, emoji)
    plain, heart, parrot = await client.hears("raw_reaction_add", 3)

    assert plain.emoji.name == "👍🏽"
    assert heart.emoji.name == "❤️"
    assert (parrot.emoji.name, f"partyparrot:{parrot.emoji.id}") == ("partyparrot", custom)
    assert (plain.user_id, plain.message_id, plain.channel_id) == (int(ana.id), int(asked.id), int(asked.channel_id))
    assert plain.member.name == "ana"
    assert plain.message_author_id == int(ana.id)


async def test_taking_one_off_names_no_author_and_no_member(
    server: DiscordServer, client: Client, asked: Message, ana: Person
) -> None:
    server.reacts(ana, asked, "👍", burst=True)
    server.unreacts(ana, asked, "👍")
    server.unreacts(ana, asked, "👍")
    server.reacts(ana, asked, "👎")
    first, second = await client.hears("raw_reaction_add", 2)
    [removed] = client.all_of("raw_reaction_remove")

    assert (first.burst, second.burst) == (True, False)
    assert (removed.member, removed.message_author_id, removed.user_id) == (None, None, int(ana.id))
    assert [one.emoji for one in server.reactions(asked)] == ["👎"]


async def test_reacting_twice_is_one_event(server: DiscordServer, client: Client, asked: Message, ana: Person) -> None:
    server.reacts(ana, asked, "👍")
    server.reacts(ana, asked, "👍")
    server.reacts(ana, asked, "🎉")
    assert [event.emoji.name for event in await client.hears("raw_reaction_add", 2)] == ["👍", "🎉"]


async def test_a_moderator_clears_one_emoji_or_all(
    server: DiscordServer, client: Client, guild: Guild, asked: Message, ana: Person
) -> None:
    server.reacts(ana, asked, "👍")
    server.reacts(server.person("ben", guild), asked, "👍")
    server.reacts(ana, asked, "🎉")
    server.clears_reactions(asked, "👍")
    left = server.reactions(asked)
    server.clears_reactions(asked)
    [one] = await client.hears("raw_reaction_clear_emoji")
    [everything] = await client.hears("raw_reaction_clear")

    assert (one.emoji.name, one.message_id) == ("👍", int(asked.id))
    assert [reaction.emoji for reaction in left] == ["🎉"]
    assert everything.message_id == int(asked.id)
    assert server.reactions(asked) == []


async def test_the_bot_marks_and_unmarks(
    server: DiscordServer, client: Client, guild: Guild, asked: Message, ana: Person
) -> None:
    custom = server.emoji(guild, "brainy")
    [message] = await client.hears("message")
    for emoji in ("🧠", "🧠", custom):
        await message.add_reaction(emoji)
    marked = server.marks(asked)
    await message.remove_reaction("🧠", client.user)
    await message.remove_reaction("🧠", client.user)
    fetched = await message.channel.fetch_message(message.id)
    users = [person.id async for person in fetched.reactions[0].users()]

    assert marked == ["🧠", custom]
    assert server.marks(asked) == [custom]
    assert users == [int(server.bot.id)]
    assert fetched.reactions[0].me
    own = await client.hears("raw_reaction_add", 2)
    assert {event.user_id for event in own} == {int(server.bot.id)}


async def test_what_cannot_be_a_reaction_is_refused(
    server: DiscordServer, client: Client, asked: Message, ana: Person
) -> None:
    [message] = await client.hears("message")
    for unknown in ("thumbsup", "gone:123"):
        with pytest.raises(discord.HTTPException) as refused:
            await message.add_reaction(unknown)
        assert refused.value.code == 10014
    for number in range(20):
        server.reacts(ana, asked, chr(0x1F600 + number))
    with pytest.raises(discord.Forbidden) as full:
        await message.add_reaction("🧠")
    with pytest.raises(discord.Forbidden) as not_a_moderator:
        await message.clear_reactions()
    server.deletes(asked)
    with pytest.raises(discord.NotFound) as gone:
        await message.add_reaction("🧠")
    assert (full.value.code, not_a_moderator.value.code, gone.value.code) == (30010, 50013, 10008)
