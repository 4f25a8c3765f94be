"""`goodbot review ...`: reviews lessons that were learned from files, batch by batch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from bot.cli.output import print_table, progress_bars
from bot.cli.session import Result, administrator, memory_command, workspace_option, workspaces_named
from bot.conversation.counts import count
from bot.conversation.messages import why_held
from memory.errors import InvalidInput
from memory.model import Audience, Episode, Role
from memory.model.batch import Batch, BatchLesson
from memory.rules.retrieval.prompt import shown_line
from memory.services import BatchDecision, Memory, Reviewer
from memory.services.batches.review import ShowsReview

_AUDIENCES = click.Choice([Audience.CHANNEL.value, Audience.WORKSPACE.value])
_SHORT = 8


@click.group()
def review() -> None:
    """See what was learned from files; approve, edit or reject it."""


@review.command("list")
@workspace_option
@memory_command
def list_(memory: Memory, workspace: str) -> Result:
    """Every batch, and how far its review is."""
    names = workspaces_named(memory, workspace)
    views = [view for name in names for view in memory.batches.views(name)]
    head = ("batch", "learned", "waiting", "one by one", "approved", "rejected", "workspace", "file")
    rows = [
        (
            view.batch.id[-_SHORT:],
            f"{view.batch.at:%Y-%m-%d %H:%M}",
            str(view.waiting),
            str(view.held_back),
            str(view.approved),
            str(view.rejected),
            view.batch.workspace,
            view.batch.name,
        )
        for view in views
    ]
    if not rows:
        return Result(views, "Nothing was learned from a file. `goodbot learn FILE` does that.")
    return Result(views, lambda: print_table(head, rows))


@review.command()
@click.argument("batch_id", metavar="BATCH")
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True)
@click.option("--from", "first", type=click.IntRange(1), default=1, show_default=True, help="Begin with this one.")
@memory_command
def show(memory: Memory, batch_id: str, limit: int, first: int) -> Result:
    """What waits in a batch, in the order of its file."""
    batch = memory.batches.find(batch_id)
    found, total = _waiting(memory, batch, slice(first - 1, first - 1 + limit))
    value = [{"lesson": lesson, "source": row.source, "audience": row.audience} for lesson, row in found]
    return Result(value, "\n".join(_shown(found, total, first, batch)))


def _waiting(memory: Memory, batch: Batch, part: slice) -> tuple[list[tuple[Episode, BatchLesson]], int]:
    return memory.batches.waiting(batch.workspace, batch.id, lambda _: True, lambda _: part)


def _shown(found: Sequence[tuple[Episode, BatchLesson]], total: int, first: int, batch: Batch) -> Iterator[str]:
    known = batch.id[-_SHORT:]
    if not found:
        yield f"Nothing{' more' if total else ''} waits in batch {known}."
        return
    yield f"{count(total, 'lesson')} from {shown_line(batch.name, 60)}, {first} to {first + len(found) - 1}:"
    for number, (lesson, row) in enumerate(found, start=first):
        held_back = f" ⚠️ held back: {why_held(lesson)}" if lesson.quarantine else ""
        yield ""
        yield f"{number}. {shown_line(lesson.goal, 160)}  ({lesson.id[-_SHORT:]}){held_back}"
        yield f"   {shown_line(lesson.output, 300)}"
        yield f"   {shown_line(row.source, 80)}; by {shown_line(lesson.author, 30)}, for the {row.audience.value}"
    yield ""
    yield f"goodbot review approve {known} [LESSON ...], reject {known} [LESSON ...], edit LESSON ANSWER"


@review.command()
@click.argument("batch_id", metavar="BATCH")
@click.argument("lessons", nargs=-1)
@click.option("--audience", type=_AUDIENCES, help="Instead of the one that each is meant for.")
@memory_command
def approve(memory: Memory, batch_id: str, lessons: tuple[str, ...], audience: str | None) -> Result:
    """Approve all that waits in a batch, or these lessons. What is held back is approved only by itself."""
    batch = memory.batches.find(batch_id)
    only = _named(memory, batch, lessons)
    wanted = Audience(audience) if audience else None
    by = Reviewer(actor=administrator(), role=Role.ADMIN)
    with _bar("approving") as progress:
        decided = memory.batch_review.approve(
            batch.workspace, batch.id, by, only=only, audience=wanted, progress=progress
        )
    return Result(decided, _decided("approved", decided, batch))


@review.command()
@click.argument("batch_id", metavar="BATCH")
@click.argument("lessons", nargs=-1)
@memory_command
def reject(memory: Memory, batch_id: str, lessons: tuple[str, ...]) -> Result:
    """Reject all that waits in a batch, or these lessons: they are archived, and can be restored."""
    batch = memory.batches.find(batch_id)
    by = Reviewer(actor=administrator(), role=Role.ADMIN)
    only = _named(memory, batch, lessons)
    with _bar("rejecting") as progress:
        decided = memory.batch_review.reject(batch.workspace, batch.id, by, only=only, progress=progress)
    return Result(decided, _decided("rejected", decided, batch))


@review.command()
@click.argument("lesson_id", metavar="LESSON")
@click.argument("answer")
@click.option("--question", default="", help="Another question too.")
@memory_command
def edit(memory: Memory, lesson_id: str, answer: str, question: str) -> Result:
    """Approve a lesson in your own words."""
    lesson = memory.audit.find(lesson_id)
    by = Reviewer(actor=administrator(), role=Role.ADMIN)
    edited = memory.batch_review.edit(lesson.workspace, lesson.id, question or lesson.goal, answer, by)
    return Result(edited, f"{edited.id}: approved in your words; verdict {edited.verdict.value}")


@contextmanager
def _bar(what: str) -> Iterator[ShowsReview]:
    with progress_bars() as show:
        done = 0

        def progress(more: int, total: int) -> None:
            nonlocal done
            done += more
            show(what, done, total, "")

        yield progress


def _named(memory: Memory, batch: Batch, endings: Sequence[str]) -> set[str] | None:
    """The waiting lessons by the ends of their ids; None for no ids. Raises `InvalidInput` if one is not unique."""
    if not endings:
        return None
    found, _ = _waiting(memory, batch, slice(None))
    named: set[str] = set()
    for ending in endings:
        meant = [lesson.id for lesson, _ in found if lesson.id.endswith(ending.lower())]
        if len(meant) != 1:
            raise InvalidInput(f"no one lesson that waits in this batch has an id that ends in {ending!r}")
        named.add(meant[0])
    return named


def _decided(done: str, decided: BatchDecision, batch: Batch) -> str:
    text = f"{count(decided.done, 'lesson')} {done}."
    if decided.left_held_back:
        known = batch.id[-_SHORT:]
        text += f" {decided.left_held_back} held back: `goodbot review show {known}`, then approve each by its own id."
    return text
