"""Retention: which old answers nobody judged and nothing depends on, so that they may be erased."""

from collections.abc import Sequence
from datetime import datetime

from memory.model import Episode, Verdict
from memory.model.upkeep import UpkeepPolicy
from memory.ports import EpisodeFilter, Store, Transaction


def erasable_runs(store: Store, workspace: str, now: datetime, policy: UpkeepPolicy) -> list[str]:
    """The runs older than the retention that nobody judged, that taught nothing and on which nothing depends."""
    with store.read() as tx:
        every = tx.episodes.search(workspace, EpisodeFilter(include_archived=True, limit=None, newest_first=False))
        runs: dict[str, list[Episode]] = {}
        for episode in every:
            runs.setdefault(episode.run_id, []).append(episode)
        return [run_id for run_id, nodes in runs.items() if may_be_erased(tx, workspace, run_id, nodes, now, policy)]


def may_be_erased(
    tx: Transaction, workspace: str, run_id: str, nodes: Sequence[Episode], now: datetime, policy: UpkeepPolicy
) -> bool:
    """Whether the answer with these nodes may be erased (`erasable_runs`).

    Something depends on it as long as there is a correction of it, or another answer that was shown it.
    """
    before = now - policy.pending_kept
    is_unjudged = all(
        node.created_at < before and node.verdict is Verdict.PENDING and not node.correction and node.promoted is None
        for node in nodes
    )
    if not is_unjudged or tx.teaching.votes(workspace, run_id):
        return False
    own = {node.id for node in nodes}
    if any(link.to_id in own and link.from_id not in own for link in tx.episodes.links(workspace, own)):
        return False
    shown = (each for node in nodes for each, _ in tx.retrievals.of_episode(workspace, node.id))
    return all(retrieval.run_id == run_id for retrieval in shown)
