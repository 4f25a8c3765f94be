"""Pages for administrators: jobs, audit log, settings, health."""

import asyncio
import re

from starlette.responses import Response

from bot.adapters.web.health import readiness
from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.cookies import Notice
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit
from memory.model import EventKind

LOG_ROWS = 100
_TOPICS = "topics"
"""The filter of the log for events of topics."""
_BEFORE = re.compile(r"(\d{1,18})-(\d{1,18})", re.ASCII)
"""The position of a part of the log, in its address."""


def jobs(visit: Visit) -> Response:
    """Show the jobs and their last runs."""
    return visit.render("jobs.html", states=visit.memory.upkeep.states())


def run_job(visit: Visit) -> Response:
    """Run a job."""
    run = visit.memory.upkeep.run(visit.path["job"], workspace=visit.workspace, actor=visit.actor)
    text = f"{run.name}: {run.error or run.summary}"
    return visit.back("jobs", Notice(text[:400], is_fault=bool(run.error)))


def audit_log(visit: Visit) -> Response:
    """Show the event log, newest first."""
    kind, actor = visit.query.get("kind", ""), visit.query.get("actor", "").strip()
    before = _BEFORE.fullmatch(visit.query.get("before", ""))
    found = visit.memory.audit.log(
        visit.workspace,
        actor=actor,
        kind=next((each for each in EventKind if each.value == kind), None),
        of_topics=kind == _TOPICS,
        before=(int(before[1]), int(before[2])) if before else (0, 0),
        limit=LOG_ROWS,
    )
    return visit.render(
        "audit_log.html",
        events=found.entries,
        actor=actor,
        kind=kind,
        kinds=[*(each.value for each in EventKind), _TOPICS],
        next="-".join(map(str, found.next or ())),
    )


def settings(visit: Visit) -> Response:
    """Show the settings in force, without secrets."""
    return visit.render("settings.html", sections=visit.parts.settings)


def health(visit: Visit) -> Response:
    """Show the health checks."""
    return visit.render("health.html", found=asyncio.run(readiness(visit.parts.checks)))


JOBS = AdminPage(
    name="jobs",
    title="Jobs",
    needs=WebRole.ADMIN,
    routes=(
        PageRoute(path="jobs", handler=jobs),
        PageRoute(path="jobs/{job}", handler=run_job, method="POST"),
    ),
)
LOG = AdminPage(name="log", title="Audit log", needs=WebRole.ADMIN, routes=(PageRoute(path="log", handler=audit_log),))
SETTINGS = AdminPage(
    name="settings", title="Settings", needs=WebRole.ADMIN, routes=(PageRoute(path="settings", handler=settings),)
)
HEALTH = AdminPage(
    name="health", title="Health", needs=WebRole.ADMIN, routes=(PageRoute(path="health", handler=health),)
)
