"""The pages about people: stored data, export, forgetting and purging."""

import json
from collections.abc import Mapping

from starlette.responses import Response

from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.cookies import Notice
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit
from bot.conversation.commands.forget_messages import forgotten_message
from bot.conversation.commands.purge_command import purge_counts
from memory.errors import InvalidInput
from memory.library.export import export_person
from memory.services import Purge

PAGE_ROWS = 100
_HELD = (
    ("episodes", "questions with their answers, and lessons they wrote"),
    ("derived", "answers to others that repeat their words"),
    ("kept", "lessons of others about their questions, which stay without their words"),
    ("messages", "messages to the bot"),
    ("reactions", "reactions"),
    ("topics", "topics they brought up"),
    ("values", "values they gave to topics"),
    ("steps", "steps of their runs"),
    ("grades", "grades of steps"),
    ("short", "notes kept for a while"),
    ("welcomes", "notes that they were welcomed"),
)


def show(visit: Visit) -> Response:
    """Show all people in alphabetical order, or the person that is searched for."""
    name = visit.query.get("person", "").strip()
    if name:
        return person(visit)
    found = visit.memory.privacy.people(visit.workspace, after=visit.query.get("after", ""), limit=PAGE_ROWS + 1)
    shown = found[:PAGE_ROWS]
    return visit.render("people.html", people=shown, next=shown[-1] if len(found) > PAGE_ROWS else "")


def person(visit: Visit) -> Response:
    """Show what is stored about a person; with `closely` also what repeats their words, which takes a search."""
    name = visit.query.get("person", "").strip()
    if not visit.query.get("closely"):
        return _page(visit, name)
    data = visit.memory.privacy.personal_data(visit.workspace, name)
    return _page(visit, name, {field: len(getattr(data, field, ())) for field, _ in _HELD})


def _page(visit: Visit, name: str, found: Mapping[str, int] | None = None, plan: Purge | None = None) -> Response:
    stored = found if found is not None else visit.memory.privacy.counts(visit.workspace, name)
    return visit.render(
        "person.html",
        name=name,
        counts=[(stored[field], what) for field, what in _HELD if stored.get(field)],
        is_known=any(stored.values()),
        is_close=found is not None,
        plan=None if plan is None else "" if plan.is_empty else purge_counts(plan),
    )


def export(visit: Visit) -> Response:
    """Download a person's data."""
    name = visit.query.get("person", "").strip()
    data = export_person(visit.memory.privacy.copy(visit.workspace, name), name)
    text = json.dumps(data, ensure_ascii=False, indent=2)
    headers = {"Content-Disposition": 'attachment; filename="person.json"'}
    return Response(text, media_type="application/json", headers=headers)


def plan(visit: Visit) -> Response:
    """Show what a purge would remove. Changes nothing."""
    name = visit.form.get("person", "").strip()
    planned = visit.memory.purging.plan(visit.workspace, name)
    return _page(visit, name, plan=planned)


def purge(visit: Visit) -> Response:
    """Purge what a person taught."""
    name = visit.form.get("person", "").strip()
    done = visit.memory.purging.purge(visit.workspace, name, actor=visit.actor, at=visit.memory.clock())
    counts = "nothing that stands" if done.is_empty else purge_counts(done)
    return visit.back("people", Notice(f"Taken back: {counts}."), person=name)


def forget(visit: Visit) -> Response:
    """Erase a person's data. Irreversible, so the form has their name again."""
    name = visit.form.get("person", "").strip()
    if visit.form.get("again", "").strip() != name or not name:
        raise InvalidInput("write the name once more, exactly as it stands there: this cannot be undone")
    erased = visit.memory.privacy.forget(visit.workspace, name, actor=visit.actor)
    return visit.back("people", Notice(forgotten_message(erased)))


PAGE = AdminPage(
    name="people",
    title="People",
    needs=WebRole.ADMIN,
    routes=(
        PageRoute(path="people", handler=show),
        PageRoute(path="people/export", handler=export),
        PageRoute(path="people/plan", handler=plan, method="POST"),
        PageRoute(path="people/purge", handler=purge, method="POST"),
        PageRoute(path="people/forget", handler=forget, method="POST"),
    ),
)
