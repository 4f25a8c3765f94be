"""Lessons whose asker was forgotten: they stay their author's, with a question in the author's words.

What a person wrote or sent in a form is theirs, even where it quotes somebody. The question of a correction is not: it
was copied from the answer that was wrong. It is replaced by what its author asked themself, if the lesson answers that;
else the lesson is held back until its author has given it a question, and they are told so once.

Votes and promotions stay with the lesson, but they were about a question that nobody can compare the new one with. So
where others' carry it, another question in its author's words has to be seen by a teacher before it holds for others.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.errors import InvalidInput
from memory.model import (
    Episode,
    EventKind,
    Lesson,
    Origin,
    Reaction,
    Role,
    Scope,
    ShortMemory,
    Signal,
    Vector,
    Visibility,
)
from memory.ports import EpisodeFilter, Transaction
from memory.rules.audience import visibility_of
from memory.rules.fold import DECISIONS, GRADINGS, reaction_detail, registers
from memory.rules.quarantine import LESSON_CHARACTERS, Flag, flags as flags_in, merged
from memory.rules.retrieval.consensus import is_same_goal
from memory.rules.verdict import CORRECTION, ballots
from memory.services.core import ALL, Core, event, existing, note_words_of, record, update_index
from memory.services.teaching.correct import own_vote, taught_lesson, usable
from memory.services.verdicts.archive import ACTOR, MERGED, restore_whole, why_archived
from memory.services.verdicts.quarantine import SYSTEM, hold_back, restore_texts
from memory.services.verdicts.verdicts import refold

NOTICE = "goodbot/needs_question"
"""Kind of the short memories that say whose lesson lost its question, until they were told."""

_NOTICE_KEPT = timedelta(days=365)
"""How long an author has to come by. Their list of such lessons shows it after that, too."""

_JUDGED = (*GRADINGS, EventKind.QUARANTINED, EventKind.PURGED, *DECISIONS)
"""Events that tell, beside the votes, what was said of a lesson and decided about it."""


@dataclass(frozen=True, slots=True)
class Restating:
    """Use cases of an author whose lessons lost their question."""

    _core: Core

    def waiting(self, workspace: str, person: str) -> list[Episode]:
        """The person's lessons that wait for a question, newest first."""
        wanted = EpisodeFilter(author=person, quarantined_only=True, include_archived=True, limit=None)
        with self._core.store.read() as tx:
            return [each for each in tx.episodes.search(workspace, wanted) if _is_waiting(tx, each)]

    def unnotified(self, workspace: str, person: str) -> list[str]:
        """The ids of those that the person was not told about. One look-up for nearly everybody."""
        with self._core.store.read() as tx:
            ids = [each.key for each in tx.short.of_person(workspace, person, NOTICE)]
            lessons = tx.episodes.get_many(workspace, ids) if ids else {}
            return [each.id for each in lessons.values() if _is_waiting(tx, each)]

    def mark_notified(self, workspace: str, episode_ids: Collection[str]) -> None:
        """The author knows about these lessons now."""
        with self._core.store.write() as tx:
            for episode_id in episode_ids:
                tx.short.delete(workspace, NOTICE, episode_id)

    def restate(
        self, scope: Scope, episode_id: str, question: str, *, role: Role = Role.MEMBER, event_id: str = ""
    ) -> Episode | None:
        """Give a lesson that lacks its question one in its author's words: it counts again as its votes say.

        Where others voted on it, or it was promoted, and the author is no teacher, it counts for the author alone until
        a teacher releases it.

        None if the event was handled before. Raises `NotFound`, and `InvalidInput` for an unusable text, a lesson that
        has its question, and anybody but its author or an administrator.
        """
        asked = usable(question, "a lesson needs a question: when should this be the answer?")
        goal = self._core.redactor.text(asked)
        flags = merged([flags_in(goal, limit=LESSON_CHARACTERS), (Flag.SECRET,) if goal != asked else ()])
        vector = self._core.embedded(goal)
        with self._core.store.write() as tx:
            now = self._core.clock()
            if event_id and not tx.log.claim(scope.workspace, event_id, now):
                return None
            lesson = existing(tx, scope.workspace, episode_id)
            if Flag.NEEDS_QUESTION not in lesson.quarantine:
                raise InvalidInput(f"lesson {episode_id} has its question; teach another one to say it otherwise")
            if lesson.author != scope.person and role is not Role.ADMIN:
                raise InvalidInput("only who wrote a lesson may give it a question; ask them to do it")
            if (scope.channel, scope.visibility) == (lesson.channel, lesson.visibility):
                lesson = replace(lesson, place=scope.place)
            if not role.may_promote and _is_carried(tx, lesson):
                flags = merged([flags, (Flag.RESTATED,)])
            embedded = None if vector is None else (self._core.embedder.name, vector)
            lesson = _ask(tx, lesson, goal, embedded, flags, actor=scope.person, now=now)
            note_words_of(tx, lesson, [scope.person])
            if why_archived(tx, lesson):
                restore_whole(tx, lesson, scope.person, now, "restated")
            restore_texts(tx, lesson, scope.person, now)
            tx.short.delete(lesson.workspace, NOTICE, lesson.id)
            return existing(tx, lesson.workspace, lesson.id)


