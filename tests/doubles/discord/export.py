"""A channel as DiscordChatExporter 2.43 writes it with `--format Json`."""

from tests.doubles.discord.model import Channel, ChannelKind, Json, Message, Person
from tests.doubles.discord.state import State

_KINDS = {
    ChannelKind.TEXT: "GuildTextChat",
    ChannelKind.DM: "DirectTextChat",
    ChannelKind.PUBLIC_THREAD: "GuildPublicThread",
    ChannelKind.PRIVATE_THREAD: "GuildPrivateThread",
}
_TYPES = {0: "Default", 19: "Reply", 7: "GuildMemberJoin", 18: "ThreadCreated", 21: "21"}


def export(state: State, channel: Channel, *, pinned: frozenset[str] = frozenset(), with_users: bool = True) -> Json:
    """Everything that stands in a channel. Versions before 2.41 wrote no `users` of a reaction."""
    guild = state.guilds.get(channel.guild_id)
    parent = state.channels.get(channel.parent_id)
    return {
        "guild": {"id": guild.id if guild else "0", "name": guild.name if guild else "Direct Messages", "iconUrl": ""},
        "channel": {
            "id": channel.id,
            "type": _KINDS[channel.kind],
            "categoryId": parent.id if parent else None,
            "category": parent.name if parent else None,
            "name": channel.name,
            "topic": None,
        },
        "dateRange": {"after": None, "before": None},
        "exportedAt": state.clock().isoformat(),
        "messages": [_message(state, each, pinned, with_users=with_users) for each in state.messages_in(channel.id)],
        "messageCount": len(state.messages_in(channel.id)),
    }


def _person(person: Person) -> Json:
    return {
        "id": person.id,
        "name": person.name,
        "discriminator": "0000",
        "nickname": person.name.capitalize(),
        "isBot": person.is_bot,
    }


def _message(state: State, message: Message, pinned: frozenset[str], *, with_users: bool) -> Json:
    reactions: dict[str, list[Person]] = {}
    for each in state.reactions.get(message.id, ()):
        reactions.setdefault(each.emoji, []).append(state.people[each.person_id])
    found: Json = {
        "id": message.id,
        "type": _TYPES.get(message.type, str(message.type)),
        "timestamp": message.at.isoformat(),
        "timestampEdited": None,
        "isPinned": message.id in pinned,
        "content": message.content,
        "author": _person(message.author),
        "attachments": [],
        "embeds": [],
        "reactions": [
            {
                "emoji": {"id": "", "name": emoji, "code": emoji, "isAnimated": False},
                "count": len(people),
                **({"users": [_person(each) for each in people]} if with_users else {}),
            }
            for emoji, people in reactions.items()
        ],
        "mentions": [_person(state.people[each]) for each in sorted(message.pings) if each in state.people],
    }
    if message.reply_to:
        found["reference"] = {"messageId": message.reply_to, "channelId": message.channel_id}
    return found
