"""The evidence for one goal: how far all lessons in reach speak for each action and answer."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import prod
from types import MappingProxyType

from memory.errors import EmbeddingFailed
from memory.model import ASK, TAP, Audience, Origin, Role, Scope, Standing, Termination, Vector, Verdict
from memory.model.evidence import ActionText, Evidence, Threshold
from memory.ports import Ballot, LessonSummary, Neighbour, Neighbourhood, Transaction, WeighingInput
from memory.rules.audience import partitions_for, proposals_for
from memory.rules.evidence.judged_lesson import ANSWER, Candidate, JudgedLesson, noise_of
from memory.rules.evidence.named_action import named_action
from memory.rules.evidence.posterior import EvidenceConfig
from memory.rules.evidence.reliability import LEAST_RELIABLE
from memory.rules.evidence.threshold import first_threshold
from memory.rules.evidence.voices import NoisyVerdict, Voice
from memory.rules.evidence.weighing import as_matrix, weigh
from memory.rules.verdict import is_implied, voice_weight
from memory.services.core import Core
from memory.services.embedders import merged
from memory.services.verdicts.tally import threshold_of

# Module constants, because enum member look-ups are slow here.
_RUN, _PERSONAL, _WORKSPACE, _SUCCESS = Origin.RUN, Audience.PERSONAL, Audience.WORKSPACE, Verdict.SUCCESS
_EXPAND = Termination.EXPAND
_DECIDED = frozenset(verdict for verdict in Verdict if verdict.is_validated)
_ALL_RELIABLE: Mapping[str, float] = MappingProxyType({})
_MOST_JUDGED = 8
"""How many judged forms of one lesson are cached."""
_PROMOTING = frozenset(role for role in Role if role.may_promote)

_DependsOn = tuple["Weighing", Audience, Verdict, frozenset[str], tuple[float, ...]]
"""Cache key of a judged lesson: weighing, audience, verdict, action names, and the reliability of each voter."""
WeightOf = Callable[[Standing, int, int, Role], float]
"""The weight for others of a voter with this standing, times proven right, times proven wrong, and role."""


class Weighing:
    """The use case that weighs lessons. Embedded descriptions of actions are cached."""

    def __init__(self, core: Core, config: EvidenceConfig | None = None) -> None:
        self._core = core
        self.config = config or core.evidence
        self._first_threshold = first_threshold(core.policy.error_budget)
        """The threshold of a workspace without judgements."""
        # Cached by the voter alone: hashing the policy takes longer than computing the weight.
        self._weight_of: WeightOf = lru_cache(maxsize=4096)(
            lambda standing, right, wrong, role: voice_weight(standing, right, wrong, role, core.policy)
        )
        self._shared: Callable[[_DependsOn], _DependsOn] = lru_cache(maxsize=256)(lambda key: key)
        """Equal keys as one object: each cached lesson has one."""
        self._described = lru_cache(maxsize=8)(
            lambda actions: (
                frozenset([each.name for each in actions]),
                as_matrix(core.embedder.embed([each.text for each in actions])),
            )
        )

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str = "") -> Evidence:
        """The evidence for a goal; empty if the embedder fails."""
        vector = self._core.embedded(goal)
        if vector is None:
            return Evidence()
        other_vectors = self._core.other_embedders.embedded(scope.workspace, goal)
        with self._core.store.read() as tx:
            nearest = self.nearest(tx, scope, vector, actions, other_vectors)
            return self.weigh_nearest(tx, scope, vector, nearest, actions, run_id=run_id)[0]

    def nearest(
        self,
        tx: Transaction,
        scope: Scope,
        goal: Vector,
        actions: Sequence[ActionText] = (),
        other_vectors: Mapping[str, Vector] = MappingProxyType({}),
    ) -> Neighbourhood:
        """The nearest lessons in the asker's reach, best first, and how well lessons fit each action.

        `other_vectors` is the goal as embedded by `OtherEmbedders`. Runs that found no answer are left out.
        """
        partitions, model, count = partitions_for(scope), self._core.embedder.name, self.config.lessons
        proposals = proposals_for(scope) if self.config.proposals else []
        names = [action.name for action in actions]
        found = tx.episodes.nearest(
            scope.workspace,
            partitions,
            model,
            goal,
            count,
            -1.0,
            proposals=proposals,
            actions=names,
            include_gave_up=False,
        )
        if other_vectors:
            more = self._core.other_embedders.nearest(
                tx,
                scope.workspace,
                partitions,
                other_vectors,
                goal,
                count,
                -1.0,
                proposals=proposals,
                actions=actions,
                include_gave_up=False,
            )
            found = merged(found, more, count)
        return found

    def weigh_nearest(
        self,
        tx: Transaction,
        scope: Scope,
        goal: Vector,
        nearest: Neighbourhood,
        actions: Sequence[ActionText],
        *,
        run_id: str = "",
    ) -> tuple[Evidence, WeighingInput]:
        """The evidence of the nearest lessons (`nearest`) for a goal, and the input that one statement read for it.

        Episodes of the run `run_id`, which asks, do not count. The evidence is empty if the descriptions of the actions
        cannot be embedded.
        """
        most = self.config.lessons
        ids, vectors = nearest.ids[:most], nearest.vectors[:most]
        read = tx.episodes.weighing_input(scope.workspace, scope.channel, ids)
        try:
            names, descriptions = self._described(tuple(actions)) if actions else (frozenset[str](), as_matrix([goal]))
        except EmbeddingFailed:
            return Evidence(), read
        reliability = read.threshold.reliability if read.threshold else _ALL_RELIABLE
        lessons: list[JudgedLesson] = []
        places: list[int] = []
        plan = ""
        found = zip(map(read.lessons.get, ids), nearest.audiences, nearest.verdicts, strict=False)
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
                hit = nearest.hit(place)
                judged = _judged(summary, hit, scope.person, names, reliability, self._weight_of, self.config)
                _keep(summary, self._shared(depends_on), judged)
            for lesson in judged:
                lessons.append(lesson)
                places.append(place)
        if places != list(range(len(ids))):
            vectors = [vectors[place] for place in places]
        least = self._threshold(tx, scope.workspace, read.threshold)
        evidence = weigh(goal, lessons, vectors, actions, descriptions, self.config, nearest.fits, threshold=least)
        return replace(evidence, plan=plan) if plan else evidence, read

    def _threshold(self, tx: Transaction, workspace: str, stored: Threshold | None) -> float:
        if stored is None:
            return self._first_threshold
        budget = self._core.policy.error_budget
        return stored.value if stored.budget == budget else threshold_of(tx, workspace, budget)


def _keep(summary: LessonSummary, depends_on: _DependsOn, judged: Sequence[JudgedLesson]) -> None:
    """Cache a judged lesson, unless a vote counts for its voter only: then it differs between askers."""
    if not any(vote.is_limited for vote in summary.votes):
        known = summary.judged if len(summary.judged) < _MOST_JUDGED else ()
        summary.judged = (*known, (depends_on, judged))


# Equal parts of cached lessons are one object, to save memory.
_noisy_verdict = lru_cache(maxsize=4096)(NoisyVerdict)
_action_candidate = lru_cache(maxsize=256)(partial(Candidate.of, text=""))


def _judged(
    summary: LessonSummary,
    hit: Neighbour,
    person: str,
    actions: Collection[str],
    reliability: Mapping[str, float],
    weight_of: WeightOf,
    config: EvidenceConfig,
) -> list[JudgedLesson]:
    """A lesson as judged for one asker: none, one, or for a proposal one for those who approve and one for the others.

    None if it is about no action of this agent and no answer. A decided lesson has its verdict. A proposed one is
    judged by all voters with a weight for others; it is left out if both sides weigh the same, unless it is a question.
    """
    action, offered = _subject(summary, actions)
    is_question = bool(offered)
    if action != ANSWER and action not in actions and not is_question:
        return []
    judged = offered or [(action, summary.output if action == ANSWER else "")]
    candidates = tuple([Candidate.of(*each) if each[1] else _action_candidate(each[0]) for each in judged])
    is_own, is_decided = hit.audience is _PERSONAL, hit.verdict in _DECIDED
    counted = [vote for vote in summary.votes if not vote.is_limited or vote.actor == person]
    sides = [
        (approves, behind, _voices(behind, weight_of))
        for approves in ((hit.verdict is _SUCCESS,) if is_decided else (True, False))
        if not (approves and is_question)  # a liked question says nothing about its options
        for behind in ([vote for vote in counted if (vote.value > 0) is approves],)
        if behind or is_decided
    ]
    if len(sides) == 2 and _weight(sides[0][2]) == _weight(sides[1][2]):
        return []
    found: list[JudgedLesson] = []
    for approves, behind, voices in sides:
        # An own decision counts in full, even if one who agrees weighs less.
        if is_decided and is_own and (len(behind) < 2 or _weight(voices) < 1):
            voices = ()
        if is_decided or voices:
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


def _subject(summary: LessonSummary, actions: Collection[str]) -> tuple[str, list[tuple[str, str]]]:
    """The action that a lesson is about, and of a question the options that it offered."""
    action = summary.action
    if action == ANSWER and summary.origin is not _RUN:
        action = named_action(summary.output, actions) or ANSWER
    if action != ASK:
        return action, []
    return action, [each.candidate for each in summary.offered if each.action in (ANSWER, *actions)]


def _observation(
    approves: bool,
    summary: LessonSummary,
    hit: Neighbour,
    behind: Sequence[Ballot],
    voices: tuple[Voice, ...],
    reliability: Mapping[str, float],
    config: EvidenceConfig,
) -> NoisyVerdict:
    """The verdict with its noise variance and the biases of its voices.

    `behind` are the votes for it, `voices` their weights for others; empty if these do not matter.
    """
    is_own, is_decided = hit.audience is _PERSONAL, hit.verdict in _DECIDED
    is_promoted = is_decided and hit.audience is _WORKSPACE
    is_trusted = is_promoted or not _PROMOTING.isdisjoint([vote.role for vote in behind])
    together = 1.0 if is_trusted or not reliability else _joint_reliability(behind, reliability)
    # A lesson decided for others has a quorum or a teacher behind it, so its voices have no bias.
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
    return _noisy_verdict(approves, noise, biased, together)


def _weight(voices: Sequence[Voice]) -> float:
    return sum([voice.weight for voice in voices])


def _voices(votes: Sequence[Ballot], weight_of: WeightOf) -> tuple[Voice, ...]:
    """The voters with a weight for others, each once. Newcomers and people who lost all trust have none."""
    weights: dict[str, float] = {}
    for actor, role, _, _, _, standing, right, wrong, _ in votes:
        weight = weight_of(standing, right, wrong, role)
        if weight > weights.get(actor, 0.0):
            weights[actor] = weight
    return tuple([Voice(author, weight) for author, weight in sorted(weights.items())])


def _joint_reliability(votes: Sequence[Ballot], reliability: Mapping[str, float]) -> float:
    """The joint reliability of voters who agree, in (0, 1]; 1 if one of them chose among options or corrected.

    They are all right or all wrong. With the probability u of being wrong, the reliability 1 - 2u is the tanh of half
    the log odds, and log odds add up, so a further voter never lowers it.
    """
    thumbs = [vote.actor for vote in votes if vote.source != TAP and not is_implied(vote.source)]
    if len(thumbs) < len(votes):
        return 1.0
    # Stored values may be out of range, and a share of 0 would make the noise infinite.
    shares = [max(LEAST_RELIABLE, min(1.0, reliability.get(actor, 1.0))) for actor in thumbs]
    odds = prod([(1 - each) / (1 + each) for each in shares])
    return (1 - odds) / (1 + odds) if thumbs else 1.0
