"""Messages: where one is, what it is attached with, how it is meant for the bot, what the bot sends."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.model import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRef:
    """The address of one sent message. What `post` returns is what a later reaction carries back, unchanged."""

    workspace: str
    channel: str
    message_id: str


class Address(StrEnum):
    """How a message is meant for the bot."""

    DIRECT = "direct"
    """In a conversation with the bot alone."""
    MENTION = "mention"
    """It names the bot, or answers one of its messages."""
    FOLLOW_UP = "follow_up"
    """Somewhere in a thread, without a mention."""
    OPEN = "open"
    """On the top level of a channel, without a mention."""


UNADDRESSED = (Address.FOLLOW_UP, Address.OPEN)
"""How messages come that may be for somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFile:
    """An attached text file, fetched and cut to size by the messenger."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFile:
    """An attached picture, fetched within the messenger's limits of size and number."""

    name: str
    media_type: str
    """By its content: image/png, image/jpeg, image/gif or image/webp."""
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A message of a person among people, read from the platform when it is needed and never stored."""

    message_id: str
    person: str
    """Who wrote it, by id."""
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSoFar:
    """What was said in a thread before a message."""

    people: frozenset[str]
    """Who of them said something; no programs."""
    is_last_ours: bool
    """Whether the message just before is the bot's own."""
    last_text: str = ""
    """What that says."""


ReadThread = Callable[[], Awaitable[ThreadSoFar | None]]
"""Looks at the thread; None where the platform cannot say. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unaddressed:
    """A message without a mention, as the platform describes it before it is known whom it is for."""

    scope: Scope
    text: str
    address: Address
    read_thread: ReadThread
    replied_to: str = ""
    """The id of the bot's message that it replies to."""
    is_for_others: bool = False
    """It mentions somebody else, or replies to somebody else's message."""


IsForBot = Callable[[Unaddressed], Awaitable[bool]]
"""Whether such a message is meant for the bot."""


async def any_reply(message: Unaddressed) -> bool:
    """For a messenger without a conversation behind it: every reply in a thread, and nothing else."""
    return message.address is Address.FOLLOW_UP


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A button under a message: pressing it is the presser's command.

    What a notice is answered with takes its place; an answer that offers something stays.
    Where there are no buttons the command is shown as it is typed. `command` and `argument` together have at most 80
    characters, which is what platforms carry in a button.
    """

    label: str
    command: str
    argument: str = ""
    is_danger: bool = False
    """It erases or takes something away."""
    words: str = ""
    """What may be typed instead of the label, where that says more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotMessage:
    """Something to say. `text` is CommonMark; the messenger turns it into the platform's dialect and splits it."""

    workspace: str
    channel: str
    text: str
    thread: str = ""
    private_to: str = ""
    """Show it to this person alone where the platform can."""
    is_direct: bool = False
    """Send it to that person's direct messages, with `channel` as the place that it is about."""
    is_answer: bool = False
    """An answer people may react to, as opposed to a notice."""
    run_id: str = ""
    part: int = 1
    parts: int = 1
    """How many the answer has."""
    first_message: str = ""
    """The id of its first part, from the second on."""
    is_last: bool = True
    """Nothing of the same answer follows: what belongs under an answer goes here."""
    reply_to: str = ""
    """The id of the message it answers, where the platform shows that."""
    may_be_posted: bool = False
    """Another process may have posted it, or begun to, and ended before it could note that."""
    note: str = ""
    """One line below the answer, in small print where the platform has it."""
    lessons: tuple[str, ...] = ()
    """One line for each remembered lesson the answer used."""
    choices: tuple[Choice, ...] = ()
    is_for_all: bool = False
    """The choices of a notice are for everybody who sees it; what a press does is told to who pressed alone."""
    people: tuple[str, ...] = ()
    """Ids of people in `lessons`, or in the text of a notice, which the platform shows by name where it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a platform tells about a person; empty is what it does not."""

    name: str = ""
    title: str = ""
    """Their role at work, in their words."""
    zone: str = ""
    """An IANA time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCard:
    """What a platform tells about a channel."""

    name: str = ""
    topic: str = ""
    purpose: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file to hand to a person, for example their export."""

    name: str
    content: bytes
    media_type: str
