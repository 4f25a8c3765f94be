"""Restating lessons whose asker was forgotten: the lesson stays its author's, with a question in the author's words.

What a person wrote or sent in a form is their own, even where it quotes somebody. The question of a correction is not:
it was copied from the corrected answer, and is the asker's; nor is what a form was filled in with from another's
message. It is replaced by a question that the author asked themself, if the lesson answers one; else the lesson is held
back until the author gives it a question, of which they are told once. A lesson whose answer was another's goes.

Votes and promotions stay with the lesson, but were about the old question, with which nobody can compare the new one.
So if the lesson counts by others' votes, a teacher must see the new question before it counts for others again.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.errors import InvalidInput
from memory.model import Episode, EventKind, Lesson, Origin, Reaction, Role, Scope, Signal, Vector, Visibility
from memory.ports import EpisodeFilter, Transaction
from memory.rules.audience import narrower, visibility_of
from memory.rules.fold import DECISIONS, GRADINGS, effective_events, reaction_detail, registers
from memory.rules.quarantine import LESSON_CHARACTERS, Flag, flags as flags_in, merged
from memory.rules.retrieval.consensus import is_same_goal
from memory.rules.verdict import CORRECTION, ballots
from memory.services.core import (
    ALL,
    Core,
    answer_authors,
    event,
    note_words_of,
    put_short_memory,
    record,
    record_and_index,
    require_episode,
    update_index,
)
from memory.services.teaching.correct import own_vote, taught_lesson, usable
from memory.services.verdicts.archive import ACTOR, MERGED, why_archived
from memory.services.verdicts.quarantine import SYSTEM, hold_back, restore_texts
from memory.services.verdicts.verdicts import refold

NOTICE = "goodbot/needs_question"
"""The kind of the short memories that note a lost question until the lesson's author was told."""

_NOTICE_KEPT = timedelta(days=365)
"""How long the notice is kept for the author. The list of waiting lessons shows the lesson after that, too."""

_JUDGED = (*GRADINGS, EventKind.QUARANTINED, EventKind.PURGED, *DECISIONS)
"""The events, besides votes, that record what was said and decided about a lesson."""


@dataclass(frozen=True, slots=True)
class Restating:
    """Use cases for authors whose lessons lost their question."""

    _core: Core

    def waiting(self, workspace: str, person: str) -> list[Episode]:
        """The person's lessons that wait for a question, newest first."""
        wanted = EpisodeFilter(author=person, quarantined_only=True, include_archived=True, limit=None)
        with self._core.store.read() as tx:
            return [each for each in tx.episodes.search(workspace, wanted) if _is_waiting(tx, each)]

    def unnotified(self, workspace: str, person: str) -> list[str]:
        """The ids of the waiting lessons of which the person was not told. One look-up in the usual case of none."""
        with self._core.store.read() as tx:
            ids = [each.key for each in tx.short.of_person(workspace, person, NOTICE)]
            lessons = tx.episodes.get_many(workspace, ids) if ids else {}
            return [each.id for each in lessons.values() if _is_waiting(tx, each)]

    def mark_notified(self, workspace: str, episode_ids: Collection[str]) -> None:
        """Store that the author has been told about these lessons."""
        with self._core.store.write() as tx:
            for episode_id in episode_ids:
                tx.short.delete(workspace, NOTICE, episode_id)

    def restate(
        self, scope: Scope, episode_id: str, question: str, *, role: Role = Role.MEMBER, event_id: str = ""
    ) -> Episode | None:
        """Give a lesson without a question one in its author's words. It counts again by its votes.

        If others voted on it, or it was promoted, and the author is no teacher, it counts for the author alone until
        a teacher releases it.

        None if the event was handled before. Raises `NotFound`, and `InvalidInput` for an unusable text, a lesson that
        has a question, or a person who is neither its author nor an administrator.
        """
        asked = usable(question, "a lesson needs a question: when should this be the answer?")
        goal = self._core.redactor.text(asked)
        flags = merged([flags_in(goal, limit=LESSON_CHARACTERS), (Flag.SECRET,) if goal != asked else ()])
        vector = self._core.embedded(goal)
        with self._core.store.write() as tx:
            now = self._core.clock()
            if event_id and not tx.log.claim(scope.workspace, event_id, now):
                return None
            lesson = require_episode(tx, scope.workspace, episode_id)
            if Flag.NEEDS_QUESTION not in lesson.quarantine:
                raise InvalidInput(f"lesson {episode_id} has its question; teach another one to say it otherwise")
            if lesson.author != scope.person and role is not Role.ADMIN:
                raise InvalidInput("only who wrote a lesson may give it a question; ask them to do it")
            if (scope.channel, scope.visibility) == (lesson.channel, lesson.visibility):
                lesson = replace(lesson, place=scope.place)
            elif scope.channel == lesson.channel:  # what is asked in a closed channel stays there when it opens
                lesson = replace(lesson, visibility=narrower(lesson.visibility, scope.visibility))
            if not role.may_promote and _is_carried(tx, lesson):
                flags = merged([flags, (Flag.RESTATED,)])
            embedded = None if vector is None else (self._core.embedder.name, vector)
            lesson = _ask(tx, lesson, goal, embedded, flags, actor=scope.person, now=now)
            note_words_of(tx, lesson, [scope.person])
            if why_archived(tx, lesson):
                record_and_index(tx, lesson, EventKind.RESTORED, scope.person, now, {"reason": "restated"})
            restore_texts(tx, lesson, scope.person, now)
            tx.short.delete(lesson.workspace, NOTICE, lesson.id)
            return require_episode(tx, lesson.workspace, lesson.id)