def in_words_of(tx: Transaction, workspace: str, person: str, own: Collection[str]) -> tuple[list[str], list[str]]:
    """The ids of (lessons of others, answers to others) whose question is in this person's words; none of `own`.

    The oldest lesson is first. One that somebody wrote into the person's direct conversation is among them.
    """
    known = [*tx.episodes.with_words_of(workspace, person), *own]
    read = tx.episodes.get_many(workspace, dict.fromkeys(known)).values()
    found = sorted(read, key=lambda each: (each.created_at, each.id))
    lessons = [each.id for each in found if each.origin is not Origin.RUN and each.author not in ("", person)]
    # Whole, for a node repeats what those below it asked or found out.
    answers = {each.run_id for each in found if each.origin is Origin.RUN and each.id not in own}
    runs = tx.episodes.of_runs(workspace, sorted(answers))
    return lessons, [node.id for run_id in sorted(runs) for node in runs[run_id] if node.id not in own]


def part_from_asker(
    core: Core, tx: Transaction, asker: str, lessons: Sequence[Episode], without: Collection[str], now: datetime
) -> list[str]:
    """Take the asker's words off these lessons of others. Returns the ids of those to be erased: a copy took its place.

    Their questions may become what their authors asked themselves, but none of the episodes `without`.
    One that is not the same question holds for others as one that its author states (`Restating.restate`).
    """
    questions = _OwnQuestions(tx, without)
    replaced: list[str] = []
    for lesson in lessons:
        own, is_same = questions.answered_by(lesson)
        is_joined = why_archived(tx, lesson).get("reason") == MERGED
        if lesson.visibility is Visibility.DIRECT and lesson.person != lesson.author:
            replaced.append(lesson.id)
            bare = _moved_out(core, tx, lesson, asker, now)
        else:
            bare = _bare(tx, lesson)
        if own is None:
            bare = hold_back(tx, bare, [Flag.NEEDS_QUESTION], now)
            tx.short.put(_notice(bare, now))
        else:
            place = own.place if own.channel == bare.channel else ""
            embedded = tx.episodes.vectors(own.workspace, [own.id]).get(own.id)
            is_free = is_same or _is_teachers(tx, bare) or not _is_carried(tx, bare, without=asker)
            flags = () if is_free else (Flag.RESTATED,)
            bare = _ask(tx, replace(bare, place=place), own.goal, embedded, flags, actor=SYSTEM, now=now)
        if is_joined and bare.archived_at is not None:
            restore_whole(tx, bare, ACTOR, now, "parted")
    return replaced


class _OwnQuestions:
    """What authors asked in words of their own, read once for each."""

    def __init__(self, tx: Transaction, without: Collection[str]) -> None:
        self._tx = tx
        self._without = set(without)
        self._asked: dict[str, tuple[list[Episode], dict[str, tuple[str, Vector]]]] = {}

    def answered_by(self, lesson: Episode) -> tuple[Episode | None, bool]:
        """The newest question of the lesson's author that it answered or that is the same, said where it may be.

        And whether it is the same.
        """
        asked, vectors = self._of(lesson)
        vectors = vectors | self._tx.episodes.vectors(lesson.workspace, [lesson.id])
        used = {
            retrieval.run_id
            for retrieval, item in self._tx.retrievals.of_episode(lesson.workspace, lesson.id, limit=ALL)
            if item.signal is Signal.USED and item.lesson is Lesson.REPEAT
        }
        fitting = (
            each
            for each in asked
            if _may_be_read(each, lesson) and (each.run_id in used or is_same_goal(each, lesson, vectors))
        )
        newest = max(fitting, key=lambda each: (each.created_at, each.id), default=None)
        return newest, newest is not None and is_same_goal(newest, lesson, vectors)

    def _of(self, lesson: Episode) -> tuple[list[Episode], dict[str, tuple[str, Vector]]]:
        if lesson.author not in self._asked:
            wanted = EpisodeFilter(author=lesson.author, roots_only=True, limit=None)
            asked = [
                each
                for each in self._tx.episodes.search(lesson.workspace, wanted)
                if each.origin in (Origin.RUN, Origin.TAUGHT) and not each.quarantine and each.id not in self._without
            ]
            ids = [each.id for each in asked]
            foreign = self._tx.episodes.words_of_others(lesson.workspace, ids)
            own = [each for each in asked if each.id not in foreign]
            self._asked[lesson.author] = (own, self._tx.episodes.vectors(lesson.workspace, ids))
        return self._asked[lesson.author]


def _is_carried(tx: Transaction, lesson: Episode, *, without: str = "") -> bool:
    """Whether anybody but its author (and `without`) has a say in how far the lesson counts."""
    cast = ballots(lesson, tx.teaching.votes(lesson.workspace, lesson.run_id))
    return _is_promoted(tx, lesson, without) or any(vote.actor not in (lesson.author, without) for vote in cast)


