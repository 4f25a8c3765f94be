"""Routes for administrators: people, statistics, gaps and jobs."""

from typing import Any

from fastapi import APIRouter

from bot.adapters.web.api.dependencies import Admin, Asker, ServedMemory, plain_object
from memory.library.export import export_person, plain

router = APIRouter(tags=["administration"])

# A person's id may hold slashes (`:path`), so the longer paths come first.


@router.get("/people/{person:path}/export")
def export(person: str, memory: ServedMemory, who: Admin) -> dict[str, Any]:
    """Everything stored about a person."""
    who.require_workspace()
    return export_person(memory.privacy.copy(who.workspace, person), person)


@router.get("/people/{person:path}")
def holdings(person: str, memory: ServedMemory, who: Admin) -> dict[str, int]:
    """How much is stored in a person's name. Their export looks for what repeats their words elsewhere, too."""
    who.require_workspace()
    return memory.privacy.counts(who.workspace, person)


@router.delete("/people/{person:path}")
def forget(person: str, memory: ServedMemory, who: Admin) -> dict[str, Any]:
    """Erase everything about a person. It cannot be undone."""
    who.require_workspace()
    return plain_object(memory.privacy.forget(who.workspace, person, actor=who.actor))


@router.post("/people/{person:path}/purge")
def purge(person: str, memory: ServedMemory, who: Admin, dry_run: bool = True) -> dict[str, Any]:
    """Take back everything a person taught; with `dry_run`, only say how much that is."""
    who.require_workspace()
    if dry_run:
        return plain_object(memory.purging.plan(who.workspace, person))
    return plain_object(memory.purging.purge(who.workspace, person, actor=who.actor, at=memory.clock()))


@router.get("/stats")
def stats(memory: ServedMemory, who: Asker) -> dict[str, Any]:
    """Counts of episodes by verdict and origin, of answers and questions back, and of answers that people rejected."""
    who.require_workspace()
    counts, decisions = memory.audit.statistics(who.workspace)
    return {"counts": counts, "decisions": plain(decisions)}


@router.get("/gaps")
def gaps(memory: ServedMemory, who: Admin, limit: int = 10) -> list[Any]:
    """What to teach next: questions that nobody could answer, by how many a lesson would settle."""
    who.require_workspace()
    return [plain(each) for each in memory.gaps.find(who.workspace, limit=max(1, min(limit, 100)))]


@router.get("/jobs")
def jobs(memory: ServedMemory, who: Admin) -> list[Any]:
    """The upkeep jobs, and when each ran last."""
    return [
        {"name": each.job.name, "what": each.job.what, "every_s": each.job.every.total_seconds()}
        | {"due_at": each.due_at, "owner": each.owner, "last": plain(each.last)}
        for each in memory.upkeep.states()
    ]
