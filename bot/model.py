"""The values of the bot on every platform: events of people, messages to them, turns with a model."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from memory.model import Audience, Role, Scope, Usage
from memory.model.evidence import ActionText, Evidence


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
class BaseEvent:
    """What every event says: who did something where, when, and in what role."""

    event_id: str
    """The same for an event that is delivered again."""
    scope: Scope
    """Whoever did it, where they did; of what no person is named for, the bot."""
    at: datetime
    role: Role = Role.MEMBER


FindRole = Callable[[], Awaitable[Role]]
"""Finds out in what role somebody acts. Raises `MessengerError` kinds."""


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
class Remark:
    """A message of a person among people, read from the platform when it is needed and never stored."""

    message_id: str
    person: str
    """Who wrote it, by id."""
    text: str
    at: datetime


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelChanged(BaseEvent):
    """The platform says that other people may read a channel than before, or that they might."""


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
class PersonTooFast(BaseEvent):
    """A person writes faster than the pace guard lets through, for the first time since it did."""

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
    | PersonTooFast
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BotMessage:
    """Something to say. `text` is CommonMark; the messenger turns it into the platform's dialect and splits it."""

    workspace: str
    channel: str
    text: str
    thread: str = ""
    private_to: str = ""
    """Show it to this person alone where the platform can."""
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
    note: str = ""
    """One line below the answer, in small print where the platform has it."""
    lessons: tuple[str, ...] = ()
    """One line for each remembered lesson the answer used."""
    choices: tuple[Choice, ...] = ()
    people: tuple[str, ...] = ()
    """Ids of people in `lessons`, or in the text of a notice, which the platform shows by name where it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file to hand to a person, for example their export."""

    name: str
    content: bytes
    media_type: str


# The dialogue with a language model -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it. `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, object]

    @property
    def as_action(self) -> ActionText:
        """The tool as evidence is weighed for it."""
        return ActionText(name=self.name, description=self.description)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model wants a tool run. `arguments` is None when what it sent was not a JSON object (`raw` has it)."""

    id: str
    name: str
    arguments: Mapping[str, object] | None
    raw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """What the model said."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTurn:
    """What one tool call returned."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """Text put to the model, with the pictures it is about."""

    text: str
    images: tuple[ImageFile, ...] = ()


Turn = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request: everything the model may know."""

    system: str
    turns: tuple[Turn, ...]
    tools: tuple[ToolSpec, ...] = ()
    weigh: Callable[[str], Evidence] | None = field(default=None, compare=False, repr=False)
    """What people's verdicts say about a goal or a part of it. Blocking; for models that choose by evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One reply and what it cost."""

    turn: ModelTurn
    usage: Usage = field(default_factory=Usage)
    model: str = ""
