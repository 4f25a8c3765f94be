"""Which lessons a person may see, name and change where they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.conversation.reply import ListPage, page_of, page_slice
from memory.model import Audience, Episode, Lesson, Origin, Role, Scope, Termination, Verdict, Visibility
from memory.ports import EpisodeFilter
from memory.rules.audience import is_here, may_read, may_see, partitions_for, partitions_of, visibility_of
from memory.services import Memory

_NEAR = 50
"""The most lessons looked at for one ending of an id; more than one match is rare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedLesson:
    """One lesson as it counts for a person here."""

    episode: Episode
    lesson: Lesson
    audience: Audience
    """The widest audience with the same verdict."""


class LessonAccess:
    """The lessons that one person may see. Blocking: to be called off the event loop."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def believed(self, reader: Scope, number: int) -> ListPage[ListedLesson]:
        """One page of the lessons that may answer the person's questions here, newest first.

        An answer to avoid is left out if its correction is listed.
        """
        wanted = EpisodeFilter(roots_only=True, limit=None, counting_for=reader)

        def is_listed(each: Episode) -> bool:
            return _listed(reader, each) is not None

        page = self._page(reader.workspace, wanted, is_listed, number, is_correction=is_listed)
        listed = tuple(found for each in page.items if (found := _listed(reader, each)) is not None)
        return ListPage(items=listed, first=page.first, number=page.number, last=page.last, total=page.total)

    def waiting(self, teacher: Scope, number: int, *, only_here: bool = False) -> ListPage[Episode]:
        """One page of lessons that a teacher may widen or release here, newest first.

        Lessons from files are left out, as they are decided batch by batch, the teacher's own that count for their
        channel already, as nobody has to approve them, and answers to avoid of which a correction is in use.
        `only_here`: only the teacher's channel.
        """
        wanted = EpisodeFilter(roots_only=True, limit=None, to_review_in=teacher, unbatched=True)
        return self._page(
            teacher.workspace,
            wanted,
            lambda each: (
                may_review(teacher, each)
                and (bool(each.quarantine) or (_may_widen(each) and not _is_own_and_counts(teacher, each)))
                and (not only_here or each.channel == teacher.channel)
            ),
            number,
            is_correction=lambda each: each.archived_at is None,
        )

    def archived(self, reader: Scope, role_for: Callable[[Episode], Role], number: int) -> ListPage[Episode]:
        """One page of the archived lessons that the person may see and restore here, newest first."""
        wanted = EpisodeFilter(roots_only=True, archived_only=True, limit=None)

        def is_listed(each: Episode) -> bool:
            role = role_for(each)
            return _may_find(reader, role, each) and may_archive(reader.person, role, each)

        return self._page(reader.workspace, wanted, is_listed, number)

    def find(self, reader: Scope, role: Role, ending: str) -> Episode | None:
        """The lesson whose id ends so, archived or not, if the person may see it here."""
        found = [
            each
            for each in self._memory.audit.by_part_of_id(ending, limit=_NEAR)
            if each.workspace == reader.workspace
            and each.is_root
            and each.id.endswith(ending)
            and _may_find(reader, role, each)
        ]
        return found[0] if len(found) == 1 else None

    def as_seen_by(self, reader: Scope, episodes: Sequence[Episode]) -> list[Episode]:
        """The episodes without the text of corrections that nobody has approved for this person yet."""
        return self._memory.recalling.as_seen_by(reader, episodes)

    def _page(
        self,
        workspace: str,
        wanted: EpisodeFilter,
        is_listed: Callable[[Episode], bool],
        number: int,
        is_correction: Callable[[Episode], bool] | None = None,
    ) -> ListPage[Episode]:
        page = self._memory.audit.page
        shown, total = page(workspace, wanted, is_listed, lambda total: page_slice(total, number), is_correction)
        return page_of(shown, total, number)


def _listed(reader: Scope, episode: Episode) -> ListedLesson | None:
    """The lesson as it counts for this person here; None if it does not count."""
    order = {name: rank for rank, name in enumerate(partitions_for(reader))}
    indexed = [entry for entry in partitions_of(episode) if entry.partition in order]
    if not indexed or episode.has_nothing_to_repeat:
        return None
    verdict = min(indexed, key=lambda entry: order[entry.partition]).verdict
    same = [entry for entry in indexed if entry.verdict is verdict]
    widest = max(same, key=lambda entry: order[entry.partition]).audience
    lesson = Lesson.REPEAT if verdict is Verdict.SUCCESS else Lesson.AVOID
    return ListedLesson(episode=episode, lesson=lesson, audience=widest)


def _may_find(reader: Scope, role: Role, episode: Episode) -> bool:
    """Whether somebody may name a lesson here, archived or not: if it would be shown to them, or as a teacher."""
    return may_see(reader, replace(episode, archived_at=None)) or (role.may_promote and may_review(reader, episode))


def may_archive(person: str, role: Role, episode: Episode) -> bool:
    """Whether somebody may archive and restore a lesson: their own, or any as a teacher."""
    return role.may_promote or person == episode.author


def may_repeat(reader: Scope, episode: Episode) -> bool:
    """Whether an episode's words may be shown to this person here: readable here, or a lesson here."""
    return may_read(reader, episode) or may_see(reader, replace(episode, archived_at=None))


def may_review(teacher: Scope, episode: Episode) -> bool:
    """Whether a teacher may review an episode: a public one, or one of their private channel; never a direct one."""
    if visibility_of(episode) is Visibility.PUBLIC:
        return may_read(teacher, episode)
    return visibility_of(episode) is not Visibility.DIRECT and is_here(teacher, episode)


def _is_own_and_counts(teacher: Scope, episode: Episode) -> bool:
    return episode.author == teacher.person and episode.verdicts.channel.is_validated


def _may_widen(episode: Episode) -> bool:
    """Whether a promotion could widen a lesson's audience, and no teacher has decided that yet."""
    verdicts = episode.verdicts
    is_nothing = episode.termination is Termination.FAILURE and episode.verdict is Verdict.FAILURE
    # "I don't know that." need not be avoided by anybody, and neither it nor a question need be repeated.
    if episode.promoted is not None or is_nothing or episode.has_nothing_to_repeat:
        return False
    if episode.origin is not Origin.RUN and verdicts.overall is Verdict.PENDING:
        return True  # written by somebody whose word alone does not count, such as a guest
    if verdicts.channel.is_validated:
        return visibility_of(episode) is Visibility.PUBLIC and not verdicts.workspace.is_validated
    return verdicts.personal.is_validated and verdicts.channel is Verdict.PENDING
