"""Proposals of a file on their way into memory: each once, without secrets, and held back where they look suspicious.

Every call of `Intake.take` is one transaction, so whoever is killed in between goes on with the same file.
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
from memory.services.core import Core, event
from memory.services.teaching.correct import lesson_flags, own_vote, taught_lesson, usable
from memory.services.teaching.new_episodes import NewEpisode, record_new
from memory.services.verdicts.quarantine import quarantining
from memory.services.verdicts.verdicts import Signals

_Place = tuple[str, str, str]
_Question = tuple[_Place, str]
"""A question in a place, both comparable."""


class EntryStatus(StrEnum):
    """What becomes of a proposal."""

    ADDED = "added"
    """It waits for review."""
    HELD_BACK = "held back"
    """It waits too, and has to be looked at by itself: its text is suspicious, or held a secret."""
    OWN = "own"
    """It counts for one person, among four eyes."""
    KNOWN = "known"
    """It was learned from a file before, or people taught the same."""
    JOINED = "joined"
    """The file has the same question with the same answer twice."""
    REFUSED = "refused"
    """It cannot be a lesson."""


_STORED = (EntryStatus.ADDED, EntryStatus.HELD_BACK, EntryStatus.OWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryOutcome:
    """What became of one proposal."""

    status: EntryStatus
    reason: str = ""
    """Why it was refused or held back."""
    differs: bool = False
    """Whether the same question has another answer there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Draft:
    """A proposal without secrets."""

    proposal: Proposal
    question: str
    answer: str
    key: str
    has_secret: bool
    asked: _Question
    """What is asked where."""
    words: str
    """What is answered, comparable."""

    @property
    def content(self) -> tuple[_Question, str]:
        """The same, with what is asked."""
        return self.asked, self.words


