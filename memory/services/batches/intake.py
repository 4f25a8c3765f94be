"""Importing the proposals of a file: duplicates are skipped, secrets removed, suspicious texts held back.

Every call of `Intake.take` is one transaction, so an import that was interrupted can be continued with the same file.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from memory.errors import Conflict, InvalidInput
from memory.model import Episode, EventKind, Role, Scope, Vector, Visibility
from memory.model.batch import Batch, BatchLesson, Proposal
from memory.model.normal_form import comparable
from memory.ports import EpisodeFilter, Transaction
from memory.rules.quarantine import Flag
from memory.services.core import ANSWER_BY, Core, event
from memory.services.teaching.correct import Draft, lesson_flags, own_vote, taught_lesson
from memory.services.teaching.new_episodes import NewEpisode, record_new
from memory.services.verdicts.quarantine import quarantine_events
from memory.services.verdicts.verdicts import ReactionSet

_Place = tuple[str, str, str]
_Question = tuple[_Place, str]
"""A normalised question in a place, for comparison."""


class EntryStatus(StrEnum):
    """The outcome of a proposal."""

    ADDED = "added"
    """It waits for review."""
    HELD_BACK = "held back"
    """It waits to be reviewed by itself: its text is suspicious, or contained a secret."""
    OWN = "own"
    """It counts for one person, in their direct conversation."""
    KNOWN = "known"
    """It was imported before, or people taught the same."""
    JOINED = "joined"
    """The file has the same question and answer twice."""
    REFUSED = "refused"
    """It cannot be a lesson."""


_WHEN_EMPTY = "it has no question", "it has no answer"
_STORED = (EntryStatus.ADDED, EntryStatus.HELD_BACK, EntryStatus.OWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryOutcome:
    """The outcome of one proposal, with its reasons."""

    status: EntryStatus
    reason: str = ""
    """Why it was rejected or held back."""
    differs: bool = False
    """Whether the same question already has another answer there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A proposal with secrets removed."""

    proposal: Proposal
    text: Draft
    key: str
    asked: _Question
    """The normalised question with its place."""
    words: str
    """The normalised answer."""

    @property
    def content(self) -> tuple[_Question, str]:
        """The question with its answer, for comparison."""
        return self.asked, self.words


@dataclass(slots=True)
class Intake:
    """The import of one file. With `is_dry_run` nothing is stored."""

    _core: Core
    batch: Batch
    is_dry_run: bool = False
    _answers: dict[_Question, set[str]] = field(default_factory=dict[_Question, set[str]])
    """The answers to each question, in memory and in the file so far."""
    _in_file: dict[tuple[_Question, str], str] = field(default_factory=dict[tuple[_Question, str], str])
    """The questions and answers of the file so far, with the key of the first proposal that has them."""
    _keys: set[str] = field(default_factory=set[str])
    _flags: dict[str, tuple[Flag, ...]] = field(default_factory=dict[str, tuple[Flag, ...]])
    """The flags of the proposals that are held back, by key."""
    _lessons: dict[str, Episode] = field(default_factory=dict[str, Episode])
    """The lessons made of the current proposals, by key."""
    _is_ready: bool = False

    def take(self, proposals: Sequence[Proposal]) -> list[EntryOutcome]:
        """Import proposals in one transaction. Returns the outcome of each.

        Raises `EmbeddingFailed` and `StoreUnavailable`; earlier calls stay, and are recognised next time. Raises
        `Conflict` if somebody took the batch back meanwhile.
        """
        self._read_answers()
        drafts = [self._entry(each) for each in proposals]
        with self._core.store.read() as tx:
            known = tx.batches.known(self.batch.workspace, [each.key for each in drafts if isinstance(each, _Entry)])
        now = self._core.clock()
        self._lessons.clear()
        outcomes: list[EntryOutcome] = []
        fresh: list[_Entry] = []
        joined: list[_Entry] = []
        for draft in drafts:
            outcome = draft if isinstance(draft, EntryOutcome) else self._sorted(draft, known, now)
            outcomes.append(outcome)
            if isinstance(draft, _Entry) and outcome.status in _STORED:
                fresh.append(draft)
            elif isinstance(draft, _Entry) and outcome.status is EntryStatus.JOINED:
                joined.append(draft)
        if (fresh or joined) and not self.is_dry_run:
            overtaken = self._store(fresh, joined, now)
            for place, draft in enumerate(drafts):
                if isinstance(draft, _Entry) and outcomes[place].status in _STORED and draft.key in overtaken:
                    outcomes[place] = EntryOutcome(status=EntryStatus.KNOWN)
        return outcomes

    def _entry(self, proposal: Proposal) -> "_Entry | EntryOutcome":
        try:
            draft = Draft.of(self._core, proposal.question, proposal.answer, _WHEN_EMPTY)
        except InvalidInput as error:
            return EntryOutcome(status=EntryStatus.REFUSED, reason=str(error))
        return _Entry(
            proposal=proposal,
            text=draft,
            key=hashlib.sha256(f"{self.batch.workspace}\n{proposal.key}".encode()).hexdigest(),
            asked=_asked(proposal.scope, draft.question),
            words=comparable(draft.answer),
        )

    def _sorted(self, draft: _Entry, known: set[str], now: datetime) -> EntryOutcome:
        """Decide the outcome of a draft, and remember the draft for comparison with later ones."""
        if draft.key in known:
            return EntryOutcome(status=EntryStatus.KNOWN)
        answers = self._answers.setdefault(draft.asked, set())
        if draft.key in self._keys or draft.words in answers:
            is_ours = draft.key in self._keys or draft.content in self._in_file
            return EntryOutcome(status=EntryStatus.JOINED if is_ours else EntryStatus.KNOWN)
        differs = bool(answers)
        self._keys.add(draft.key)
        self._in_file[draft.content] = draft.key
        answers.add(draft.words)
        lesson = self._lessons[draft.key] = self._lesson(draft, now)
        flags = lesson_flags(lesson, has_secret=draft.text.has_secret)
        if flags:
            self._flags[draft.key] = flags
            return EntryOutcome(status=EntryStatus.HELD_BACK, reason=", ".join(flags), differs=differs)
        return EntryOutcome(
            status=EntryStatus.OWN if draft.proposal.accepted_by else EntryStatus.ADDED, differs=differs
        )

    def _read_answers(self) -> None:
        """Read the lessons that people wrote so far, once."""
        if self._is_ready:
            return
        self._is_ready = True
        wanted = EpisodeFilter(written_only=True, limit=None)
        with self._core.store.read() as tx:
            for lesson in tx.episodes.search(self.batch.workspace, wanted):
                asked = _asked(lesson.scope, lesson.goal)
                self._answers.setdefault(asked, set()).add(comparable(lesson.output))

    # Storing ----------------------------------------------------------------------------------------------------

    def _store(self, drafts: Sequence[_Entry], joined: Sequence[_Entry], now: datetime) -> set[str]:
        """Store the lessons. Returns the keys of those that another process stored meanwhile."""
        vectors = self._embedded(drafts)
        with self._core.store.write() as tx:
            known = tx.batches.known(self.batch.workspace, [each.key for each in drafts])
            drafts = [each for each in drafts if each.key not in known]  # another process imports the same file
            if known and not drafts:
                return known
            lessons = [self._lessons[each.key] for each in drafts]
            new = [
                self._new(draft, lesson, vectors[draft.text.question], now)
                for draft, lesson in zip(drafts, lessons, strict=True)
            ]
            batch = tx.batches.get(self.batch.workspace, self.batch.id) or self.batch
            if batch.undone_at is not None:  # nobody would review these lessons
                raise Conflict(f"batch {batch.id} was taken back while it was learned; learn the file again")
            record_new(self._core, tx, new)
            tx.batches.put(batch)
            tx.batches.put_lessons(*(self._row(draft, each.id) for draft, each in zip(drafts, lessons, strict=True)))
            self._keep_joined(tx, joined)
            return known

    def _new(self, draft: _Entry, lesson: Episode, vector: Vector, now: datetime) -> NewEpisode:
        detail = {"batch": self.batch.id}
        voter, others = draft.proposal.accepted_by, draft.proposal.others
        answer_by = {ANSWER_BY: list(others)} if voter and others else {}  # whoever answered the asker
        created = event(lesson, EventKind.CREATED, lesson.author, now, detail={**detail, **answer_by})
        vote = replace(own_vote(lesson, Role.MEMBER, now), actor=voter)
        return NewEpisode(
            episode=lesson,
            vector=vector,
            before=[created, *quarantine_events(lesson, self._flags.get(draft.key, ()), now)],
            reactions=(ReactionSet(reactions=(vote,), at=now, detail=detail),) if voter else (),
            words_of=others,
        )

    def _embedded(self, drafts: Sequence[_Entry]) -> Mapping[str, Vector]:
        if not drafts:
            return {}
        questions = list(dict.fromkeys(each.text.question for each in drafts))
        return dict(zip(questions, self._core.embedder.embed(questions), strict=True))

    def _lesson(self, draft: _Entry, now: datetime) -> Episode:
        return taught_lesson(self._core, draft.proposal.scope, draft.text.question, draft.text.answer, now)

    def _row(self, draft: _Entry, lesson_id: str) -> BatchLesson:
        return BatchLesson(
            workspace=self.batch.workspace,
            key=draft.key,
            batch_id=self.batch.id,
            lesson_id=lesson_id,
            audience=draft.proposal.audience,
            source=draft.proposal.source,
        )

    def _keep_joined(self, tx: Transaction, joined: Sequence[_Entry]) -> None:
        """Store the duplicates too, so that they are recognised next time whatever becomes of the lesson."""
        firsts = {each.key: self._in_file[each.content] for each in joined if each.content in self._in_file}
        stored = {each.key: each for each in tx.batches.lessons(self.batch.workspace, self.batch.id)} if firsts else {}
        rows = [
            self._row(each, stored[firsts[each.key]].lesson_id)
            for each in joined
            if firsts.get(each.key, each.key) != each.key and firsts[each.key] in stored
        ]
        tx.batches.put_lessons(*rows)


def _asked(scope: Scope, question: str) -> _Question:
    person = scope.person if scope.visibility is Visibility.DIRECT else ""
    return (scope.channel, scope.visibility.value, person), comparable(question)
