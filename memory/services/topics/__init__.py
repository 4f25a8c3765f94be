"""Topics: facts with their history, queried in stages, reinforced by being read.

`World` is the way in. `QueryRequest` and `QueryResponse` are the request and the response of `POST /v1/query`.
"""

from memory.model.topic import WorldPolicy
from memory.services.topics.ingest import FieldInput, Ingest, Ingested, Placement, Related
from memory.services.topics.query import Bundle, FieldBundle, QueryRequest, QueryResponse, Stage, Value
from memory.services.topics.reinforcement import Reinforcement, Returned
from memory.services.topics.source import MakeSource, TopicIndex, TopicSource
from memory.services.topics.topics import World

__all__ = [
    "Bundle",
    "FieldBundle",
    "FieldInput",
    "Ingest",
    "Ingested",
    "MakeSource",
    "Placement",
    "QueryRequest",
    "QueryResponse",
    "Reinforcement",
    "Related",
    "Returned",
    "Stage",
    "TopicIndex",
    "TopicSource",
    "Value",
    "World",
    "WorldPolicy",
]
