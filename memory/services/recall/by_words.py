"""Recall without an embedder: compares lessons with the goal by their words."""

from memory.model import Scope
from memory.ports import EpisodeFilter, Neighbour, Neighbourhood, Transaction
from memory.rules.audience import nearest_entry, partitions_for
from memory.rules.retrieval.similarity import word_similarity


def nearest_by_words(tx: Transaction, scope: Scope, goal: str, gate: float, most: int) -> Neighbourhood:
    """The `most` lessons in the asker's partitions that are most like the goal, best first.

    `gate` is the least similarity. Reads all lessons of the workspace, so it is slow on a large memory; used only while
    the embedder fails.
    """
    named = partitions_for(scope)
    searched = 0
    hits: list[Neighbour] = []
    for episode in tx.episodes.search(scope.workspace, EpisodeFilter(limit=None)):
        entry = nearest_entry(episode, named)
        if entry is None:
            continue
        searched += 1
        score = word_similarity(goal, episode.goal)
        if score >= gate and score > 0:
            hits.append(Neighbour(episode_id=episode.id, cosine=score, audience=entry.audience, verdict=entry.verdict))
    hits.sort(key=lambda hit: (hit.cosine, hit.episode_id), reverse=True)
    return Neighbourhood.of(searched, hits[:most])
