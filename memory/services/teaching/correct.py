"""Corrections: a person says what would have been right, which is stored on the failed episode and as a new lesson."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from memory.errors import InvalidInput, NotFound
from memory.model import (
    ASK,
    Episode,
    EventKind,
    Link,
    LinkKind,
    Origin,
    Reaction,
    Role,
    Scope,
    Signal,
    Termination,
    Vector,
    Visibility,
    options_of,
)
from memory.ports import Transaction
from memory.rules.audience import may_be_repeated, visibility_about
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.evidence.named_action import named_action
from memory.rules.quarantine import LESSON_CHARACTERS, Flag, flags_of, merged
from memory.rules.retrieval.answer_words import AnswerWords
from memory.rules.retrieval.consensus import is_answered_anew
from memory.rules.verdict import CORRECTION
from memory.services.conversation.answers import askers_of
from memory.services.core import Core, event, note_words_of, record, record_and_index, require_episode
from memory.services.verdicts.quarantine import Reason, corrected_by, hold_back, restore_texts, usable_reason
from memory.services.verdicts.reason import withdraw_reasons
from memory.services.verdicts.verdicts import withdraw_votes, write_votes

CORRECTION_CHARACTERS = 8000
"""The longest correction accepted; a lesson has to fit into a prompt."""
_WHEN_EMPTY = "a lesson needs a question: when should this be the answer?", "a lesson needs an answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionResult:
    """A correction with the lesson it made."""

    failed: Episode
    lesson: Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCorrection:
    """A correction, checked and embedded, ready to be stored."""

    run_id: str
    text: str
    """The correction, with secrets removed."""
    has_secret: bool
    why: Reason
    question: str
    embedded: Vector | None
    node_id: str = ""
    """The node that it is about; empty to choose it by `corrected_node`."""


def usable(text: str, when_empty: str) -> str:
    """A text that a person wrote for others, stripped. Raises `InvalidInput` if it is empty or too long."""
    words = text.strip()
    if not words:
        raise InvalidInput(when_empty)
    if len(words) > CORRECTION_CHARACTERS:
        raise InvalidInput(f"this has {len(words)} characters; {CORRECTION_CHARACTERS} are taken. Please shorten it.")
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The question and answer of a lesson in a person's own words, with secrets removed."""

    question: str
    answer: str
    has_secret: bool

    @classmethod
    def of(cls, core: Core, question: str, answer: str, when_empty: tuple[str, str] = _WHEN_EMPTY) -> "Draft":
        """Check and clean the texts. Raises `InvalidInput`; `when_empty` are the messages for an empty one."""
        written = usable(question, when_empty[0]), usable(answer, when_empty[1])
        clean = core.redactor.text(written[0]), core.redactor.text(written[1])
        return cls(question=clean[0], answer=clean[1], has_secret=clean != written)

    def says_the_same(self, lesson: Episode) -> bool:
        """Whether a lesson has this question and this answer."""
        return (lesson.goal, lesson.output) == (self.question, self.answer)

    def store(
        self,
        core: Core,
        tx: Transaction,
        place: Scope,
        now: datetime,
        vector: Vector | None = None,
        detail: Mapping[str, object] | None = None,
        words_of: Collection[str] = (),
    ) -> Episode:
        """Store the draft as a new lesson of the scope's person. It is held back if it looks suspicious.

        `vector` is the embedding of its question; `words_of` are other people whose words it contains.
        """
        lesson = taught_lesson(core, place, self.question, self.answer, now)
        tx.episodes.add(lesson)
        tx.log.append(event(lesson, EventKind.CREATED, lesson.author, now, detail=detail))
        if words_of:
            note_words_of(tx, lesson, words_of)
        if vector is not None:
            tx.episodes.put_vector(lesson.workspace, lesson.id, core.embedder.name, vector)
        return hold_back(tx, lesson, lesson_flags(lesson, has_secret=self.has_secret), now)


