"""The things a workspace is made of. Plain data; who may change what is decided elsewhere."""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class User:
    """Somebody with a user id: a member, a guest, a person of another workspace, or a bot's own user."""

    id: str
    name: str
    team_id: str
    real_name: str = ""
    bot_id: str = ""
    app_id: str = ""
    admin: bool = False
    guest: str = ""
    """`` (full member), `multi` or `single` channel guest."""
    external: bool = False
    """Belongs to another workspace and is here through Slack Connect."""
    teams: tuple[str, ...] = ()
    """The workspaces of an organisation that somebody is a member of; `team_id` is one of them."""
    deleted: bool = False


@dataclass(slots=True, kw_only=True)
class UserGroup:
    """`@teachers`."""

    id: str
    handle: str
    users: list[str]


@dataclass(slots=True, kw_only=True)
class Channel:
    """A conversation. `kind` is the event's `channel_type`: channel, group, im or mpim."""

    id: str
    name: str
    kind: str = "channel"
    members: set[str] = field(default_factory=set)
    archived: bool = False
    shared: bool = False
    """Shared with another workspace through Slack Connect."""
    created: int = 0
    creator: str = ""


@dataclass(slots=True, kw_only=True)
class HostedFile:
    """A file that was uploaded: by a person with a message, or by the bot in three steps."""

    id: str
    name: str
    content: bytes
    mimetype: str
    user: str
    created: int
    title: str = ""
    completed: bool = True
    channel: str = ""
    thread_ts: str = ""
    initial_comment: str = ""
    message_ts: str = ""
    announced_length: int = 0


@dataclass(slots=True, kw_only=True)
class Stream:
    """The streaming side of a message. `state`: open, stopped, expired or stopped_by_user."""

    state: str = "open"
    mode: str = ""
    """`text` or `chunks`: whatever came first holds for the whole stream."""
    chunks: list[Json] = field(default_factory=list)
    appends: int = 0


@dataclass(slots=True, kw_only=True)
class Message:
    """One message everybody in the channel sees. `ts` with the channel is its address."""

    channel: str
    ts: str
    user: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    thread_ts: str = ""
    """The root of the thread it is a reply in; empty for a message at the top."""
    bot_id: str = ""
    subtype: str = ""
    files: list[HostedFile] = field(default_factory=list)
    edited: Json | None = None
    edits: list[str] = field(default_factory=list)
    """The texts it had before, oldest first."""
    reactions: dict[str, list[str]] = field(default_factory=dict)
    """Emoji name to the user ids, in the order they reacted."""
    stream: Stream | None = None
    is_markdown: bool = False
    metadata: Json | None = None
    sent: Json = field(default_factory=dict)
    """The arguments the bot sent it with (`unfurl_links`, ...); empty for a person's message."""
    client_msg_id: str = ""


@dataclass(slots=True, kw_only=True)
class Ephemeral:
    """A message only `user` sees, until they reload. Its `ts` is no address for any other method."""

    channel: str
    user: str
    ts: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    thread_ts: str = ""
    gone: bool = False


@dataclass(slots=True, kw_only=True)
class View:
    """A modal or an App Home as one person sees it."""

    id: str
    user: str
    type: str
    hash: str
    body: Json
    """What the bot sent: title, blocks, private_metadata, ..."""
    root_id: str = ""
    previous_id: str = ""
    errors: dict[str, str] = field(default_factory=dict)
    is_open: bool = True


@dataclass(slots=True, kw_only=True)
class Status:
    """Something the bot said about its state in a thread."""

    method: str
    channel: str
    thread_ts: str
    status: str
    loading_messages: list[str] = field(default_factory=list)
    title: str = ""


@dataclass(slots=True, kw_only=True)
class Call:
    """One Web API call as it came in. `answer` is None while it hangs or was cut off."""

    order: int
    """Place among everything that crossed the wire, deliveries and acknowledgements included."""
    at: float
    """When, in seconds since the epoch."""
    method: str
    team_id: str
    args: Json
    token: str
    answer: Json | None = None
    status: int = 0
    fault: str = ""

    @property
    def error(self) -> str:
        """The error code it was answered with, or empty."""
        return str((self.answer or {}).get("error", ""))
