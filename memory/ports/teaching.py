"""The tables of teaching: reactions, votes, the ledger of sent messages, judgements and thresholds, saved messages."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from memory.model import LedgerEntry, PlacedVote, Poll, Reaction, TrustEvidence, Vote
from memory.model.evidence import Judgement, JudgementCount, Threshold
from memory.model.saved_messages import SavedMessage


class TeachingTable(Protocol):
    """Reactions (registers), the votes computed from them, and the ledger of sent messages."""

    def put_reaction(self, reaction: Reaction) -> None:
        """Write a register; the caller has decided that this value is the latest.

        Its `seq` is that of its event; a reaction without an event is numbered on arrival.
        """

    def put_reactions(self, *given: Reaction, events: int) -> None:
        """Write several registers of one workspace, each with the number of its event.

        Their events are, in this order, the first of the `events` newest ones of the log.
        """

    def reaction(self, key: tuple[str, str, str, str, str, str]) -> Reaction | None:
        """The register's value, or None."""

    def reactions_of_run(self, workspace: str, run_id: str) -> list[Reaction]:
        """Every register, active or not, that points at this run, in arrival order."""

    def reactions_by(self, workspace: str, actor: str) -> list[Reaction]:
        """Every register of one person, newest first."""

    def reactions_in_words(self, workspace: str, event_id: str) -> list[Reaction]:
        """The registers, newest first, of what a message with this event id taught or judged in words."""

    def runs_reacted_to(self, workspace: str, channel: str, message_id: str) -> set[str]:
        """The runs that registers of this message belong to, including withdrawn ones."""

    def unclaimed_reactions(self, workspace: str, channel: str, message_id: str) -> list[Reaction]:
        """Registers on a message that had no ledger row when they arrived."""

    def delete_reactions(self, workspace: str, actor: str) -> int:
        """Erase one person's registers."""

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        """Erase the ledger rows, registers, votes and trust evidence of these runs."""

    def polls(self, workspace: str, run_ids: Iterable[str], *, people: Iterable[str] = ()) -> dict[str, Poll]:
        """Everything that people said about each of these answers, by run, in one SQL statement.

        Includes what is known of those who reacted, and the records of those who voted; both also of `people`.
        """

    def set_votes(
        self, workspace: str, run_id: str, votes: Sequence[Vote], *, known: Sequence[Vote] | None = None
    ) -> None:
        """Replace the run's votes. `known` are the stored votes, if already read: only changed ones are written."""

    def put_votes(self, *votes: Vote) -> None:
        """Insert each, or replace that person's vote on the same answer or node."""

    def votes(self, workspace: str, run_id: str) -> list[Vote]:
        """The run's votes by node, then actor."""

    def votes_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Vote]]:
        """The votes of several runs by node, then actor; by run, for those that have any."""

    def mark_limited(self, workspace: str, marks: Mapping[tuple[str, str, str], bool]) -> None:
        """Store for votes, by run, node and voter, whether each exceeds its voter's limit."""

    def votes_around(self, votes: Sequence[Vote], *, window: timedelta, limit: int) -> list[PlacedVote]:
        """The stored votes of the same people around each of these, which need not be stored themselves.

        Only votes that may be limited (`memory.rules.verdict.may_be_limited`), at a cost independent of other votes.
        For each vote these are those cast less than a window before or after it: the last `limit` before it, and from
        it on (including itself, if stored) at most `limit` more. Each once, ordered by time, run and node.
        """

    def runs_voted_on(self, workspace: str, actors: Iterable[str], *, within_limit: bool = False) -> set[str]:
        """The runs on which one of these people has a vote, optionally only votes within their limit."""

    def votes_between(self, workspace: str, start: datetime, end: datetime | None) -> list[Vote]:
        """Members' votes cast from `start` on and before `end`, by run, node, then actor. Reads all votes."""

    def set_trust_evidence(self, workspace: str, run_id: str, evidence: Sequence[TrustEvidence]) -> None:
        """Replace what the run's votes prove about its voters."""

    def trust_evidence(self, workspace: str, run_id: str) -> list[TrustEvidence]:
        """What the run's votes prove, by node, then actor."""

    def record_of(self, workspace: str, actors: Iterable[str]) -> dict[str, tuple[int, int]]:
        """(proven right, proven wrong) of each of these people in the workspace, read from stored counts."""

    def recount(self, workspace: str, actors: Iterable[str]) -> None:
        """Recompute these people's records from the evidence."""

    def put_ledger(self, entry: LedgerEntry) -> None:
        """Insert; a second entry for the same message replaces it."""

    def ledger(self, workspace: str, channel: str, message_id: str, now: datetime) -> LedgerEntry | None:
        """The entry, unless there is none or it has expired."""

    def answer_of(self, workspace: str, channel: str, message_id: str, now: datetime) -> list[LedgerEntry]:
        """The sent parts of the answer to which this message belongs, by part, with their channels' current visibility.

        Empty if there is no entry for the message, or it has expired.
        """

    def ledger_of_run(self, workspace: str, run_id: str) -> list[LedgerEntry]:
        """The sent parts of the answer, expired or not, by part."""

    def newest_answer(self, workspace: str, channel: str, thread: str = "") -> str | None:
        """The run of the last answer sent to a channel, or to this thread, that has episodes; None if there is none."""

    def newest_answer_to(self, workspace: str, channel: str, person: str, since: datetime) -> str | None:
        """The run of the newest answer to this person outside threads, if it was posted since then."""

    def sweep_ledger(self, now: datetime) -> int:
        """Delete expired entries of every workspace; returns how many."""


class JudgementTable(Protocol):
    """Judgements, by run and voter, and one threshold for each workspace."""

    def set(
        self,
        workspace: str,
        given: Mapping[str, Sequence[Judgement]],
        *,
        stored: Mapping[str, Sequence[Judgement]] | None = None,
    ) -> bool:
        """Replace the judgements of these runs. Returns whether that changed anything. Takes few SQL statements.

        `stored` are the judgements of the same runs, if already read.
        """

    def of_run(self, workspace: str, run_id: str) -> list[Judgement]:
        """The run's judgements, by voter."""

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> int:
        """Erase the judgements of these runs; returns how many."""

    def counts(self, workspace: str, newest: int) -> list[JudgementCount]:
        """The counts of equal judgements by person, among the `newest` by time of the answer, then run and voter."""

    def put_threshold(self, threshold: Threshold) -> None:
        """Store a workspace's threshold; it replaces the one before."""

    def threshold(self, workspace: str) -> Threshold | None:
        """The workspace's threshold; None if nobody judged anything yet, or if its row is damaged.

        A damaged threshold is computed anew at the next judgement, and by `goodbot rebuild`.
        """

    def threshold_damage(self, workspace: str) -> str:
        """What is wrong with the row of the workspace's threshold, and in which database; empty if nothing."""


class SavedMessageTable(Protocol):
    """People's messages that were saved as lessons. A row is deleted with its lesson."""

    def put(self, saved: SavedMessage) -> None:
        """Store a saved message, replacing the row of the same message. Raises `NotFound` without the lesson."""

    def get(self, workspace: str, channel: str, message_id: str) -> SavedMessage | None:
        """The row of this message; None if there is none."""

    def of_lessons(self, workspace: str, lesson_ids: Iterable[str]) -> dict[str, SavedMessage]:
        """The message from which each of these lessons was saved, by lesson; other lessons are left out."""

    def delete(self, saved: SavedMessage) -> None:
        """Delete the row of this message. Idempotent."""