@dataclass(slots=True)
class Intake:
    """One file on its way. `is_dry_run`: nothing is stored."""

    _core: Core
    batch: Batch
    is_dry_run: bool = False
    _answers: dict[_Question, set[str]] = field(default_factory=dict[_Question, set[str]])
    """What is answered to a question, by memory and by what came of the file so far."""
    _ours: dict[tuple[_Question, str], str] = field(default_factory=dict[tuple[_Question, str], str])
    """Those of the file alone, with the key of the first that has them."""
    _keys: set[str] = field(default_factory=set[str])
    _flags: dict[str, tuple[Flag, ...]] = field(default_factory=dict[str, tuple[Flag, ...]])
    """Of those that are held back, by key."""
    _lessons: dict[str, Episode] = field(default_factory=dict[str, Episode])
    """What is made of those that are taken in together, by key."""
    _is_ready: bool = False

    def take(self, proposals: Sequence[Proposal]) -> list[EntryOutcome]:
        """Take proposals in, in one transaction; what became of each.

        Raises `EmbeddingFailed` and `StoreUnavailable`; what was taken in before stays, and is known next time.
        Raises `Conflict` where somebody took the batch back meanwhile.
        """
        self._read_answers()
        drafts = [self._draft(each) for each in proposals]
        with self._core.store.read() as tx:
            known = tx.batches.known(self.batch.workspace, [each.key for each in drafts if isinstance(each, _Draft)])
        now = self._core.clock()
        self._lessons.clear()
        outcomes: list[EntryOutcome] = []
        fresh: list[_Draft] = []
        joined: list[_Draft] = []
        for draft in drafts:
            outcome = draft if isinstance(draft, EntryOutcome) else self._sorted(draft, known, now)
            outcomes.append(outcome)
            if isinstance(draft, _Draft) and outcome.status in _STORED:
                fresh.append(draft)
            elif isinstance(draft, _Draft) and outcome.status is EntryStatus.JOINED:
                joined.append(draft)
        if (fresh or joined) and not self.is_dry_run:
            self._store(fresh, joined, now)
        return outcomes

    def _draft(self, proposal: Proposal) -> "_Draft | EntryOutcome":
        try:
            asked = usable(proposal.question, "it has no question")
            answered = usable(proposal.answer, "it has no answer")
        except InvalidInput as error:
            return EntryOutcome(status=EntryStatus.REFUSED, reason=str(error))
        redactor = self._core.redactor
        question, answer = redactor.text(asked), redactor.text(answered)
        return _Draft(
            proposal=proposal,
            question=question,
            answer=answer,
            key=hashlib.sha256(f"{self.batch.workspace}\n{proposal.key}".encode()).hexdigest(),
            has_secret=(question, answer) != (asked, answered),
            asked=_asked(proposal.scope, question),
            words=comparable(answer),
        )

    def _sorted(self, draft: _Draft, known: set[str], now: datetime) -> EntryOutcome:
        """What becomes of it; from then on it is one of those that later ones are compared with."""
        if draft.key in known:
            return EntryOutcome(status=EntryStatus.KNOWN)
        answers = self._answers.setdefault(draft.asked, set())
        if draft.key in self._keys or draft.words in answers:
            is_ours = draft.key in self._keys or draft.content in self._ours
            return EntryOutcome(status=EntryStatus.JOINED if is_ours else EntryStatus.KNOWN)
        differs = bool(answers)
        self._keys.add(draft.key)
        self._ours[draft.content] = draft.key
        answers.add(draft.words)
        lesson = self._lessons[draft.key] = self._lesson(draft, now)
        flags = lesson_flags(lesson, has_secret=draft.has_secret)
        if flags:
            self._flags[draft.key] = flags
            return EntryOutcome(status=EntryStatus.HELD_BACK, reason=", ".join(flags), differs=differs)
        return EntryOutcome(
            status=EntryStatus.OWN if draft.proposal.accepted_by else EntryStatus.ADDED, differs=differs
        )

    def _read_answers(self) -> None:
        """What people wrote so far, once."""
        if self._is_ready:
            return
        self._is_ready = True
        wanted = EpisodeFilter(written_only=True, limit=None)
        with self._core.store.read() as tx:
            for lesson in tx.episodes.search(self.batch.workspace, wanted):
                asked = _asked(lesson.scope, lesson.goal)
                self._answers.setdefault(asked, set()).add(comparable(lesson.output))

    # Storing ----------------------------------------------------------------------------------------------------

    def _store(self, drafts: Sequence[_Draft], joined: Sequence[_Draft], now: datetime) -> None:
        vectors = self._embedded(drafts)
        with self._core.store.write() as tx:
            known = tx.batches.known(self.batch.workspace, [each.key for each in drafts])
            drafts = [each for each in drafts if each.key not in known]  # somebody else learns the same file
            lessons = [self._lessons[each.key] for each in drafts]
            new = [
                self._new(draft, lesson, vectors[draft.question], now)
                for draft, lesson in zip(drafts, lessons, strict=True)
            ]
            batch = tx.batches.get(self.batch.workspace, self.batch.id) or self.batch
            if batch.undone_at is not None:  # nobody would ever look at what came now
                raise Conflict(f"batch {batch.id} was taken back while it was learned; learn the file again")
            record_new(self._core, tx, new)
            tx.batches.put(batch)
            tx.batches.put_lessons(*(self._row(draft, each.id) for draft, each in zip(drafts, lessons, strict=True)))
            self._keep_joined(tx, joined)

    def _new(self, draft: _Draft, lesson: Episode, vector: Vector, now: datetime) -> NewEpisode:
        detail = {"batch": self.batch.id}
        created = event(lesson, EventKind.CREATED, lesson.author, now, detail=detail)
        voter = draft.proposal.accepted_by
        vote = replace(own_vote(lesson, Role.MEMBER, now), actor=voter)
        return NewEpisode(
            episode=lesson,
            vector=vector,
            before=[created, *quarantining(lesson, self._flags.get(draft.key, ()), now)],
            signals=(Signals(reactions=(vote,), at=now, detail=detail),) if voter else (),
            words_of=draft.proposal.others,
        )

    def _embedded(self, drafts: Sequence[_Draft]) -> Mapping[str, Vector]:
        if not drafts:
            return {}
        questions = list(dict.fromkeys(each.question for each in drafts))
        return dict(zip(questions, self._core.embedder.embed(questions), strict=True))

    def _lesson(self, draft: _Draft, now: datetime) -> Episode:
        return taught_lesson(self._core, draft.proposal.scope, draft.question, draft.answer, now)

    def _row(self, draft: _Draft, lesson_id: str) -> BatchLesson:
        return BatchLesson(
            workspace=self.batch.workspace,
            key=draft.key,
            batch_id=self.batch.id,
            lesson_id=lesson_id,
            audience=draft.proposal.audience,
            source=draft.proposal.source,
        )

    def _keep_joined(self, tx: Transaction, joined: Sequence[_Draft]) -> None:
        """What was joined is known next time, whatever became of the lesson that stands for it."""
        firsts = {each.key: self._ours[each.content] for each in joined if each.content in self._ours}
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
