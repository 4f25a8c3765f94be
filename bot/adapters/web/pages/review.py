"""The review queue: shows one waiting item after the other, to be decided with one key or button."""

from starlette.responses import Response

from bot.adapters.web.pages import batches
from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit
from bot.conversation.messages import why_held
from memory.model import Episode, LinkKind, Origin, Visibility
from memory.ports import EpisodeFilter
from memory.rules.audience import visibility_of
from memory.rules.quarantine import Flag
from memory.services import RunView

LISTED = 20
"""How many items after the first are listed."""


def show(visit: Visit) -> Response:
    """Show the next item: disputes, quarantined lessons, unjudged corrections; newest first."""
    after = visit.query.get("after", "")
    wanted = EpisodeFilter(
        to_decide=True, unbatched=True, roots_only=True, public_only=visit.public_only, limit=LISTED + 1, after=after
    )
    waiting = visit.memory.audit.episodes(visit.workspace, wanted)
    first = visit.memory.audit.get(visit.workspace, waiting[0].id) if waiting else None
    view = visit.memory.audit.run(visit.workspace, first.run_id) if first else None
    return visit.render(
        "review.html",
        episode=first,
        view=view,
        corrected=_corrected(visit, first, view) if first and view else None,
        behind=waiting[1:],
        after=after,
        batches=visit.memory.batches.views(visit.workspace, visit.may_see, open_only=True),
        why=_why(first) if first else "",
        may_share=first is not None and visibility_of(first) is Visibility.PUBLIC,
        lacks_question=first is not None and Flag.NEEDS_QUESTION in first.quarantine,
    )


def _corrected(visit: Visit, lesson: Episode, view: RunView) -> Episode | None:
    """The answer that a lesson corrects, if the account may see it."""
    ids = [link.to_id for link in view.links if link.kind is LinkKind.CORRECTS and link.from_id == lesson.id]
    found = visit.memory.audit.get(visit.workspace, ids[0]) if ids else None
    return found if found is not None and visit.may_see(found) else None


def _why(episode: Episode) -> str:
    """Why an item waits."""
    if episode.quarantine:
        return f"It is held back: {why_held(episode)}."
    if episode.origin is Origin.RUN:
        return "People disagree about this answer."
    return "Somebody wrote this, and nobody has judged it yet."


PAGE = AdminPage(
    name="review",
    title="Review",
    needs=WebRole.TEACHER,
    routes=(
        PageRoute(path="review", handler=show),
        PageRoute(path="review/batches/{batch_id}", handler=batches.show),
        PageRoute(path="review/batches/{batch_id}", handler=batches.decide, method="POST"),
        PageRoute(path="review/batches/{batch_id}/undo", handler=batches.take_back, method="POST"),
        PageRoute(path="review/batches/{batch_id}/edit", handler=batches.edit, method="POST"),
    ),
)
