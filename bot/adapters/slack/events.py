"""Parses Slack's event payloads into plain values. Pure; None for an event of no interest.

Field by field: docs.slack.dev/reference/events. A message that mentions the bot arrives twice, as `message` and as
`app_mention`, with different event ids and the same time stamp: so a message is known by its channel and time stamp.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.adapters import command_words
from bot.adapters.commonmark import on_own_lines
from bot.model import Address

Json = Mapping[str, Any]
"""A JSON object from Slack. Fields may be missing, so readers take only what they find."""

_SPECIAL = re.compile(r"<(?P<kind>[@#!]?)(?P<target>[^<>|\s][^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_MENTION = re.compile(r"<[@#](?P<id>[UWCG][A-Z0-9]+)(?:\|[^<>]*)?>")
_NOTIFYING_MENTION = re.compile(r"<(?:@[UW]|!(?:here|channel|everyone|subteam))")
"""A mention that notifies a person, a group or everybody."""
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
"""Slack escapes `&`, `<` and `>`, and puts everything special between angle brackets: `<@U1>`, `<#C1|general>`,
`<https://x.org|a label>`, `<!here>` (docs.slack.dev, "Formatting message text")."""
UNNAMED = {"@": "somebody", "#": "a-channel", "!": "a-group"}
"""Used in place of a name that Slack does not tell."""
_STAMP = re.compile(r"\d{9,11}\.\d{1,9}")
SHARED = "is_ext_shared_channel"
"""A field beside an event: whether other organisations read its channel too."""
_PERSON_SUBTYPES = ("", "file_share", "thread_broadcast")
"""Subtypes of messages that people write; all others are notices of Slack or of apps."""


CHANNEL_EVENTS = ("channel_shared", "channel_unshared")
"""Events that only say that a channel has other readers now."""
_CHANNEL_CHANGE_SUBTYPES = ("channel_convert_to_private", "channel_convert_to_public", "channel_name", "group_name")
"""Subtypes of a message that say the same, or that it has another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Who did something where, as far as the payload says."""

    channel: str
    user: str
    thread: str = ""
    """The time stamp of the thread's first message."""
    kind: str = ""
    """Slack's channel type (im, mpim, group, channel); empty when the payload does not say."""
    team: str = ""
    """The workspace of the person, where the payload says it: another one in a shared channel."""
    is_shared: bool = False
    """Whether the payload says that people of other organisations read the channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A new message of a person."""

    location: Location
    ts: str
    text: str
    address: Address
    is_in_thread: bool
    typed: str = ""
    """The same text with ids in place of names where a command needs them."""
    files: tuple[Json, ...] = ()
    is_for_others: bool = False
    """It mentions somebody else, a group, or everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedMessage:
    """A person changed the text of a message."""

    location: Location
    ts: str
    text: str
    at: datetime
    address: Address
    files: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedMessage:
    """A person's message was deleted, or replaced by a tombstone."""

    location: Location
    ts: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageReaction:
    """A person put an emoji on a message, or took it off."""

    location: Location
    ts: str
    emoji: str
    added: bool
    author: str
    """Who wrote the message; empty when Slack does not say."""
    at: datetime


def time_of(ts: str) -> datetime:
    """The time of one of Slack's time stamps (seconds since the epoch)."""
    return datetime.fromtimestamp(float(ts), UTC)


def with_time(event: Json, otherwise: float) -> Json:
    """The event with its time; `otherwise` (seconds since the epoch) if Slack leaves that out."""
    return event if event.get("event_ts") else {**event, "event_ts": f"{otherwise:.6f}"}


def timestamp_in(text: str) -> str:
    """The last Slack time stamp in an id; empty if there is none."""
    found = _STAMP.findall(text)
    return found[-1] if found else ""


def message_id_of(channel: str, ts: str) -> str:
    """The event id of a message, the same however often and under whatever event type it arrives."""
    return f"{channel}/{ts}"


def read_message(event: Json, bot_user: str) -> NewMessage | EditedMessage | DeletedMessage | None:
    """A `message` or `app_mention` event."""
    subtype = event.get("subtype") or ""
    if subtype == "message_changed":
        return _read_change(event, bot_user)
    if subtype == "message_deleted":
        return _read_deletion(event, event.get("previous_message") or {}, str(event.get("deleted_ts", "")), bot_user)
    if subtype not in _PERSON_SUBTYPES or not _is_person(event, bot_user):
        return None
    text = str(event.get("text") or "")
    ts, without_name = str(event["ts"]), without_mention(text, bot_user)
    return NewMessage(
        location=_location(event, event, ts),
        ts=ts,
        text=plain_text(without_name),
        typed=as_command(without_name),
        address=_address(event, text, bot_user),
        is_in_thread=bool(event.get("thread_ts")),
        files=tuple(event.get("files") or ()),
        is_for_others=_NOTIFYING_MENTION.search(without_name) is not None,
    )


def names_somebody(event: Json, bot_user: str) -> bool:
    """Whether the text of a message, or its new text, mentions anything but the bot."""
    text = str((event.get("message") or event).get("text") or "")
    return any(mark in without_mention(text, bot_user) for mark in ("<@", "<#", "<!"))


