"""Reads partitions of the recall index into copies in this process.

The database aggregates each column into one value, as fetching single rows would take most of the time. The order of
the rows is undefined, but the same in all columns.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    CompoundSelect,
    FromClause,
    Integer,
    Select,
    String,
    Text,
    and_,
    bindparam,
    cast,
    func,
    literal,
    literal_column,
    not_,
    null,
    or_,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy.types import LargeBinary

from memory.adapters.sql.recall.index import EPOCH
from memory.adapters.sql.recall.partition_cache import Key
from memory.adapters.sql.tables.episodes import counters, recall_index
from memory.adapters.sql.tables.lesson_versions import lesson_versions
from memory.adapters.sql.transaction.session import Session
from memory.adapters.vectors.action_rows import NOTHING_FOUND, RowApproval
from memory.adapters.vectors.hits import RowKind
from memory.adapters.vectors.partitions import VectorPartition
from memory.model import GAVE_UP, Audience, Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray


EVERY = 2**62
"""No limit."""
_AT_ONCE = 100000
"""How large a range of `seq` one statement reads of a partition, as all its vectors are one value."""

_t = recall_index.c
_w, _m = (bindparam(name, type_=String()) for name in "wm")
_TEXTS = ("episode_id", "audience", "verdict", "action", "words", "author")
_WIDTH = len(_TEXTS) + 3
"""Columns of a row of changes: partition, these texts, vectors of new rows, ids of rows that cannot be found."""
AUDIENCES = {each.value: each for each in Audience}
VERDICTS = {each.value: each for each in Verdict}
_JSON = json.JSONDecoder()


def _listed_json(column: ColumnElement[Any], *, is_sqlite: bool) -> ColumnElement[str]:
    """A column's values in all rows as a JSON list, in the same order as other aggregates of the same rows."""
    text = type_coerce(column, String())
    return func.json_group_array(text) if is_sqlite else cast(func.json_agg(text), Text)


def _columns(rows: FromClause, *, is_sqlite: bool = True) -> list[Any]:
    """Aggregates of these rows: a JSON list for each of `_TEXTS`, and the concatenated bytes of the vectors."""
    vector = type_coerce(rows.c.vector, LargeBinary)
    joined = func.group_concat(vector, literal_column("''")) if is_sqlite else func.string_agg(vector, literal(b""))
    return [*(_listed_json(rows.c[name], is_sqlite=is_sqlite) for name in _TEXTS), cast(joined, LargeBinary)]


_is_found = and_(_t.model == _m, func.length(type_coerce(_t.vector, LargeBinary)) == bindparam("n", type_=Integer()))
"""Rows with a vector of the wanted model and dimension. Rows that mark a removed episode have no vector."""


def _newest_of(n: int) -> ColumnElement[int | None]:
    """The newest `seq` of the n-th partition."""
    here = and_(_t.workspace == _w, _t.partition == bindparam(f"p{n}", type_=String()))
    return select(func.max(_t.seq)).where(here).scalar_subquery()


def _of_partition(n: int, *, is_sqlite: bool) -> Select[Any]:
    """The rows of the n-th partition after a `seq`, and the ids of those that cannot be found.

    Empty if the newest `seq` is more than `most` after it.
    """
    name, since = bindparam(f"p{n}", type_=String()), bindparam(f"s{n}", type_=BigInteger())
    is_new = and_(
        _t.workspace == _w,
        _t.partition == name,
        _t.seq > since,
        _t.seq <= since + bindparam("span", type_=BigInteger()),
        _newest_of(n) - since <= bindparam("most", type_=BigInteger()),
    )
    is_lost = or_(_t.vector.is_(None), not_(_is_found))
    lost = func.nullif(_listed_json(_t.episode_id, is_sqlite=is_sqlite), literal_column("'[]'"))
    gone = select(lost).where(is_new, since > literal_column("0"), is_lost).scalar_subquery()
    return select(name, *_columns(recall_index, is_sqlite=is_sqlite), gone).where(is_new, _is_found)


