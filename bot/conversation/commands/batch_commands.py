"""The command `review batch ...`: shows lessons from one file, and takes a teacher's decisions about them."""

import re
from collections.abc import Sequence

from bot.conversation import messages
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.lesson_access import may_review
from bot.conversation.counts import count
from bot.conversation.reply import CommandReply, ListPage, page_of, page_slice, short_id
from bot.errors import CommandRefused
from bot.model import Choice
from memory.errors import InvalidInput, NotFound
from memory.model import Audience, Episode
from memory.model.batch import BatchLesson
from memory.model.episode import authors_of
from memory.rules.retrieval.prompt import shown_line
from memory.services import BatchDecision, BatchView, Reviewer

SHOWN = 3
"""How many batches `review` names."""
_ALL = "all"
_NO_SUCH_BATCH = "There is no such batch here. `review` lists those that wait."
_ARGUMENT = re.compile(
    r"batch (?P<batch>[0-9a-f]{8,24})(?: (?P<what>approve|reject) (?P<which>[0-9a-f]{8,24}|all)(?P<yes> yes)?)?"
    r"(?: page (?P<page>\d{1,6}))?",
    re.IGNORECASE,
)


def overview(context: CommandContext) -> CommandReply | None:
    """The batches that wait for this teacher, newest first; None if there are none."""
    views = context.memory.batches.views(context.scope.workspace, _reviewer(context).may_decide, open_only=True)
    if not views:
        return None
    choices = [
        Choice(
            label=f"Look at {_file_name(each, 40)}",
            command="review",
            argument=f"batch {short_id(each.batch.id)}",
        )
        for each in views[:SHOWN]
    ]
    return CommandReply(text=_overview_text(views, SHOWN), choices=tuple(choices))


def run(context: CommandContext) -> CommandReply:
    """`review batch ID [approve|reject LESSON|all [yes]] [page N]`."""
    found = _ARGUMENT.fullmatch(context.argument)
    if found is None:
        raise CommandRefused(
            messages.missing_id("batch", context.how_to_type("review batch ID"), context.how_to_type("review"))
        )
    view = _view(context, found["batch"])
    page = int(found["page"] or 1)
    what, which = (found["what"] or "").lower(), (found["which"] or "").lower()
    if not what:
        return _shown(context, view, page)
    if which == _ALL and not found["yes"]:
        return _asked(view, what)
    return _decided(context, view, what, which, page)


def edited(context: CommandContext, lesson: Episode, answer: str) -> CommandReply:
    """Replace a lesson from a file by a teacher's own words."""
    audience = Audience.CHANNEL if context.command.is_role_local else None
    try:
        taught = context.memory.batch_review.edit(
            lesson.workspace, lesson.id, lesson.goal, answer, _reviewer(context), audience=audience
        )
    except (InvalidInput, NotFound) as error:
        raise CommandRefused(messages.NO_SUCH_LESSON) from error
    return CommandReply(text=_edited_text(taught))


def _reviewer(context: CommandContext) -> Reviewer:
    """The teacher as a reviewer, with the lessons that they may see here."""
    scope, is_local = context.scope, context.command.is_role_local

    def may_decide(lesson: Episode) -> bool:
        return may_review(scope, lesson) and (not is_local or lesson.channel == scope.channel)

    return Reviewer(actor=scope.person, role=context.role, may_decide=may_decide)


def _view(context: CommandContext, ending: str) -> BatchView:
    try:
        batch = context.memory.batches.find(ending, context.scope.workspace)
    except (NotFound, InvalidInput) as error:
        raise CommandRefused(_NO_SUCH_BATCH) from error
    view = context.memory.batches.view(batch.workspace, batch.id, _reviewer(context).may_decide)
    if not view.total:
        raise CommandRefused(_NO_SUCH_BATCH)
    return view


def _shown(context: CommandContext, view: BatchView, number: int) -> CommandReply:
    """One page of waiting lessons, in the order of the file."""
    found, total = context.memory.batches.waiting(
        view.batch.workspace, view.batch.id, _reviewer(context).may_decide, lambda total: page_slice(total, number)
    )
    page = page_of(found, total, number)
    known = short_id(view.batch.id)
    lines = [_line(lesson, row) for lesson, row in page.items]
    choices = [
        *(
            choice
            for place, (lesson, _) in enumerate(page.items, start=page.first)
            for choice in _choices(lesson, place, known, page)
        ),
        *_for_all(view),
        *page.page_choices("review", of=f"batch {known}"),
    ]
    return CommandReply(
        text=_page_text(view, page.numbered(lines), page.place),
        choices=tuple(choices),
        people=authors_of([lesson for lesson, _ in page.items]),
    )


