"""The evidence for one goal: what all lessons in reach say together about what could be done or said."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from math import prod
from types import MappingProxyType

from memory.errors import EmbeddingFailed
from memory.model import ASK, TAP, Audience, Origin, Role, Scope, Standing, Termination, Vector, Verdict
from memory.model.evidence import ActionText, Evidence, Threshold
from memory.ports import Ballot, LessonSummary, Neighbour, Neighbourhood, Transaction, WeighingInput
from memory.rules.audience import partitions_for, proposals_for
from memory.rules.evidence.answers import named_action
from memory.rules.evidence.judged_lesson import ANSWER, Candidate, JudgedLesson, noise_of
from memory.rules.evidence.posterior import EvidenceConfig
from memory.rules.evidence.reliability import LEAST_RELIABLE
from memory.rules.evidence.threshold import first_threshold, is_implied
from memory.rules.evidence.voices import NoisyVerdict, Voice
from memory.rules.evidence.weighing import rows, weigh
from memory.rules.verdict import voice_weight
from memory.services.core import Core
from memory.services.embedders import merged
from memory.services.verdicts.tally import threshold_of

# By names of their own: to look up a member of an enumeration takes as long as all that is done with it here.
_RUN, _PERSONAL, _WORKSPACE, _SUCCESS = Origin.RUN, Audience.PERSONAL, Audience.WORKSPACE, Verdict.SUCCESS
_EXPAND = Termination.EXPAND
_DECIDED = frozenset(verdict for verdict in Verdict if verdict.is_validated)
_ALL_RELIABLE: Mapping[str, float] = MappingProxyType({})
_MOST_JUDGED = 8
"""In how many ways what is made of one lesson is kept."""
_PROMOTING = frozenset(role for role in Role if role.may_promote)

_DependsOn = tuple["Weighing", Audience, Verdict, frozenset[str], tuple[float, ...]]
"""What else than the lesson it depends on how it is judged: the last are how far its voters can be relied on."""
WeightOf = Callable[[Standing, int, int, Role], float]
"""What a vote of somebody with this standing, and proven right and wrong so often, weighs for others."""


class Weighing:
    """The use case of evidence. The descriptions of a set of actions are embedded once."""

    def __init__(self, core: Core, config: EvidenceConfig | None = None) -> None:
        self._core = core
        self.config = config or core.evidence
        # By the voter alone: to look the policy up as well takes longer than its rule.
        self._weight_of: WeightOf = lru_cache(maxsize=4096)(
            lambda standing, right, wrong, role: voice_weight(standing, right, wrong, role, core.policy)
        )
        self._described = lru_cache(maxsize=8)(
            lambda actions: (
                frozenset([each.name for each in actions]),
                rows(core.embedder.embed([each.text for each in actions])),
            )
        )

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str = "") -> Evidence:
        """The evidence for a goal; none where nothing can be embedded."""
        vector = self._core.embedded(goal)
        if vector is None:
            return Evidence()
        others = self._core.others.embedded(scope.workspace, goal)
        with self._core.store.read() as tx:
            near = self.near(tx, scope, vector, actions, others)
            return self.weighed(tx, scope, vector, near, actions, run_id=run_id)[0]

    def near(
        self,
        tx: Transaction,
        scope: Scope,
        goal: Vector,
        actions: Sequence[ActionText] = (),
        others: Mapping[str, Vector] = MappingProxyType({}),
    ) -> Neighbourhood:
        """The lessons that are weighed for a goal: the nearest in reach, best first, and what approves the actions.

        `others` is the goal as `OtherEmbedders` embedded it. Runs that found no answer say nothing of what is right.
        """
        partitions, model, count = partitions_for(scope), self._core.embedder.name, self.config.lessons
        beside = proposals_for(scope) if self.config.proposals else []
        names = [action.name for action in actions]
        found = tx.episodes.nearest(
            scope.workspace, partitions, model, goal, count, -1.0, beside=beside, actions=names, gave_up=False
        )
        if others:
            more = self._core.others.nearest(
                tx,
                scope.workspace,
                partitions,
                others,
                goal,
                count,
                -1.0,
                beside=beside,
                actions=actions,
                gave_up=False,
            )
            found = merged(found, more, count)
        return found

    def weighed(
        self,
        tx: Transaction,
        scope: Scope,
        goal: Vector,
        near: Neighbourhood,
        actions: Sequence[ActionText],
        *,
        run_id: str = "",
    ) -> tuple[Evidence, WeighingInput]:
        """The evidence of the nearest lessons for a goal, and what was read for it, in one statement.

        `near` is what was found in the asker's partitions; `run_id` is the run that asks, whose own episodes do not
        count. None where the descriptions of the actions cannot be embedded.
        """
        most = self.config.lessons
        ids, vectors = near.ids[:most], near.vectors[:most]
        read = tx.episodes.weighing_input(scope.workspace, scope.channel, ids)
        try:
            names, descriptions = self._described(tuple(actions)) if actions else (frozenset[str](), rows([goal]))
        except EmbeddingFailed:
            return Evidence(), read
        reliability = read.threshold.reliability if read.threshold else _ALL_RELIABLE
        lessons: list[JudgedLesson] = []
        places: list[int] = []
        plan = ""
        found = zip(map(read.lessons.get, ids), near.audiences, near.verdicts, strict=False)
        for place, (summary, audience, verdict) in enumerate(found):
            if summary is None or summary.run_id == run_id:
                continue
            if summary.action == _EXPAND:
                plan = plan or summary.id
            of_voters = tuple([reliability.get(vote.actor, 1.0) for vote in summary.votes]) if reliability else ()
            depends_on: _DependsOn = (self, audience, verdict, names, of_voters)
            for known in summary.judged:
                if known[0] == depends_on:
                    judged: Sequence[JudgedLesson] = known[1]
                    break
            else:
                hit = near.hit(place)
                judged = _judged(summary, hit, scope.person, names, reliability, self._weight_of, self.config)
                _keep(summary, depends_on, judged)
            for lesson in judged:
                lessons.append(lesson)
                places.append(place)
        if places != list(range(len(ids))):
            vectors = [vectors[place] for place in places]
        least = self._threshold(tx, scope.workspace, read.threshold)
        evidence = weigh(goal, lessons, vectors, actions, descriptions, self.config, near.fits, threshold=least)
        return replace(evidence, plan=plan) if plan else evidence, read

    @cached_property
    def _first_threshold(self) -> float:
        """Where nobody judged anything yet."""
        return first_threshold(self._core.policy.error_budget)

    def _threshold(self, tx: Transaction, workspace: str, stored: Threshold | None) -> float:
        if stored is None:
            return self._first_threshold
        budget = self._core.policy.error_budget
        return stored.value if stored.budget == budget else threshold_of(tx, workspace, budget)


def _keep(summary: LessonSummary, depends_on: _DependsOn, judged: Sequence[JudgedLesson]) -> None:
    """Keep the lesson as it is judged: for everybody alike, unless a vote counts for its voter only."""
    if not any(vote.is_limited for vote in summary.votes):
        known = summary.judged if len(summary.judged) < _MOST_JUDGED else ()
        summary.judged = (*known, (depends_on, judged))


def _judged(
    summary: LessonSummary,
    hit: Neighbour,
    person: str,
    actions: Collection[str],
    reliability: Mapping[str, float],
    weight_of: WeightOf,
    config: EvidenceConfig,
) -> list[JudgedLesson]:
    """The lesson as those who approve and as those who refuse judge it, for one asker.

    None if it speaks about nothing that can be done here: an action, or an answer. What was decided, for the asker or
    for more, speaks for itself; of what is only proposed everybody speaks whose vote does something for others,
    unless as many refuse as approve.
    """
    action = summary.action
    if action == ANSWER and summary.origin is not _RUN:
        action = named_action(summary.output, actions) or ANSWER
    offered = [each.candidate for each in summary.offered if each.action in (ANSWER, *actions)]
    is_question = action == ASK and bool(offered)
    if action != ANSWER and action not in actions and not is_question:
        return []
    judged = offered if is_question else [(action, summary.output if action == ANSWER else "")]
    candidates = tuple([Candidate.of(*each) for each in judged])
    is_own, is_decided = hit.audience is _PERSONAL, hit.verdict in _DECIDED
    counted = [vote for vote in summary.votes if not vote.is_limited or vote.actor == person]
    sides = [
        (approves, behind, _voices(behind, weight_of))
        for approves in ((hit.verdict is _SUCCESS,) if is_decided else (True, False))
        for behind in ([vote for vote in counted if (vote.value > 0) is approves],)
        if behind or is_decided
    ]
    if not is_decided and not is_question and len(sides) == 2 and _weight(sides[0][2]) == _weight(sides[1][2]):
        return []
    found: list[JudgedLesson] = []
    for approves, behind, voices in sides:
        # Of what the asker alone decided, nothing goes by the voice; and whoever agrees makes it no less.
        if is_decided and is_own and (len(behind) < 2 or _weight(voices) < 1):
            voices = ()
        says_nothing = is_question and approves  # that the question was liked is no opinion of what it offered
        if (is_decided or voices) and not says_nothing:
            one = JudgedLesson(
                id=summary.id,
                goal=summary.goal,
                action=action,
                candidates=candidates,
                observation=_observation(approves, summary, hit, behind, voices, reliability, config),
                decided_at=min([vote.at for vote in behind], default=summary.decided_at),
                people=tuple([vote.actor for vote in behind]) or (summary.author,),
                is_own=is_own,
                is_question=is_question,
                is_written=summary.origin is not _RUN,
                is_counted=hit.verdict is _SUCCESS,
            )
            found.append(one)
    return found


def _observation(
    approves: bool,
    summary: LessonSummary,
    hit: Neighbour,
    behind: Sequence[Ballot],
    voices: tuple[Voice, ...],
    reliability: Mapping[str, float],
    config: EvidenceConfig,
) -> NoisyVerdict:
    """What the verdict of those behind it is worth; `voices` are what they weigh for others, where that matters."""
    is_own, is_decided = hit.audience is _PERSONAL, hit.verdict in _DECIDED
    is_promoted = is_decided and hit.audience is _WORKSPACE
    is_trusted = is_promoted or not _PROMOTING.isdisjoint([vote.role for vote in behind])
    together = 1.0 if is_trusted or not reliability else _together(behind, reliability)
    # What was decided for others several agree on, or a teacher promoted it.
    biased = () if is_own or is_decided or is_trusted else voices
    noise = noise_of(
        config,
        voices,
        is_trusted=is_trusted,
        is_written=is_own and summary.origin is not _RUN,
        is_tapped=TAP in [vote.source for vote in behind],
        is_biased=bool(biased),
        reliability=together,
    )
    return NoisyVerdict(approves, noise, biased, together)


def _weight(voices: Sequence[Voice]) -> float:
    """What they weigh together."""
    return sum([voice.weight for voice in voices])


def _voices(votes: Sequence[Ballot], weight_of: WeightOf) -> tuple[Voice, ...]:
    """Each voter once, with what they weigh for others: newcomers, and those whose trust is used up, have no voice."""
    weights: dict[str, float] = {}
    for actor, role, _, _, _, standing, right, wrong, _ in votes:
        weight = weight_of(standing, right, wrong, role)
        if weight > weights.get(actor, 0.0):
            weights[actor] = weight
    return tuple([Voice(author, weight) for author, weight in sorted(weights.items())])


def _together(votes: Sequence[Ballot], reliability: Mapping[str, float]) -> float:
    """How far those who agree can be relied on together; whoever chose among several, or corrected, wholly.

    They are all wrong, or none: with the probabilities u of that, 1 - 2u of each is the tanh of half its log odds,
    and log odds add up. Nobody who joins lowers it.
    """
    thumbs = [vote.actor for vote in votes if vote.source != TAP and not is_implied(vote.source)]
    if len(thumbs) < len(votes):
        return 1.0
    # Whatever is stored: a share of 0 would leave nothing to divide by.
    shares = [max(LEAST_RELIABLE, min(1.0, reliability.get(actor, 1.0))) for actor in thumbs]
    odds = prod([(1 - each) / (1 + each) for each in shares])
    return (1 - odds) / (1 + odds) if thumbs else 1.0
