"""Reactions, votes and the ledger in dictionaries."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from memory.adapters.inmemory.state import Access
from memory.adapters.row_validation import check_evidence, check_votes, storable
from memory.model import LedgerEntry, Reaction, TrustEvidence, Vote


class Teaching:
    """`memory.ports.TeachingTable` over dictionaries."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def put_reaction(self, reaction: Reaction) -> None:
        state = self._access.changing
        seq = self._access.next_number(storable(reaction).workspace, "reaction")
        state.reactions[reaction.key] = replace(reaction, seq=seq)

    def reaction(self, key: tuple[str, str, str, str, str, str]) -> Reaction | None:
        return self._access.state.reactions.get(key)

    def reactions_of_run(self, workspace: str, run_id: str) -> list[Reaction]:
        return sorted((r for r in self._reactions(workspace) if r.run_id == run_id), key=lambda r: r.seq)

    def reactions_by(self, workspace: str, actor: str) -> list[Reaction]:
        own = (r for r in self._reactions(workspace) if r.actor == actor)
        return sorted(own, key=lambda r: (r.at, r.seq), reverse=True)

    def unclaimed_reactions(self, workspace: str, channel: str, message_id: str) -> list[Reaction]:
        return [r for r in self.reactions_of_run(workspace, "") if (r.channel, r.message_id) == (channel, message_id)]

    def delete_reactions(self, workspace: str, actor: str) -> int:
        reactions = self._access.changing.reactions
        gone = [r.key for r in self._reactions(workspace) if r.actor == actor]
        for key in gone:
            del reactions[key]
        return len(gone)

    def set_votes(self, workspace: str, run_id: str, votes: Sequence[Vote]) -> None:
        state = self._access.changing
        check_votes(workspace, run_id, votes)
        state.votes[workspace, run_id] = tuple(sorted(votes, key=lambda vote: (vote.node_id, vote.actor)))

    def votes(self, workspace: str, run_id: str) -> list[Vote]:
        return list(self._access.state.votes.get((workspace, run_id), ()))

    def votes_of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Vote]]:
        return {run_id: cast for run_id in run_ids if (cast := self.votes(workspace, run_id))}

    def votes_from(self, vote: Vote, *, before: datetime, limit: int) -> list[Vote]:
        own = self._votes_by(vote)
        return [each for each in own if _place(each) >= _place(vote) and each.at < before][:limit]

    def times_before(self, vote: Vote, limit: int) -> list[datetime]:
        times = [each.at for each in self._votes_by(vote) if _place(each) < _place(vote)]
        return times[max(0, len(times) - limit) :]

    def runs_voted_on(self, workspace: str, actors: Iterable[str], *, within_limit: bool = False) -> set[str]:
        wanted = set(actors)
        return {
            run_id
            for (of, run_id), votes in self._access.state.votes.items()
            if of == workspace
            and any(vote.actor in wanted and not (within_limit and vote.is_limited) for vote in votes)
        }

    def set_evidence(self, workspace: str, run_id: str, evidence: Sequence[TrustEvidence]) -> None:
        state = self._access.changing
        check_evidence(workspace, run_id, evidence)
        state.evidence[workspace, run_id] = tuple(sorted(evidence, key=lambda each: (each.node_id, each.actor)))

    def evidence(self, workspace: str, run_id: str) -> list[TrustEvidence]:
        return list(self._access.state.evidence.get((workspace, run_id), ()))

    def record_of(self, workspace: str, actors: Iterable[str]) -> dict[str, tuple[int, int]]:
        counted = {actor: [0, 0] for actor in actors}
        for key, evidence in self._access.state.evidence.items():
            for each in evidence:
                if key[0] == workspace and each.actor in counted:
                    counted[each.actor][0 if each.agrees else 1] += 1
        return {actor: (right, wrong) for actor, (right, wrong) in counted.items()}

    def recount(self, workspace: str, actors: Iterable[str]) -> None:
        # Counted in every look: there is nothing to be wrong.
        self._access.changing  # noqa: B018 - refuses a reading transaction

    def put_ledger(self, entry: LedgerEntry) -> None:
        ledger = self._access.changing.ledger
        ledger[storable(entry).workspace, entry.channel, entry.message_id] = entry

    def ledger(self, workspace: str, channel: str, message_id: str, now: datetime) -> LedgerEntry | None:
        entry = self._access.state.ledger.get((workspace, channel, message_id))
        return entry if entry is not None and entry.expires_at > now else None

    def ledger_of_run(self, workspace: str, run_id: str) -> list[LedgerEntry]:
        found = [entry for entry in self._ledger(workspace) if entry.run_id == run_id]
        return sorted(found, key=lambda entry: (entry.part, entry.posted_at, entry.message_id))

    def recent_ledger(self, workspace: str, channel: str, limit: int) -> list[LedgerEntry]:
        found = [entry for entry in self._ledger(workspace) if entry.channel == channel]
        return sorted(found, key=lambda e: (e.posted_at, e.part, e.message_id), reverse=True)[:limit]

    def sweep_ledger(self, now: datetime) -> int:
        ledger = self._access.changing.ledger
        expired = [key for key, entry in ledger.items() if entry.expires_at <= now]
        for key in expired:
            del ledger[key]
        return len(expired)

    def delete_runs(self, workspace: str, run_ids: Iterable[str]) -> None:
        state = self._access.changing
        wanted = set(run_ids)
        for entry in [entry for entry in self._ledger(workspace) if entry.run_id in wanted]:
            del state.ledger[workspace, entry.channel, entry.message_id]
        for reaction in [r for r in self._reactions(workspace) if r.run_id in wanted]:
            del state.reactions[reaction.key]
        for run_id in wanted:
            state.votes.pop((workspace, run_id), None)
            state.evidence.pop((workspace, run_id), None)

    def _votes_by(self, vote: Vote) -> list[Vote]:
        """All votes of this one's voter, in order."""
        own = (
            each
            for key, votes in self._access.state.votes.items()
            if key[0] == vote.workspace
            for each in votes
            if each.actor == vote.actor
        )
        return sorted(own, key=_place)

    def _reactions(self, workspace: str) -> list[Reaction]:
        return [r for key, r in self._access.state.reactions.items() if key[0] == workspace]

    def _ledger(self, workspace: str) -> list[LedgerEntry]:
        return [entry for key, entry in self._access.state.ledger.items() if key[0] == workspace]


def _place(vote: Vote) -> tuple[datetime, str, str]:
    return vote.at, vote.run_id, vote.node_id