def read_reaction(event: Json) -> MessageReaction | None:
    """A `reaction_added` or `reaction_removed` event on a message."""
    item = event.get("item") or {}
    if item.get("type") != "message" or not event.get("user"):
        return None
    location = Location(
        channel=str(item["channel"]),
        user=str(event["user"]),
        kind=str(item.get("channel_type") or ""),
        is_shared=bool(event.get(SHARED)),
    )
    return MessageReaction(
        location=location,
        ts=str(item["ts"]),
        emoji=str(event.get("reaction", "")),
        added=event.get("type") == "reaction_added",
        author=str(event.get("item_user") or ""),
        at=time_of(str(event["event_ts"])),
    )


def read_channel_change(event: Json, bot_user: str) -> Location | None:
    """The channel whose readers or name changed, with who changed it, or the bot if Slack does not tell."""
    if event.get("type") not in CHANNEL_EVENTS and event.get("subtype") not in _CHANNEL_CHANGE_SUBTYPES:
        return None
    return Location(channel=str(event["channel"]), user=str(event.get("user") or bot_user))


def ends_installation(event: Json, bot_user: str) -> str:
    """Why the app cannot work here any more; empty if it can, as `tokens_revoked` may name only other tokens."""
    if event.get("type") == "app_uninstalled":
        return "the app was removed from the workspace"
    tokens: Any = event.get("tokens") or {}
    if event.get("type") == "tokens_revoked" and bot_user in (tokens.get("bot") or ()):
        return "the bot's token was revoked"
    return ""


def _address(event: Json, text: str, bot_user: str) -> Address:
    if event.get("channel_type") == "im" or str(event["channel"]).startswith("D"):
        return Address.DIRECT
    if event.get("type") == "app_mention" or mentions(text, bot_user):
        return Address.MENTION
    return Address.FOLLOW_UP if event.get("thread_ts", event["ts"]) != event["ts"] else Address.OPEN


def _read_change(event: Json, bot_user: str) -> EditedMessage | DeletedMessage | None:
    message, before = event.get("message") or {}, event.get("previous_message") or {}
    if message.get("subtype") == "tombstone":
        return _read_deletion(event, before, str(message.get("ts", "")), bot_user)
    # Slack also says "changed" when it unfolds a link or counts a reply; then the text is the same.
    if not _is_person(message, bot_user) or message.get("text") == before.get("text"):
        return None
    ts = str(message["ts"])
    text = str(message.get("text") or "")
    place = {"channel": event["channel"], "channel_type": event.get("channel_type")}
    return EditedMessage(
        location=_location(event, message, ts),
        ts=ts,
        text=plain_text(without_mention(text, bot_user)),
        at=time_of(str(event["event_ts"])),
        address=_address(message | place, text, bot_user),
        files=tuple(message.get("files") or ()),
    )


def _read_deletion(event: Json, before: Json, ts: str, bot_user: str) -> DeletedMessage | None:
    if not ts or not _is_person(before, bot_user):
        return None
    return DeletedMessage(location=_location(event, before, ts), ts=ts, at=time_of(str(event["event_ts"])))


def _location(event: Json, message: Json, ts: str) -> Location:
    return Location(
        channel=str(event["channel"]),
        user=str(message["user"]),
        thread=str(message.get("thread_ts") or ts),
        kind=str(event.get("channel_type") or ""),
        team=str(message.get("user_team") or message.get("team") or ""),
        is_shared=bool(event.get(SHARED)),
    )


def _is_person(message: Json, bot_user: str) -> bool:
    return not message.get("bot_id") and message.get("user") not in (None, "", "USLACKBOT", bot_user)


# The text of a message ---------------------------------------------------------------------------------------------


def is_by_person(message: Json) -> bool:
    """Whether a person wrote a message read from Slack, rather than a program."""
    return (
        bool(message.get("user")) and not message.get("bot_id") and (message.get("subtype") or "") in _PERSON_SUBTYPES
    )


def plain_text(text: str, names: Mapping[str, str] | None = None) -> str:
    """Slack's text as people read it: labels instead of ids (`UNNAMED` where there is none), without escapes.

    With `names`, by id, these are used first, and a channel that is not in them stays unnamed.
    """
    shown = _SPECIAL.sub(lambda found: _shown(found, names), text)
    for entity, character in _ENTITIES:
        shown = shown.replace(entity, character)
    shown = shown.strip()
    return on_own_lines(shown) if "```" in shown else shown


def as_command(text: str) -> str:
    """The text of a possible command: plain, but with ids where a command takes people or channels."""
    return plain_text(command_words.with_ids(text, _MENTION))


def mentions(text: str, user: str) -> bool:
    """Whether Slack's text names this user."""
    return re.search(_tag(user), text) is not None


def without_mention(text: str, user: str) -> str:
    """Slack's text without the mentions of this user and the punctuation after the first one."""
    return command_words.without_mention(text, _tag(user))


def _tag(user: str) -> str:
    return rf"<@{re.escape(user)}(?:\|[^<>]*)?>"


def _shown(found: re.Match[str], names: Mapping[str, str] | None) -> str:
    kind, target, label = found["kind"], found["target"], found["label"] or ""
    if kind == "!":
        command = target.partition("^")[0]
        name = label or (UNNAMED[kind] if command == "subteam" else command)
        return name if command == "date" or name.startswith("@") else f"@{name}"
    if kind:
        known = "" if names is None else names.get(target, "")
        may_say = names is None or kind == "@"
        return kind + (known or (label if may_say else "") or UNNAMED[kind])
    address = target.removeprefix("mailto:")
    if not label or label == address or address.split("://", 1)[-1].rstrip("/") == label.rstrip("/"):
        return address
    return f"{label} ({address})"
