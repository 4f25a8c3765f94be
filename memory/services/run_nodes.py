"""The nodes of a run as they are stored, and what hangs on them."""

from collections.abc import Sequence
from dataclasses import replace

from memory.model import Episode, Link, LinkKind
from memory.ports import Transaction
from memory.rules.fold import facts
from memory.rules.quarantine import flags_of
from memory.services.finished_run import FinishedRun
from memory.services.quarantine_actions import hold_back


def as_made(tx: Transaction, node: Episode) -> Episode:
    """The node as it is stored, with the number of the attempt."""
    rep = 1
    if node.is_root:
        rep += tx.episodes.attempts(node.workspace, node.person, node.channel, node.goal)
    return facts(replace(node, rep=rep))


def attach(tx: Transaction, run: FinishedRun, nodes: Sequence[Episode]) -> None:
    """What hangs on the stored nodes: quarantine where a text is flagged, the goal's vector, the link to the parent."""
    vectors = {recall.node_path: recall.vector for recall in run.recalls}
    for node in nodes:
        hold_back(tx, node, flags_of(node), node.created_at)
        vector = vectors.get(node.node_path)
        if vector is not None:
            tx.episodes.put_vector(node.workspace, node.id, run.embedding_model, vector)
        if run.asked_by:
            tx.episodes.note_words(node.workspace, node.id, run.asked_by)
        if node.parent_id:
            tx.episodes.add_link(
                Link(
                    workspace=node.workspace,
                    from_id=node.id,
                    to_id=node.parent_id,
                    kind=LinkKind.SUBGOAL_OF,
                    at=node.created_at,
                )
            )