def _is_promoted(tx: Transaction, lesson: Episode, without: str) -> bool:
    """Whether the lesson has an audience by what others than `without` decided."""
    if not without or lesson.promoted is None:
        return lesson.promoted is not None
    decided = [
        each
        for each in tx.log.of_episode(lesson.workspace, lesson.id)
        if each.kind is EventKind.PROMOTED and each.actor != without
    ]
    return bool(decided and decided[-1].detail.get("audience"))


def _is_teachers(tx: Transaction, lesson: Episode) -> bool:
    """Whether its author is known as a teacher by their own vote on it."""
    cast = ballots(lesson, tx.teaching.votes(lesson.workspace, lesson.run_id))
    return any(vote.actor == lesson.author and vote.role.may_promote for vote in cast)


def _may_be_read(question: Episode, lesson: Episode) -> bool:
    """Whether everybody who may meet the lesson may read the question: asked in the same place, or in public."""
    asked, held = visibility_of(question), visibility_of(lesson)
    if (question.channel, question.visibility, asked) == (lesson.channel, lesson.visibility, held):
        return True
    return asked is Visibility.PUBLIC and held is not Visibility.SHARED


def _bare(tx: Transaction, lesson: Episode) -> Episode:
    """The lesson with nothing left of the conversation that it came from, and findable nowhere."""
    bare = replace(
        lesson,
        goal="",
        action_target="",
        why="",
        thoughts="",
        trajectory=(),
        task_incomplete="",
        exemplar_ids=(),
        thread="",
        place="",
        context_before=(f"channel:{lesson.channel}", f"person:{lesson.author}", f"platform:{lesson.scope.platform}"),
        context_after=(),
    )
    tx.episodes.delete_vector(lesson.workspace, lesson.id)
    tx.episodes.clear_words(lesson.workspace, lesson.id)
    tx.episodes.put(bare)
    return bare


def _moved_out(core: Core, tx: Transaction, lesson: Episode, asker: str, now: datetime) -> Episode:
    """A lesson of the author's own, in a direct conversation of theirs: the one it was written into is forgotten.

    What anybody but the asker said of it and decided about it comes with it; that another one stood for it does not.
    """
    place = Scope(
        workspace=lesson.workspace,
        channel=f"direct/{lesson.author}",
        person=lesson.author,
        visibility=Visibility.DIRECT,
    )
    moved = taught_lesson(core, place, "", lesson.output, lesson.created_at)
    tx.episodes.put(moved)
    judged = [
        replace(each, episode_id=moved.id, source_event_id="")
        for each in tx.log.of_episode(lesson.workspace, lesson.id)
        if each.kind in _JUDGED
        and each.actor != asker
        and (each.kind, each.detail.get("reason")) != (EventKind.ARCHIVED, MERGED)
    ]
    given = [each for each in tx.teaching.reactions_of_run(lesson.workspace, lesson.run_id) if each.actor != asker]
    voted = [
        event(moved, EventKind.VOTED, each.actor, now, detail=reaction_detail(_on(moved, each)))
        for each in sorted(given, key=lambda each: (each.at, each.seq))
        if each.is_active
    ]
    logged = tx.log.append(event(moved, EventKind.CREATED, moved.author, now), *judged, *voted, numbered=True)
    for each in registers(logged):
        tx.teaching.put_reaction(each)
    refold(tx, moved.workspace, [moved.run_id], core.policy)
    return existing(tx, moved.workspace, moved.id)


def _on(moved: Episode, given: Reaction) -> Reaction:
    """The same signal on the moved lesson. What a correction of it said of it by that is a vote like any other now."""
    is_implied = given.source.startswith(f"{CORRECTION}:")
    own = own_vote(moved, given.role, given.at)
    return replace(own, actor=given.actor, value=given.value, source="vote" if is_implied else given.source)


def _ask(
    tx: Transaction,
    lesson: Episode,
    goal: str,
    embedded: tuple[str, Vector] | None,
    flags: Sequence[Flag],
    *,
    actor: str,
    now: datetime,
) -> Episode:
    """Give the lesson its question, with its embedding, and file it where its verdicts allow."""
    detail = {"goal": goal, "flags": [flag.value for flag in flags]}
    asked = record(tx, lesson, event(lesson, EventKind.RESTATED, actor, now, detail=detail))
    if embedded is not None:
        tx.episodes.put_vector(lesson.workspace, lesson.id, *embedded)
    update_index(tx, asked)
    return asked


def _notice(lesson: Episode, now: datetime) -> ShortMemory:
    return ShortMemory(
        workspace=lesson.workspace,
        kind=NOTICE,
        key=lesson.id,
        value={},
        person=lesson.author,
        created_at=now,
        expires_at=now + _NOTICE_KEPT,
    )


def _is_waiting(tx: Transaction, lesson: Episode) -> bool:
    """Whether it is for its author to say something: what a person put away is done with."""
    if Flag.NEEDS_QUESTION not in lesson.quarantine:
        return False
    return lesson.archived_at is None or bool(why_archived(tx, lesson))
