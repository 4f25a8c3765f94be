"""What has run out goes: the ledger's rows, values that expire, answers nobody judged, ids of events long handled."""

from datetime import datetime

from memory.model import Verdict
from memory.model.upkeep import UpkeepPolicy
from memory.ports import EpisodeFilter, Store


def sweep_expired(store: Store, now: datetime, policy: UpkeepPolicy) -> tuple[int, int, int]:
    """Delete rows of the ledger, short memories and handled events that have run out. Returns how many of each."""
    with store.write() as tx:
        ledger = tx.teaching.sweep_ledger(now)
        short = tx.short.sweep(now)
        claims = tx.log.sweep_claims(now - policy.claims_kept)
    return ledger, short, claims


def forgotten_runs(store: Store, workspace: str, now: datetime, policy: UpkeepPolicy) -> list[str]:
    """Answers older than the retention that nobody judged, that taught nothing and that nothing rests on."""
    before = now - policy.pending_kept
    with store.read() as tx:
        every = tx.episodes.search(workspace, EpisodeFilter(include_archived=True, limit=None, newest_first=False))
        runs: dict[str, bool] = {}
        for episode in every:
            is_over = episode.created_at < before and episode.verdict is Verdict.PENDING and not episode.correction
            runs[episode.run_id] = runs.get(episode.run_id, True) and is_over
        return [run_id for run_id, is_over in runs.items() if is_over and not tx.teaching.votes(workspace, run_id)]
