"""Topics: facts with their history, queried in stages; returned topics gain salience.

`World` is the entry point. `QueryRequest` and `QueryResponse` are the request and the response of `POST /v1/query`.
"""

from memory.model.topic import WorldPolicy as WorldPolicy
from memory.services.topics.ingest import (
    FieldInput as FieldInput,
    Ingest as Ingest,
    Placement as Placement,
    Related as Related,
)
from memory.services.topics.query import (
    Bundle as Bundle,
    FieldBundle as FieldBundle,
    QueryRequest as QueryRequest,
    QueryResponse as QueryResponse,
    Stage as Stage,
    Value as Value,
)
from memory.services.topics.reinforcement import Returned as Returned
from memory.services.topics.topics import World as World
