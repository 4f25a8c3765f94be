"""The evidence for one goal: what all lessons in reach say together about what could be done or said."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache

from memory.errors import EmbeddingFailed
from memory.model import ASK, TAP, Audience, Origin, Scope, Termination, Vector, Verdict
from memory.model.evidence import ActionText, Evidence
from memory.ports import LessonSummary, Neighbour, Neighbourhood, Transaction
from memory.rules.audience import partitions_for
from memory.rules.evidence.answers import named_action
from memory.rules.evidence.posterior import EvidenceConfig
from memory.rules.evidence.weighing import ANSWER, JudgedLesson, rows, weigh
from memory.services.core import Core
from memory.services.thresholds import threshold_of


class Weighing:
    """The use case of evidence. The descriptions of a set of actions are embedded once."""

    def __init__(self, core: Core, config: EvidenceConfig | None = None) -> None:
        self._core = core
        self.config = config or EvidenceConfig()
        self._described = lru_cache(maxsize=8)(
            lambda actions: rows(core.embedder.embed([each.text for each in actions]))
        )

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str = "") -> Evidence:
        """The evidence for a goal; none where nothing can be embedded."""
        vector = self._core.embedded(goal)
        if vector is None:
            return Evidence()
        with self._core.store.read() as tx:
            near = self.near(tx, scope, vector, [action.name for action in actions])
            return self.weighed(tx, scope, vector, near, actions, run_id=run_id)

    def near(self, tx: Transaction, scope: Scope, goal: Vector, actions: Sequence[str] = ()) -> Neighbourhood:
        """The lessons that are weighed for a goal: the nearest in reach, best first, and what approves the actions."""
        partitions, model, count = partitions_for(scope), self._core.embedder.name, self.config.lessons
        return tx.episodes.nearest(scope.workspace, partitions, model, goal, k=count, min_cosine=-1.0, actions=actions)

    def weighed(
        self,
        tx: Transaction,
        scope: Scope,
        goal: Vector,
        near: Neighbourhood,
        actions: Sequence[ActionText],
        *,
        run_id: str = "",
    ) -> Evidence:
        """The evidence of the nearest lessons for a goal, in one statement.

        `near` is what was found in the asker's partitions; `run_id` is the run that asks, whose own episodes do not
        count. None where the descriptions of the actions cannot be embedded.
        """
        hits = {hit.episode_id: hit for hit in near.hits[: self.config.lessons]}
        stored = tx.episodes.summaries(scope.workspace, hits)
        summaries = [stored[each] for each in hits if each in stored and stored[each].run_id != run_id]
        names = [action.name for action in actions]
        lessons = [_judged(each, hits[each.id], scope, names) for each in summaries]
        try:
            descriptions = self._described(tuple(actions)) if actions else rows([goal])
        except EmbeddingFailed:
            return Evidence()
        judged = [lesson for lesson in lessons if lesson]
        found = weigh(goal, judged, actions, descriptions, self.config, near.fits)
        plan = next((each.id for each in summaries if each.action == Termination.EXPAND), "")
        return replace(found, plan=plan, threshold=threshold_of(tx, scope.workspace, self._core.policy.error_budget))


def _judged(summary: LessonSummary, hit: Neighbour, scope: Scope, actions: Collection[str]) -> JudgedLesson | None:
    """The lesson as evidence; None if it speaks about nothing that can be done here: an action, or an answer."""
    action = summary.action
    if action == ANSWER and summary.origin is not Origin.RUN:
        action = named_action(summary.output, actions) or ANSWER
    approves = hit.verdict is Verdict.SUCCESS
    offered = tuple(each.candidate for each in summary.offered if each.action in (ANSWER, *actions))
    is_refused_question = action == ASK and bool(offered) and not approves
    if (action not in (ANSWER, *actions) and not is_refused_question) or hit.vector is None:
        return None
    behind = [
        vote
        for vote in summary.votes
        if (vote.value > 0) is approves and (not vote.is_limited or vote.actor == scope.person)
    ]
    actors = {vote.actor for vote in behind}
    is_decided_by_few = len(actors) < 2 and hit.audience is not Audience.WORKSPACE
    return JudgedLesson(
        id=summary.id,
        goal=summary.goal,
        vector=hit.vector,
        action=action,
        text=summary.output if action == ANSWER else "",
        approves=approves,
        author=min(actors) if len(actors) == 1 else summary.author,
        decided_at=summary.decided_at,
        is_own=hit.audience is Audience.PERSONAL,
        is_written=summary.origin is not Origin.RUN,
        is_trusted=not is_decided_by_few or any(vote.role.may_promote for vote in behind),
        is_tapped=any(vote.source == TAP for vote in behind),
        offered=offered,
    )
