"""The tables of runs: the event log, incoming and outgoing messages, and recalls."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from memory.model import (
    Audience,
    Event,
    EventKind,
    Exchange,
    Incoming,
    Outgoing,
    PostedPart,
    Progress,
    Retrieval,
    RetrievalItem,
    Signal,
    Verdict,
    Visibility,
)
from memory.model.evidence import EvidenceRecord


class EventLog(Protocol):
    """The append-only log and the register of platform events already handled."""

    def claim(self, workspace: str, source_event_id: str, at: datetime) -> bool:
        """Mark a platform event as handled in this transaction. False if it was handled already.

        Only a digest of the id is stored, because the id may name a person.
        """

    def give_back(self, workspace: str, source_event_ids: Iterable[str]) -> None:
        """Release the claims of events that were not handled after all."""

    def sweep_claims(self, before: datetime) -> int:
        """Forget platform events handled before this, in every workspace. Returns how many."""

    def append(self, *new: Event, numbered: bool = False) -> list[Event]:
        """Append events of one workspace in this order; returns those that were appended, `numbered` with their `seq`.

        Left out is an event whose source id is known with its episode and kind.
        """

    def of_episode(self, workspace: str, episode_id: str) -> list[Event]:
        """The episode's events in order."""

    def of_episodes(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[Event]]:
        """The events of each of these episodes in order, by episode, for those that have any."""

    def gradings(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[Event]]:
        """The gradings of these, and what was withdrawn of them, by episode, for those that have any.

        Reads no other events.
        """

    def of_run(self, workspace: str, run_id: str) -> list[Event]:
        """The events of all of the run's episodes in order."""

    def of_sources(self, workspace: str, source_event_ids: Iterable[str]) -> list[Event]:
        """The events that these caused, in order of the log."""

    def newest(
        self, workspace: str, *, actor: str = "", kind: EventKind | None = None, before: int = 0, limit: int
    ) -> list[Event]:
        """The workspace's log, newest first: of one person, of one kind, before an event with this `seq` (0: all)."""

    def erase_actor(self, workspace: str, actor: str) -> list[str]:
        """Erase one person's events from the log. Returns the episodes concerned, to be computed anew."""

    def erase_correction(self, workspace: str, episode_id: str, lesson_id: str, text: str) -> None:
        """Erase from an episode's log that a lesson corrected it, and this text from its other corrections."""

    def erase_reasons(self, workspace: str, run_id: str, actor: str, at: datetime) -> None:
        """Erase the reasons that a person gave for their judgement of an answer at this moment, wherever they stand."""

    def by_actor(self, workspace: str, actor: str, kinds: Sequence[EventKind], limit: int = 100) -> list[Event]:
        """What one person did, newest first."""