@dataclass(frozen=True, slots=True)
class Correcting:
    """The use cases of making a correction and of undoing it."""

    _core: Core

    def prepared(self, scope: Scope, run_id: str, text: str, reason: str = "", node_id: str = "") -> PreparedCorrection:
        """Do the slow part, before the writing transaction. Raises `InvalidInput` for an unusable text."""
        written = usable(text, "a correction needs a text: what would have been right?")
        words = self._core.redactor.text(written)
        why = usable_reason(self._core, reason)
        question, embedded = self._embedded(scope.workspace, run_id, node_id)
        return PreparedCorrection(
            run_id=run_id,
            text=words,
            has_secret=words != written,
            why=why,
            question=question,
            embedded=embedded,
            node_id=node_id,
        )

    def within(
        self, tx: Transaction, scope: Scope, prepared: PreparedCorrection, *, role: Role, at: datetime, event_id: str
    ) -> CorrectionResult:
        """Store a prepared correction within a transaction. Raises `NotFound` as `Teaching.correct` does."""
        now, run_id, words, why = self._core.clock(), prepared.run_id, prepared.text, prepared.why
        nodes = tx.episodes.of_run(scope.workspace, run_id)
        failed = require_episode(tx, scope.workspace, corrected_node(nodes, prepared.node_id).id if nodes else run_id)
        if scope.channel == failed.channel and not may_be_repeated(failed.visibility, scope.visibility):
            raise NotFound(f"{run_id} was answered when others read {scope.channel}; ask again and correct that")
        lesson = self._lesson(failed, scope, words, now)
        self._replace_older(tx, failed, lesson, now)
        if not _was_said(failed, words):
            implied = _implied_vote(failed, lesson, role, at, event_id)
            # The reason is shown with the answer, later perhaps to more people.
            is_as_open = lesson.visibility is failed.visibility
            write_votes(self._core, tx, now, implied, reason=why.text if is_as_open else "")
            failed = require_episode(tx, scope.workspace, failed.id)
        flags = lesson_flags(lesson, has_secret=prepared.has_secret)
        detail = ({} if flags else {"text": words}) | {"lesson": lesson.id, "role": role.value}
        corrected = event(
            failed,
            EventKind.CORRECTED,
            scope.person,
            now,
            detail=detail | {"event": event_id, "withheld": [flag.value for flag in (*flags, *why.withheld)]},
        )
        failed = record(tx, failed, corrected)
        self._store_lesson(tx, failed, lesson, {"role": role.value, "event": event_id}, now)
        if prepared.embedded is not None and lesson.goal == prepared.question:
            tx.episodes.put_vector(lesson.workspace, lesson.id, self._core.embedder.name, prepared.embedded)
        hold_back(tx, lesson, flags, now)
        own = own_vote(lesson, role, at, event_id)
        write_votes(self._core, tx, now, own, reason="a person said what is right")
        return CorrectionResult(failed=failed, lesson=require_episode(tx, scope.workspace, lesson.id))

    def made_by(self, scope: Scope, event_id: str) -> CorrectionResult | None:
        """The person's correction by the message of that event; None if there is none, or it is not in effect."""
        with self._core.store.read() as tx:
            taught = taught_by(tx, scope.workspace, event_id)
            failed = next(iter(corrected_by(tx, taught.lesson)), None) if taught is not None else None
        if taught is None or failed is None or taught.lesson.author != scope.person:
            return None
        return CorrectionResult(failed=failed, lesson=taught.lesson)

    def reworded(self, scope: Scope, event_id: str, text: str) -> PreparedCorrection | None:
        """Prepare the person's correction of that event again; None if it is not in effect, or has this text."""
        made = self.made_by(scope, event_id)
        if made is None or made.lesson.output == self._core.redactor.text(text.strip()):
            return None
        node_id = "" if made.failed.is_root else made.failed.id
        return self.prepared(scope, made.failed.run_id, text, node_id=node_id)

    def _embedded(self, workspace: str, run_id: str, node_id: str) -> tuple[str, Vector | None]:
        """The question with its embedding if the answer has none, because it was stopped or the embedder failed."""
        with self._core.store.read() as tx:
            nodes = tx.episodes.of_run(workspace, run_id)
            failed = corrected_node(nodes, node_id) if nodes else None
            if failed is None or tx.episodes.vectors(workspace, [failed.id]):
                return "", None
        return failed.goal, self._core.embedded(failed.goal)

    def _lesson(self, failed: Episode, scope: Scope, words: str, now: datetime) -> Episode:
        elements = {element for element in failed.context_before if not element.startswith("person:")}
        there = replace(failed.scope, person=scope.person, visibility=visibility_about(failed, scope))
        return replace(
            taught_lesson(self._core, there, failed.goal, words, now),
            origin=Origin.CORRECTION,
            person=failed.person if failed.visibility is Visibility.DIRECT else scope.person,
            context_before=tuple(sorted({*elements, f"person:{scope.person}"})),
        )

    def _store_lesson(
        self, tx: Transaction, failed: Episode, lesson: Episode, detail: dict[str, object], now: datetime
    ) -> None:
        tx.episodes.add(lesson)
        tx.log.append(event(lesson, EventKind.CREATED, lesson.author, now, detail=detail))
        for model, vector in tx.episodes.vectors(failed.workspace, [failed.id]).values():
            tx.episodes.put_vector(lesson.workspace, lesson.id, model, vector)
        tx.episodes.add_link(
            Link(workspace=failed.workspace, from_id=lesson.id, to_id=failed.id, kind=LinkKind.CORRECTS, at=now)
        )
        note_words_of(tx, lesson, askers_of(tx, failed))

    def _replace_older(self, tx: Transaction, failed: Episode, lesson: Episode, now: datetime) -> None:
        """Archive the author's own lessons that this one replaces.

        These are the lessons from this answer, and those that the answer used, if they answer the same question.
        """
        workspace = failed.workspace
        on_it = {
            link.from_id
            for link in tx.episodes.links(workspace, [failed.id])
            if link.kind is LinkKind.CORRECTS and link.to_id == failed.id
        }
        behind_it = {
            item.episode_id
            for _, items in tx.retrievals.of_run(workspace, failed.run_id)
            for item in items
            if item.signal is Signal.USED
        }
        vectors = tx.episodes.vectors(workspace, {failed.id, *behind_it})
        for older in tx.episodes.get_many(workspace, on_it | behind_it).values():
            if older.author != lesson.author or older.origin is Origin.RUN or older.archived_at is not None:
                continue
            if older.id in on_it or is_answered_anew(older, failed, vectors):
                record_and_index(tx, older, EventKind.ARCHIVED, lesson.author, now, {"superseded_by": lesson.id})

    def undo(self, tx: Transaction, reaction: Reaction, at: datetime, now: datetime) -> tuple[Episode, tuple[str, ...]]:
        """Withdraw the lesson, the text on the failed episode, and the 👎 that the correction implied.

        Returns the lesson and the runs it had corrected.
        """
        withdraw_votes(self._core, tx, now, reaction, at=at)
        lesson = tx.episodes.of_run(reaction.workspace, reaction.run_id)[0]
        if not _is_superseded(tx, lesson):  # else a later one took the place of those that this one replaced
            lesson = record_and_index(tx, lesson, EventKind.ARCHIVED, reaction.actor, now)
            self._restore_superseded(tx, lesson, now)
        corrected = corrected_by(tx, lesson)
        restore_texts(tx, lesson, reaction.actor, now)
        for failed in corrected:
            implied = tx.teaching.reaction(_implied_vote(failed, lesson, reaction.role, at).key)
            if implied is not None and implied.is_active:
                withdraw_votes(self._core, tx, now, implied, at=at)
                withdraw_reasons(tx, [implied], now)
        return lesson, tuple(failed.run_id for failed in corrected)

    def _restore_superseded(self, tx: Transaction, lesson: Episode, now: datetime) -> None:
        for archived in tx.log.by_actor(lesson.workspace, lesson.author, [EventKind.ARCHIVED]):
            if archived.detail.get("superseded_by") == lesson.id:
                older = tx.episodes.get(lesson.workspace, archived.episode_id)
                if older is not None and older.archived_at is not None:
                    restored = record_and_index(tx, older, EventKind.RESTORED, lesson.author, now)
                    restore_texts(tx, restored, lesson.author, now)


