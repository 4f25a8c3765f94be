"""The overview of a workspace: what was asked and answered, learned and recalled, week by week."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from memory.ports import NodeCount, RecallCount, VoteCount
from memory.services.core import Core
from memory.services.reports.decisions import Decisions, decision_statistics, is_answered, is_question, is_unknown
from memory.services.verdicts.tally import threshold_of

WEEKS = 12
"""The number of weeks in an overview, this week included."""
_REASONS = 8
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """One week, from Monday 00:00 UTC. Questions are counted in the week in which they were asked."""

    begins: date
    answered: int = 0
    asked: int = 0
    """Questions to which the bot asked back which of a few things was meant."""
    unknown: int = 0
    """Questions without an answer."""
    wrong: int = 0
    """Answers that people called wrong."""
    lessons: int = 0
    """Episodes that people made lessons, by when they were asked or written."""
    approvals: int = 0
    objections: int = 0
    recalls: int = 0
    hits: int = 0
    """Recalls that found something."""
    cost_usd: float = 0.0
    tokens: int = 0

    @property
    def approval_rate(self) -> float | None:
        """0..1; None in a week without votes."""
        return _share(self.approvals, self.approvals + self.objections)

    @property
    def hit_rate(self) -> float | None:
        """0..1; None in a week without recalls."""
        return _share(self.hits, self.recalls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A workspace over some weeks, oldest first."""

    weeks: tuple[Week, ...]
    decisions: Decisions
    """The costs of these weeks."""
    failures: tuple[tuple[str, int], ...]
    """The reasons of failed answers with their numbers; the reason is empty where none was stored."""

    def total(self, name: str) -> float:
        """The sum of one number over the weeks."""
        return float(sum(getattr(week, name) for week in self.weeks))

    @property
    def approval_rate(self) -> float | None:
        """0..1 over all weeks; None without votes."""
        return _share(self.total("approvals"), self.total("approvals") + self.total("objections"))

    @property
    def hit_rate(self) -> float | None:
        """0..1 over all weeks; None without recalls."""
        return _share(self.total("hits"), self.total("recalls"))


@dataclass(frozen=True, slots=True)
class Overviews:
    """The use case of the overview. It only reads."""

    _core: Core

    def of(self, workspace: str, *, public_only: bool = False) -> Overview:
        """The last weeks of a workspace; `public_only` leaves out the reasons of what was not public.

        Costs six SQL statements.
        """
        today = self._core.clock().astimezone(UTC).date()
        first = today - timedelta(days=today.weekday()) - (WEEKS - 1) * _WEEK
        since = datetime.combine(first, time(), UTC)
        budget = self._core.policy.error_budget
        with self._core.store.read() as tx:
            nodes = tx.totals.nodes(workspace, since)
            votes, recalls = tx.totals.votes(workspace, since), tx.totals.recalls(workspace, since)
            return Overview(
                weeks=tuple(_week(first + number * _WEEK, nodes, votes, recalls) for number in range(WEEKS)),
                decisions=decision_statistics(nodes, threshold_of(tx, workspace, budget), budget),
                failures=tuple(tx.totals.failures(workspace, since, _REASONS, public_only=public_only)),
            )


def _week(begins: date, nodes: Iterable[NodeCount], votes: Iterable[VoteCount], recalls: Iterable[RecallCount]) -> Week:
    nodes = [each for each in nodes if each.week == begins]
    votes = [each for each in votes if each.week == begins]
    recalls = [each for each in recalls if each.week == begins]
    questions = [each for each in nodes if is_question(each)]
    counted = decision_statistics(questions, 0.0, 0.0)
    return Week(
        begins=begins,
        answered=sum(each.number for each in questions if is_answered(each)),
        asked=counted.asked,
        unknown=sum(each.number for each in questions if is_unknown(each)),
        wrong=counted.wrong,
        lessons=sum(each.number for each in nodes if each.verdict.is_validated and not each.is_archived),
        approvals=sum(each.approvals for each in votes),
        objections=sum(each.objections for each in votes),
        recalls=sum(each.number for each in recalls),
        hits=sum(each.hits for each in recalls),
        cost_usd=sum(each.cost_usd for each in nodes),
        tokens=sum(each.prompt_tokens + each.completion_tokens for each in nodes),
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
