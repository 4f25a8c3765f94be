"""`review`, `promote` and `release`: the list of lessons that wait for a teacher, and the teacher's decisions."""

from dataclasses import replace

from bot.conversation import messages
from bot.conversation.executor import Executor
from bot.conversation.lesson_access import LessonAccess
from bot.conversation.reply import CommandReply, authors, page_number, page_of, pointed, short
from bot.model import Choice, PersonCommand
from memory.model import Audience, Episode, Reaction, Role, Verdict, Visibility
from memory.rules.audience import visibility_of
from memory.rules.quarantine import Flag
from memory.services import Memory

_REVIEW = "review"
"""The source of a teacher's vote that makes a lesson count which nobody had a say in yet."""


class ReviewCommands:
    """For teachers: the queue, and the decision."""

    def __init__(self, memory: Memory, lessons: LessonAccess, executor: Executor) -> None:
        self._memory = memory
        self._lessons = lessons
        self._executor = executor

    async def show(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`review [page N]`."""
        return await self.page(command, page_number(command.argument))

    async def page(self, command: PersonCommand, number: int) -> CommandReply:
        """One page of what this teacher may see and widen from here."""
        return await self._executor(self._page, command, number)

    def _page(self, command: PersonCommand, number: int) -> CommandReply:
        reader = command.scope
        page = page_of(self._lessons.waiting(reader), number)
        seen = self._lessons.as_seen_by(reader, page.items)
        lines = [messages.review_line(episode, reader) for episode in seen]
        choices = [
            choice
            for place, episode in enumerate(seen, start=page.first)
            for choice in _choices(episode, place, page.number)
        ]
        text = messages.review(page.numbered(lines), page.total, page.place)
        return CommandReply(
            text=text, choices=(*choices, *page.turns("review", onward="Not now")), people=authors(seen)
        )

    async def promote(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`promote ID [channel|workspace|personal] [page N]`; the next wider circle if none is named."""
        what = pointed(command.argument)
        if what is None:
            return CommandReply(text=messages.which_lesson(spell("promote"), spell("review")))
        promoted = await self._executor(self._promote, command, what.id, what.audience)
        if promoted is None:
            return CommandReply(text=messages.NO_SUCH_LESSON)
        if promoted.quarantine:
            return CommandReply(text=messages.release_first(promoted, spell(f"release {short(promoted.id)}")))
        undo = Choice(
            label="Take it back",
            command="promote",
            argument=f"{short(promoted.id)} personal" + (f" page {what.page}" if what.page else ""),
        )
        rest = await self.page(command, what.page) if what.page else CommandReply(text="")
        return CommandReply(
            text=messages.promoted(promoted, rest.text),
            choices=(*([undo] if promoted.promoted else []), *rest.choices),
            changed_runs=(promoted.run_id,),
            people=rest.people,
        )

    def _promote(self, command: PersonCommand, ending: str, wanted: Audience | None) -> Episode | None:
        scope, role = command.scope, command.role
        lesson = self._lessons.find(scope, role, ending)
        if lesson is None or lesson.archived_at is not None or visibility_of(lesson) is Visibility.DIRECT:
            return None
        if lesson.quarantine:
            return lesson
        if wanted is None:
            wanted = Audience.WORKSPACE if lesson.verdicts.channel.is_validated else Audience.CHANNEL
        promoted = self._memory.teaching.promote(scope.workspace, lesson.id, wanted, actor=scope.person, role=role)
        approval = _approval(promoted, scope.person, role, command)
        if wanted is Audience.PERSONAL:
            if not self._memory.ratings.is_active(approval):
                return promoted
            approval = replace(approval, is_active=False)
        elif promoted.verdict is not Verdict.PENDING:
            return promoted
        return self._memory.teaching.vote(approval).root

    async def release(self, command: PersonCommand, spell: messages.Spell) -> CommandReply:
        """`release ID [page N]`: let a lesson that is held back be used, as far as its votes reach."""
        what = pointed(command.argument)
        if what is None:
            return CommandReply(text=messages.which_lesson(spell("release"), spell("review")))
        released = await self._executor(self._release, command, what.id)
        if released is None:
            return CommandReply(text=messages.NO_SUCH_LESSON)
        rest = await self.page(command, what.page) if what.page else CommandReply(text="")
        return CommandReply(
            text=messages.released(released, rest.text),
            choices=rest.choices,
            changed_runs=(released.run_id,),
            people=rest.people,
        )

    def _release(self, command: PersonCommand, ending: str) -> Episode | None:
        scope, role = command.scope, command.role
        lesson = self._lessons.find(scope, role, ending)
        if lesson is None or lesson.archived_at is not None or visibility_of(lesson) is Visibility.DIRECT:
            return None
        return self._memory.teaching.release(scope.workspace, lesson.id, actor=scope.person, role=role)


def _approval(lesson: Episode, person: str, role: Role, command: PersonCommand) -> Reaction:
    """The teacher's own 👍: a promotion only widens what somebody's vote has decided."""
    return Reaction(
        workspace=lesson.workspace,
        channel=lesson.channel,
        message_id=f"run/{lesson.run_id}",
        actor=person,
        source=_REVIEW,
        value=1,
        at=command.at,
        role=role,
        run_id=lesson.run_id,
    )


def _choices(episode: Episode, place: int, page: int) -> list[Choice]:
    """Channel and workspace as far as they are wider than it is now, or its release; archive."""
    known = short(episode.id)
    archive = Choice(label=f"Archive {place}", command="archive", argument=f"{known} review page {page}")
    if Flag.NEEDS_QUESTION in episode.quarantine:
        return [archive]
    if episode.quarantine:
        return [Choice(label=f"Release {place}", command="release", argument=f"{known} page {page}"), archive]
    wider = [] if episode.verdicts.channel.is_validated else [Audience.CHANNEL]
    if visibility_of(episode) is Visibility.PUBLIC:
        wider.append(Audience.WORKSPACE)
    return [
        *(
            Choice(
                label=f"Promote {place} to {to.value}", command="promote", argument=f"{known} {to.value} page {page}"
            )
            for to in wider
        ),
        archive,
    ]
