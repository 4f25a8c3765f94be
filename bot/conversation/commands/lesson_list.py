"""The commands `memory`, `archive` and `restore`: lists the lessons that count for a person, archives, restores."""

from bot.agent.tools.topic_words import summary_line
from bot.conversation.commands import lesson_lines, review_commands
from bot.conversation.commands.command_context import CommandContext
from bot.conversation.commands.lesson_access import may_archive
from bot.conversation.feedback.preference_in_words import NO_SUCH_PREFERENCE, preference_dropped, preferences_listed
from bot.conversation.messages import lesson_state, titled_list
from bot.conversation.reply import ARCHIVED, CommandReply, ItemReference, page_number, page_of, page_slice, short_id
from bot.errors import CommandRefused
from bot.model import Choice
from memory.model import Episode
from memory.model.episode import authors_of
from memory.rules.retrieval.prompt import shown_line

_NOT_YOURS_TO_ARCHIVE = "Only whoever taught that, or a teacher, can do this. React 👎 to an answer that is wrong."

_DROP, _TOPICS = "drop", "topics"
_MOST_TOPICS = 3
"""How many topics are listed below the lessons."""
_NO_TOPICS = "Nothing is noted about things here yet. Tell me, for example: the owner of the deploy is now Bianca."


def show(context: CommandContext) -> CommandReply:
    """`memory [page N]`, `memory topics|archived [page N]`, or `memory drop KIND` of a preference."""
    verb, _, kind = context.argument.partition(" ")
    if verb == _TOPICS:
        return _topics(context, page_number(kind))
    if verb == ARCHIVED:
        return _archived(context, page_number(kind))
    if verb != _DROP:
        return page(context, page_number(context.argument))
    scope = context.scope
    dropped = context.memory.preferences.remove(scope.workspace, scope.person, kind=kind)
    text = preference_dropped(dropped) if dropped else NO_SUCH_PREFERENCE
    return CommandReply(text=text).above(page(context, 1))


def page(context: CommandContext, number: int) -> CommandReply:
    """One page of lessons, with a button to archive each that the person may archive."""
    reader, lessons = context.scope, context.lessons
    page = lessons.believed(reader, number)
    seen = lessons.as_seen_by(reader, [belief.episode for belief in page.items])
    lines = [
        lesson_lines.belief_line(episode, belief.lesson, belief.audience, reader)
        for belief, episode in zip(page.items, seen, strict=True)
    ]
    choices = [
        Choice(label=f"Archive {place}", command="archive", argument=f"{short_id(episode.id)} page {page.number}")
        for place, episode in enumerate(seen, start=page.first)
        if may_archive(reader.person, context.role_for(episode), episode)
    ]
    text = lesson_lines.lesson_list(page.numbered(lines), reader.place, page.place)
    topics = _topics_below(context) if page.number == 1 else CommandReply(text="")
    preferences = context.memory.preferences.of(reader.workspace, reader.person) if page.number == 1 else ()
    drops = [
        Choice(label=f"Forget “{each.text}”", command="memory", argument=f"{_DROP} {each.kind}") for each in preferences
    ]
    return CommandReply(
        text=preferences_listed(preferences) + text + topics.text,
        choices=(*drops, *choices, *page.page_choices("memory"), *topics.choices),
        people=authors_of(seen),
    )


def _archived(context: CommandContext, number: int) -> CommandReply:
    """`memory archived [page N]`: one page of archived lessons, with a button to restore each."""
    page = context.lessons.archived(context.scope, context.role_for, number)
    seen = context.lessons.as_seen_by(context.scope, page.items)
    lines = [lesson_lines.archived_line(episode, context.scope) for episode in seen]
    restores = [
        Choice(
            label=f"Restore {place}",
            command="restore",
            argument=f"{short_id(episode.id)} {ARCHIVED} page {page.number}",
        )
        for place, episode in enumerate(seen, start=page.first)
    ]
    return CommandReply(
        text=lesson_lines.archive(page.numbered(lines), context.role, page.place),
        choices=(*restores, *page.page_choices("memory", of=ARCHIVED)),
        people=authors_of(seen),
    )


def _topics_below(context: CommandContext) -> CommandReply:
    """The first topics, for below the lessons, with a button for all of them; empty if there are none."""
    known = context.memory.facts.listed(context.scope)
    if not known:
        return CommandReply(text="")
    lines = [f"- {summary_line(each)}" for each in known[:_MOST_TOPICS]]
    more = Choice(label=f"All {len(known)} things", command="memory", argument=_TOPICS)
    text = titled_list("What is noted about things", lines, "")
    return CommandReply(text=f"\n\n{text}", choices=(more,) if len(known) > _MOST_TOPICS else ())


def _topics(context: CommandContext, number: int) -> CommandReply:
    """`memory topics [page N]`."""
    known = context.memory.facts.listed(context.scope)
    page = page_of(known[page_slice(len(known), number)], len(known), number)
    lines = page.numbered([summary_line(each) for each in page.items])
    text = titled_list("What is noted about things", lines, page.place) if known else _NO_TOPICS
    return CommandReply(text=text, choices=page.page_choices("memory", of=_TOPICS))


def archive(context: CommandContext) -> CommandReply:
    """`archive ID [review|archived] [page N]`: one's own lessons, and anybody's as a teacher."""
    target, lesson = _own(context)
    archived = context.memory.curation.archive(lesson.workspace, lesson.id, actor=context.scope.person)
    return _done(context, target, archived)


def restore(context: CommandContext) -> CommandReply:
    """`restore ID [review|archived] [page N]`."""
    target, lesson = _own(context)
    restored = context.memory.curation.restore(lesson.workspace, lesson.id, actor=context.scope.person)
    return _done(context, target, restored)


def _own(context: CommandContext) -> tuple[ItemReference, Episode]:
    target = context.target("memory")
    lesson = context.find(target)
    if not may_archive(context.scope.person, context.role_for(lesson), lesson):
        raise CommandRefused(_NOT_YOURS_TO_ARCHIVE)
    return target, lesson


def _done(context: CommandContext, target: ItemReference, after: Episode) -> CommandReply:
    """The confirmation, above the list from which the lesson was chosen."""
    opposite, label = ("archive", "Archive it again") if after.archived_at is None else ("restore", "Restore it")
    listed = " review" if target.is_in_review else f" {ARCHIVED}" if target.is_in_archive else ""
    where = listed + (f" page {target.page}" if target.page else "")
    reply = CommandReply(
        text=_archived_or_restored(after),
        choices=(Choice(label=label, command=opposite, argument=f"{short_id(after.id)}{where}"),),
        changed_runs=(after.run_id,),
        decided_for=(after.author,),
    )
    if target.page is None:
        return reply
    if target.is_in_review and context.role.may_promote:
        return reply.above(review_commands.page(context, target.page))
    if target.is_in_archive:
        return reply.above(_archived(context, target.page))
    return reply.above(page(context, target.page))


def _archived_or_restored(episode: Episode) -> str:
    """The confirmation that a lesson was archived or restored."""
    what = f"“{shown_line(episode.goal or episode.output, 80)}”"
    if episode.archived_at is not None:
        return f"Archived: I will not use it any more: {what}."
    return f"Restored: {what}; {lesson_state(episode)}."
