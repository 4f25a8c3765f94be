"""`/v1/episodes`: lists, exports and decides about episodes."""

import json
from dataclasses import replace
from enum import StrEnum
from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from bot.adapters.web.api.dependencies import Admin, ServedMemory, Text, plain_object
from bot.adapters.web.authentication import Caller
from memory.errors import NotFound
from memory.library.export import plain
from memory.model import Audience, Episode, EpisodeStatus, EventKind, Role, Signal, Verdict
from memory.ports import EpisodeFilter
from memory.services import Memory

router = APIRouter(prefix="/episodes", tags=["episodes"])

PAGE = 50
_EXPORT_ROWS = 200
"""Episodes that an export holds in RAM at once."""
NDJSON = "application/x-ndjson"


class EpisodeQuery(BaseModel):
    """Which episodes a list shows. A filter that is not known is refused: without it the list would be longer."""

    model_config = ConfigDict(extra="forbid")

    channel: str = ""
    person: str = ""
    author: str = ""
    status: EpisodeStatus | None = None
    verdict: Verdict | None = None
    audience: Annotated[Audience | None, Field(description="People have decided what it is worth for these.")] = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    text: str = ""
    archived: bool = False
    quarantined: bool = False
    undecided: Annotated[bool, Field(description="Only what waits for somebody to decide.")] = False
    nodes: Annotated[bool, Field(description="Also the parts that answers were worked out in.")] = False

    def filter(self, who: Caller, *, limit: int | None, after: str = "") -> EpisodeFilter:
        """The memory's filter, limited to what the key permits."""
        return EpisodeFilter(
            channel=who.place(channel=self.channel).channel if self.channel or who.key.channel else "",
            person=self.person,
            author=self.author,
            status=self.status,
            verdict=self.verdict,
            decided_in=self.audience,
            since=self.since,
            until=self.until,
            text=self.text,
            roots_only=not self.nodes,
            include_archived=self.archived,
            quarantined_only=self.quarantined,
            to_decide=self.undecided,
            limit=limit,
            after=after,
        )


class ListQuery(EpisodeQuery):
    """One part of a list."""

    after: Annotated[str, Field(description="The cursor that the part before it ended with.")] = ""
    limit: Annotated[int, Field(ge=1, le=1000)] = PAGE


class Page(BaseModel):
    """A part of a list, newest first. `next` is the cursor of the next part; empty at the end."""

    episodes: list[dict[str, Any]]
    next: str


class LessonAction(StrEnum):
    """A decision that takes no arguments."""

    ARCHIVE = "archive"
    RESTORE = "restore"
    RELEASE = "release"


class GradeBody(BaseModel):
    """The grade of an episode; `pending` withdraws it."""

    model_config = ConfigDict(extra="forbid")

    verdict: Verdict
    reason: str = ""


