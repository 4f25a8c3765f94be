"""The pages of a batch: review of lessons from one file, single, chosen or all."""

from datetime import datetime

from starlette.responses import Response

from bot.adapters.web.numbers import whole_number
from bot.adapters.web.pages.cookies import Notice
from bot.adapters.web.pages.page import Visit
from bot.conversation.counts import count
from memory.errors import InvalidInput, NotFound
from memory.model import Audience
from memory.services import BatchDecision, BatchView, Reviewer

PAGE_ROWS = 20


def show(visit: Visit) -> Response:
    """Show a page of the waiting lessons, in the order of the file."""
    view = _view(visit)
    waiting = view.waiting + view.held_back
    last = max(1, -(-waiting // PAGE_ROWS))
    page = min(_page(visit.query.get("page", "")), last)
    first = (page - 1) * PAGE_ROWS
    rows, _ = visit.memory.batches.waiting(
        visit.workspace, view.batch.id, visit.may_see, lambda _: slice(first, first + PAGE_ROWS)
    )
    return visit.render("batch.html", view=view, rows=rows, page=page, last=last, first=first + 1)


def decide(visit: Visit) -> Response:
    """Approve or reject chosen lessons, or all."""
    view, what = _view(visit), visit.form.get("what", "")
    only = None if what.endswith("-all") else set(visit.chosen)
    if only is not None and not only:
        return _back(visit, view, Notice("Choose something first.", is_fault=True))
    since = visit.memory.clock()
    decided = _decided(visit, view, what, only)
    done = "approved" if what.startswith("approve") else "rejected"
    left = f" {decided.left_held_back} held back: approve each by itself." if decided.left_held_back else ""
    return _back(visit, view, _undoable(visit, view, f"{count(decided.done, 'lesson')} {done}.{left}", since))


def take_back(visit: Visit) -> Response:
    """Undo the reviewer's last decision, after which its lessons wait again."""
    view = _view(visit)
    try:
        since = datetime.fromisoformat(visit.form.get("since", ""))
    except ValueError:
        since = None
    if since is None or since.tzinfo is None:
        raise InvalidInput("nothing says what is to be taken back")
    decided = visit.memory.batch_review.take_back(visit.workspace, view.batch.id, _reviewer(visit), since)
    return _back(visit, view, Notice(f"Taken back: {count(decided.done, 'lesson')} again to decide about."))


def edit(visit: Visit) -> Response:
    """Approve a lesson in the reviewer's words."""
    view, form = _view(visit), visit.form
    since = visit.memory.clock()
    visit.memory.batch_review.edit(
        visit.workspace, form.get("lesson", ""), form.get("question", ""), form.get("answer", ""), _reviewer(visit)
    )
    return _back(visit, view, _undoable(visit, view, "Approved in your words.", since))


def _undoable(visit: Visit, view: BatchView, text: str, since: datetime) -> Notice:
    undo = visit.url(f"review/batches/{view.batch.id}/undo")
    return Notice(text, undo=undo, fields={"since": since.isoformat(), "page": visit.form.get("page", "")})


def _decided(visit: Visit, view: BatchView, what: str, only: set[str] | None) -> BatchDecision:
    review, by = visit.memory.batch_review, _reviewer(visit)
    match what:
        case "approve" | "approve-all":
            return review.approve(visit.workspace, view.batch.id, by, only=only)
        case "approve-workspace":
            return review.approve(visit.workspace, view.batch.id, by, only=only, audience=Audience.WORKSPACE)
        case "reject" | "reject-all":
            return review.reject(visit.workspace, view.batch.id, by, only=only)
    raise InvalidInput("choose what is to be done")


def _reviewer(visit: Visit) -> Reviewer:
    return Reviewer(actor=visit.actor, role=visit.role.role, may_decide=visit.may_see)


def _view(visit: Visit) -> BatchView:
    """The batch in the path, with the lessons that the account may see. Raises `NotFound`."""
    view = visit.memory.batches.view(visit.workspace, visit.path["batch_id"], visit.may_see)
    if not view.total:
        raise NotFound(f"no batch {view.batch.id} in {visit.workspace} that you may see")
    return view


def _back(visit: Visit, view: BatchView, notice: Notice) -> Response:
    return visit.back(f"review/batches/{view.batch.id}", notice, page=_page(visit.form.get("page", "")))


def _page(text: str) -> int:
    return whole_number(text) or 1
