"""`/v1/query`, `/v1/ingest` and `/v1/topics`: queries in the seed's format, and changes to topics."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from bot.adapters.web.api.dependencies import Admin, Asker, Place, ServedMemory, Teacher, There, plain_object
from bot.adapters.web.authentication import Caller
from memory.library.export import plain
from memory.model import Audience, Scope
from memory.rules.audience import partition_of
from memory.services.topics import FieldInput, Ingest, Placement, Related, Stage

router = APIRouter(tags=["topics"])


class Query(BaseModel):
    """A query of the seed. Keys that are not known are ignored."""

    q: Annotated[str, Field(description="What to look for; may be empty.")]
    stages: list[Stage] = list(Stage)
    explain: bool = False
    top_k: Annotated[int, Field(ge=0, le=100)] = 8
    topic_ids: list[str] | None = None
    field_names: list[str] | None = None
    reinforce: Annotated[bool, Field(description="Whether reading raises salience.")] = True
    scope: Place = Place()


class FieldBody(BaseModel):
    """A field with a value, or only a reference to a topic."""

    model_config = ConfigDict(extra="forbid")

    name: str
    value: Any = None
    field_type: str = "string"
    ref_topic_id: str | None = None
    provenance: str | None = None
    why_changed: str | None = None
    impact_expected: str | None = None
    valid_from: datetime | None = None
    revision_id: str = ""

    def field_input(self) -> FieldInput:
        """The field for the memory: a field without `value` differs from one with a null value."""
        return FieldInput(**{name: getattr(self, name) for name in self.model_fields_set})


class RelatedBody(BaseModel):
    """An edge to another topic."""

    model_config = ConfigDict(extra="forbid")

    topic_id: str
    kind: str = "related"


class IngestBody(BaseModel):
    """What becomes known: a new topic, more of a known one, or a new version of one field."""

    model_config = ConfigDict(extra="forbid")

    placement: Placement = Placement.NEW_TOPIC
    topic_id: str = ""
    title: str | None = None
    summary: str | None = None
    topic_kind: str | None = None
    audience: Audience = Audience.PERSONAL
    fields: list[FieldBody] = []
    related: list[RelatedBody] = []
    salience: float = 1.0
    embedding: list[float] | None = None
    scope: Place = Place()

    def ingest(self) -> Ingest:
        """The ingest for the memory. Raises `InvalidInput`."""
        rest = self.model_fields_set - {"scope", "fields", "related"}
        return Ingest(
            fields=[each.field_input() for each in self.fields],
            related=[Related(topic_id=each.topic_id, kind=each.kind) for each in self.related],
            **{name: getattr(self, name) for name in rest},
        )


@router.post("/query", response_model=dict[str, Any])
def query(asked: Query, memory: ServedMemory, who: Asker) -> JSONResponse:
    """Choose topics and lessons near a text, and what is known of each. Nothing changes when it fails."""
    scope = who.place(**asked.scope.model_dump())
    found = memory.world.query(scope, asked.model_dump(exclude={"scope"}, mode="json"))
    return JSONResponse(found.as_dict())  # plain JSON already: this most frequent route skips FastAPI's conversion


@router.post("/ingest")
def ingest(body: IngestBody, memory: ServedMemory, who: Teacher) -> dict[str, Any]:
    """Remember a topic, more of one, or a new version of one of its fields."""
    place = who.place(**body.scope.model_dump())
    if body.audience is Audience.WORKSPACE:
        who.require_workspace()
    if body.placement is not Placement.NEW_TOPIC:
        _require_own(who, memory, place, body.topic_id)
    return plain_object(memory.world.ingest(place, body.ingest()))


def _require_own(who: Caller, memory: ServedMemory, place: Scope, topic_id: str) -> None:
    """Raise `AccessDenied` if the key is for one channel, and the topic of the workspace."""
    if who.key.channel and memory.world.topic(place, topic_id).partition == partition_of(place, Audience.WORKSPACE):
        who.require_workspace()


@router.post("/topics/{topic_id:path}/archive", status_code=204)
def archive(topic_id: str, memory: ServedMemory, who: Teacher, place: There) -> None:
    """Take a topic out of every answer until it is restored."""
    there = who.place(**place.model_dump())
    _require_own(who, memory, there, topic_id)
    memory.world.archive(there, topic_id)


@router.post("/topics/{topic_id:path}/restore", status_code=204)
def restore(topic_id: str, memory: ServedMemory, who: Teacher, place: There) -> None:
    """Bring an archived topic back."""
    there = who.place(**place.model_dump())
    _require_own(who, memory, there, topic_id)
    memory.world.restore(there, topic_id)


@router.get("/topics/{topic_id:path}/history")
def history(topic_id: str, memory: ServedMemory, who: Asker, place: There) -> list[Any]:
    """Everything that happened to a topic, oldest first."""
    return [plain(each) for each in memory.world.trail(who.place(**place.model_dump()), topic_id)]


@router.post("/topics/revise")
def revise(memory: ServedMemory, who: Admin) -> dict[str, str]:
    """Merge topics with the same title. Returns which topic was merged into which."""
    who.require_workspace()
    return dict(memory.world.revise(who.workspace, actor=who.actor))
