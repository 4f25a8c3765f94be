"""Why an answer is what it is, and why a lesson counts as it does: numbers, votes and events behind them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from memory.model import (
    Audience,
    Episode,
    Event,
    EventKind,
    LinkKind,
    Option,
    Origin,
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
from memory.model.saved import SavedMessage
from memory.ports import Transaction
from memory.rules.decay import salience_at, strength_at
from memory.rules.fold import DECISIONS, USES, apply, effective, facts, with_verdicts
from memory.rules.verdict import ballots
from memory.services.archive import MERGED, why_archived
from memory.services.audit import Audit, RunView
from memory.services.core import ALL, Core, existing
from memory.services.tally import weights_of

_DECIDED = (*DECISIONS, EventKind.LIMITED, EventKind.QUARANTINED, EventKind.MERGED, EventKind.PURGED)
_MOVING = (EventKind.GRADED, EventKind.REGRADED, EventKind.INJECTED, EventKind.QUERY_BUMP, *USES)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedVote:
    """A vote with what it weighs for others, and the record that this comes from."""

    vote: Vote
    weight: float
    """0..2; for the asker's own scope it does not matter."""
    right: int
    wrong: int
    """How often administrators' verdicts proved the voter right and wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLesson:
    """One exemplar of one recall."""

    item: RetrievalItem
    lesson: Episode | None
    """As it is now; None if it was erased since."""
    audience: Audience | None
    """It was reached through this audience; None if nothing was noted about it."""
    votes: tuple[WeighedVote, ...]
    """The votes on it as they stand now."""
    message: SavedMessage | None = None
    """The person's message that it was made of, if it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRule:
    """A rule that was in the prompt, with the lessons it was made of."""

    rule_id: str
    lesson_ids: tuple[str, ...]
    lessons: tuple[Episode, ...]
    """Those that were not erased since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallStory:
    """One recall: how many candidates each stage let through, in order, and what was shown in the end."""

    retrieval: Retrieval
    stages: tuple[tuple[str, int | bool], ...]
    shown: tuple[ShownLesson, ...]
    rules: tuple[ShownRule, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStory:
    """One answer with every recall behind it."""

    view: RunView
    votes: tuple[WeighedVote, ...]
    recalls: tuple[RecallStory, ...]
    weighed: Mapping[str, Episode]
    """The lessons that the evidence of the recalls rests on, by id, as they are now; without those erased since."""
    offered: tuple[Option, ...] = ()
    """What it offers where it is a question; else what the question offered that it was chosen from."""
    chosen: Option | None = None
    """What the asker chose of that, where this answers it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceVerdict:
    """The verdict in one audience and the votes that gave it."""

    audience: Audience
    verdict: Verdict
    votes: tuple[WeighedVote, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """An event that moved strength or salience, and both as it left them."""

    event: Event
    strength: float
    salience: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One time it was shown, and the question's root, if that was not erased since."""

    retrieval: Retrieval
    item: RetrievalItem
    asked: Episode | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonStory:
    """One episode as a lesson: what gave its verdicts, what moved it, and how it fared."""

    episode: Episode
    verdicts: tuple[AudienceVerdict, ...]
    """Narrowest audience first."""
    votes: tuple[WeighedVote, ...]
    """Every vote that speaks about it, counted or not."""
    decisions: tuple[Event, ...]
    """Promotions, quarantine, archive and joining, oldest first."""
    joined: tuple[Episode, ...]
    """Near-duplicates that it stands for."""
    stands_in: str
    """The id of the lesson that stands for it; empty for most."""
    strength_now: float
    salience_now: float
    moves: tuple[Move, ...]
    """Oldest first."""
    uses: tuple[Use, ...]
    """Newest first."""
    totals: dict[str, int]
    """How often each signal was found."""
    message: SavedMessage | None = None
    """The person's message that it was made of, if it was."""


@dataclass(frozen=True, slots=True)
class Explaining:
    """Use cases of those who want to know why. Reading changes nothing."""

    _core: Core
    _audit: Audit

    def answer(self, workspace: str, run_id: str) -> AnswerStory:
        """One answer. Raises `NotFound`."""
        view = self._audit.run(workspace, run_id)
        with self._core.store.read() as tx:
            recalls = tuple(self._recall(tx, view, retrieval, items) for retrieval, items in view.recalls)
            weighed = {
                each for retrieval, _ in view.recalls if retrieval.evidence for each in retrieval.evidence.episode_ids
            }
            tap = view.incoming.tap if view.incoming else None
            asking = tx.episodes.of_run(workspace, tap.run_id) if tap else view.nodes
            offered = tuple(offer.option for offer in offers_of(asking))
            return AnswerStory(
                view=view,
                votes=self._weighed(tx, workspace, view.votes),
                recalls=recalls,
                weighed=tx.episodes.get_many(workspace, weighed),
                offered=offered,
                chosen=offered[tap.number - 1] if tap and tap.number <= len(offered) else None,
            )

    def _recall(
        self, tx: Transaction, view: RunView, retrieval: Retrieval, items: Sequence[RetrievalItem]
    ) -> RecallStory:
        known = [field.name for field in fields(StageCounts)]
        events = [
            event
            for event in view.events
            if event.kind is EventKind.RULE_SHOWN and event.detail.get("retrieval") == retrieval.id
        ]
        return RecallStory(
            retrieval=retrieval,
            stages=tuple((name, retrieval.counts[name]) for name in known if name in retrieval.counts),
            shown=tuple(self._shown(tx, view.lessons.get(item.episode_id), item) for item in items),
            rules=tuple(_shown_rule(tx, event) for event in events),
        )

    def _shown(self, tx: Transaction, lesson: Episode | None, item: RetrievalItem) -> ShownLesson:
        if lesson is None:
            return ShownLesson(item=item, lesson=None, audience=None, votes=())
        source = f"injected/{item.retrieval_id}/{lesson.id}"
        log = tx.log.of_episode(lesson.workspace, lesson.id)
        reached = next((event.detail.get("audience") for event in log if event.source_event_id == source), None)
        cast = ballots(lesson, tx.teaching.votes(lesson.workspace, lesson.run_id))
        return ShownLesson(
            item=item,
            lesson=lesson,
            audience=Audience(str(reached)) if reached else None,
            votes=self._weighed(tx, lesson.workspace, cast),
            message=tx.saved.of_lesson(lesson.workspace, lesson.id) if lesson.origin is Origin.TAUGHT else None,
        )

    def lesson(self, workspace: str, episode_id: str) -> LessonStory:
        """One episode as a lesson. Raises `NotFound`."""
        now = self._core.clock()
        with self._core.store.read() as tx:
            episode = existing(tx, workspace, episode_id)
            log = tx.log.of_episode(workspace, episode_id)
            votes = self._weighed(tx, workspace, ballots(episode, tx.teaching.votes(workspace, episode.run_id)))
            shown = tx.retrievals.of_episode(workspace, episode_id, limit=ALL)
            signals = Counter((item.signal or Signal.UNKNOWN).value for _, item in shown)
            archived = why_archived(tx, episode)
            return LessonStory(
                episode=episode,
                verdicts=tuple(_audience_verdict(episode, audience, votes) for audience in Audience),
                votes=votes,
                decisions=tuple(event for event in log if event.kind in _DECIDED),
                joined=tuple(_joined(tx, episode)),
                stands_in=str(archived.get("into", "")) if archived.get("reason") == MERGED else "",
                strength_now=strength_at(episode, now),
                salience_now=salience_at(episode, now),
                moves=tuple(_moves(episode, log)),
                uses=tuple(
                    Use(retrieval=retrieval, item=item, asked=_root(tx, retrieval)) for retrieval, item in shown
                ),
                totals={signal.value: signals[signal.value] for signal in Signal},
                message=tx.saved.of_lesson(workspace, episode_id),
            )

    def _weighed(self, tx: Transaction, workspace: str, votes: Iterable[Vote]) -> tuple[WeighedVote, ...]:
        cast = sorted(votes, key=lambda vote: (vote.at, vote.actor, vote.node_id))
        weights = weights_of(tx, workspace, cast, self._core.policy)
        records = tx.teaching.record_of(workspace, weights)
        return tuple(
            WeighedVote(
                vote=vote, weight=weights[vote.actor], right=records[vote.actor][0], wrong=records[vote.actor][1]
            )
            for vote in cast
        )


def _shown_rule(tx: Transaction, event: Event) -> ShownRule:
    ids = event.detail.get("lessons")
    lesson_ids = tuple(map(str, ids)) if isinstance(ids, list | tuple) else ()
    alive = tx.episodes.get_many(event.workspace, lesson_ids)
    return ShownRule(
        rule_id=str(event.detail.get("rule", "")),
        lesson_ids=lesson_ids,
        lessons=tuple(alive[each] for each in lesson_ids if each in alive),
    )


def _audience_verdict(episode: Episode, audience: Audience, votes: Sequence[WeighedVote]) -> AudienceVerdict:
    """The votes that the rules of `memory.rules.verdict` looked at for this audience."""
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
    return [
        each
        for each in tx.episodes.get_many(keeper.workspace, ids).values()
        if (why := why_archived(tx, each)).get("reason") == MERGED and why.get("into") == keeper.id
    ]


def _moves(episode: Episode, log: Sequence[Event]) -> list[Move]:
    """The fold of the log once more, noting strength and salience after each step."""
    state = facts(episode)
    moves: list[Move] = []
    for event in effective(log):
        state = apply(state, event)
        if event.kind in (EventKind.GRADED, EventKind.REGRADED):
            personal, channel, workspace = map(Verdict, str(event.detail["to"]).split())
            state = with_verdicts(state, Verdicts(personal=personal, channel=channel, workspace=workspace))
        if event.kind in _MOVING:
            moves.append(Move(event=event, strength=state.strength, salience=state.salience))
    return moves


def _root(tx: Transaction, retrieval: Retrieval) -> Episode | None:
    nodes = tx.episodes.of_run(retrieval.workspace, retrieval.run_id) if retrieval.run_id else []
    return nodes[0] if nodes else None