class CorrectionBody(BaseModel):
    """What would have been right."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    reason: str = ""
    event_id: str = ""


class PromotionBody(BaseModel):
    """The audience of a lesson; `personal` withdraws a promotion."""

    model_config = ConfigDict(extra="forbid")

    audience: Audience


@router.get("")
def list_(memory: ServedMemory, who: Admin, wanted: Annotated[ListQuery, Query()]) -> Page:
    """Episodes, newest first."""
    found = memory.audit.episodes(who.workspace, wanted.filter(who, limit=wanted.limit + 1, after=wanted.after))
    shown = found[: wanted.limit]
    is_last = len(found) <= wanted.limit
    return Page(episodes=[plain_object(each) for each in shown], next="" if is_last else shown[-1].id)


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": {NDJSON: {"schema": {"type": "string"}}}, "description": "One episode a line"}},
)
def export(memory: ServedMemory, who: Admin, wanted: Annotated[EpisodeQuery, Query()]) -> StreamingResponse:
    """Every episode of the list, whole, one JSON object a line, read from the database as it is sent."""
    page = wanted.filter(who, limit=_EXPORT_ROWS)
    parts = memory.audit.all_episodes(who.workspace, page)
    lines = ("".join(json.dumps(plain(each), ensure_ascii=False) + "\n" for each in found) for found in parts)
    first = next(lines, "")  # before the response begins, so that a fault has its status
    return StreamingResponse(chain([first], lines), media_type=NDJSON)


@router.get("/{episode_id}")
def show(episode_id: str, memory: ServedMemory, who: Admin) -> dict[str, Any]:
    """One episode with its run: every node, the votes, the recalls, the whole history."""
    episode = _found(memory, who, episode_id)
    view = memory.audit.run(who.workspace, episode.run_id)
    return {"episode": plain_object(episode), **plain_object(view)}


class Feedback(BaseModel):
    """Whether an episode was used each time it was shown as a lesson."""

    stats: dict[Signal, int]
    history: list[dict[str, Any]]


@router.get("/{episode_id}/feedback")
def feedback(
    episode_id: str, memory: ServedMemory, who: Admin, limit: Annotated[int, Query(ge=0, le=1000)] = 100
) -> Feedback:
    """How often an episode was used, ignored and contradicted as a lesson, and the last times, newest first."""
    _found(memory, who, episode_id)
    found = memory.audit.feedback(who.workspace, episode_id)
    history = [{"signal": each.kind.value, "at": each.at.isoformat(), **each.detail} for each in found[:limit]]
    return Feedback(stats={each: sum(e.kind.value == each for e in found) for each in Signal}, history=history)


@router.delete("/{episode_id}")
def delete(episode_id: str, memory: ServedMemory, who: Admin) -> dict[str, int]:
    """Erase the answer of an episode, with its question. Other lessons and answers that repeat it stay."""
    episode = _found(memory, who, episode_id)
    return {"erased": memory.privacy.erase_run(who.workspace, episode.run_id, actor=who.actor)}


@router.post("/{episode_id}/grade")
def grade(episode_id: str, body: GradeBody, memory: ServedMemory, who: Admin) -> dict[str, Any]:
    """Grade an episode. The grade overrides all votes."""
    _found(memory, who, episode_id)
    done = memory.teaching.grade(who.workspace, episode_id, body.verdict, actor=who.actor, reason=body.reason)
    return plain_object(done)


@router.post("/{episode_id}/correct")
def correct(episode_id: str, body: CorrectionBody, memory: ServedMemory, who: Admin) -> dict[str, Any]:
    """Say what would have been right: it becomes a lesson of the episode's channel. A known event changes nothing."""
    episode = _found(memory, who, episode_id)
    scope = replace(episode.scope, person=who.actor)
    done = memory.teaching.correct(
        scope,
        episode.run_id,
        body.text,
        role=Role.ADMIN,
        at=memory.clock(),
        event_id=body.event_id,
        reason=body.reason,
    )
    return plain_object(done.lesson if done is not None else _corrected_by(memory, episode, body.event_id))


def _corrected_by(memory: Memory, episode: Episode, event_id: str) -> Episode:
    """The lesson that an event made of a correction; the episode if the event was another one."""
    events = memory.audit.run(episode.workspace, episode.run_id).events
    made = [each.detail for each in events if each.kind is EventKind.CORRECTED and each.detail.get("event") == event_id]
    return memory.audit.get(episode.workspace, str(made[0]["lesson"])) if made else episode


@router.post("/{episode_id}/promote")
def promote(episode_id: str, body: PromotionBody, memory: ServedMemory, who: Admin) -> dict[str, Any]:
    """Share a lesson with its channel or the workspace."""
    if body.audience is Audience.WORKSPACE:
        who.require_workspace()
    _found(memory, who, episode_id)
    done = memory.curation.promote(who.workspace, episode_id, body.audience, actor=who.actor, role=Role.ADMIN)
    return plain_object(done)


@router.post("/{episode_id}/{decision}")
def decide(episode_id: str, decision: LessonAction, memory: ServedMemory, who: Admin) -> dict[str, Any]:
    """Archive an episode, bring it back, or let one that was held back be recalled."""
    _found(memory, who, episode_id)
    match decision:
        case LessonAction.ARCHIVE:
            return plain_object(memory.curation.archive(who.workspace, episode_id, actor=who.actor))
        case LessonAction.RESTORE:
            return plain_object(memory.curation.restore(who.workspace, episode_id, actor=who.actor))
        case LessonAction.RELEASE:
            return plain_object(memory.curation.release(who.workspace, episode_id, actor=who.actor, role=Role.ADMIN))


def _found(memory: Memory, who: Caller, episode_id: str) -> Episode:
    """The episode, if the key permits its channel. Raises `NotFound`."""
    episode = memory.audit.get(who.workspace, episode_id)
    if who.key.channel not in ("", episode.channel):
        raise NotFound(f"no episode {episode_id} in {who.workspace}")
    return episode
