"""Reinforcement: a query, computed on a snapshot, raises the salience of its topics in a short transaction.

An answer is valid if each of its topics is unchanged since it was read, except for its salience. The salience is
reported and raised from its value in the storing transaction, so that two queries never raise from the same value.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, TypeVar

from memory.model import Scope
from memory.ports import Transaction
from memory.rules.strength import salience
from memory.services.topics.query import Bundle, QueryRequest, QueryResponse

Row = TypeVar("Row")
Logged = TypeVar("Logged")


class Reinforcement(Protocol[Row, Logged]):
    """How topics of one kind are read again and raised. Equal instances are of the same kind."""

    def read(self, tx: Transaction, ids: Iterable[str]) -> Mapping[str, Row]:
        """The current rows, by id."""

    def is_same(self, seen: Row, now: Row) -> bool:
        """Whether nothing has changed that an answer depends on."""

    def raised(self, row: Row, actor: str, at: datetime) -> tuple[Row, Logged]:
        """The row with its salience raised, and the log entry for that."""

    def store(self, tx: Transaction, rows: Sequence[Row], entries: Sequence[Logged]) -> None:
        """Store raised rows, and the entries in their order."""


@dataclass(frozen=True, slots=True)
class Returned:
    """One topic that a query returns, with the row it was made of."""

    raises: Reinforcement[Any, Any]
    row: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAnswer:
    """The answer to a query, with the rows it was made of."""

    query: str
    bundles: tuple[Bundle, ...]
    returned: tuple[Returned, ...]
    """The row of each bundle."""
    topics: int
    """The number of topics ingested in the whole workspace."""

    def response(self) -> QueryResponse:
        """The response."""
        return QueryResponse(query=self.query, candidates=self.bundles)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingQuery:
    """One query that waits for the transaction that stores its effects."""

    scope: Scope
    request: QueryRequest
    vector: Any
    event_id: str
    answer: TopicAnswer


@dataclass(slots=True, kw_only=True)
class Reinforcing:
    """The topics of one workspace within one writing transaction, with the effects of earlier queries applied."""

    tx: Transaction
    at: datetime
    _now: dict[Reinforcement[Any, Any], dict[str, Any]] = field(default_factory=dict, init=False)
    _reinforced: dict[Reinforcement[Any, Any], dict[str, Any]] = field(default_factory=dict, init=False)
    _entries: dict[Reinforcement[Any, Any], list[Any]] = field(default_factory=dict, init=False)

    def read(self, answers: Iterable[TopicAnswer]) -> None:
        """Read the topics of these answers that were not read yet, in one SQL statement for each kind."""
        wanted: dict[Reinforcement[Any, Any], dict[str, None]] = {}
        for each in (each for answer in answers for each in answer.returned):
            if each.row.id not in self._now.setdefault(each.raises, {}):
                wanted.setdefault(each.raises, {})[each.row.id] = None
        for raises, ids in wanted.items():
            self._now[raises].update(raises.read(self.tx, ids))

    def holds(self, answer: TopicAnswer) -> bool:
        """Whether the answer is still valid."""
        return all(
            (now := self._now[each.raises].get(each.row.id)) is not None and each.raises.is_same(each.row, now)
            for each in answer.returned
        )

    def response_of(self, answer: TopicAnswer) -> QueryResponse:
        """The response with the current salience."""
        rows = [self._now[each.raises][each.row.id] for each in answer.returned]
        bundles = [
            replace(bundle, salience=salience(row.salience, row.salience_at, self.at))
            for bundle, row in zip(answer.bundles, rows, strict=True)
        ]
        return QueryResponse(query=answer.query, candidates=tuple(bundles))

    def reinforce_all(self, answer: TopicAnswer, actor: str) -> None:
        """Raise the salience of everything that was returned."""
        for each in answer.returned:
            rows = self._now[each.raises]
            rows[each.row.id], entry = each.raises.raised(rows[each.row.id], actor, self.at)
            self._reinforced.setdefault(each.raises, {})[each.row.id] = rows[each.row.id]
            self._entries.setdefault(each.raises, []).append(entry)

    def store(self) -> None:
        """Store all raised rows and entries."""
        for raises, rows in self._reinforced.items():
            raises.store(self.tx, list(rows.values()), self._entries[raises])