def _choices(lesson: Episode, place: int, known: str, page: ListPage[tuple[Episode, BatchLesson]]) -> list[Choice]:
    ending = short_id(lesson.id)

    def choice(what: str) -> Choice:
        argument = f"batch {known} {what} {ending} page {page.number}"
        return Choice(label=f"{what.capitalize()} {place}", command="review", argument=argument)

    return [choice("approve"), Choice(label=f"Edit {place}", command="teach", argument=ending), choice("reject")]


def _for_all(view: BatchView) -> Sequence[Choice]:
    known = short_id(view.batch.id)
    if not view.is_open:
        return ()
    approve = Choice(label=f"Approve all {view.waiting}", command="review", argument=f"batch {known} approve all")
    reject = Choice(
        label=f"Reject all {view.waiting + view.held_back}", command="review", argument=f"batch {known} reject all"
    )
    return (*([approve] if view.waiting else []), reject)


def _asked(view: BatchView, what: str) -> CommandReply:
    """The question before a decision about all lessons, as one tap must not decide about hundreds."""
    known = short_id(view.batch.id)
    choices = (
        Choice(label=f"Yes, {what} all", command="review", argument=f"batch {known} {what} all yes"),
        Choice(label="No", command="review", argument=f"batch {known}"),
    )
    return CommandReply(text=_question_text(view, what), choices=choices)


def _decided(context: CommandContext, view: BatchView, what: str, which: str, page: int) -> CommandReply:
    batch, review, by = view.batch, context.memory.batch_review, _reviewer(context)
    only: set[str] | None = None
    if which != _ALL:
        found, _ = context.memory.batches.waiting(batch.workspace, batch.id, by.may_decide, lambda _: slice(None))
        only = {lesson.id for lesson, _ in found if lesson.id.endswith(which)}
        if len(only) != 1:
            raise CommandRefused(messages.NO_SUCH_LESSON)
    if what == "approve":
        audience = Audience.CHANNEL if context.command.is_role_local else None
        decided = review.approve(batch.workspace, batch.id, by, only=only, audience=audience)
    else:
        decided = review.reject(batch.workspace, batch.id, by, only=only)
    text = _decided_text(what, decided)
    after = context.memory.batches.view(batch.workspace, batch.id, by.may_decide)
    return CommandReply(text=text).above(_shown(context, after, page))


def _file_name(view: BatchView, most: int = 60) -> str:
    """The name of the batch's file."""
    return shown_line(view.batch.name, most)


def _overview_text(views: Sequence[BatchView], most: int) -> str:
    """The text of the list of waiting batches."""
    lines = [
        f"- **{_file_name(each)}**: {_waiting_text(each)}; `review batch {short_id(each.batch.id)}`"
        for each in views[:most]
    ]
    if len(views) > most:
        lines.append(f"- and {len(views) - most} more")
    return messages.titled_list("Learned from files", lines, "")


def _page_text(view: BatchView, lines: Sequence[str], place: str) -> str:
    """The text of one page of a batch."""
    if not lines:
        return f"Nothing of {_file_name(view)} waits any more: {view.approved} approved, {view.rejected} rejected."
    return messages.titled_list(f"From {_file_name(view)}: {_waiting_text(view)}", lines, place)


def _line(lesson: Episode, row: BatchLesson) -> str:
    """The line of one lesson, with its source."""
    held_back = f" ⚠️ held back, for {messages.why_held(lesson)}." if lesson.quarantine else ""
    source = shown_line(row.source, 60)
    asked, answered = shown_line(lesson.goal, 120), shown_line(lesson.output, 200)
    return f"“{asked}” - {answered} ({source}, for the {row.audience.value}; `{short_id(lesson.id)}`){held_back}"


def _question_text(view: BatchView, what: str) -> str:
    """The text of the question before a decision about all lessons."""
    number = view.waiting if what == "approve" else view.waiting + view.held_back
    left = (
        f" The {view.held_back} that are held back stay: look at each." if what == "approve" and view.held_back else ""
    )
    return f"{what.capitalize()} {count(number, 'lesson')} from {_file_name(view)}?{left}"


def _decided_text(what: str, decision: BatchDecision) -> str:
    """The confirmation of a decision."""
    done = "approved" if what == "approve" else "rejected"
    left = f" {decision.left_held_back} are held back: look at each." if decision.left_held_back else ""
    return f"{count(decision.done, 'lesson')} {done}.{left}"


def _edited_text(lesson: Episode) -> str:
    """The confirmation of a lesson that a teacher rewrote."""
    if lesson.quarantine:
        return f"Saved, and held back, for {messages.why_held(lesson)}. Release it to use it (`{short_id(lesson.id)}`)."
    return f"Approved in your words: “{shown_line(lesson.goal, 80)}” - {shown_line(lesson.output, 120)}"


def _waiting_text(view: BatchView) -> str:
    held_back = f", {view.held_back} more to be looked at one by one" if view.held_back else ""
    return f"{count(view.waiting, 'lesson')} to approve{held_back}"
