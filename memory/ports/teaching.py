"""What people teach, in a store: reactions, votes, judgements and what is counted from them; messages made lessons."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from memory.model import LedgerEntry, PlacedVote, Poll, Reaction, TrustEvidence, Vote
from memory.model.evidence import Judgement, JudgementCount, Threshold
from memory.model.saved import SavedMessage


class TeachingTable(Protocol):
    """Reactions (registers), votes (their fold), and the ledger of sent messages."""

    def put_reaction(self, reaction: Reaction) -> None:
        """Write a register; the caller has decided that this value is the latest one.

        Its `seq` is that of the event which tells of it; those without are numbered as they come.
        """
        ...

    def put_reactions(self, *given: Reaction, events: int) -> None:
        """The same of several of one workspace, each with the number of its event.

        Their events are, in this order, the first of the `events` newest ones of the log.
        """
        ...

    def reaction(self, key: tuple[str, str, str, str, str, str]) -> Reaction | None:
        """The register's value, or None."""
        ...

    def reactions_of_run(self, workspace: str, run_id: str) -> list[Reaction]:
        """Every register, active or not, that points at this run, in arrival order."""
        ...

    def reactions_by(self, workspace: str, actor: str) -> list[Reaction]:
        """Every register of one person, newest first."""
        ...

    def unclaimed_reactions(self, workspace: str, channel: str, message_id: str) -> list[Reaction]:
        """Registers on a message that had no ledger row when they arrived."""
        ...

    def delete_reactions(self, workspace: str, actor: str) -> int:
        """Erase one person's registers."""
        ...

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        """Erase the ledger rows, registers and votes of these runs, and what the votes prove."""
        ...

    def polls(self, workspace: str, run_ids: Iterable[str], *, people: Iterable[str] = ()) -> dict[str, Poll]:
        """What people said about each of these answers, by run, in one statement.

        With what is known of those who reacted, and of `people`, and the records of those who voted, and of `people`.
        """
        ...

    def set_votes(
        self, workspace: str, run_id: str, votes: Sequence[Vote], *, known: Sequence[Vote] | None = None
    ) -> None:
        """Replace the run's votes. `known` are the stored ones, if they were read before: only others are written."""
        ...

    def put_votes(self, *votes: Vote) -> None:
        """Insert each, or replace that person's vote on the same answer or node."""
        ...

    def votes(self, workspace: str, run_id: str) -> list[Vote]:
        """The run's votes by node, then actor."""
        ...

    def votes_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Vote]]:
        """The same for several runs, by run, for those that have any."""
        ...

    def mark_limited(self, workspace: str, marks: Mapping[tuple[str, str, str], bool]) -> None:
        """Store of votes, by run, node and voter, whether each is beyond its voter's limit."""
        ...

    def votes_around(self, votes: Sequence[Vote], *, window: timedelta, limit: int) -> list[PlacedVote]:
        """The stored votes of the same people around each of these, which need not be stored.

        Only votes that may be limited (`memory.rules.verdict.may_be_limited`); however many others stand among them, it
        costs the same. Of each those cast less than a window before or after it: the last `limit` before, and those
        from it on (itself, if it stands) and at most `limit` more. Each once, in order of time, then run and node.
        """
        ...

    def runs_voted_on(self, workspace: str, actors: Iterable[str], *, within_limit: bool = False) -> set[str]:
        """Every run that one of these people has a vote on; only where it is within their limit, if asked for."""
        ...

    def votes_between(self, workspace: str, start: datetime, end: datetime | None) -> list[Vote]:
        """Members' votes cast from `start` on and before `end`, by run, node, then actor. Reads all votes there are."""
        ...

    def set_evidence(self, workspace: str, run_id: str, evidence: Sequence[TrustEvidence]) -> None:
        """Replace what the run's votes prove about its voters."""
        ...

    def evidence(self, workspace: str, run_id: str) -> list[TrustEvidence]:
        """What the run's votes prove, by node, then actor."""
        ...

    def record_of(self, workspace: str, actors: Iterable[str]) -> dict[str, tuple[int, int]]:
        """(proven right, proven wrong) of each of these people, over all runs of the workspace.

        Costs the same however often that was.
        """
        ...

    def recount(self, workspace: str, actors: Iterable[str]) -> None:
        """Make these people's records what the evidence says, should they ever be something else."""
        ...

    def put_ledger(self, entry: LedgerEntry) -> None:
        """Insert; a second entry for the same message replaces it."""
        ...

    def ledger(self, workspace: str, channel: str, message_id: str, now: datetime) -> LedgerEntry | None:
        """The entry, unless there is none or it has expired."""
        ...

    def answer_of(self, workspace: str, channel: str, message_id: str, now: datetime) -> list[LedgerEntry]:
        """Every sent part of the answer that this message is one of, by part, with who can read their channels now.

        None if there is no entry for the message, or it has expired.
        """
        ...

    def ledger_of_run(self, workspace: str, run_id: str) -> list[LedgerEntry]:
        """Every sent part of the answer, expired or not, by part."""
        ...

    def newest_answer(self, workspace: str, channel: str, thread: str = "") -> str | None:
        """The run of the last answer sent to a channel, or to this thread, that has its episodes. None without one."""
        ...

    def newest_answer_to(self, workspace: str, channel: str, person: str, since: datetime) -> str | None:
        """The run of the newest answer to this person outside of threads, if it was posted since then."""
        ...

    def sweep_ledger(self, now: datetime) -> int:
        """Delete expired entries of every workspace; returns how many."""
        ...


class JudgementTable(Protocol):
    """Judgements, by run and voter, and one threshold for each workspace."""

    def set(
        self,
        workspace: str,
        given: Mapping[str, Sequence[Judgement]],
        *,
        stored: Mapping[str, Sequence[Judgement]] | None = None,
    ) -> bool:
        """Replace the judgements of these runs; whether that changed anything. Costs the same for many as for one.

        `stored` are those of the same runs as they were read already.
        """
        ...

    def of_run(self, workspace: str, run_id: str) -> list[Judgement]:
        """The run's judgements, by voter."""
        ...

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> int:
        """Erase the judgements of these runs; returns how many."""
        ...

    def counts(self, workspace: str, newest: int) -> list[JudgementCount]:
        """How often each person judged alike, of the `newest` judgements by the time of the answer, then run, voter."""
        ...

    def put_threshold(self, threshold: Threshold) -> None:
        """Keep a workspace's threshold; it replaces the one before."""
        ...

    def threshold(self, workspace: str) -> Threshold | None:
        """The workspace's threshold, or None where nobody judged anything yet, or its row is damaged.

        What is damaged is counted anew when somebody judges, and by `goodbot rebuild`.
        """
        ...

    def threshold_damage(self, workspace: str) -> str:
        """What is wrong with the row of the workspace's threshold, and in which database; empty if nothing."""
        ...


class SavedMessageTable(Protocol):
    """Which messages of people became lessons. A row goes with its lesson."""

    def put(self, saved: SavedMessage) -> None:
        """Keep it in place of what is kept of this message. Raises `NotFound` without the lesson."""
        ...

    def get(self, workspace: str, channel: str, message_id: str) -> SavedMessage | None:
        """What is kept of this message."""
        ...

    def of_lessons(self, workspace: str, lesson_ids: Iterable[str]) -> dict[str, SavedMessage]:
        """The message that each of these lessons was made of, by lesson; the others are left out."""
        ...

    def delete(self, saved: SavedMessage) -> None:
        """Keep nothing of this message. Twice is once."""
        ...
