"""Messages: addresses, attachments, what the bot posts, and how a message addresses the bot."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.model import Scope, Visibility


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRef:
    """The address of a posted message. `post` returns it, and events on the message have the same ids."""

    workspace: str
    channel: str
    message_id: str


class Address(StrEnum):
    """How a message addresses the bot."""

    DIRECT = "direct"
    """In a direct conversation with the bot."""
    MENTION = "mention"
    """By a mention, or as a reply to a message of the bot."""
    FOLLOW_UP = "follow_up"
    """In a thread, without a mention."""
    OPEN = "open"
    """In a channel outside of threads, without a mention."""


UNADDRESSED = (Address.FOLLOW_UP, Address.OPEN)
"""The addresses of messages that may be for somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """An attached text file, downloaded and shortened by the messenger."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """An attached picture, downloaded within the messenger's limits of size and number."""

    name: str
    media_type: str
    """Detected from the content: image/png, image/jpeg, image/gif or image/webp."""
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A message of a person to others, read from the platform when needed and never stored."""

    message_id: str
    person: str
    """The author's id."""
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSoFar:
    """A thread before a message."""

    people: frozenset[str]
    """Ids of the people who wrote in it; no apps."""
    is_last_ours: bool
    """Whether the message directly before is the bot's."""
    last_text: str = ""
    """The text of the message directly before."""


ReadThread = Callable[[], Awaitable[ThreadSoFar | None]]
"""Reads the thread; None if the platform cannot. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unaddressed:
    """A message without a mention, which may be for the bot or for somebody else."""

    scope: Scope
    text: str
    address: Address
    read_thread: ReadThread
    replied_to: str = ""
    """The id of the message of the bot that it replies to; empty if there is none."""
    is_for_others: bool = False
    """Whether it mentions somebody else, or replies to somebody else's message."""


IsForBot = Callable[[Unaddressed], Awaitable[bool]]
"""Decides whether such a message is for the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A button under a message. Pressing it runs a command as the person who pressed.

    The reply replaces a notice, but not an answer that has buttons. Without buttons the platform shows the command to
    type. `command` and `argument` together have at most 80 characters, as platforms allow no more in a button.
    """

    label: str
    command: str
    argument: str = ""
    is_danger: bool = False
    """Whether it erases something or takes something away."""
    words: str = ""
    """Words that may be typed instead of the label, if they say more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotMessage:
    """A message to post. `text` is CommonMark; the messenger converts it to the platform's markup and splits it."""

    workspace: str
    channel: str
    text: str
    thread: str = ""
    private_to: str = ""
    """The id of the only person who sees it, where the platform can do that."""
    is_direct: bool = False
    """Whether to send it as a direct message to `private_to`; then `channel` is the channel it is about."""
    is_answer: bool = False
    """Whether it is an answer, which people may react to, and not a notice."""
    run_id: str = ""
    part: int = 1
    parts: int = 1
    """The number of parts of the answer."""
    first_message: str = ""
    """The id of the answer's first part; empty in the first part."""
    is_last: bool = True
    """Whether it is the last message of the answer, which gets the buttons."""
    reply_to: str = ""
    """The id of the message it answers, for platforms with replies."""
    may_be_posted: bool = False
    """Whether it may be posted already, by another process that ended before it noted that."""
    note: str = ""
    """A line below the answer, in small print if the platform has it."""
    lessons: tuple[str, ...] = ()
    """A line for each lesson that the answer used."""
    choices: tuple[Choice, ...] = ()
    is_for_all: bool = False
    """Whether everybody may use the choices of a notice; the reply is shown only to the person who pressed."""
    people: tuple[str, ...] = ()
    """Ids of people in `lessons` or in a notice's text, which the platform shows as names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A person as their platform describes them; unknown values are empty."""

    name: str = ""
    title: str = ""
    """Their job title, in their words."""
    zone: str = ""
    """An IANA time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCard:
    """A channel as its platform describes it; unknown values are empty."""

    name: str = ""
    topic: str = ""
    purpose: str = ""
    visibility: Visibility | None = None
    """Who can read it now; None if the platform did not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file for a person, for example their export."""

    name: str
    content: bytes
    media_type: str
