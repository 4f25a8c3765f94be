"""Explanations of answers and of lessons: the recalls, votes and events behind them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

from memory.model import (
    Audience,
    Episode,
    Event,
    EventKind,
    LinkKind,
    Option,
    Retrieval,
    RetrievalItem,
    Role,
    Signal,
    StageCounts,
    Verdict,
    Verdicts,
    Vote,
    offers_of,
)
from memory.model.saved_messages import SavedMessage
from memory.ports import Transaction
from memory.rules.fold import DECISIONS, USES, apply, effective_events, unjudged, with_verdicts
from memory.rules.strength import salience_at, strength_at
from memory.rules.verdict import ballots
from memory.services.core import ALL, Core, require_episode
from memory.services.reports.audit import Audit, RunView
from memory.services.verdicts.archive import MERGED, why_archived_in
from memory.services.verdicts.tally import weights_of

_DECIDED = (*DECISIONS, EventKind.LIMITED, EventKind.QUARANTINED, EventKind.MERGED, EventKind.PURGED)
_MOVING = (EventKind.GRADED, EventKind.REGRADED, EventKind.INJECTED, EventKind.QUERY_BUMP, *USES)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedVote:
    """A vote with its weight for others, and the record that the weight comes from."""

    vote: Vote
    weight: float
    """0..2; without effect in the voter's own scope."""
    right: int
    wrong: int
    """How often administrators' verdicts proved the voter (right, wrong)."""