@cache
def _numbers(count: int, counted: int) -> Select[Any]:
    """One row: the workspace's mark or NULL, the newest `seq` of each of `count` partitions, and `counted` counters."""
    return select(*_number_columns(count, counted))


def _number_columns(count: int, counted: int) -> list[ColumnElement[Any]]:
    mark = select(lesson_versions.c.mark).where(lesson_versions.c.workspace == _w)
    return [mark.scalar_subquery(), *map(_newest_of, range(count)), *map(_counter, range(counted))]


@cache
def _news(count: int) -> CompoundSelect[Any]:
    """The changes of `count` partitions, one row each."""
    return union_all(*(_of_partition(n, is_sqlite=False) for n in range(count)))


@cache
def _numbers_and_news(count: int, counted: int) -> CompoundSelect[Any]:
    """`_numbers` and `_news` in one statement, for SQLite, which computes a row only when it is fetched.

    An empty row separates them, because the driver fetches one row ahead.
    """
    numbers = _number_columns(count, counted)
    width = max(len(numbers), _WIDTH)
    return union_all(
        select(*numbers, *[null()] * (width - len(numbers))),
        select(*[null()] * width),
        *(_of_partition(n, is_sqlite=True).add_columns(*[null()] * (width - _WIDTH)) for n in range(count)),
    )


def _counter(n: int) -> ColumnElement[int | None]:
    here = and_(counters.c.workspace == _w, counters.c.name == bindparam(f"c{n}", type_=String()))
    return select(counters.c.value).where(here).scalar_subquery()


News = Sequence[Any]
"""Aggregated columns of new rows (`_columns`), and a JSON list of ids that cannot be found any more, or None."""


class State(NamedTuple):
    """The result of `read`."""

    numbers: Mapping[str, int]
    """The newest `seq` of each partition, and counters by name."""
    news: Callable[[], Mapping[str, Sequence[News]]]
    """Reads the changes, by partition, oldest first. May be called once."""

    @property
    def epoch(self) -> int:
        """The current epoch of the index."""
        return self.numbers.get(EPOCH, 0)


def read(
    session: Session,
    workspace: str,
    since: Mapping[str, int],
    planes: Sequence[str] = (),
    model: str = "",
    dimension: int = 0,
    most: int = EVERY,
) -> State:
    """Read the newest `seq` of each partition, the epoch, counters (named by `planes`), and rows after a `seq`.

    `since` has the `seq` by partition. Partitions with more than `most` changes have no rows. SQLite takes one
    statement, PostgreSQL a second one for rows; both take more for each `_AT_ONCE` changes of a partition.
    """
    given: dict[str, Any] = {
        "w": workspace,
        "m": model,
        "n": 2 * dimension,
        "most": most,
        "span": _AT_ONCE,
        "c0": EPOCH,
    }
    given |= {f"c{n}": name for n, name in enumerate(planes, 1)}
    given |= {f"p{n}": name for n, name in enumerate(since)}
    numbers, rows = _executed(session, given, since, [EPOCH, *planes])
    return State(numbers, lambda: _changes(session, given, rows, since, numbers, [EPOCH, *planes], most))


def _executed(
    session: Session, given: dict[str, Any], since: Mapping[str, int], counted: Sequence[str]
) -> tuple[dict[str, int], Iterable[Sequence[Any]]]:
    """The numbers by name, and an iterator that reads the rows of changes."""
    given |= {f"s{n}": seq for n, seq in enumerate(since.values())}
    if session.is_sqlite:
        rows = session.each_driver_row(_numbers_and_news(len(since), len(counted)), given)
        mark, *numbers = next(rows)
    else:
        [(mark, *numbers)] = session.driver_rows(_numbers(len(since), len(counted)), given)
        rows = session.each_driver_row(_news(len(since)), given) if since else iter(())
    session.note_mark(given["w"], mark)
    return {name: number or 0 for name, number in zip([*since, *counted], numbers, strict=False)}, rows


