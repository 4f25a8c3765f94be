"""What is said about batches: lessons that were learned from a file."""

from collections.abc import Sequence

from bot.conversation.counts import count
from bot.conversation.messages import titled
from memory.model import Episode
from memory.model.batch import BatchLesson
from memory.rules.retrieval.prompt import shown_line
from memory.services import BatchView, Decided

NO_SUCH_BATCH = "There is no such batch here. `review` lists those that wait."


def file_name(view: BatchView, most: int = 60) -> str:
    """What it was learned from."""
    return shown_line(view.batch.name, most)


def overview(views: Sequence[BatchView], most: int) -> str:
    """The batches that wait, in a line each."""
    lines = [f"- **{file_name(each)}**: {_waiting(each)}; `review batch {each.batch.id[-8:]}`" for each in views[:most]]
    if len(views) > most:
        lines.append(f"- and {len(views) - most} more")
    return titled("Learned from files", lines, "")


def page(view: BatchView, lines: Sequence[str], place: str) -> str:
    """What waits in one batch."""
    if not lines:
        return f"Nothing of {file_name(view)} waits any more: {view.approved} approved, {view.rejected} rejected."
    return titled(f"From {file_name(view)}: {_waiting(view)}", lines, place)


def line(lesson: Episode, row: BatchLesson) -> str:
    """One proposal, with where it comes from."""
    held = f" ⚠️ held back, for {', '.join(lesson.quarantine)}." if lesson.quarantine else ""
    source = shown_line(row.source, 60)
    asked, answered = shown_line(lesson.goal, 120), shown_line(lesson.output, 200)
    return f"“{asked}” - {answered} ({source}, for the {row.audience.value}; `{lesson.id[-8:]}`){held}"


def question(view: BatchView, what: str) -> str:
    """Asked before all of it is decided about at once."""
    number = view.waiting if what == "approve" else view.waiting + view.held_back
    left = (
        f" The {view.held_back} that are held back stay: look at each." if what == "approve" and view.held_back else ""
    )
    return f"{what.capitalize()} {count(number, 'lesson')} from {file_name(view)}?{left}"


def decided(what: str, decision: Decided) -> str:
    """Some are decided about."""
    done = "approved" if what == "approve" else "rejected"
    left = f" {decision.left_held_back} are held back: look at each." if decision.left_held_back else ""
    return f"{count(decision.done, 'lesson')} {done}.{left}"


def edited(lesson: Episode) -> str:
    """A teacher wrote it anew."""
    if lesson.quarantine:
        return f"Saved, and held back for {', '.join(lesson.quarantine)}: release it to use it (`{lesson.id[-8:]}`)."
    return f"Approved in your words: “{shown_line(lesson.goal, 80)}” - {shown_line(lesson.output, 120)}"


def _waiting(view: BatchView) -> str:
    held = f", {view.held_back} more to be looked at one by one" if view.held_back else ""
    return f"{count(view.waiting, 'lesson')} to approve{held}"
