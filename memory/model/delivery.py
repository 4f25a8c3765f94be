"""What came in and what went out: accepted messages, answers waiting to be posted, and the ledger of what was sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.model.episode import Episode, Step, StepKind
from memory.model.permission import Permission
from memory.model.scope import Scope, Visibility
from memory.model.teaching import Role

ASK = "ask_person"
"""The action of an episode that ended with a question and offered something."""

TAP = "tap"
"""Source of the vote that choosing an option is."""

MOST_OPTIONS = 3
"""Fewer than people need to read twice; behind them stands "none of these"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that was offered: an answer to give, or a tool to run."""

    action: str
    """A tool's name, or `answer`."""
    label: str
    """What it is, in people's words, on one line."""
    text: str = ""
    """The answer, whole."""
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    """The tool's."""
    lessons: tuple[str, ...] = ()
    """Ids of the lessons that an answer comes from: it holds their authors' words."""
    question: str = ""
    """The question of one of these lessons, or its beginning: it is shown beside the answer."""
    is_approval: bool = False
    """Choosing it lets a tool with effects run, just so: the person was shown exactly what happens."""
    permission: Permission | None = None
    """Who let it run; set when it is carried out, never stored with it."""

    @property
    def candidate(self) -> tuple[str, str]:
        """What evidence knows it by: the action, and the answer."""
        return (self.action, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One option of one run, with the node that asked."""

    node: Episode
    option: Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """Says that a message is the choice of an option, and of which."""

    run_id: str
    """The run that asked."""
    number: int
    """From 1, over all options of that run."""
    role: Role = Role.MEMBER
    """That of who chose."""


def asked_step(question: str, options: Sequence[Option]) -> Step:
    """The step of a trajectory that keeps what was offered."""
    stored = [
        {
            "action": each.action,
            "label": each.label,
            "text": each.text,
            "arguments": dict(each.arguments),
            "lessons": list(each.lessons),
            **({"question": each.question} if each.question else {}),
            **({"approval": True} if each.is_approval else {}),
        }
        for each in options
    ]
    return Step(kind=StepKind.ACT, tool=ASK, text=question, arguments={"options": stored})


def options_of(trajectory: Sequence[Step]) -> tuple[Option, ...]:
    """What a node offered; nothing for most."""
    return tuple(option for step in trajectory if step.tool == ASK for option in _stored(step.arguments.get("options")))


def asks_in_words(trajectory: Sequence[Step]) -> bool:
    """Whether a node ended with a question that is answered in words."""
    last = trajectory[-1] if trajectory else None
    return last is not None and last.kind is StepKind.ACT and last.tool == ASK and not options_of((last,))


def offers_of(nodes: Sequence[Episode]) -> list[Offer]:
    """Everything that a run offered, in the order in which it is numbered."""
    return [Offer(node=node, option=option) for node in nodes for option in options_of(node.trajectory)]


def _stored(options: object) -> Iterator[Option]:
    for each in options if isinstance(options, list | tuple) else ():
        if isinstance(each, Mapping) and each.get("action"):
            arguments, lessons = each.get("arguments"), each.get("lessons")
            yield Option(
                action=str(each["action"]),
                label=str(each.get("label", "")),
                text=str(each.get("text", "")),
                arguments=dict(arguments) if isinstance(arguments, Mapping) else {},
                lessons=tuple(map(str, lessons)) if isinstance(lessons, list | tuple) else (),
                question=str(each.get("question", "")),
                is_approval=each.get("approval") is True,
            )


class Progress(StrEnum):
    """How far an accepted message has come."""

    ACCEPTED = "accepted"
    """Stored, not answered yet."""
    ANSWERED = "answered"
    """The answer and its episodes are committed; its parts may still be unsent."""
    DELIVERED = "delivered"
    """Every part was sent. Stored as `ANSWERED`: the parts tell it."""
    WITHDRAWN = "withdrawn"
    """Deleted, stopped or forgotten before it was answered."""
    UNDELIVERABLE = "undeliverable"
    """Answered, but the place it came from is gone or took no part for too long: not tried again."""
    SET_ASIDE = "set_aside"
    """The process ended again and again while it was in work: not tried again, and its asker is told so."""


class Turn(StrEnum):
    """Where an unfinished message stands, where several processes answer the messages of one platform."""

    WAITS = "waits"
    """For those before it in its conversation, or for a process that takes it."""
    HAS = "has"
    """Its process works on it; nobody works on another one of its conversation."""
    STOPS = "stops"
    """The same, and somebody asked that process to end with what it has."""
    LEFT = "left"
    """Its process could do no more about it for now, and holds up nobody."""


UNFINISHED = (Progress.ACCEPTED, Progress.ANSWERED, Progress.SET_ASIDE)
"""Where something may be left to do: to answer, to post the answer, to tell that there will be none."""

RETRY = "retry/"
"""Begins the message id of a question that is tried again: the platform has no such message."""

CRASHES, KILLS = 2, 10
"""How often the process may end while a message is in work before it is set aside: by a crash, by a kill.

A crash left a report, so that the message is the likely cause. A kill left none: it came from outside, or from a kernel
short of memory, and is the message's fault only if it goes on.
"""
_SUSPECT_KILLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A person's message, stored before anything is done about it."""

    scope: Scope
    event_id: str
    message_id: str
    text: str
    at: datetime
    progress: Progress = Progress.ACCEPTED
    run_id: str = ""
    asked_by: str = ""
    """Whose words the text is, where another person's question is tried again; empty for the sender's own."""
    tap: Tap | None = None
    """Set where it is no message but the choice of an option that was offered for the question."""
    channel_visibility: Visibility | None = None
    """Who can read its channel now, from the store's record of it; None where there is none. Never stored with it."""
    crashes: int = 0
    """How often the process crashed while this was in work."""
    kills: int = 0
    """How often the process was killed while this was in work."""
    reply_to: str = ""
    """The id of the message it replies to, where the platform has replies."""
    understood: str = ""
    """What it was taken to mean in its conversation, where that is more than it says."""
    held_by: str = ""
    """The process that answers it, where several may; a message is accepted with a turn only if this is set."""
    turn: Turn = Turn.WAITS
    has_notes: bool = field(default=False, compare=False)
    """Whether short memories of its sender are kept (`ShortMemory`) as it is accepted or read; never stored with it."""
    has_settings: bool = field(default=False, compare=False)
    """Whether anything is set in chat for its workspace, as it is accepted or read; never stored with it."""
    is_muted: bool = False
    """Whether its thread is muted; only told when it is accepted, never stored."""
    is_noted: bool = False
    """Whether its sender is in the table of people; only told when it is accepted, never stored."""

    @property
    def is_retry(self) -> bool:
        """Whether somebody wanted a question tried again, without a message of their own."""
        return self.message_id.startswith(RETRY)

    @property
    def is_suspect(self) -> bool:
        """Whether it may be what ends the process, so that it is worked on alone."""
        return self.crashes > 0 or self.kills >= _SUSPECT_KILLS

    @property
    def is_poison(self) -> bool:
        """Whether it ended the process too often to be tried again; what waits only to be posted has twice as long."""
        patience = 1 if self.progress is Progress.ACCEPTED else 2
        return self.crashes >= patience * CRASHES or self.kills >= patience * KILLS


@dataclass(frozen=True, slots=True, kw_only=True)
class AbnormalExit:
    """The exit of a process that crashed or was killed."""

    id: str
    """Of the process's run, so that it is counted once."""
    in_work: tuple[tuple[str, str], ...]
    """(workspace, event id) of each message that was being worked on, not of those that waited."""
    is_crash: bool
    """It ended by itself and left a report; if not, it was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One part of an answer, committed before it is posted."""

    workspace: str
    run_id: str
    part: int
    """From 1, in the order they are sent."""
    channel: str
    thread: str
    text: str
    sent_at: datetime | None = None
    message_id: str = ""
    channel_visibility: Visibility | None = None
    """Who can read its channel now, from the store's record of it; None where there is none. Never stored with it."""

    @classmethod
    def to(cls, scope: Scope, run_id: str, text: str, part: int = 1) -> "Outgoing":
        """A part of what is said in a place."""
        workspace, channel, thread = scope.workspace, scope.channel, scope.thread
        return cls(workspace=workspace, run_id=run_id, part=part, channel=channel, thread=thread, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A part of an answer that was just noted as sent, with what follows from that."""

    channel: str
    root_id: str
    """The first node of the run; empty if it has none."""
    is_overtaken: bool
    """Whether reactions on it came before this note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """A sent message and the answer it belongs to, so that a reaction can find its episode."""

    workspace: str
    channel: str
    message_id: str
    run_id: str
    part: int
    posted_at: datetime
    expires_at: datetime
    channel_visibility: Visibility | None = None
    """Who can read its channel now, from the store's record of it; None where there is none. Never stored with it."""
    has_settings: bool = field(default=False, compare=False)
    """Whether anything is set in chat for its workspace, where all of its answer is read; never stored with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One message to the bot with its answer."""

    run_id: str
    event_id: str
    """That brought the message."""
    person: str
    """Who wrote it."""
    message_id: str
    visibility: Visibility
    """Who could read its channel then."""
    text: str
    understood: str = ""
    """What it was taken to mean in its conversation, where that is more than it says."""
    answer: str
    """What was posted of it."""
    at: datetime
    """Of the message."""
    answered_at: datetime | None = None
    """When the answer was posted."""
    is_replied_to: bool = False
    """The message that is asked now replies to this one, or to its answer."""

    @property
    def goal(self) -> str:
        """The whole of what was asked."""
        return self.understood or self.text