def _changes(
    session: Session,
    given: dict[str, Any],
    rows: Iterable[Sequence[Any]],
    since: Mapping[str, int],
    numbers: Mapping[str, int],
    counted: Sequence[str],
    most: int,
) -> Mapping[str, Sequence[News]]:
    """The changes of each partition, from the statement that was begun and as many more as needed."""
    news: dict[str, list[News]] = {name: [] for name in since}
    while True:
        for name, *columns in (row[:_WIDTH] for row in rows):
            if columns[-1] is not None or columns[-2] is not None:
                news[name].append(columns)
        ends = {name: seq + _AT_ONCE for name, seq in since.items()}
        is_more = {name: ends[name] < numbers[name] <= seq + most for name, seq in since.items()}
        if not any(is_more.values()):
            return news
        since = {name: end if is_more[name] else numbers[name] for name, end in ends.items()}
        _, rows = _executed(session, given, since, counted)


def apply(news: News, vectors: VectorPartition, dimension: int) -> list[str]:
    """Apply changes to the copy of a partition. Returns the ids of removed and added episodes."""
    *texts, content, gone = news
    lost: list[str] = [] if gone is None else json.loads(gone)
    vectors.remove(lost)
    ids: list[str] = []
    if content is not None:
        ids = json.loads(texts[0])
        found: dict[tuple[str, ...], int] = {}
        of_kinds = [_listed(text, len(ids)) for text in texts[1:]]
        of_row = [found.setdefault(each, len(found)) for each in zip(*of_kinds, strict=True)]
        matrix = np.frombuffer(content, "<f2").reshape(len(ids), dimension)
        vectors.add(ids, [_kind(*each) for each in found], of_row, matrix)
    return lost + ids


def _listed(text: str, count: int) -> Iterable[Any]:
    """The items of a JSON list of `count` items. A list of equal items, as most are, is not parsed whole."""
    first, end = _JSON.raw_decode(text, 1)
    return repeat(first, count) if text == f"[{','.join([text[1:end]] * count)}]" else json.loads(text)


def _kind(audience: str, verdict: str, action: str, words: str, author: str) -> RowKind:
    approves = RowApproval(action, words, author) if verdict == Verdict.SUCCESS.value else None
    return RowKind(AUDIENCES[audience], VERDICTS[verdict], NOTHING_FOUND if action == GAVE_UP else approves)


_found_in = and_(_t.workspace == _w, _t.partition == bindparam("p", type_=String()), _is_found)
_SAMPLE = select(_listed_json(cast(_t.seq, String), is_sqlite=True), *_columns(recall_index)[: len(_TEXTS)]).where(
    _found_in, _t.seq.in_(bindparam("seqs", expanding=True))
)
_newest = select(*(_t[name] for name in (*_TEXTS, "vector"))).where(_found_in).order_by(_t.seq.desc())
_SCAN = select(*_columns(_newest.limit(bindparam("most")).subquery()))


class RowSample(NamedTuple):
    """A sample of the rows of a partition."""

    seqs: "NDArray[np.int64]"
    rows: VectorPartition
    """In the same order, without vectors."""


def sample(session: Session, key: Key, seqs: Sequence[int]) -> RowSample:
    """The rows of a partition with these seqs, as far as they exist."""
    rows, there = VectorPartition(0), list[str]()
    if row := session.row(_SAMPLE, {**_where(key), "seqs": seqs}):
        with session.readable():
            there = json.loads(row[0])
            apply([*row[1:], b"" if there else None, None], rows, 0)
    return RowSample(np.array(there, np.int64), rows)


def scanned(session: Session, key: Key, most: int) -> VectorPartition:
    """A copy of the `most` newest rows of a partition."""
    copy = VectorPartition(key.dimension)
    if row := session.row(_SCAN, {**_where(key), "most": most}):
        with session.readable():
            apply([*row, None], copy, key.dimension)
    return copy


def _where(key: Key) -> dict[str, Any]:
    return {"w": key.workspace, "p": key.partition, "m": key.model, "n": 2 * key.dimension}
