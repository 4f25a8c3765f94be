"""Events: what people do on a platform, the same on every one."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.model.messages import Address, ImageFile, TextFile
from memory.model import Audience, Role, Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseEvent:
    """What every event says: who did something where, when, and in what role."""

    event_id: str
    """The same for an event that is delivered again."""
    scope: Scope
    """Whoever did it, where they did; of what no person is named for, the bot."""
    at: datetime
    role: Role = Role.MEMBER


FindRole = Callable[[], Awaitable[Role]]
"""Finds out in what role somebody acts. Raises `MessengerError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonMessage(BaseEvent):
    """A person asks something."""

    message_id: str
    text: str
    address: Address = Address.DIRECT
    files: tuple[TextFile, ...] = ()
    images: tuple[ImageFile, ...] = ()
    is_late: bool = False
    """It was written while the bot was away, and is answered late."""
    reply_to: str = ""
    """The id of the message it replies to, where the platform has replies."""
    find_role: FindRole | None = field(default=None, compare=False, repr=False)
    """Asks the platform where `role` is only what is at hand, for a message that turns out to teach something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonEdit(BaseEvent):
    """A person changed a message of theirs. It counts until an answer to it is committed."""

    message_id: str
    text: str
    files: tuple[TextFile, ...] = ()
    """What is attached after the change."""
    images: tuple[ImageFile, ...] = ()
    is_addressed: bool = True
    """Whether the message may have been meant for the bot; else it matters only if it was saved as a lesson."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonDeletion(BaseEvent):
    """A person's message is gone."""

    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRetry(BaseEvent):
    """A person wants the question behind an answer tried again."""

    message_id: str
    """The answer's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReaction(BaseEvent):
    """A person added or removed an emoji on a message."""

    message_id: str
    emoji: str
    """As the platform spells it: `👍🏽`, `+1::skin-tone-3`, `partyparrot`."""
    added: bool
    on_own_message: bool = True
    """Whether the message reacted to is the bot's. A messenger that cannot tell says True; of a removal that comes
    after the reaction it takes back it may say False."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonVote(BaseEvent):
    """A person pressed a button under an answer: +1, -1, or 0 to take it back."""

    message_id: str
    value: int
    on_own_message: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactionsCleared(BaseEvent):
    """A moderator took everybody's reactions off a message: one emoji, or all of them."""

    message_id: str
    emoji: str = ""
    """Empty for all."""


WRONG_APPROACH = "wrong tool or approach"
"""The reason that is about what an answer did, and not about what it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCorrection(BaseEvent):
    """A person says what would have been right."""

    text: str
    message_id: str = ""
    """The answer that was wrong; empty for the last one in the thread, or in the channel outside of threads."""
    address: Address = Address.DIRECT
    reason: str = ""
    """What was wrong, from the list a platform offers (`wrong facts`, `misunderstood me`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTeaching(BaseEvent):
    """A person teaches the answer to a question ("Teach the bot...")."""

    question: str
    answer: str
    audience: Audience = Audience.PERSONAL
    """How far it should reach; the role decides how far it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonCommand(BaseEvent):
    """A person gives the bot one of its own commands (`why`, `undo`, ...)."""

    name: str
    argument: str
    message_id: str = ""
    """The answer the command is about; empty for the last one in the channel."""
    typed_in: str = ""
    """The id of the message that it was typed in; empty for buttons and slash commands."""
    reply_to: str = ""
    """The id of the message that this one replies to, anybody's, where the platform has replies."""
    is_role_local: bool = False
    """Whether the role holds in this channel only, as that of whoever created it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSave(BaseEvent):
    """A person added or removed the emoji that saves a message, on a message that is not the bot's."""

    message_id: str
    added: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelChanged(BaseEvent):
    """The platform says that other people may read a channel than before, or that they might."""


SetInChat = Callable[[str], Awaitable[Mapping[str, str]]]
"""Reads the settings that people changed in chat for a whole workspace, by name."""


async def nothing_set(workspace: str) -> Mapping[str, str]:
    """For a messenger without a memory behind it."""
    return {}


NameTeachers = Callable[[], Awaitable[list[str]]]
"""Looks up by name who may approve for others somewhere, groups of people in words. Never raises."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotInvited(BaseEvent):
    """The bot came to a channel, or with `is_server` to a whole server: then the channel is where it may say so."""

    teachers: NameTeachers = field(compare=False)
    is_server: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonArrived(BaseEvent):
    """A person opened their conversation with the bot."""

    teachers: NameTeachers = field(compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRateLimited(BaseEvent):
    """A person exceeds the rate limit, for the first time since they were below it."""

    rest: timedelta
    """How long further messages are not taken in."""


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