def in_words_of(tx: Transaction, workspace: str, person: str, own: Collection[str]) -> tuple[list[str], list[str]]:
    """The ids of (lessons of others, answers to others) whose question is in this person's words, without `own`.

    Oldest lesson first. Includes lessons that somebody wrote into the person's direct conversation; with the answers,
    those whose answer is in this person's words.
    """
    known = [*tx.episodes.with_words_of(workspace, person), *own]
    read = tx.episodes.get_many(workspace, dict.fromkeys(known)).values()
    found = sorted(read, key=lambda each: (each.created_at, each.id))
    written = [each for each in found if each.origin is not Origin.RUN and each.author not in ("", person)]
    quoted = {each.run_id for each in written if each.id not in own and person in answer_authors(tx, each)}
    # Whole runs, because a node repeats what the nodes below it asked or found out.
    runs = {each.run_id for each in found if each.origin is Origin.RUN and each.id not in own} | quoted
    whole = tx.episodes.of_runs(workspace, sorted(runs))
    answers = [node.id for run_id in sorted(whole) for node in whole[run_id] if node.id not in own]
    return [each.id for each in written if each.id not in set(answers)], answers


def part_from_asker(
    core: Core, tx: Transaction, asker: str, lessons: Sequence[Episode], without: Collection[str], now: datetime
) -> list[str]:
    """Remove the asker's words from these lessons of others. Returns the ids that were replaced by a copy, to erase.

    A question that the author asked may replace the asker's, except from the episodes in `without`. If it is not the
    same question, the rules of `Restating.restate` apply.
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
            put_short_memory(
                tx, NOTICE, bare.id, {}, of=(bare.workspace, bare.author), at=now, until=now + _NOTICE_KEPT
            )
        else:
            place = own.place if own.channel == bare.channel else ""
            embedded = tx.episodes.vectors(own.workspace, [own.id]).get(own.id)
            is_free = is_same or _is_teachers(tx, bare) or not _is_carried(tx, bare, without=asker)
            flags = () if is_free else (Flag.RESTATED,)
            bare = _ask(tx, replace(bare, place=place), own.goal, embedded, flags, actor=SYSTEM, now=now)
        if is_joined and bare.archived_at is not None:
            record_and_index(tx, bare, EventKind.RESTORED, ACTOR, now, {"reason": "parted"})
    return replaced


class _OwnQuestions:
    """The questions that authors asked themselves, read once per author."""

    def __init__(self, tx: Transaction, without: Collection[str]) -> None:
        self._tx = tx
        self._without = set(without)
        self._asked: dict[str, tuple[list[Episode], dict[str, tuple[str, Vector]]]] = {}

    def answered_by(self, lesson: Episode) -> tuple[Episode | None, bool]:
        """The newest question of its author that the lesson answered or that is the same, if it may be shown there.

        Also returns whether it is the same.
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
    """Whether the lesson counts by votes or decisions of others than its author and `without`."""
    cast = ballots(lesson, tx.teaching.votes(lesson.workspace, lesson.run_id))
    return _is_promoted(tx, lesson, without) or any(vote.actor not in (lesson.author, without) for vote in cast)