class DeliveryTable(Protocol):
    """Messages on their way: in from people, out to them."""

    def accept(self, message: Incoming) -> Incoming | None:
        """Store an incoming message. Returns it with what the store knows of its channel and sender.

        None if its event id or message id is known, so that it is handled already.
        """

    def incoming(self, workspace: str, event_id: str) -> Incoming | None:
        """The accepted message, or None."""

    def incoming_of_message(self, workspace: str, channel: str, message_id: str) -> Incoming | None:
        """The accepted message with this platform id, or None."""

    def reword(
        self, workspace: str, event_id: str, text: str, visibility: Visibility | None = None, understood: str = ""
    ) -> None:
        """Replace the text of an accepted message and its `understood`, and its visibility if given."""

    def exchanges(
        self,
        workspace: str,
        channel: str,
        *,
        until: datetime,
        thread: str = "",
        person: str = "",
        run_id: str = "",
        limit: int,
        oldest_first: bool = False,
    ) -> list[Exchange]:
        """Answered messages up to this time, newest first; of one thread, one person or one run if given.

        Without deleted messages, and without those from before their author began a new conversation.
        """

    def begin_anew(self, workspace: str, person: str, channel: str, at: datetime) -> None:
        """End the person's conversation in this channel (empty: in all channels) at this time."""

    def has_sent(self, workspace: str, channel: str, thread: str) -> bool:
        """Whether an answer was ever put into this thread."""

    def asker_in(self, workspace: str, channel: str, thread: str) -> str:
        """The asker of the newest answer in this thread; empty if there is none."""

    def incoming_of_run(self, workspace: str, run_id: str) -> Incoming | None:
        """The message a run answers, or None."""

    def taps(self, workspace: str, asked_run_id: str) -> list[Incoming]:
        """The messages that chose an option of this run, oldest first."""

    def tapped(self, workspace: str) -> int:
        """The number of questions with options in which the asker chose one."""

    def advance(self, workspace: str, event_id: str, before: Progress, after: Progress, run_id: str = "") -> bool:
        """Advance a message from `before` to `after`; False if it has other progress. Keeps the run id if not given."""

    def answer(self, workspace: str, event_id: str, run_id: str, understood: str = "") -> Incoming | None:
        """Advance a message from `ACCEPTED` to `ANSWERED`, by this run. Returns it; None if it was not `ACCEPTED`.

        `understood` is what it was taken to mean, if that is more than it says.
        """

    def advance_run(self, workspace: str, run_id: str, before: Progress, after: Progress) -> bool:
        """Advance the message that a run answers from `before` to `after`; False if it has another progress."""

    def unfinished(self) -> list[Incoming]:
        """The messages that a restart must finish, oldest first: accepted or answered, but not delivered.

        Includes those set aside whose asker was not told yet.
        """

    def set_aside(self) -> list[Incoming]:
        """The messages of every workspace that were set aside, newest first."""

    def being_answered(self, workspace: str, channel: str, thread: str, now: datetime) -> list[Incoming]:
        """The messages there that a living process holds (`ConversationLeaseTable`), in the order they were written."""

    def put_exit_counts(self, workspace: str, event_id: str, *, crashes: int, kills: int) -> None:
        """Set how often the process died while answering this message. Does nothing for an unknown message."""

    def messages_of(self, workspace: str, channel: str, person: str, limit: int) -> list[Incoming]:
        """The messages of one person in one channel, newest first; in every channel if `channel` is empty.

        Without retries of other people's questions.
        """

    def put_outgoing(self, *parts: Outgoing) -> None:
        """Insert or replace parts of an answer."""

    def post(self, workspace: str, run_id: str, part: int, message_id: str, at: datetime) -> PostedPart | None:
        """Store that a part was sent, as this message. None for an unknown part, or if it was sent before."""

    def outgoing(self, workspace: str, run_id: str) -> list[Outgoing]:
        """The answer's parts in order."""

    def outgoing_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Outgoing]]:
        """The parts of several answers in order, by run, for those that have any, in one statement."""

    def drop_unsent(self, workspace: str, run_id: str) -> bool:
        """Erase the answer's parts that were not sent; returns whether there were any."""

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        """Erase the outgoing parts of these runs, and `understood` of their messages, which stay.

        Also erases the text of messages that repeat another run's question (`Incoming.repeats`).
        """

    def drop_repeats(self, workspace: str, run_ids: Collection[str]) -> None:
        """Erase the messages that repeat the question of one of these runs and wait for an answer."""

    def delete_by(self, workspace: str, person: str) -> int:
        """Erase one person's messages, others' retries of them, and the answers. Returns the number of messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonUse:
    """The effect on a lesson of being shown, and used or not (`memory.rules.fold`)."""

    workspace: str
    episode_id: str
    goal: str
    """Its question when it was shown."""
    signal: Signal
    at: datetime


class Attention(NamedTuple):
    """The salience of an episode, and the values that decide who finds it."""

    id: str
    goal: str
    personal: Verdict
    channel: Verdict
    workspace: Verdict
    promoted: Audience | None
    archived_at: datetime | None
    salience: float
    salience_at: datetime


class RetrievalTable(Protocol):
    """Recalls: which episodes were shown where, and how they were used."""

    def put(self, retrieval: Retrieval, items: Sequence[RetrievalItem]) -> None:
        """Record a recall with its items."""

    def add(self, retrievals: Sequence[Retrieval], items: Sequence[RetrievalItem]) -> None:
        """Record several recalls of one workspace, none of them recorded yet, with the items of all."""

    def get(self, workspace: str, retrieval_id: str) -> tuple[Retrieval, list[RetrievalItem]] | None:
        """The recall with its items by rank, or None."""

    def of_run(self, workspace: str, run_id: str) -> list[tuple[Retrieval, list[RetrievalItem]]]:
        """The run's recalls in order, items by rank."""

    def of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[tuple[Retrieval, list[RetrievalItem]]]]:
        """The recalls of several runs in order, by run, for those that have any, in two statements."""

    def evidence_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, EvidenceRecord]:
        """The evidence of the first node of each of these runs, by run, for those that have it, in one statement."""

    def set_signal(self, item: RetrievalItem) -> None:
        """Store the item's signal and ratio."""

    def of_episode(self, workspace: str, episode_id: str, limit: int = 50) -> list[tuple[Retrieval, RetrievalItem]]:
        """The recalls in which an episode was shown, newest first."""

    def of_episodes(
        self, workspace: str, episode_ids: Iterable[str]
    ) -> dict[str, list[tuple[Retrieval, RetrievalItem]]]:
        """The recalls in which several episodes were shown, newest first, by episode, for those that ever were."""

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        """Erase the recalls of these runs."""

    def attention(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, Attention]:
        """The attention of those that exist, by id."""

    def attend(self, workspace: str, changed: Sequence[Attention]) -> None:
        """Store the salience of episodes that exist, and nothing else of them."""

    def use(self, uses: Sequence[LessonUse]) -> bool:
        """Store the effects of lessons being shown and used: only salience, nudge, strength and counts.

        False if a lesson was deleted or its question changed: the transaction must then be given up, as others may have
        been counted.
        """