def _is_superseded(tx: Transaction, lesson: Episode) -> bool:
    log = tx.log.of_episode(lesson.workspace, lesson.id) if lesson.archived_at is not None else []
    return any(each.kind is EventKind.ARCHIVED and "superseded_by" in each.detail for each in log)


class Taught(NamedTuple):
    """A lesson with its author's approval, which came with it."""

    lesson: Episode
    approval: Reaction


def taught_by(tx: Transaction, workspace: str, event_id: str) -> Taught | None:
    """What the message of that event teaches now, as a correction or without an answer before it."""
    for each in tx.teaching.reactions_in_words(workspace, event_id):
        if each.source == CORRECTION and each.is_active:
            lesson = tx.episodes.of_run(workspace, each.run_id)[0]
            if lesson.archived_at is None:
                return Taught(lesson, each)
    return None


def corrected_node(nodes: Sequence[Episode], node_id: str = "") -> Episode:
    """The node that a correction is about: that with the id, else the only part without an answer, else the root.

    `nodes` are those of the run, root first.
    """
    root, missing, parts = nodes[0], missing_parts(nodes), _separate_parts(nodes)
    only = missing[0] if len(missing) == 1 < len(parts) else root
    return next((each for each in nodes if each.id == node_id), only)


def open_parts(nodes: Sequence[Episode]) -> list[Episode]:
    """All parts of an answer of which several are without an answer, so that a correction may be about any of them."""
    return _separate_parts(nodes) if len(missing_parts(nodes)) > 1 else []