def _is_promoted(tx: Transaction, lesson: Episode, without: str) -> bool:
    """Whether somebody other than `without` promoted the lesson."""
    if not without or lesson.promoted is None:
        return lesson.promoted is not None
    decided = [
        each
        for each in effective_events(tx.log.of_episode(lesson.workspace, lesson.id))
        if each.kind is EventKind.PROMOTED and each.actor != without
    ]
    return bool(decided and decided[-1].detail.get("audience"))


def _is_teachers(tx: Transaction, lesson: Episode) -> bool:
    """Whether the author's own vote on the lesson shows that they are a teacher."""
    cast = ballots(lesson, tx.teaching.votes(lesson.workspace, lesson.run_id))
    return any(vote.actor == lesson.author and vote.role.may_promote for vote in cast)


def _may_be_read(question: Episode, lesson: Episode) -> bool:
    """Whether all readers of the lesson may read the question: it was asked in the same place, or in public."""
    of_question, of_lesson = visibility_of(question), visibility_of(lesson)
    if (question.channel, question.visibility, of_question) == (lesson.channel, lesson.visibility, of_lesson):
        return True
    return of_question is Visibility.PUBLIC and of_lesson is not Visibility.SHARED


def _bare(tx: Transaction, lesson: Episode) -> Episode:
    """Strip the lesson of the conversation that it came from, and remove it from the index."""
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
    note_words_of(tx, bare, answer_authors(tx, bare))
    return bare


def _moved_out(core: Core, tx: Transaction, lesson: Episode, asker: str, now: datetime) -> Episode:
    """Copy a lesson into the author's own direct conversation, because the one that it was written into is forgotten.

    The votes and decisions of anybody but the asker are copied too; a link to a lesson that stood for it is not.
    """
    place = Scope(
        workspace=lesson.workspace,
        channel=f"direct/{lesson.author}",
        person=lesson.author,
        visibility=Visibility.DIRECT,
    )
    moved = taught_lesson(core, place, "", lesson.output, lesson.created_at)
    tx.episodes.add(moved)
    judged = [
        replace(each, episode_id=moved.id, source_event_id="")
        for each in tx.log.of_episode(lesson.workspace, lesson.id)
        if each.kind in _JUDGED
        and each.actor != asker
        and (each.kind, each.detail.get("reason")) != (EventKind.ARCHIVED, MERGED)
    ]
    reactions = [each for each in tx.teaching.reactions_of_run(lesson.workspace, lesson.run_id) if each.actor != asker]
    voted = [
        event(moved, EventKind.VOTED, each.actor, now, detail=reaction_detail(_on(moved, each)))
        for each in sorted(reactions, key=lambda each: (each.at, each.seq))
        if each.is_active
    ]
    logged = tx.log.append(event(moved, EventKind.CREATED, moved.author, now), *judged, *voted, numbered=True)
    for each in registers(logged):
        tx.teaching.put_reaction(each)
    refold(tx, moved.workspace, [moved.run_id], core.policy)
    return require_episode(tx, moved.workspace, moved.id)


def _on(moved: Episode, reaction: Reaction) -> Reaction:
    """The same vote on the copied lesson. A vote implied by a correction becomes an ordinary vote."""
    is_implied = reaction.source.startswith(f"{CORRECTION}:")
    own = own_vote(moved, reaction.role, reaction.at)
    return replace(own, actor=reaction.actor, value=reaction.value, source="vote" if is_implied else reaction.source)


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
    """Give the lesson its question and embedding, and index it where its verdicts allow."""
    detail = {"goal": goal, "flags": [flag.value for flag in flags]}
    asked = record(tx, lesson, event(lesson, EventKind.RESTATED, actor, now, detail=detail))
    if embedded is not None:
        tx.episodes.put_vector(lesson.workspace, lesson.id, *embedded)
    update_index(tx, asked)
    return asked


def _is_waiting(tx: Transaction, lesson: Episode) -> bool:
    """Whether the lesson waits for its author's question. One that a person archived does not."""
    if Flag.NEEDS_QUESTION not in lesson.quarantine:
        return False
    return lesson.archived_at is None or bool(why_archived(tx, lesson))
