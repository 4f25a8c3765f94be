"""What a query raises of the topics it returned: worked out on a snapshot, stored in a short transaction.

An answer holds if each of its topics is still what it was when it was read, but for its salience; that is told and
raised as it is in the transaction that stores it, so that no two queries raise from the same value.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, TypeVar

from memory.model import Scope
from memory.ports import Transaction
from memory.services.topics.query import Bundle, QueryRequest, QueryResponse

Row = TypeVar("Row")
Logged = TypeVar("Logged")


class Reinforcement(Protocol[Row, Logged]):
    """How a workspace's topics of one kind are read again, and raised. Two that are equal are of one kind."""

    def read(self, tx: Transaction, ids: Iterable[str]) -> Mapping[str, Row]:
        """The rows as they are now, by id."""
        ...

    def is_same(self, seen: Row, now: Row) -> bool:
        """Whether nothing has changed that an answer may rest on."""
        ...

    def left(self, row: Row, at: datetime) -> float:
        """Its salience at this moment."""
        ...

    def raised(self, row: Row, actor: str, at: datetime) -> tuple[Row, Logged]:
        """The row after it was returned once more, with the entry of its trail that says so."""
        ...

    def store(self, tx: Transaction, rows: Sequence[Row], entries: Sequence[Logged]) -> None:
        """Store rows that were raised, and the entries in their order."""
        ...


@dataclass(frozen=True, slots=True)
class Returned:
    """One topic that a query returns: the row it was made of."""

    raises: Reinforcement[Any, Any]
    row: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAnswer:
    """What a query answers, and what that was made of."""

    query: str
    bundles: tuple[Bundle, ...]
    returned: tuple[Returned, ...]
    """Of each bundle."""
    topics: int
    """How many were ingested in the whole workspace."""

    def response(self) -> QueryResponse:
        """The body."""
        return QueryResponse(query=self.query, candidates=self.bundles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One query on its way into the transaction that stores what it raises."""

    scope: Scope
    request: QueryRequest
    vector: Any
    event_id: str
    answer: TopicAnswer


@dataclass(slots=True, kw_only=True)
class Reinforcing:
    """The topics of one workspace within one writing transaction, each as it is after the queries before."""

    tx: Transaction
    at: datetime
    _now: dict[Reinforcement[Any, Any], dict[str, Any]] = field(default_factory=dict, init=False)
    _reinforced: dict[Reinforcement[Any, Any], dict[str, Any]] = field(default_factory=dict, init=False)
    _entries: dict[Reinforcement[Any, Any], list[Any]] = field(default_factory=dict, init=False)

    def read(self, answers: Iterable[TopicAnswer]) -> None:
        """Read what these answers returned, if it was not read yet, in one statement for each kind."""
        wanted: dict[Reinforcement[Any, Any], dict[str, None]] = {}
        for each in (each for answer in answers for each in answer.returned):
            if each.row.id not in self._now.setdefault(each.raises, {}):
                wanted.setdefault(each.raises, {})[each.row.id] = None
        for raises, ids in wanted.items():
            self._now[raises].update(raises.read(self.tx, ids))

    def holds(self, answer: TopicAnswer) -> bool:
        """Whether the answer would be the same now."""
        return all(
            (now := self._now[each.raises].get(each.row.id)) is not None and each.raises.is_same(each.row, now)
            for each in answer.returned
        )

    def response_of(self, answer: TopicAnswer) -> QueryResponse:
        """The answer with the salience of now."""
        bundles = [
            replace(bundle, salience=each.raises.left(self._now[each.raises][each.row.id], self.at))
            for bundle, each in zip(answer.bundles, answer.returned, strict=True)
        ]
        return QueryResponse(query=answer.query, candidates=tuple(bundles))

    def reinforce_all(self, answer: TopicAnswer, actor: str) -> None:
        """Raise everything that was returned."""
        for each in answer.returned:
            rows = self._now[each.raises]
            rows[each.row.id], entry = each.raises.raised(rows[each.row.id], actor, self.at)
            self._reinforced.setdefault(each.raises, {})[each.row.id] = rows[each.row.id]
            self._entries.setdefault(each.raises, []).append(entry)

    def store(self) -> None:
        """Store all of it."""
        for raises, rows in self._reinforced.items():
            raises.store(self.tx, list(rows.values()), self._entries[raises])