def _separate_parts(nodes: Sequence[Episode]) -> list[Episode]:
    """The parts that an answer has; none where there are alternatives, as an answer to one answers all."""
    is_divided = bool(nodes) and nodes[0].is_split
    has_alternatives = any(each.flow == "fallback" for each in nodes)
    parts = [each for each in nodes if not each.is_root and not each.is_split]
    return parts if is_divided and not has_alternatives else []


def missing_parts(nodes: Iterable[Episode]) -> list[Episode]:
    """The nodes below the root that found no answer to their part: they gave up, or asked back."""
    parts = [each for each in nodes if not each.is_root and not each.is_split]
    return [each for each in parts if each.termination is not Termination.SUCCESS or each.action == ASK]


def lesson_flags(lesson: Episode, *, has_secret: bool) -> tuple[Flag, ...]:
    """The reasons for which a lesson in a person's words must wait for a teacher; mostly none."""
    return merged([flags_of(lesson, limit=LESSON_CHARACTERS), (Flag.SECRET,) if has_secret else ()])


def _was_said(answer: Episode, words: str) -> bool:
    """Whether a correction repeats what the answer said, did or offered, and so does not reject it."""
    done = [(answer.action, answer.output)] if answer.termination is Termination.SUCCESS else []
    candidates = [*done, *(option.candidate for option in options_of(answer.trajectory))]
    if named_action(words, [action for action, _ in candidates if action not in (ANSWER, ASK)]):
        return True
    written = AnswerWords.of(words)
    return any(action == ANSWER and written.says_the_same_as(AnswerWords.of(text)) for action, text in candidates)


def _implied_vote(failed: Episode, lesson: Episode, role: Role, at: datetime, event_id: str = "") -> Reaction:
    """The vote on the answer that a correction implies."""
    source, node_id = f"{CORRECTION}:{lesson.id}", "" if failed.is_root else failed.id
    return Reaction.on_run(failed, lesson.author, source, -1, at, role=role, node_id=node_id, event_id=event_id)


def own_vote(lesson: Episode, role: Role, at: datetime, event_id: str = "") -> Reaction:
    """The vote for a lesson that its author gives by writing it."""
    return Reaction.on_run(lesson, lesson.author, CORRECTION, 1, at, role=role, event_id=event_id)


def taught_lesson(core: Core, scope: Scope, goal: str, words: str, now: datetime) -> Episode:
    """A lesson that a person wrote without correcting an answer."""
    elements = {f"platform:{scope.platform}", f"channel:{scope.channel}", f"person:{scope.person}"}
    return Episode(
        id=core.new_id(),
        run_id=core.new_id(),
        goal=goal,
        origin=Origin.TAUGHT,
        workspace=scope.workspace,
        channel=scope.channel,
        thread=scope.thread,
        person=scope.person,
        author=scope.person,
        visibility=scope.visibility,
        place=scope.place,
        context_before=tuple(sorted(elements)),
        action="answer",
        action_target=goal,
        output=words,
        termination=Termination.SUCCESS,
        salience_at=now,
        created_at=now,
    )