Weigher: TypeAlias = Callable[[Iterable[Vote]], tuple[WeighedVote, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLesson:
    """One exemplar of one recall."""

    item: RetrievalItem
    lesson: Episode | None
    """The episode as it is now; None if it was erased since."""
    audience: Audience | None
    """The audience through which it was found; None if that was not logged."""
    votes: tuple[WeighedVote, ...]
    """The current votes on it."""
    message: SavedMessage | None = None
    """The message that it was saved from, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRule:
    """A rule that was in the prompt, with its lessons."""

    rule_id: str
    lesson_ids: tuple[str, ...]
    lessons: tuple[Episode, ...]
    """The lessons that it was made of, without those erased since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallExplanation:
    """One recall: how many candidates each stage let through, in order, and what was shown."""

    retrieval: Retrieval
    stages: tuple[tuple[str, int | bool], ...]
    shown: tuple[ShownLesson, ...]
    rules: tuple[ShownRule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerExplanation:
    """One answer with every recall behind it."""

    view: RunView
    votes: tuple[WeighedVote, ...]
    recalls: tuple[RecallExplanation, ...]
    weighed: Mapping[str, Episode]
    """The lessons in the evidence of the recalls, by id, as they are now, without those erased since."""
    offered: tuple[Option, ...] = ()
    """The options that it offers if it is a question; else the options that it was chosen from."""
    chosen: Option | None = None
    """The option that the asker chose, if this answers the choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceVerdict:
    """The verdict in one audience and the votes that it is based on."""

    audience: Audience
    verdict: Verdict
    votes: tuple[WeighedVote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthChange:
    """An event that changed strength or salience, with both values after it."""

    event: Event
    strength: float
    salience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonUse:
    """One use of a lesson, with the root node of the question, if that was not erased since."""

    retrieval: Retrieval
    item: RetrievalItem
    asked: Episode | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonExplanation:
    """One episode as a lesson: the votes behind its verdicts, the changes of its strength, and its uses."""

    episode: Episode
    verdicts: tuple[AudienceVerdict, ...]
    """Narrowest audience first."""
    votes: tuple[WeighedVote, ...]
    """All votes about it, counted or not."""
    decisions: tuple[Event, ...]
    """Promotions, quarantine, archiving and merging, oldest first."""
    joined: tuple[Episode, ...]
    """The duplicates that were merged into it."""
    stands_in: str
    """The id of the lesson that it was merged into; mostly empty."""
    strength_now: float
    salience_now: float
    moves: tuple[StrengthChange, ...]
    """Oldest first."""
    uses: tuple[LessonUse, ...]
    """Its newest uses, newest first; `totals` counts all."""
    totals: dict[str, int]
    """The number of uses with each signal."""
    message: SavedMessage | None = None
    """The message that it was saved from, if any."""


@dataclass(frozen=True, slots=True)
class Explaining:
    """The use cases of explanations. They only read."""

    _core: Core
    _audit: Audit

    def answer(self, workspace: str, run_id: str) -> AnswerExplanation:
        """Explain one answer. Raises `NotFound`."""
        view = self._audit.run(workspace, run_id)
        rule_events = [event for event in view.events if event.kind is EventKind.RULE_SHOWN]
        weighed = {
            each for retrieval, _ in view.recalls if retrieval.evidence for each in retrieval.evidence.episode_ids
        }
        with self._core.store.read() as tx:
            cast = tx.teaching.votes_of_runs(workspace, {lesson.run_id for lesson in view.lessons.values()})
            votes = {each.id: ballots(each, cast.get(each.run_id, ())) for each in view.lessons.values()}
            behind = _RecallSources(
                view=view,
                votes=votes,
                weigh=self._weigher(tx, workspace, [*view.votes, *(vote for each in votes.values() for vote in each)]),
                injected=_injected(tx, view),
                rule_events=rule_events,
                messages=tx.saved.of_lessons(workspace, view.lessons),
                alive=tx.episodes.get_many(workspace, weighed.union(*map(_lessons_of, rule_events))),
            )
            tap = view.incoming.tap if view.incoming else None
            asking = tx.episodes.of_run(workspace, tap.run_id) if tap else view.nodes
        offered = tuple(offer.option for offer in offers_of(asking))
        return AnswerExplanation(
            view=view,
            votes=behind.weigh(view.votes),
            recalls=tuple(behind.recall(retrieval, items) for retrieval, items in view.recalls),
            weighed={each: behind.alive[each] for each in weighed if each in behind.alive},
            offered=offered,
            chosen=offered[tap.number - 1] if tap and tap.number <= len(offered) else None,
        )

    def lesson(self, workspace: str, episode_id: str, *, uses: int = ALL) -> LessonExplanation:
        """Explain one episode as a lesson, with its newest `uses`. Raises `NotFound`."""
        now = self._core.clock()
        with self._core.store.read() as tx:
            episode = require_episode(tx, workspace, episode_id)
            log = tx.log.of_episode(workspace, episode_id)
            cast = ballots(episode, tx.teaching.votes(workspace, episode.run_id))
            votes = self._weigher(tx, workspace, cast)(cast)
            shown = tx.retrievals.of_episode(workspace, episode_id, limit=ALL)
            asked = tx.episodes.of_runs(workspace, {retrieval.run_id for retrieval, _ in shown[:uses]} - {""})
            signals = Counter((item.signal or Signal.UNKNOWN).value for _, item in shown)
            archived = why_archived_in(log) if episode.archived_at else {}
            return LessonExplanation(
                episode=episode,
                verdicts=tuple(_audience_verdict(episode, audience, votes) for audience in Audience),
                votes=votes,
                decisions=tuple(event for event in log if event.kind in _DECIDED),
                joined=tuple(_joined(tx, episode)),
                stands_in=str(archived.get("into", "")) if archived.get("reason") == MERGED else "",
                strength_now=strength_at(episode, now),
                salience_now=salience_at(episode, now),
                moves=tuple(_strength_changes(episode, log)),
                uses=tuple(
                    LessonUse(retrieval=retrieval, item=item, asked=next(iter(asked.get(retrieval.run_id, ())), None))
                    for retrieval, item in shown[:uses]
                ),
                totals={signal.value: signals[signal.value] for signal in Signal},
                message=tx.saved.of_lessons(workspace, [episode_id]).get(episode_id),
            )

    def _weigher(self, tx: Transaction, workspace: str, votes: Sequence[Vote]) -> Weigher:
        """A function that returns any of these votes with their weights, in order of time."""
        weights = weights_of(tx, workspace, votes, self._core.policy)
        records = tx.teaching.record_of(workspace, weights)

        def weighed(cast: Iterable[Vote]) -> tuple[WeighedVote, ...]:
            return tuple(
                WeighedVote(
                    vote=vote, weight=weights[vote.actor], right=records[vote.actor][0], wrong=records[vote.actor][1]
                )
                for vote in sorted(cast, key=lambda vote: (vote.at, vote.actor, vote.node_id))
            )

        return weighed


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecallSources:
    """The data behind the recalls of one answer, read together."""

    view: RunView
    votes: Mapping[str, Sequence[Vote]]
    """The votes on each lesson."""
    weigh: Weigher
    injected: Mapping[str, Audience]
    """The audience through which a lesson was found, by the event that records it."""
    rule_events: Sequence[Event]
    """The events of the rules that were shown."""
    messages: Mapping[str, SavedMessage]
    """The person's message that a lesson was saved from, for those that were."""
    alive: Mapping[str, Episode]

    def recall(self, retrieval: Retrieval, items: Sequence[RetrievalItem]) -> RecallExplanation:
        known = [field.name for field in fields(StageCounts)]
        rule_events = [event for event in self.rule_events if event.detail.get("retrieval") == retrieval.id]
        return RecallExplanation(
            retrieval=retrieval,
            stages=tuple((name, retrieval.counts[name]) for name in known if name in retrieval.counts),
            shown=tuple(map(self._shown, items)),
            rules=tuple(map(self._rule, rule_events)),
        )

    def _shown(self, item: RetrievalItem) -> ShownLesson:
        lesson = self.view.lessons.get(item.episode_id)
        return ShownLesson(
            item=item,
            lesson=lesson,
            audience=self.injected.get(_source(item)) if lesson else None,
            votes=self.weigh(self.votes[item.episode_id]) if lesson else (),
            message=self.messages.get(item.episode_id),
        )

    def _rule(self, event: Event) -> ShownRule:
        ids = _lessons_of(event)
        return ShownRule(
            rule_id=str(event.detail.get("rule", "")),
            lesson_ids=ids,
            lessons=tuple(self.alive[each] for each in ids if each in self.alive),
        )


def _injected(tx: Transaction, view: RunView) -> dict[str, Audience]:
    sources = [_source(item) for _, items in view.recalls for item in items]
    found = tx.log.of_sources(view.root.workspace, sources)
    named = {event.source_event_id: str(event.detail.get("audience") or "") for event in found}
    return {source: Audience(name) for source, name in named.items() if name}


def _source(item: RetrievalItem) -> str:
    """The id of the event that records it."""
    return f"injected/{item.retrieval_id}/{item.episode_id}"


def _lessons_of(event: Event) -> tuple[str, ...]:
    """The ids of the lessons that a rule was made of when it was shown."""
    ids = event.detail.get("lessons")
    return tuple(map(str, ids)) if isinstance(ids, list | tuple) else ()


def _audience_verdict(episode: Episode, audience: Audience, votes: Sequence[WeighedVote]) -> AudienceVerdict:
    """The verdict in this audience with the votes that `memory.rules.verdict` considers for it."""
    decrees = [each for each in votes if each.vote.role is Role.ADMIN]
    own = [each for each in votes if each.vote.actor == episode.person]
    others = [each for each in votes if not each.vote.is_limited and each.weight > 0]
    of_teachers = [each for each in others if each.vote.role is Role.TEACHER]
    if audience is Audience.WORKSPACE and episode.promoted is not Audience.WORKSPACE:
        behind = []
    else:
        behind = decrees or (own if audience is Audience.PERSONAL else of_teachers or others)
    return AudienceVerdict(audience=audience, verdict=episode.verdicts.of(audience), votes=tuple(behind))


def _joined(tx: Transaction, keeper: Episode) -> list[Episode]:
    links = tx.episodes.links(keeper.workspace, [keeper.id])
    ids = [link.from_id for link in links if link.kind is LinkKind.SAME_GOAL and link.to_id == keeper.id]
    archived = {name: each for name, each in tx.episodes.get_many(keeper.workspace, ids).items() if each.archived_at}
    logs = tx.log.of_episodes(keeper.workspace, archived)
    why = {name: why_archived_in(logs.get(name, ())) for name in archived}
    merged = [name for name in archived if why[name].get("reason") == MERGED and why[name].get("into") == keeper.id]
    return [archived[name] for name in merged]


def _strength_changes(episode: Episode, log: Sequence[Event]) -> list[StrengthChange]:
    """Replay the log, recording strength and salience after each event that changes them."""
    state = unjudged(episode)
    changes: list[StrengthChange] = []
    for event in effective_events(log):
        state = apply(state, event)
        if event.kind in (EventKind.GRADED, EventKind.REGRADED):
            personal, channel, workspace = map(Verdict, str(event.detail["to"]).split())
            state = with_verdicts(state, Verdicts(personal=personal, channel=channel, workspace=workspace))
        if event.kind in _MOVING:
            changes.append(StrengthChange(event=event, strength=state.strength, salience=state.salience))
    return changes
