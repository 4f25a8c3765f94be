"""A cache of partitions of the recall index in this process, and how it is brought up to date."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import (
    BigInteger,
    CompoundSelect,
    String,
    and_,
    bindparam,
    func,
    literal,
    select,
    type_coerce,
)
from sqlalchemy import union_all as together
from sqlalchemy.types import LargeBinary

from memory.adapters.partitions import NOTHING_FOUND, Approval, VectorPartition
from memory.adapters.sql.index import EPOCH
from memory.adapters.sql.lesson_version import lesson_versions
from memory.adapters.sql.session import Session, nothing
from memory.adapters.sql.tables import counters, recall_index
from memory.model import GAVE_UP, Audience, Verdict

EVERY = 2**62
"""No limit."""

_t = recall_index.c
_columns = {
    "partition": _t.partition,
    "episode_id": _t.episode_id,
    "seq": _t.seq,
    "audience": type_coerce(_t.audience, String()),
    "verdict": type_coerce(_t.verdict, String()),
    "action": _t.action,
    "words": _t.words,
    "author": _t.author,
    "model": _t.model,
    "vector": type_coerce(_t.vector, LargeBinary),
}
_ROW = select(*(column.label(name) for name, column in _columns.items()))
_AUDIENCES = {each.value: each for each in Audience}
_VERDICTS = {each.value: each for each in Verdict}
_w = bindparam("w", type_=String())
_MARK = "lesson_version"
"""No partition's name, and no counter's."""


def _number(name: Any, value: Any) -> Any:  # noqa: ANN401 - columns
    """A row that has no episode, but the number of something."""
    given = {"partition": name, "episode_id": literal(""), "seq": value}
    return select(*(given.get(each, nothing(column.type)).label(each) for each, column in _columns.items()))


@cache
def _news(count: int, counted: int, *, is_marked: bool) -> CompoundSelect[Any]:
    """The rows of `count` partitions, of each what came after its own `seq`.

    Of none that has more than `most` of them. Then, without ids of episodes, the newest `seq`
    of each partition, and the counters: the epoch, and the planes that are valid; and the workspace's mark, if it has
    any (`lesson_version`).
    """
    parts: list[Any] = []
    numbers: list[Any] = []
    for n in range(count):
        p, s = bindparam(f"p{n}", type_=String()), bindparam(f"s{n}", type_=BigInteger())
        newest = select(func.max(_t.seq)).where(_t.workspace == _w, _t.partition == p)
        rows = _ROW.where(_t.workspace == _w, _t.partition == p, _t.seq > s)
        parts.append(rows.where(newest.scalar_subquery() - s <= bindparam("most", type_=BigInteger())))
        numbers.append(_number(p, func.max(_t.seq)).where(_t.workspace == _w, _t.partition == p))
    wanted = [bindparam(f"c{n}", type_=String()) for n in range(counted)]
    of_names = and_(counters.c.workspace == _w, counters.c.name.in_(wanted))
    if is_marked:
        mark = _number(literal(_MARK), lesson_versions.c.mark)
        numbers.append(mark.where(lesson_versions.c.workspace == _w))
    return together(*parts, *numbers, _number(counters.c.name, counters.c.value).where(of_names))


Row = tuple[Any, ...]
"""The columns above as the driver has them: what is made of them is made of a whole partition at once."""


class State(NamedTuple):
    """What one reading found."""

    rows: Mapping[str, list[Row]]
    """By partition."""
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
    given: dict[str, Any] = {"w": workspace, "most": most, "c0": EPOCH}
    given |= {f"c{n}": name for n, name in enumerate(planes, 1)}
    for n, (name, seq) in enumerate(since.items()):
        given |= {f"p{n}": name, f"s{n}": seq}
    rows: dict[str, list[Row]] = {name: [] for name in since}
    numbers: dict[str, int] = {}
    for row in session.driver_rows(_news(len(since), 1 + len(planes), is_marked=session.is_sqlite), given):
        if row[1]:
            rows[row[0]].append(row)
        else:
            numbers[row[0]] = row[2] or 0
    if _MARK in numbers:
        session.marks[workspace] = numbers[_MARK]
    return State(rows, numbers)


def apply(news: Sequence[Row], vectors: VectorPartition, model: str, dimension: int) -> None:
    """Bring the copy of one partition up to date with its new rows."""
    vectors.remove([row[1] for row in news])
    live = [row for row in news if row[8] == model and len(row[9] or b"") == 2 * dimension]
    if not live:
        return
    _, ids, _, audiences, verdicts, *approving, _, content = zip(*live, strict=True)
    matrix = np.frombuffer(b"".join(content), "<f2").reshape(-1, dimension)
    labels = zip(ids, map(_AUDIENCES.__getitem__, audiences), map(_VERDICTS.__getitem__, verdicts), strict=True)
    success, approved = Verdict.SUCCESS.value, map(Approval._make, zip(*approving, strict=True))
    approvals = [
        NOTHING_FOUND if each.action == GAVE_UP else each if verdict == success else None
        for verdict, each in zip(verdicts, approved, strict=True)
    ]
    vectors.add(list(labels), matrix, approvals)


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
    apply([tuple(row) for row in rows], vectors, key.model, key.dimension)
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
