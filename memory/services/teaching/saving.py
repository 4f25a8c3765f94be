"""Saving a person's message as a lesson, because it answers a question well.

The lesson belongs to the message's author: forgetting them erases it. Saving approves it, as far as the saver's role
allows; taking the save back withdraws the approval. Messages between people are never read without a save.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from memory.errors import InvalidInput
from memory.model import Episode, EventKind, Reaction, Role, Scope, Vector
from memory.model.saved_messages import AnsweredQuestion, SavedMessage
from memory.ports import Transaction
from memory.rules.quarantine import Flag
from memory.rules.verdict import REVIEW
from memory.services.core import Core, record_and_index, require_episode
from memory.services.teaching.correct import Draft, own_vote
from memory.services.verdicts.quarantine import hold_back
from memory.services.verdicts.verdicts import withdraw_votes, write_votes

SAVED = f"{REVIEW}:saved"
"""The source of the vote that a save is. A teacher's makes the lesson count, as a review does."""
_WHEN_EMPTY = "the message answers nothing that I can read", "the message has no text that I can keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLesson:
    """A lesson saved from a message, after a change."""

    lesson: Episode
    is_reopened: bool = False
    """It was approved before, and waits for review again because its message was edited."""


@dataclass(frozen=True, slots=True)
class Saving:
    """The use cases of saving a message, and of its later edits and deletion."""

    _core: Core

    def save(
        self, scope: Scope, found: AnsweredQuestion, *, role: Role, at: datetime, event_id: str
    ) -> SavedLesson | None:
        """Save a message as a lesson for `scope.person`; if it is one already, add their approval.

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
            return SavedLesson(lesson=require_episode(tx, scope.workspace, lesson.id))

    def unsave(self, scope: Scope, message_id: str, *, at: datetime, event_id: str) -> Episode | None:
        """Take a save back: the lesson is archived unless others approve it. None if this person had not saved it."""
        with self._core.store.write() as tx:
            saved = tx.saved.get(scope.workspace, scope.channel, message_id)
            now = self._core.clock()
            if saved is None or not tx.log.claim(scope.workspace, event_id, now):
                return None
            lesson = require_episode(tx, scope.workspace, saved.lesson_id)
            own = _active(tx, lesson, scope.person)
            return take_back(self._core, tx, own, at, now) if own is not None else None

    def edited(self, scope: Scope, message_id: str, text: str, *, at: datetime, event_id: str) -> SavedLesson | None:
        """Update the lesson saved from an edited message. It waits for a teacher again.

        None where there is no lesson, or the text is the same. If the text cannot be a lesson, the lesson is retired.
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
            former = require_episode(tx, scope.workspace, saved.lesson_id)
            if former.output == draft.answer or former.archived_at is not None:
                return None
            return self._replace(tx, saved, former, draft, at, now)

    def deleted(self, scope: Scope, message_id: str, *, event_id: str) -> Episode | None:
        """Retire the lesson saved from a deleted message. None where there is no lesson."""
        with self._core.store.read() as tx:
            if tx.saved.get(scope.workspace, scope.channel, message_id) is None:
                return None
        with self._core.store.write() as tx:
            now = self._core.clock()
            saved = tx.saved.get(scope.workspace, scope.channel, message_id)
            if saved is None or not tx.log.claim(scope.workspace, f"{event_id}/lesson", now):
                return None
            lesson = require_episode(tx, scope.workspace, saved.lesson_id)
            tx.saved.delete(saved)
            return record_and_index(tx, lesson, EventKind.ARCHIVED, lesson.author, now, {"message": "deleted"})

    def _unchanged(self, tx: Transaction, scope: Scope, message_id: str, draft: Draft) -> Episode | None:
        """The lesson saved from the message, if it is active and says the same as the draft."""
        saved = tx.saved.get(scope.workspace, scope.channel, message_id)
        lesson = tx.episodes.get(scope.workspace, saved.lesson_id) if saved is not None else None
        if lesson is None or lesson.archived_at is not None:
            return None
        if lesson.output == draft.answer:
            return lesson
        now = self._core.clock()
        record_and_index(tx, lesson, EventKind.ARCHIVED, lesson.author, now, {"message": "edited"})
        return None

    def _replace(
        self, tx: Transaction, saved: SavedMessage, former: Episode, draft: Draft, at: datetime, now: datetime
    ) -> SavedLesson:
        """Replace the lesson by one with the message's new text. It stays saved, but loses its approvals."""
        workspace = former.workspace
        vectors: dict[str, tuple[str, Vector]] = tx.episodes.vectors(workspace, [former.id])
        others = set(tx.episodes.words_of_others(workspace, [former.id]).get(former.id, ()))
        record_and_index(tx, former, EventKind.ARCHIVED, former.author, now, {"message": "edited"})
        lesson = draft.store(self._core, tx, former.scope, now, words_of=others)
        for model, vector in vectors.values():
            tx.episodes.put_vector(workspace, lesson.id, model, vector)
        if Flag.NEEDS_QUESTION in former.quarantine:
            lesson = hold_back(tx, lesson, [Flag.NEEDS_QUESTION], now)
        tx.saved.put(replace(saved, lesson_id=lesson.id))
        for save in _saves(tx, former):
            kept = replace(_save(lesson, save.actor, save.role, at, save.event_id), value=0)
            write_votes(self._core, tx, now, kept)
        was_shared = former.verdicts.channel.is_validated or former.verdicts.workspace.is_validated
        return SavedLesson(lesson=require_episode(tx, workspace, lesson.id), is_reopened=was_shared)


def take_back(core: Core, tx: Transaction, own: Reaction, at: datetime, now: datetime) -> Episode:
    """Withdraw one save. The lesson is archived unless somebody else approves it."""
    withdraw_votes(core, tx, now, own, at=at)
    lesson = tx.episodes.of_run(own.workspace, own.run_id)[0]
    reactions = tx.teaching.reactions_of_run(own.workspace, own.run_id)
    others = [each for each in reactions if each.is_active and each.actor != own.actor]
    if any(each.value > 0 or each.source == SAVED for each in others):  # a save of an earlier text has no value
        return lesson
    saved = tx.saved.of_lessons(lesson.workspace, [lesson.id]).get(lesson.id)
    if saved is not None:
        tx.saved.delete(saved)
    return record_and_index(tx, lesson, EventKind.ARCHIVED, own.actor, now)


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
    """The vote that a person gives by saving the message."""
    return replace(own_vote(lesson, role, at), actor=person, source=SAVED, event_id=event_id)


def _saves(tx: Transaction, lesson: Episode) -> list[Reaction]:
    reactions = tx.teaching.reactions_of_run(lesson.workspace, lesson.run_id)
    return [each for each in reactions if each.source == SAVED and each.is_active]


def _active(tx: Transaction, lesson: Episode, person: str) -> Reaction | None:
    return next((each for each in _saves(tx, lesson) if each.actor == person), None)
