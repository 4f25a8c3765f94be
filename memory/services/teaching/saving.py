"""A person's message as a lesson: somebody saved it, because it answers a question well.

The lesson is its author's: forgetting them erases it. Who saved it approves it by that, as far as their role goes, and
takes the approval back with the save. Nobody else's message is ever read without a save.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from memory.errors import InvalidInput
from memory.model import Episode, EventKind, Reaction, Role, Scope, Vector
from memory.model.saved import AnsweredQuestion, SavedMessage
from memory.ports import Transaction
from memory.rules.quarantine import Flag
from memory.rules.verdict import REVIEW
from memory.services.core import Core, act, existing
from memory.services.teaching.correct import Draft, own_vote
from memory.services.verdicts.quarantine import hold_back
from memory.services.verdicts.verdicts import withdraw_votes, write_votes

SAVED = f"{REVIEW}:saved"
"""Source of the vote of whoever saves a message. A teacher's makes the lesson count, as in a review."""
_WHEN_EMPTY = "the message answers nothing that I can read", "the message has no text that I can keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLesson:
    """A lesson that was a message, after something happened to it."""

    lesson: Episode
    is_reopened: bool = False
    """It was approved, and waits for review now because its message was edited."""


@dataclass(frozen=True, slots=True)
class Saving:
    """The use cases of saving a message, and of what becomes of it later."""

    _core: Core

    def save(
        self, scope: Scope, found: AnsweredQuestion, *, role: Role, at: datetime, event_id: str
    ) -> SavedLesson | None:
        """Make a lesson of a message, or approve the one that it is already, in the name of `scope.person`.

        None if the event was handled before. Raises `InvalidInput` for a text that cannot be a lesson, and for guests.
        """
        if role is Role.GUEST:
            raise InvalidInput("guests cannot save messages; ask a member to do it")
        draft = Draft.of(self._core, found.question, found.answer, _WHEN_EMPTY)
        vector = self._core.embedded(draft.question)
        with self._core.store.write() as tx:
            now = self._core.clock()
            if not tx.log.claim(scope.workspace, event_id, now):
                return None
            lesson = self._unchanged(tx, scope, found.message_id, draft)
            if lesson is None:
                place = replace(scope, person=found.author)
                lesson = draft.store(self._core, tx, place, now, vector, words_of={found.asker})
                tx.saved.put(_saved(lesson, found, now))
            vote = _save(lesson, scope.person, role, at, event_id)
            write_votes(self._core, tx, now, vote, reason="a person saved what somebody answered")
            return SavedLesson(lesson=existing(tx, scope.workspace, lesson.id))

    def unsave(self, scope: Scope, message_id: str, *, at: datetime, event_id: str) -> Episode | None:
        """Take a save back: the lesson goes, unless others stand by it. None if this person saved no such message."""
        with self._core.store.write() as tx:
            saved = tx.saved.get(scope.workspace, scope.channel, message_id)
            now = self._core.clock()
            if saved is None or not tx.log.claim(scope.workspace, event_id, now):
                return None
            lesson = existing(tx, scope.workspace, saved.lesson_id)
            own = _active(tx, lesson, scope.person)
            return take_back(self._core, tx, own, at, now) if own is not None else None

    def edited(self, scope: Scope, message_id: str, text: str, *, at: datetime, event_id: str) -> SavedLesson | None:
        """A message was edited. If it is a lesson, that says what the message says now, and waits for a teacher again.

        None where it is no lesson, or says the same. A text that cannot be a lesson takes the lesson away.
        """
        with self._core.store.read() as tx:
            saved = tx.saved.get(scope.workspace, scope.channel, message_id)
            former = tx.episodes.get(scope.workspace, saved.lesson_id) if saved is not None else None
        if saved is None or former is None:
            return None
        try:
            draft = Draft.of(self._core, former.goal, text, _WHEN_EMPTY)
        except InvalidInput:
            self.deleted(scope, message_id, event_id=event_id)
            return None
        with self._core.store.write() as tx:
            now = self._core.clock()
            saved = tx.saved.get(scope.workspace, scope.channel, message_id)
            if saved is None or not tx.log.claim(scope.workspace, event_id, now):
                return None
            former = existing(tx, scope.workspace, saved.lesson_id)
            if former.output == draft.answer or former.archived_at is not None:
                return None
            return self._replace(tx, saved, former, draft, at, now)

    def deleted(self, scope: Scope, message_id: str, *, event_id: str) -> Episode | None:
        """A message was deleted: the lesson that it was is retired. None where it is none."""
        with self._core.store.read() as tx:
            if tx.saved.get(scope.workspace, scope.channel, message_id) is None:
                return None
        with self._core.store.write() as tx:
            now = self._core.clock()
            saved = tx.saved.get(scope.workspace, scope.channel, message_id)
            if saved is None or not tx.log.claim(scope.workspace, f"{event_id}/lesson", now):
                return None
            lesson = existing(tx, scope.workspace, saved.lesson_id)
            tx.saved.delete(saved)
            return act(tx, lesson, EventKind.ARCHIVED, lesson.author, now, {"message": "deleted"})

    def _unchanged(self, tx: Transaction, scope: Scope, message_id: str, draft: Draft) -> Episode | None:
        """The lesson that the message is, if it still counts and says this."""
        saved = tx.saved.get(scope.workspace, scope.channel, message_id)
        lesson = tx.episodes.get(scope.workspace, saved.lesson_id) if saved is not None else None
        if lesson is None or lesson.archived_at is not None:
            return None
        if lesson.output == draft.answer:
            return lesson
        now = self._core.clock()
        act(tx, lesson, EventKind.ARCHIVED, lesson.author, now, {"message": "edited"})
        return None

    def _replace(
        self, tx: Transaction, saved: SavedMessage, former: Episode, draft: Draft, at: datetime, now: datetime
    ) -> SavedLesson:
        """The lesson as its message is now. It stays saved, but what people approved was another text."""
        workspace = former.workspace
        vectors: dict[str, tuple[str, Vector]] = tx.episodes.vectors(workspace, [former.id])
        others = set(tx.episodes.words_of_others(workspace, [former.id]).get(former.id, ()))
        act(tx, former, EventKind.ARCHIVED, former.author, now, {"message": "edited"})
        lesson = draft.store(self._core, tx, former.scope, now, words_of=others)
        for model, vector in vectors.values():
            tx.episodes.put_vector(workspace, lesson.id, model, vector)
        if Flag.NEEDS_QUESTION in former.quarantine:
            lesson = hold_back(tx, lesson, [Flag.NEEDS_QUESTION], now)
        tx.saved.put(replace(saved, lesson_id=lesson.id))
        for given in _saves(tx, former):
            kept = replace(_save(lesson, given.actor, given.role, at, given.event_id), value=0)
            write_votes(self._core, tx, now, kept)
        was_shared = former.verdicts.channel.is_validated or former.verdicts.workspace.is_validated
        return SavedLesson(lesson=existing(tx, workspace, lesson.id), is_reopened=was_shared)


