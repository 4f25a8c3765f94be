"""The JSON that Discord sends for what exists."""

from collections.abc import Iterable
from dataclasses import replace

from tests.doubles.discord.ids import time_of
from tests.doubles.discord.model import (
    Attachment,
    Channel,
    ChannelKind,
    Guild,
    Intent,
    Json,
    Member,
    Message,
    MessageFlag,
    Person,
    Reaction,
    Role,
)
from tests.doubles.discord.state import State

ATTACHMENT_LIMIT_BYTES = 10 * 1024 * 1024


def user(person: Person) -> Json:
    """A user."""
    return {
        "id": person.id,
        "username": person.name,
        "global_name": None if person.is_bot else person.name.title(),
        "discriminator": "0000" if person.is_bot else "0",
        "avatar": None,
        "bot": person.is_bot,
        "public_flags": 0,
    }


def member(state: State, one: Member, *, with_user: bool = True) -> Json:
    """A person in a guild."""
    body: Json = {
        "roles": list(one.roles),
        "joined_at": one.joined_at.isoformat(),
        "nick": None,
        "avatar": None,
        "flags": 0,
        "deaf": False,
        "mute": False,
        "pending": False,
        "premium_since": None,
        "communication_disabled_until": None,
    }
    return {**body, "user": user(state.people[one.person_id])} if with_user else body


def role(one: Role) -> Json:
    """A role."""
    return {
        "id": one.id,
        "name": one.name,
        "permissions": str(one.permissions),
        "position": one.position,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": bool(one.bot_id),
        **({"tags": {"bot_id": one.bot_id}} if one.bot_id else {}),
        "mentionable": True,
        "flags": 0,
    }


def emoji(spelling: str) -> Json:
    """`👍` or `name:id`."""
    name, _, custom_id = spelling.partition(":")
    return {"id": custom_id or None, "name": name, **({"animated": False} if custom_id else {})}


def channel(state: State, one: Channel) -> Json:
    """A text channel, a thread or a direct conversation."""
    last = state.last_in(one.id)
    common: Json = {"id": one.id, "type": int(one.kind), "last_message_id": last.id if last else None, "flags": 0}
    if one.kind is ChannelKind.DM:
        others = [user(state.people[person]) for person in one.recipients if person != state.bot.id]
        return {**common, "recipients": others}
    common |= {"guild_id": one.guild_id, "name": one.name, "parent_id": one.parent_id or None}
    if one.is_thread:
        return {**common, **_thread(state, one)}
    overwrites = [
        {"id": o.target_id, "type": int(o.of_person), "allow": str(o.allow), "deny": str(o.deny)}
        for o in one.overwrites
    ]
    return {
        **common,
        "position": 0,
        "permission_overwrites": overwrites,
        "topic": one.topic or None,
        "nsfw": False,
        "rate_limit_per_user": 0,
    }


def _thread(state: State, one: Channel) -> Json:
    count = len(state.messages_in(one.id))
    made = time_of(one.id).isoformat()
    return {
        "owner_id": one.owner_id,
        "message_count": count,
        "total_message_sent": count,
        "member_count": len(one.recipients),
        "rate_limit_per_user": 0,
        "thread_metadata": {
            "archived": one.archived,
            "locked": one.locked,
            "auto_archive_duration": 1440,
            "archive_timestamp": made,
            "create_timestamp": made,
        },
    }


