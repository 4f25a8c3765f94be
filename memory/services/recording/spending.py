"""The cost of language models: counts it against caps, and reports it by day, person, channel and model.

Caps have counters of their own, under digests of the spenders, so that forgetting a person does not reset a day's
spending. Reports are computed from the episodes.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from memory.model import Scope, Usage
from memory.model.spending import Allowance, Spender
from memory.ports import SpendingCount, Transaction
from memory.services.core import Core

_DAY = timedelta(days=1)
_DAYS = 30
"""How many days a report covers."""
_MICRO = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The usage of some answers."""

    answers: int
    tokens: int
    cost_usd: float
    unpriced_tokens: int = 0
    """Tokens of models without a known price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingReport:
    """A workspace's usage in the last days, today included. People, channels and models are sorted by cost."""

    today: Spent
    total: Spent
    days: tuple[tuple[date, Spent], ...]
    """Newest first, without days that have no usage."""
    people: tuple[tuple[str, Spent], ...]
    channels: tuple[tuple[str, Spent], ...]
    models: tuple[tuple[str, Spent], ...]


@dataclass(frozen=True, slots=True)
class Spending:
    """The use cases of spending."""

    _core: Core

    def allowance(self, scope: Scope) -> Allowance:
        """What a person may still use in a channel today (UTC). One statement."""
        now = self._core.clock()
        names = {cap: _names(cap.spender, scope, now) for cap in self._core.caps}
        with self._core.store.read() as tx:
            found = tx.totals.spent(scope.workspace, [name for pair in names.values() for name in pair])
        spent = tuple(
            (cap, Usage(cost_usd=found.get(usd, 0) / _MICRO, prompt_tokens=found.get(tokens, 0)))
            for cap, (usd, tokens) in names.items()
        )
        return Allowance(spent=spent, at=now, ends_at=datetime.combine(_day(now) + _DAY, time(), UTC))

    def report(self, workspace: str) -> SpendingReport:
        """A workspace's usage in the last days. One statement."""
        today = _day(self._core.clock())
        since = datetime.combine(today - (_DAYS - 1) * _DAY, time(), UTC)
        with self._core.store.read() as tx:
            counts = tx.totals.spending(workspace, since)
        by_day = _grouped(counts, "day")
        return SpendingReport(
            today=sum_of(each for each in counts if each.day == today),
            total=sum_of(counts),
            days=tuple((day, sum_of(by_day[day])) for day in sorted(by_day, reverse=True)),
            people=_ranked(counts, "person"),
            channels=_ranked(counts, "channel"),
            models=_ranked(counts, "model"),
        )


def count_spent(core: Core, tx: Transaction, scope: Scope, used: Usage) -> None:
    """Count a run's usage against the caps. One statement, or none without usage."""
    if not used.tokens:
        return
    now, more = core.clock(), dict[str, int]()
    for cap in core.caps:
        usd_name, tokens_name = _names(cap.spender, scope, now)
        more |= {usd_name: round(used.cost_usd * _MICRO), tokens_name: used.tokens}
    tx.totals.add_spent(scope.workspace, more)


def _names(spender: Spender, scope: Scope, now: datetime) -> tuple[str, str]:
    """The names of a spender's counters of today: millionths of a dollar, and tokens."""
    who = {Spender.PERSON: scope.person, Spender.CHANNEL: scope.channel, Spender.WORKSPACE: ""}[spender]
    return (f"{_day(now)}/{spender}/{who}/usd", f"{_day(now)}/{spender}/{who}/tokens")


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _ranked(counts: Iterable[SpendingCount], name: str) -> tuple[tuple[str, Spent], ...]:
    sums = [(who, sum_of(some)) for who, some in _grouped(counts, name).items()]
    return tuple(sorted(sums, key=lambda pair: (-pair[1].cost_usd, -pair[1].tokens, pair[0])))


def _grouped(counts: Iterable[SpendingCount], name: str) -> Mapping[Any, list[SpendingCount]]:
    groups = defaultdict[Any, list[SpendingCount]](list)
    for each in counts:
        groups[getattr(each, name)].append(each)
    return groups


def sum_of(counts: Iterable[SpendingCount]) -> Spent:
    """The sum of these counts."""
    counts = list(counts)
    return Spent(
        answers=sum(each.answers for each in counts),
        tokens=sum(each.tokens for each in counts),
        cost_usd=sum(each.cost_usd for each in counts),
        unpriced_tokens=sum(each.unpriced_tokens for each in counts),
    )
