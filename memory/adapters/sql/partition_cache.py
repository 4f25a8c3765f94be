"""A cache of partitions of the recall index in this process, and how it is brought up to date."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    BigInteger,
    BindParameter,
    CompoundSelect,
    String,
    and_,
    bindparam,
    case,
    func,
    literal,
    select,
    type_coerce,
)
from sqlalchemy import Row as SqlRow
from sqlalchemy import union_all as together
from sqlalchemy.types import LargeBinary

from memory.adapters.partitions import Approval, VectorPartition
from memory.adapters.sql.index import EPOCH
from memory.adapters.sql.session import Session, nothing
from memory.adapters.sql.tables import counters, episodes, recall_index
from memory.model import Origin, Verdict
from memory.rules.evidence.answers import LONGEST_NAMING

EVERY = 2**62
"""No limit."""

_t = recall_index.c
_e = episodes.c
# The bytes are decoded for a whole partition at once, which is what makes the first search of a partition quick.
_written = case((and_(_e.origin != Origin.RUN, func.length(_e.output) <= LONGEST_NAMING), _e.output), else_="")
_columns = {
    "partition": _t.partition,
    "episode_id": _t.episode_id,
    "audience": _t.audience,
    "verdict": _t.verdict,
    "model": _t.model,
    "vector": type_coerce(_t.vector, LargeBinary),
    "seq": _t.seq,
    "action": _e.action,
    "words": _written,
    "author": case((_e.author == "", _e.person), else_=_e.author),
}
_ROW = select(*(column.label(name) for name, column in _columns.items())).join_from(
    recall_index, episodes, and_(_e.workspace == _t.workspace, _e.id == _t.episode_id), isouter=True
)
_w = bindparam("w", type_=String())


def _number(name: Any, value: Any) -> Any:  # noqa: ANN401 - columns
    """A row that has no episode, but the number of something."""
    given = {"partition": name, "episode_id": literal(""), "seq": value}
    return select(*(given.get(each, nothing(column.type)).label(each) for each, column in _columns.items()))


@cache
def _news(count: int) -> CompoundSelect[Any]:
    """The rows of `count` partitions, of each what came after its own `seq`.

    Of none that has more than `most` of them. Then, without ids of episodes, the newest `seq`
    of each partition, and the counters: the epoch, and the planes that are valid.
    """
    parts: list[Any] = []
    numbers: list[Any] = []
    for n in range(count):
        p, s = bindparam(f"p{n}", type_=String()), bindparam(f"s{n}", type_=BigInteger())
        newest = select(func.max(_t.seq)).where(_t.workspace == _w, _t.partition == p)
        rows = _ROW.where(_t.workspace == _w, _t.partition == p, _t.seq > s)
        parts.append(rows.where(newest.scalar_subquery() - s <= bindparam("most", type_=BigInteger())))
        numbers.append(_number(p, func.max(_t.seq)).where(_t.workspace == _w, _t.partition == p))
    wanted: BindParameter[Any] = bindparam("counters", expanding=True)
    counted = _number(counters.c.name, counters.c.value).where(counters.c.workspace == _w, counters.c.name.in_(wanted))
    return together(*parts, *numbers, counted)


class State(NamedTuple):
    """What one reading found."""

    rows: Sequence[SqlRow[Any]]
    numbers: Mapping[str, int]
    """The newest `seq` of each partition, and counters by name."""

    @property
    def epoch(self) -> int:
        """The one the index is in."""
        return self.numbers.get(EPOCH, 0)


def read(session: Session, workspace: str, since: Mapping[str, int], planes: Sequence[str], most: int = EVERY) -> State:
    """In one statement: of each partition the rows after its `seq`, and the newest one; the epoch, and counters.

    No rows of a partition with more than `most` changes.
    """
    given: dict[str, Any] = {"w": workspace, "counters": [EPOCH, *planes], "most": most}
    for n, (name, seq) in enumerate(since.items()):
        given |= {f"p{n}": name, f"s{n}": seq}
    found = session.rows(_news(len(since)), given)
    numbers = {row.partition: row.seq or 0 for row in found if not row.episode_id}
    return State([row for row in found if row.episode_id], numbers)


def apply(news: Sequence[SqlRow[Any]], vectors: VectorPartition, model: str, dimension: int) -> None:
    """Bring the copy of one partition up to date with its new rows."""
    vectors.remove(row.episode_id for row in news)
    live = [row for row in news if row.model == model and len(row.vector or b"") == 2 * dimension]
    matrix = np.frombuffer(b"".join(row.vector for row in live), "<f2").reshape(-1, dimension)
    approvals = [
        Approval(row.action, row.words, row.author) if row.verdict is Verdict.SUCCESS else None for row in live
    ]
    vectors.add([(row.episode_id, row.audience, row.verdict) for row in live], matrix, approvals)


_SAMPLE = _ROW.where(
    _t.workspace == _w,
    _t.partition == bindparam("p", type_=String()),
    _t.seq.in_(bindparam("seqs", expanding=True)),
)


class Key(NamedTuple):
    """What a copy is of."""

    workspace: str
    partition: str
    model: str
    dimension: int
    planes: int = 0
    """The token of the planes that it has the later rows of; 0: it has all of them."""


def sample(session: Session, key: Key, seqs: Sequence[int]) -> VectorPartition:
    """A copy of some rows of a partition, by their seqs."""
    vectors = VectorPartition(key.dimension)
    rows = session.rows(_SAMPLE, {"w": key.workspace, "p": key.partition, "seqs": seqs})
    apply(rows, vectors, key.model, key.dimension)
    return vectors


@dataclass(slots=True)
class CachedPartition:
    """The rows of a partition as they were at an epoch and a `seq`."""

    epoch: int
    seq: int
    vectors: VectorPartition


class PartitionCache:
    """Partitions in order of use."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Key, tuple[CachedPartition, int]] = OrderedDict()
        self._nbytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: Key, epoch: int = 0, seq: int = 0) -> CachedPartition:
        """Out of here, for it may be changed; an empty one, at this epoch and `seq`, if it is not here."""
        copy, nbytes = self._kept.pop(key, (CachedPartition(epoch, seq, VectorPartition(key.dimension)), 0))
        self._nbytes -= nbytes
        return copy

    def put(self, key: Key, copy: CachedPartition) -> None:
        """As the one used last."""
        nbytes = copy.vectors.nbytes + 1000  # even an empty one, of which there may be many, is no nothing
        self._kept[key] = (copy, nbytes)
        self._nbytes += nbytes

    def shrink(self, budget: int) -> None:
        """Drop those used longest ago, until the bytes are within the budget or one is left."""
        while self._nbytes > budget and len(self._kept) > 1:
            _, (_, nbytes) = self._kept.popitem(last=False)
            self._nbytes -= nbytes