def guild(state: State, one: Guild, people: Iterable[str] = ()) -> Json:
    """A guild as GUILD_CREATE has it, with the members named."""
    everything = list(state.channels_of(one.id))
    seen = [channel for channel in everything if state.can_see(state.bot.id, channel)]
    members = [state.members[one.id, person] for person in people]
    return {
        "id": one.id,
        "name": one.name,
        "owner_id": one.owner_id,
        "icon": None,
        "splash": None,
        "discovery_splash": None,
        "banner": None,
        "description": None,
        "features": [],
        "preferred_locale": "en-US",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "system_channel_id": None,
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "vanity_url_code": None,
        "application_id": None,
        "premium_progress_bar_enabled": False,
        "roles": [role(r) for r in state.roles_of(one.id)],
        "emojis": [_guild_emoji(e) for e in state.emojis.get(one.id, ())],
        "stickers": [],
        "joined_at": state.members[one.id, state.bot.id].joined_at.isoformat() if one.has_bot else None,
        "large": False,
        "unavailable": False,
        "member_count": sum(guild_id == one.id for guild_id, _ in state.members),
        "members": [member(state, m) for m in members],
        "channels": [channel(state, c) for c in seen if not c.is_thread],
        "threads": [channel(state, c) for c in seen if c.is_thread and not c.archived],
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def _guild_emoji(spelling: str) -> Json:
    return {**emoji(spelling), "roles": [], "require_colons": True, "managed": False, "available": True}


def attachment(state: State, one: Attachment) -> Json:
    """A file of a message; its `url` can be fetched."""
    url = f"{state.base_url}/attachments/{one.channel_id}/{one.id}/{one.file.name}"
    return {
        "id": one.id,
        "filename": one.file.name,
        "size": len(one.file.content),
        "content_type": one.file.media_type,
        "url": url,
        "proxy_url": url,
    }


def message(state: State, one: Message, intents: Intent = Intent.MESSAGE_CONTENT) -> Json:
    """A message as the app sees it with these intents: without the right, everything people wrote is empty."""
    shown = state.shows_content(one, intents)
    suppressed = MessageFlag.SUPPRESS_EMBEDS in one.flags
    body: Json = {
        "id": one.id,
        "channel_id": one.channel_id,
        "type": one.type,
        "author": {**user(one.author), **({"discriminator": "0000"} if one.webhook_id else {})},
        "content": one.content if shown else "",
        "timestamp": one.at.isoformat(),
        "edited_timestamp": one.edited_at.isoformat() if one.edited_at else None,
        "tts": False,
        "mention_everyone": "everyone" in one.pings,
        "mentions": [user(state.people[i]) for i in sorted(one.pings) if i in state.people],
        "mention_roles": [i for i in sorted(one.pings) if i in state.roles],
        "attachments": [attachment(state, a) for a in one.attachments] if shown else [],
        "embeds": list(one.embeds) if shown and not suppressed else [],
        "components": list(one.components) if shown else [],
        "flags": int(one.flags),
        "pinned": False,
    }
    if one.nonce:
        body["nonce"] = one.nonce
    if one.webhook_id:
        body["webhook_id"] = one.webhook_id
    if one.interaction_id:
        body["application_id"] = state.application_id
    if found := reactions(state, one):
        body["reactions"] = found
    if one.id in state.channels:
        body["thread"] = channel(state, state.channels[one.id])
    return {**body, **_reference(state, one, intents)}


def _reference(state: State, one: Message, intents: Intent) -> Json:
    if not one.reply_to:
        return {}
    reference = {"type": 0, "message_id": one.reply_to, "channel_id": one.channel_id}
    if one.guild_id:
        reference["guild_id"] = one.guild_id
    standing = state.find(one.reply_to)
    # Discord quotes one level deep.
    quoted = message(state, replace(standing, reply_to=""), intents) if standing else None
    return {"message_reference": reference, "referenced_message": quoted}


def gateway_message(state: State, one: Message, intents: Intent) -> Json:
    """A message as an event carries it: with the guild and the author's membership."""
    body = message(state, one, intents)
    author = state.members.get((one.guild_id, one.author.id))
    if one.guild_id:
        body["guild_id"] = one.guild_id
    if author and not one.webhook_id:
        body["member"] = member(state, author, with_user=False)
    return body


def reactions(state: State, one: Message) -> list[Json]:
    """The counted reactions of a message, first used first."""
    found: dict[str, list[Reaction]] = {}
    for reaction in state.reactions.get(one.id, ()):
        found.setdefault(reaction.emoji, []).append(reaction)
    return [
        {
            "emoji": emoji(spelling),
            "count": len(given),
            "count_details": {"burst": sum(r.burst for r in given), "normal": sum(not r.burst for r in given)},
            "me": any(r.person_id == state.bot.id for r in given),
            "me_burst": False,
            "burst_colors": [],
        }
        for spelling, given in found.items()
    ]


def application(state: State) -> Json:
    """The app itself. The flags say which privileged intents are switched on (in their unverified, limited form)."""
    limited = {Intent.GUILD_PRESENCES: 1 << 13, Intent.GUILD_MEMBERS: 1 << 15, Intent.MESSAGE_CONTENT: 1 << 19}
    return {
        "id": state.application_id,
        "name": state.bot.name,
        "icon": None,
        "description": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "owner": user(state.owner),
        "team": None,
        "flags": sum(flag for intent, flag in limited.items() if intent in state.granted),
        "install_params": {"scopes": ["bot", "applications.commands"], "permissions": "0"},
        "interactions_endpoint_url": None,
        "approximate_guild_count": sum(guild.has_bot for guild in state.guilds.values()),
    }


def gateway_info(url: str, shards: int) -> Json:
    """What /gateway/bot tells."""
    limit = {"total": 1000, "remaining": 1000, "reset_after": 86_400_000, "max_concurrency": 1}
    return {"url": url, "shards": shards, "session_start_limit": limit}
