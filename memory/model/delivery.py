"""Messages in and out: accepted messages, answers waiting to be posted, and the ledger of sent messages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.model.episode import ASK as ASK, Episode, Step, StepKind
from memory.model.permission import Permission
from memory.model.scope import Scope, Visibility
from memory.model.teaching import Role

TAP = "tap"
"""The source of the vote that is made by choosing an option."""

MOST_OPTIONS = 3
"""The most options in one question, besides "none of these"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a question: an answer to give, or a tool to run."""

    action: str
    """A tool's name, or `answer`."""
    label: str
    """A one-line description for people."""
    text: str = ""
    """The full answer."""
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    """The arguments of the tool."""
    lessons: tuple[str, ...] = ()
    """The ids of the lessons that the answer comes from, whose authors' words it contains."""
    question: str = ""
    """The question of one of these lessons, perhaps shortened, which is shown beside the answer."""
    is_approval: bool = False
    """Whether choosing it lets a tool with side effects run, with exactly the arguments that were shown."""
    permission: Permission | None = None
    """The permission to run it, set when it is carried out; never stored with it."""

    @property
    def candidate(self) -> tuple[str, str]:
        """Its key among the candidates of evidence: the action and the answer."""
        return (self.action, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One option of one run, with the node that asked."""

    node: Episode
    option: Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """The choice of an option, for a message that is one."""

    run_id: str
    """The run that asked."""
    number: int
    """The number of the option among all options of that run, from 1."""
    role: Role = Role.MEMBER
    """The role of the person who chose."""


def asked_step(question: str, options: Sequence[Option]) -> Step:
    """The step of a trajectory that records a question with its options."""
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
    """The options that a node offered; mostly none."""
    return tuple(option for step in trajectory if step.tool == ASK for option in _stored(step.arguments.get("options")))


def asks_in_words(trajectory: Sequence[Step]) -> bool:
    """Whether a node ended with a question to be answered in words."""
    last = trajectory[-1] if trajectory else None
    return last is not None and last.kind is StepKind.ACT and last.tool == ASK and not options_of((last,))


def offers_of(nodes: Sequence[Episode]) -> list[Offer]:
    """The options that a run offered, in the order of their numbers."""
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
    """The progress of an accepted message."""

    ACCEPTED = "accepted"
    """Stored, not answered yet."""
    ANSWERED = "answered"
    """The answer and its episodes are committed; its parts may still be unsent."""
    DELIVERED = "delivered"
    """Every part was sent. Stored as `ANSWERED`, because the parts show it."""
    WITHDRAWN = "withdrawn"
    """Deleted, stopped or forgotten before it was answered."""
    UNDELIVERABLE = "undeliverable"
    """Answered, but the place it came from is gone, or refused the answer for too long: not tried again."""
    SET_ASIDE = "set_aside"
    """The process died repeatedly while answering it: not tried again, and its asker is told so."""


class Turn(StrEnum):
    """The state of an unfinished message where several processes answer the messages of one platform."""

    WAITS = "waits"
    """It waits for earlier messages of its conversation, or for a process to take it."""
    HAS = "has"
    """Its process works on it, and no process works on another message of its conversation."""
    STOPS = "stops"
    """The same, and a person asked that process to stop with what it has."""
    LEFT = "left"
    """Its process cannot continue for now, and the message blocks no other."""


UNFINISHED = (Progress.ACCEPTED, Progress.ANSWERED, Progress.SET_ASIDE)
"""The states with something left to do: to answer, to post the answer, or to say that there will be none."""

RETRY, EDITED = "retry/", "/edited/"
"""Prefix of the message id of a question that is tried again, for which the platform has no message."""
AGAIN = f"{RETRY}of/"
"""The same prefix before the run whose question it is, and a slash."""
CORRECTING = f"{RETRY}correction/"
"""The same prefix for a correction that is kept as a message, and is no question."""

CRASHES, KILLS = 2, 10
"""How often the process may crash, and be killed, while answering a message before the message is set aside.

After a crash, which leaves a report, the message is the likely cause. A kill leaves none: it came from outside, or from
a kernel short of memory, and the message is the likely cause only if it is repeated.
"""
_SUSPECT_KILLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A person's message, stored before it is processed."""

    scope: Scope
    event_id: str
    message_id: str
    text: str
    at: datetime
    progress: Progress = Progress.ACCEPTED
    run_id: str = ""
    asked_by: str = ""
    """The author of the text, where another person's question is tried again; empty for the sender's own."""
    tap: Tap | None = None
    """Set where it is the choice of an option instead of a message."""
    channel_visibility: Visibility | None = None
    """Who can read its channel now, from the store's record of it; None where there is none. Never stored with it."""
    crashes: int = 0
    """How often the process crashed while answering it."""
    kills: int = 0
    """How often the process was killed while answering it."""
    reply_to: str = ""
    """The id of the message it replies to, on platforms with replies."""
    understood: str = ""
    """What it was taken to mean in its conversation, where that is more than it says."""
    held_by: str = ""
    """The process that answers it, where there are several; only then is the message accepted with a turn."""
    turn: Turn = Turn.WAITS
    """Given as `HAS`, it is accepted with that, as what is answered already waits for nobody."""
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
        """Whether it is a retry of a question, without a message of its own."""
        return self.message_id.startswith(RETRY)

    @property
    def repeats(self) -> str:
        """The run whose question is its text: it is tried again, or an option is chosen. Empty for the sender's own."""
        if self.tap is not None:
            return self.tap.run_id
        return self.message_id.removeprefix(AGAIN).partition("/")[0] if self.message_id.startswith(AGAIN) else ""

    @property
    def is_edit(self) -> bool:
        """Whether it is the new text of an edited question (`reply_to`) whose answer was not known."""
        return self.is_retry and EDITED in self.event_id

    @property
    def is_suspect(self) -> bool:
        """Whether it may be the cause of the process's deaths, so that it is answered alone."""
        return self.crashes > 0 or self.kills >= _SUSPECT_KILLS

    @property
    def is_poison(self) -> bool:
        """Whether the process died too often while answering it; twice as often if it only waits to be posted."""
        patience = 1 if self.progress is Progress.ACCEPTED else 2
        return self.crashes >= patience * CRASHES or self.kills >= patience * KILLS


@dataclass(frozen=True, slots=True, kw_only=True)
class AbnormalExit:
    """The exit of a process that crashed or was killed."""

    id: str
    """The id of the process's run, so that the exit is counted once."""
    in_work: tuple[tuple[str, str], ...]
    """(workspace, event id) of each message that was being answered, without those that waited."""
    is_crash: bool
    """Whether it crashed and left a report; if not, it was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One part of an answer, committed before it is posted."""

    workspace: str
    run_id: str
    part: int
    """The number of the part, from 1, in sending order."""
    channel: str
    thread: str
    text: str
    sent_at: datetime | None = None
    message_id: str = ""
    channel_visibility: Visibility | None = None
    """Who can read its channel now, from the store's record of it; None where there is none. Never stored with it."""

    @classmethod
    def to(cls, scope: Scope, run_id: str, text: str, part: int = 1) -> "Outgoing":
        """A part of an answer to be posted in the scope's place."""
        workspace, channel, thread = scope.workspace, scope.channel, scope.thread
        return cls(workspace=workspace, run_id=run_id, part=part, channel=channel, thread=thread, text=text)


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedPart:
    """The result of noting that a part of an answer was sent."""

    channel: str
    root_id: str
    """The root node of the run; empty if it has none."""
    has_early_reactions: bool
    """Whether reactions on it arrived before this note."""
    is_of_another: bool = False
    """Whether reactions on this message belong to another answer, which keeps it."""


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
    """The event by which the message came."""
    person: str
    """Who wrote it."""
    message_id: str
    visibility: Visibility
    """Who could read its channel then."""
    text: str
    understood: str = ""
    """What it was taken to mean in its conversation, where that is more than it says."""
    answer: str
    """The posted part of the answer."""
    at: datetime
    """The time of the message."""
    answered_at: datetime | None = None
    """When the answer was posted."""
    posted: tuple[str, ...] = ()
    """The ids of the messages with the answer."""
    is_replied_to: bool = False
    """Whether the current message replies to this one, or to its answer."""

    @property
    def goal(self) -> str:
        """The full question."""
        return self.understood or self.text
