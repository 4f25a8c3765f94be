"""The evidence for one goal: what all lessons in reach say together about what could be done or said."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

from memory.errors import EmbeddingFailed
from memory.model import ASK, TAP, Audience, Origin, Role, Scope, Standing, Termination, Vector, Verdict
from memory.model.evidence import ActionText, Evidence, Threshold
from memory.ports import Ballot, LessonSummary, Neighbour, Neighbourhood, Transaction, WeighingInput
from memory.rules.audience import partitions_for, proposals_for
from memory.rules.evidence.answers import named_action
from memory.rules.evidence.posterior import EvidenceConfig, Voice
from memory.rules.evidence.threshold import threshold
from memory.rules.evidence.weighing import ANSWER, JudgedLesson, rows, weigh
from memory.rules.trust import voice_weight
from memory.services.core import Core
from memory.services.embedders import merged
from memory.services.thresholds import threshold_of

# By names of their own: to look up a member of an enumeration takes as long as all that is done with it here.
_RUN, _PERSONAL, _WORKSPACE, _SUCCESS = Origin.RUN, Audience.PERSONAL, Audience.WORKSPACE, Verdict.SUCCESS
_DECIDED = frozenset(verdict for verdict in Verdict if verdict.is_validated)
_PROMOTING = frozenset(role for role in Role if role.may_promote)

WeightOf = Callable[[Standing, int, int, Role], float]
"""What a vote of somebody with this standing, and proven right and wrong so often, weighs for others."""


class Weighing:
    """The use case of evidence. The descriptions of a set of actions are embedded once."""

    def __init__(self, core: Core, config: EvidenceConfig | None = None) -> None:
        self._core = core
        self.config = config or EvidenceConfig()
        # By the voter alone: to look the policy up as well takes longer than its rule.
        self._weight_of: WeightOf = lru_cache(maxsize=4096)(
            lambda standing, right, wrong, role: voice_weight(standing, right, wrong, role, core.policy)
        )
        self._described = lru_cache(maxsize=8)(
            lambda actions: rows(core.embedder.embed([each.text for each in actions]))
        )

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str = "") -> Evidence:
        """The evidence for a goal; none where nothing can be embedded."""
        vector = self._core.embedded(goal)
        if vector is None:
            return Evidence()
        others = self._core.others.embedded(scope.workspace, goal)
        with self._core.store.read() as tx:
            near = self.near(tx, scope, vector, [action.name for action in actions], others)
            return self.weighed(tx, scope, vector, near, actions, run_id=run_id)[0]

    def near(
        self,
        tx: Transaction,
        scope: Scope,
        goal: Vector,
        actions: Sequence[str] = (),
        others: Mapping[str, Vector] = MappingProxyType({}),
    ) -> Neighbourhood:
        """The lessons that are weighed for a goal: the nearest in reach, best first, and what approves the actions.

        `others` is the goal as `OtherEmbedders` embedded it. Runs that found no answer say nothing of what is right.
        """
        partitions, model, count = partitions_for(scope), self._core.embedder.name, self.config.lessons
        beside = proposals_for(scope) if self.config.proposals else []
        found = tx.episodes.nearest(
            scope.workspace, partitions, model, goal, count, -1.0, beside=beside, actions=actions, gave_up=False
        )
        if others:
            every = [*partitions, *beside]
            more = self._core.others.nearest(tx, scope.workspace, every, others, goal, count, -1.0, gave_up=False)
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
        hits = {hit.episode_id: hit for hit in near.hits[: self.config.lessons]}
        read = tx.episodes.weighing_input(scope.workspace, scope.channel, hits)
        stored = read.lessons
        summaries = [stored[each] for each in hits if each in stored and stored[each].run_id != run_id]
        names = [action.name for action in actions]
        weight_of = self._weight_of
        lessons = list[JudgedLesson]()
        for each in summaries:
            lessons += _judged(each, hits[each.id], scope.person, names, weight_of)
        try:
            descriptions = self._described(tuple(actions)) if actions else rows([goal])
        except EmbeddingFailed:
            return Evidence(), read
        found = weigh(goal, lessons, actions, descriptions, self.config, near.fits)
        plan = next((each.id for each in summaries if each.action == Termination.EXPAND), "")
        return replace(found, plan=plan, threshold=self._threshold(tx, scope.workspace, read.threshold)), read

    def _threshold(self, tx: Transaction, workspace: str, stored: Threshold | None) -> float:
        budget = self._core.policy.error_budget
        if stored is not None and stored.budget == budget:
            return stored.value
        return threshold((), budget) if stored is None else threshold_of(tx, workspace, budget)


def _judged(
    summary: LessonSummary, hit: Neighbour, person: str, actions: Collection[str], weight_of: WeightOf
) -> list[JudgedLesson]:
    """The lesson as those who approve and as those who refuse judge it, for one asker.

    None if it speaks about nothing that can be done here: an action, or an answer. What was decided, for the asker or
    for more, speaks for itself; of what is only proposed everybody speaks whose vote does something for others.
    """
    action, is_written = summary.action, summary.origin is not _RUN
    offered: tuple[tuple[str, str], ...] = ()
    if action == ANSWER and is_written:
        action = named_action(summary.output, actions) or ANSWER
    if summary.offered:
        offered = tuple([each.candidate for each in summary.offered if each.action in (ANSWER, *actions)])
    is_question = action == ASK and bool(offered)
    if (action != ANSWER and action not in actions and not is_question) or hit.vector is None:
        return []
    is_own, is_decided = hit.audience is _PERSONAL, hit.verdict in _DECIDED
    counted = [vote for vote in summary.votes if not vote.is_limited or vote.actor == person]
    found: list[JudgedLesson] = []
    for approves in (hit.verdict is _SUCCESS,) if is_decided else (True, False):
        behind = [vote for vote in counted if (vote.value > 0) is approves]
        if not behind and not is_decided:
            continue
        # Of what the asker alone decided, nothing goes by the voice.
        voices = () if is_decided and is_own and len(behind) < 2 else _voices(behind, weight_of)
        is_agreed = is_decided and (len(voices) > 1 or hit.audience is _WORKSPACE)
        is_trusted = is_agreed or not _PROMOTING.isdisjoint([vote.role for vote in behind])
        says_nothing = is_question and approves  # that the question was liked is no opinion of what it offered
        if (is_decided or voices) and not says_nothing:
            one = JudgedLesson(
                summary.id,
                summary.goal,
                hit.vector,
                action,
                approves,
                summary.decided_at,
                summary.output if action == ANSWER else "",
                behind[0].actor if len(behind) == 1 else summary.author,  # one vote of each
                is_own,
                is_written,
                is_trusted,
                TAP in [vote.source for vote in behind],
                offered,
                () if is_own or is_trusted else voices,
            )
            found.append(one)
    return found


def _voices(votes: Sequence[Ballot], weight_of: WeightOf) -> tuple[Voice, ...]:
    """Each voter once, with what they weigh for others: newcomers, and those whose trust is used up, have no voice."""
    weights: dict[str, float] = {}
    for actor, role, _, _, _, standing, right, wrong in votes:
        weight = weight_of(standing, right, wrong, role)
        if weight > weights.get(actor, 0.0):
            weights[actor] = weight
    return tuple([Voice(author, weight) for author, weight in sorted(weights.items())])