def take_back(core: Core, tx: Transaction, own: Reaction, at: datetime, now: datetime) -> Episode:
    """Withdraw one save. The lesson is archived, unless somebody else stands by it."""
    withdraw_votes(core, tx, now, own, at=at)
    lesson = tx.episodes.of_run(own.workspace, own.run_id)[0]
    given = tx.teaching.reactions_of_run(own.workspace, own.run_id)
    others = [each for each in given if each.is_active and each.actor != own.actor]
    if any(each.value > 0 or each.source == SAVED for each in others):  # a save says nothing of a text that came later
        return lesson
    saved = tx.saved.of_lessons(lesson.workspace, [lesson.id]).get(lesson.id)
    if saved is not None:
        tx.saved.delete(saved)
    return act(tx, lesson, EventKind.ARCHIVED, own.actor, now)


def _saved(lesson: Episode, found: AnsweredQuestion, now: datetime) -> SavedMessage:
    return SavedMessage(
        workspace=lesson.workspace,
        channel=lesson.channel,
        message_id=found.message_id,
        lesson_id=lesson.id,
        link=found.link,
        saved_at=now,
    )


def _save(lesson: Episode, person: str, role: Role, at: datetime, event_id: str) -> Reaction:
    """What a person says of a lesson by saving the message."""
    return replace(own_vote(lesson, role, at), actor=person, source=SAVED, event_id=event_id)


def _saves(tx: Transaction, lesson: Episode) -> list[Reaction]:
    given = tx.teaching.reactions_of_run(lesson.workspace, lesson.run_id)
    return [each for each in given if each.source == SAVED and each.is_active]


def _active(tx: Transaction, lesson: Episode, person: str) -> Reaction | None:
    return next((each for each in _saves(tx, lesson) if each.actor == person), None)
