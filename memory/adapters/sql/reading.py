"""What each table's rows are read as, for whoever reads a whole database: `memory.adapters.sql.damage`."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Table

from memory.adapters.row_validation import exact, half
from memory.adapters.sql.deliveries import incoming_of
from memory.adapters.sql.delivery_tables import channels, incoming, outgoing
from memory.adapters.sql.episodes import episode_of
from memory.adapters.sql.step_tables import session_runs, short_memories, step_grades, steps
from memory.adapters.sql.steps import grade_of
from memory.adapters.sql.tables import episode_vectors, episodes, events, links, retrieval_items, retrievals
from memory.adapters.sql.teaching_tables import ledger, reactions, trust_evidence, votes
from memory.adapters.sql.topic_tables import (
    topic_events,
    topic_fields,
    topic_links,
    topic_revisions,
    topic_vectors,
    topics,
)
from memory.adapters.sql.upkeep_tables import erasures, job_runs, leases, rules
from memory.model import (
    Channel,
    Event,
    LedgerEntry,
    Link,
    Outgoing,
    Reaction,
    Retrieval,
    RetrievalItem,
    SessionRun,
    ShortMemory,
    StoredStep,
    TrustEvidence,
    Vote,
)
from memory.model.topic import Revision, Topic, TopicEvent, TopicField, TopicLink
from memory.model.upkeep import Erasure, JobRun, Lease, Rule

_FOR_QUERIES = ("verdict", "goal_digest")
"""Columns of an episode that follow from others."""

Read = Callable[[dict[str, Any]], object]


def _as(kind: Callable[..., object]) -> Read:
    return lambda stored: kind(**stored)


def _in_its_place(stored: dict[str, Any]) -> object:
    episode = episode_of(**{name: value for name, value in stored.items() if name not in _FOR_QUERIES})
    return episode, episode.scope


def _half(stored: dict[str, Any]) -> object:
    return half(stored["vector"]).size


def _exact(stored: dict[str, Any]) -> object:
    return len(exact(stored["vector"]))


READS: Mapping[Table, Read] = {
    channels: _as(Channel),
    episode_vectors: _half,
    episodes: _in_its_place,
    erasures: _as(Erasure),
    events: _as(Event),
    incoming: _as(incoming_of),
    job_runs: _as(JobRun),
    leases: _as(Lease),
    ledger: _as(LedgerEntry),
    links: _as(Link),
    outgoing: _as(Outgoing),
    reactions: _as(Reaction),
    retrieval_items: _as(RetrievalItem),
    retrievals: _as(Retrieval),
    rules: _as(Rule),
    session_runs: _as(SessionRun),
    short_memories: _as(ShortMemory),
    step_grades: _as(grade_of),
    steps: _as(StoredStep),
    topic_events: _as(TopicEvent),
    topic_fields: _as(TopicField),
    topic_links: _as(TopicLink),
    topic_revisions: _as(Revision),
    topic_vectors: _exact,
    topics: _as(Topic),
    trust_evidence: _as(TrustEvidence),
    votes: _as(Vote),
}
"""As the store does. Tables that are not here hold nothing but their columns."""
