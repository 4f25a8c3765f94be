"""Recall without an embedder: lessons compared with a goal by their words."""

from memory.model import Scope
from memory.ports import EpisodeFilter, Neighbour, Neighbourhood, Transaction
from memory.rules.audience import nearest_entry, partitions_for
from memory.rules.retrieval.likeness import likeness


def nearest_by_words(tx: Transaction, scope: Scope, goal: str, gate: float, most: int) -> Neighbourhood:
    """Of all lessons the asker may find those most like the goal, at least as much as the gate says.

    Slow on a large memory, and only for as long as nothing can be embedded.
    """
    named = partitions_for(scope)
    searched = 0
    hits: list[Neighbour] = []
    for episode in tx.episodes.search(scope.workspace, EpisodeFilter(limit=None)):
        entry = nearest_entry(episode, named)
        if entry is None:
            continue
        searched += 1
        score = likeness(goal, episode.goal)
        if score >= gate and score > 0:
            hits.append(Neighbour(episode_id=episode.id, cosine=score, audience=entry.audience, verdict=entry.verdict))
    hits.sort(key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
    return Neighbourhood.of(searched, hits[:most])
