"""The list of episodes: filters, decisions about several, exports."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import MAXYEAR, timedelta
from itertools import chain
from typing import TypeVar

from starlette.responses import Response, StreamingResponse

from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.cookies import Notice
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit, moment_of
from memory.errors import InvalidInput, MemoryFault
from memory.library.export import export_memories, plain
from memory.model import Audience, Episode, Verdict
from memory.ports import EpisodeFilter

PAGE_ROWS = 50
_FILE_ROWS = 200
_FIELDS = ("text", "verdict", "audience", "channel", "person", "author", "since", "until", "archived", "held")

_DONE = {"archive": "archived", "restore": "restored", "personal": "shared no more"}
_BACK = {"archive": "restore", "restore": "archive"}
"""How each decision is undone. A promotion is undone by `personal`, if the episode had none before."""

E = TypeVar("E", Verdict, Audience)


def show(visit: Visit) -> Response:
    """Show a part of the list, newest first."""
    filters = {name: visit.query.get(name, "").strip() for name in _FIELDS}
    wanted = _wanted(visit, filters)
    found = visit.memory.audit.episodes(visit.workspace, replace(wanted, limit=PAGE_ROWS + 1))
    shown = found[:PAGE_ROWS]
    return visit.render(
        "episodes.html",
        episodes=visit.shown(*shown),
        filters=filters,
        next=shown[-1].id if len(found) > PAGE_ROWS else "",
        is_first=not wanted.after,
        verdicts=list(Verdict),
        audiences=list(Audience),
        may_decide=visit.role >= WebRole.TEACHER,
    )


def _wanted(visit: Visit, filters: Mapping[str, str]) -> EpisodeFilter:
    since, until = moment_of(filters["since"]), moment_of(filters["until"])
    return EpisodeFilter(
        text=filters["text"],
        verdict=_one(Verdict, filters["verdict"]),
        decided_in=_one(Audience, filters["audience"]),
        channel=filters["channel"],
        person=filters["person"],
        author=filters["author"],
        since=since,
        until=until + timedelta(days=1) if until and until.year < MAXYEAR else None,
        include_archived=bool(filters["archived"]),
        quarantined_only=bool(filters["held"]),
        roots_only=True,
        public_only=visit.public_only,
        after=visit.query.get("after", ""),
    )


def _one(kind: type[E], text: str) -> E | None:
    return kind(text) if text in [each.value for each in kind] else None


def decide(visit: Visit) -> Response:
    """Archive, restore or promote the chosen episodes, with undo for those that were changed."""
    what = visit.form.get("what", "")
    done: list[str] = []
    faults: list[str] = []
    is_new = True
    for episode_id in visit.chosen or visit.form.get("ids", "").split()[:PAGE_ROWS]:
        try:
            before = _decide(visit, what, episode_id)
            done.append(episode_id)
            is_new = is_new and before.promoted is None
        except MemoryFault as error:
            faults.append(str(error))
    text = f"{len(done)} {_DONE.get(what, 'promoted')}." + (
        f" {len(faults)} could not be: {faults[0]}" if faults else ""
    )
    back = _BACK.get(what, "personal" if is_new else "")
    query = visit.form.get("query", "")  # the filters of the list
    undo = visit.url("episodes") if back and done and what != "personal" else ""
    fields = {"what": back, "ids": " ".join(done), "query": query[:500]} if undo else {}
    address = f"episodes?{query}" if query else "episodes"
    return visit.back(address, Notice(text[:400], is_fault=bool(faults), undo=undo, fields=fields))


def _decide(visit: Visit, what: str, episode_id: str) -> Episode:
    """Decide about one episode; returns its earlier state."""
    curation, workspace = visit.memory.curation, visit.workspace
    episode = visit.memory.audit.get(workspace, episode_id)
    if not visit.may_see(episode):
        raise InvalidInput(f"episode {episode_id} was not made in public; an administrator decides about it")
    match what:
        case "archive":
            curation.archive(workspace, episode_id, actor=visit.actor)
        case "restore":
            curation.restore(workspace, episode_id, actor=visit.actor)
        case "channel" | "workspace" | "personal":
            curation.promote(workspace, episode_id, Audience(what), actor=visit.actor, role=visit.role.role)
        case _:
            raise InvalidInput("choose what is to be done")
    return episode


def as_csv(visit: Visit) -> Response:
    """Export the whole list as CSV."""

    def tables() -> Iterator[str]:
        header = ""
        for found in _every(visit):
            table = export_memories(found, "csv")
            yield table.removeprefix(header)
            header = header or table[: table.index("\n") + 1]

    return _file(tables(), "text/csv; charset=utf-8", "csv")


def as_json(visit: Visit) -> Response:
    """Export the whole list as JSON lines."""
    lines = (json.dumps(plain(each), ensure_ascii=False) + "\n" for found in _every(visit) for each in found)
    return _file(lines, "application/x-ndjson", "jsonl")


def _file(parts: Iterator[str], media_type: str, ending: str) -> Response:
    name = f'attachment; filename="episodes.{ending}"'
    first = next(parts, "")  # before the response begins, so that a fault is still told by a page
    return StreamingResponse(chain([first], parts), media_type=media_type, headers={"Content-Disposition": name})


def _every(visit: Visit) -> Iterator[list[Episode]]:
    """The whole list of whole episodes in batches."""
    filters = {name: visit.query.get(name, "").strip() for name in _FIELDS}
    wanted = replace(_wanted(visit, filters), limit=_FILE_ROWS, after="")
    return (visit.shown(*found) for found in visit.memory.audit.all_episodes(visit.workspace, wanted))


PAGE = AdminPage(
    name="episodes",
    title="Episodes",
    routes=(
        PageRoute(path="episodes", handler=show),
        PageRoute(path="episodes.csv", handler=as_csv),
        PageRoute(path="episodes.jsonl", handler=as_json),
        PageRoute(path="episodes", handler=decide, method="POST", needs=WebRole.TEACHER),
    ),
)
