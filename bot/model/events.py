"""Events: what people do, in the same form for all platforms."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.model.messages import Address, ImageFile, TextFile
from memory.model import Audience, Role, Scope
from memory.model.saved_messages import FilledFrom


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseEvent:
    """The fields of all events: who did something, where, when, and in what role."""

    event_id: str
    """The same if the event is delivered again."""
    scope: Scope
    """The person who did it, and where; the bot if the event names no person."""
    at: datetime
    role: Role = Role.MEMBER


FindRole = Callable[[], Awaitable[Role]]
"""Looks up the role of the person who acts. Raises `MessengerError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonMessage(BaseEvent):
    """A person wrote a message."""

    message_id: str
    text: str
    address: Address = Address.DIRECT
    files: tuple[TextFile, ...] = ()
    images: tuple[ImageFile, ...] = ()
    is_late: bool = False
    """Whether it was written while the bot was away."""
    reply_to: str = ""
    """The id of the message it replies to; empty if it is no reply."""
    find_role: FindRole | None = field(default=None, compare=False, repr=False)
    """Looks up the role if `role` is only a cached one, for a message that teaches something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonEdit(BaseEvent):
    """A person edited a message of theirs.

    It has an effect until it is answered, if no answer was known, or if it corrected or taught something.
    """

    message_id: str
    text: str
    of_event: str = ""
    """The event id of the message before the edit."""
    find_role: FindRole | None = field(default=None, compare=False, repr=False)
    """Looks up the role if `role` is only a cached one."""
    files: tuple[TextFile, ...] = ()
    """The attachments after the edit."""
    images: tuple[ImageFile, ...] = ()
    is_addressed: bool = True
    """Whether the message may be for the bot; if not, it matters only if it was saved as a lesson."""
    address: Address = Address.DIRECT
    """How the new text is addressed. Without a mention it teaches only if the message was taken in before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonDeletion(BaseEvent):
    """A person's message was deleted."""

    message_id: str
    of_event: str = ""
    """The event id of the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRetry(BaseEvent):
    """A person wants a new answer to a question."""

    message_id: str
    """The id of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReaction(BaseEvent):
    """A person added or removed an emoji on a message."""

    message_id: str
    emoji: str
    """In the platform's notation: `👍🏽`, `+1::skin-tone-3`, `partyparrot`."""
    added: bool
    on_own_message: bool = True
    """Whether the message is the bot's; True if unknown. May be False for the removal of an earlier reaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonVote(BaseEvent):
    """A person pressed a vote button under an answer: +1, -1, or 0 to take the vote back."""

    message_id: str
    value: int
    on_own_message: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionsCleared(BaseEvent):
    """A moderator removed everybody's reactions from a message: one emoji, or all."""

    message_id: str
    emoji: str = ""
    """The removed emoji; empty for all."""


WRONG_APPROACH = "wrong tool or approach"
"""The reason of a correction that is about the answer's actions and not its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCorrection(BaseEvent):
    """A person corrects an answer."""

    text: str
    message_id: str = ""
    """The id of the wrong answer; empty for the last one in the thread, or in the channel outside of threads."""
    address: Address = Address.DIRECT
    reason: str = ""
    """What was wrong, from the platform's list (`wrong facts`, `misunderstood me`)."""
    is_answerable: bool = True
    """Whether its author may be answered; False if they are rate limited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTeaching(BaseEvent):
    """A person teaches the answer to a question ("Teach the bot...")."""

    question: str
    answer: str
    audience: Audience = Audience.PERSONAL
    """The wanted audience; the person's role may limit it."""
    filled_from: tuple[FilledFrom, ...] = ()
    """The messages that the form was filled in with."""
    of_message: str = ""
    """What the lesson is taken back by, if not the event's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCommand(BaseEvent):
    """A person uses a command of the bot (`why`, `undo`, ...)."""

    name: str
    argument: str
    message_id: str = ""
    """The id of the answer that the command is about; empty for the last one in the channel."""
    typed_in: str = ""
    """The id of the message it was typed in; empty for buttons and slash commands."""
    reply_to: str = ""
    """The id of the message, of anybody, that it replies to; empty if it is no reply."""
    is_role_local: bool = False
    """Whether the role holds in this channel only, as for its creator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSave(BaseEvent):
    """A person added or removed the emoji that saves a message, on a message that is not the bot's."""

    message_id: str
    added: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelChanged(BaseEvent):
    """A channel may have other readers, or another name, than before."""


SetInChat = Callable[[str], Awaitable[Mapping[str, str]]]
"""Reads a workspace's settings that people changed in chat, by name."""


NameTeachers = Callable[[], Awaitable[list[str]]]
"""Looks up the names of people and groups who may approve for others. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotInvited(BaseEvent):
    """The bot was added to a channel, or with `is_server` to a server; `scope` is where it may greet."""

    teachers: NameTeachers = field(compare=False)
    is_server: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonArrived(BaseEvent):
    """A person opened their direct conversation with the bot."""

    teachers: NameTeachers = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRateLimited(BaseEvent):
    """A person exceeded the rate limit, for the first time since they were below it."""

    rest: timedelta
    """How long further messages are ignored."""


PersonEvent = (
    BotInvited
    | ChannelChanged
    | PersonArrived
    | PersonMessage
    | PersonEdit
    | PersonDeletion
    | PersonRetry
    | PersonReaction
    | PersonVote
    | ReactionsCleared
    | PersonCorrection
    | PersonTeaching
    | PersonCommand
    | PersonSave
    | PersonRateLimited
)
