"""The world of topics: facts with their history, queried in stages, reinforced by being read (seed 003).

`World` is the way in. `QueryRequest` and `QueryResponse` are the request and the response of `POST /v1/query`.
"""

from memory.world.ingest import FieldInput, Ingest, Ingested, Placement, Related
from memory.world.policy import WorldPolicy
from memory.world.query import QueryRequest, Stage
from memory.world.response import Bundle, FieldBundle, QueryResponse, Value
from memory.world.shelf import MakeShelf, Shelf, TopicIndex
from memory.world.use_cases import World

__all__ = [
    "Bundle",
    "FieldBundle",
    "FieldInput",
    "Ingest",
    "Ingested",
    "MakeShelf",
    "Placement",
    "QueryRequest",
    "QueryResponse",
    "Related",
    "Shelf",
    "Stage",
    "TopicIndex",
    "Value",
    "World",
    "WorldPolicy",
]
