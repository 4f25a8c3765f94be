"""The recall index: vectors in scope-and-sequence order in the database, and a copy of the partitions in use.

The process's copy is checked against the database in every search (`seq` after the last one seen), so it is never
stale, whoever wrote. Each change of a partition gets its next `seq`. `epoch` is raised when rows disappear without a
trace; copies of an earlier epoch are dropped.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import (
    Boolean,
    ColumnElement,
    CompoundSelect,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal_column,
    null,
    or_,
    select,
    type_coerce,
    union_all,
)
from sqlalchemy import Row as SqlRow
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.sql.base import Executable
from sqlalchemy.types import LargeBinary, String

from memory.adapters.action_rows import Approval
from memory.adapters.partitions import VectorPartition, search
from memory.adapters.row_validation import chunks
from memory.adapters.sql.session import ID_LIMIT, Session
from memory.adapters.sql.tables import counters, episode_vectors, episodes, recall_index
from memory.errors import NotFound
from memory.model import Origin, Verdict
from memory.ports import IndexEntry, Neighbourhood
from memory.rules.evidence.answers import LONGEST_NAMING

if TYPE_CHECKING:
    from memory.model import Vector

_EPOCH = "index_epoch"

_t = recall_index.c
_e = episodes.c
_own = and_(_t.workspace == bindparam("w"), _t.episode_id == bindparam("e"))
_FILED = select(_t.partition, _t.audience, _t.verdict, _t.model, _t.vector).where(_own).order_by(_t.partition)
_VECTOR = select(episode_vectors.c.model, episode_vectors.c.vector).where(
    episode_vectors.c.workspace == bindparam("w"), episode_vectors.c.episode_id == bindparam("e")
)
# The bytes are decoded for a whole partition at once, which is what makes the first search of a partition quick.
_written = case((and_(_e.origin != Origin.RUN, func.length(_e.output) <= LONGEST_NAMING), _e.output), else_="")
_ROW = select(
    _t.partition,
    _t.episode_id,
    _t.audience,
    _t.verdict,
    _t.model,
    type_coerce(_t.vector, LargeBinary),
    _t.seq,
    _e.action,
    _written.label("words"),
    case((_e.author == "", _e.person), else_=_e.author).label("author"),
).join_from(recall_index, episodes, and_(_e.workspace == _t.workspace, _e.id == _t.episode_id), isouter=True)
_LIVE_IDS = select(_t.episode_id).distinct().where(_t.workspace == bindparam("w"), _t.vector.is_not(None))
_TOMBSTONES = select(_t.workspace).distinct().where(_t.vector.is_(None))
_SWEEP = delete(recall_index).where(_t.vector.is_(None))


def filed(session: Session, workspace: str, episode_id: str) -> list[IndexEntry]:
    """Where the episode is findable, by partition name."""
    rows = session.rows(_FILED, {"w": workspace, "e": episode_id})
    return [IndexEntry(partition=r.partition, audience=r.audience, verdict=r.verdict) for r in rows if _is_live(r)]


def file(session: Session, workspace: str, episode_id: str, entries: Sequence[IndexEntry]) -> None:
    """Make the episode findable in exactly these partitions. Raises `NotFound` if it has no vector to be found by."""
    session.require_writing()
    wanted = {entry.partition: entry for entry in entries}
    stored = session.row(_VECTOR, {"w": workspace, "e": episode_id})
    if wanted and stored is None:
        raise NotFound(f"Episode {episode_id} of {workspace} has no vector, so it cannot be made findable.")
    gone: list[tuple[str, IndexEntry]] = []
    for row in session.rows(_FILED, {"w": workspace, "e": episode_id}):
        entry = wanted.get(row.partition)
        if entry is None and _is_live(row):
            before = IndexEntry(partition=row.partition, audience=row.audience, verdict=row.verdict)
            gone.append((episode_id, before))
        elif entry is not None and stored is not None and _is_same(row, entry, stored):
            del wanted[row.partition]
    change(session, workspace, put=[(episode_id, entry) for entry in wanted.values()], remove=gone)


def change(
    session: Session, workspace: str, *, put: Sequence[tuple[str, IndexEntry]], remove: Sequence[tuple[str, IndexEntry]]
) -> None:
    """File episodes under entries, and no longer under others; those without a vector are left as they are."""
    rows = [_row(workspace, *each, is_live=False) for each in remove]
    rows += [_row(workspace, *each, is_live=True) for each in put]
    if session.run(_CHANGE, rows):
        session.filed.add(workspace)


def refile(session: Session, workspace: str, episode_id: str) -> None:
    """Bring the rows of an episode up to date after its vector changed."""
    if entries := filed(session, workspace, episode_id):
        file(session, workspace, episode_id, entries)


def unfile(session: Session, workspace: str, episode_ids: Iterable[str]) -> None:
    """Make these episodes findable nowhere."""
    for ids in chunks(episode_ids, ID_LIMIT):
        for row in session.rows(_LIVE_IDS.where(_t.episode_id.in_(ids)), {"w": workspace}):
            file(session, workspace, row.episode_id, ())


def sweep(session: Session) -> None:
    """Delete what marks rows as gone, which names partitions of people; every process starts its copies afresh."""
    for row in session.rows(_TOMBSTONES):
        session.advance(row.workspace, _EPOCH)
    session.run(_SWEEP)


def _change_statement() -> Executable:
    """One row put where it belongs, with the next `seq` of its partition, or made one that says it is gone."""
    w, e, p = (bindparam(name, type_=String()) for name in "wep")
    is_live = bindparam("live", type_=Boolean())
    newest = recall_index.alias("newest").c
    known = recall_index.alias("known").c
    vector = episode_vectors.c
    is_filed = exists().where(
        known.workspace == w, known.episode_id == e, known.partition == p, known.vector.is_not(None)
    )
    row = {
        "workspace": w,
        "partition": p,
        "seq": select(func.coalesce(func.max(newest.seq), 0) + 1)
        .where(newest.workspace == w, newest.partition == p)
        .scalar_subquery(),
        "episode_id": episodes.c.id,
        "audience": bindparam("a", type_=_t.audience.type),
        "verdict": bindparam("v", type_=_t.verdict.type),
        "model": case((is_live, vector.model), else_=""),
        "vector": case((is_live, type_coerce(vector.vector, LargeBinary)), else_=null()),
    }
    source = (
        select(*(value.label(name) for name, value in row.items()))
        .select_from(
            episodes.outerjoin(
                episode_vectors, and_(vector.workspace == episodes.c.workspace, vector.episode_id == episodes.c.id)
            )
        )
        .where(episodes.c.workspace == w, episodes.c.id == e)
        .where(or_(and_(is_live, vector.vector.is_not(None)), and_(~is_live, is_filed)))
    )
    statement = insert(recall_index).from_select(list(row), source)
    changing = ("seq", "audience", "verdict", "model", "vector")
    return statement.on_conflict_do_update(
        index_elements=[_t.workspace, _t.episode_id, _t.partition],
        set_={name: statement.excluded[name] for name in changing},
    )


_CHANGE = _change_statement()


def _row(workspace: str, episode_id: str, entry: IndexEntry, *, is_live: bool) -> dict[str, Any]:
    where = {"w": workspace, "e": episode_id, "p": entry.partition}
    return where | {"a": entry.audience, "v": entry.verdict, "live": is_live}


def _is_live(row: SqlRow[Any]) -> bool:
    return row.vector is not None


def _is_same(row: SqlRow[Any], entry: IndexEntry, stored: SqlRow[Any]) -> bool:
    return (
        (row.audience, row.verdict, row.model) == (entry.audience, entry.verdict, stored.model)
        and _is_live(row)
        and bool(np.array_equal(row.vector, stored.vector))
    )


@cache
def _news(count: int) -> CompoundSelect[Any]:
    """The rows of `count` partitions, of each what came after its own `seq`.

    Then, without ids of episodes, the newest `seq` of each partition, and the epoch.
    """
    w = bindparam("w", type_=String())
    names = [bindparam(f"p{n}", type_=String()) for n in range(count)]
    nothing: tuple[ColumnElement[Any], ...] = (literal_column("''"), null(), null(), literal_column("''"), null())
    nobody = (null(), null(), null())
    epoch = select(literal_column(f"'{_EPOCH}'"), *nothing, counters.c.value, *nobody)
    return union_all(
        *(_ROW.where(_t.workspace == w, _t.partition == p, _t.seq > bindparam(f"s{n}")) for n, p in enumerate(names)),
        *(select(p, *nothing, func.max(_t.seq), *nobody).where(_t.workspace == w, _t.partition == p) for p in names),
        epoch.where(counters.c.workspace == w, counters.c.name == _EPOCH),
    )


class _Copies:
    """Copies by workspace, partition, model and dimension, in order of use, with the epoch and `seq` each is at."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str, int], tuple[int, int, VectorPartition, int]] = OrderedDict()
        self._nbytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: tuple[str, str, str, int]) -> tuple[int, int, VectorPartition]:
        """Out of here, for it may be changed; an empty one, at no `seq`, if it is not here."""
        epoch, seq, vectors, nbytes = self._kept.pop(key, (0, 0, VectorPartition(key[3]), 0))
        self._nbytes -= nbytes
        return epoch, seq, vectors

    def put(self, key: tuple[str, str, str, int], epoch: int, seq: int, vectors: VectorPartition) -> None:
        """As the one used last."""
        nbytes = vectors.nbytes + 1000  # even an empty one, of which there may be many, is no nothing
        self._kept[key] = (epoch, seq, vectors, nbytes)
        self._nbytes += nbytes

    def shrink(self, budget: int) -> None:
        """Drop those used longest ago, until the bytes are within the budget or one is left."""
        while self._nbytes > budget and len(self._kept) > 1:
            _, (_, _, _, nbytes) = self._kept.popitem(last=False)
            self._nbytes -= nbytes


class RecallIndex:
    """The process's copies of the partitions of one database file, up to `budget` bytes (one is always kept).

    Safe for threads. A transaction whose first statement is the search takes its snapshot under the lock, so that the
    snapshot is never older than the copies; where it is, they are read anew.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._copies = _Copies()
        self._lock = Lock()

    def nearest(
        self,
        session: Session,
        workspace: str,
        partitions: Sequence[str],
        model: str,
        vector: "Vector",
        k: int,
        min_cosine: float,
        beside: Sequence[str] = (),
        actions: Sequence[str] = (),
    ) -> Neighbourhood:
        """`EpisodeTable.nearest` in the snapshot of this transaction."""
        names, others = list(dict.fromkeys(partitions)), list(dict.fromkeys(beside))
        with self._lock:
            # What a transaction filed itself may yet be rolled back: no other one may find it in the copies.
            copies = _Copies() if workspace in session.filed else self._copies
            loaded = _loaded(session, copies, workspace, [*names, *others], model, len(vector))
            found = search(loaded[: len(names)], vector, k, min_cosine, actions)
            if others:
                known = {hit.episode_id for hit in found.hits}
                apart = search(loaded[len(names) :], vector, k, min_cosine).hits
                found = replace(found, beside=tuple(hit for hit in apart if hit.episode_id not in known))
            copies.shrink(self._budget)
        return found


def _loaded(
    session: Session, copies: _Copies, workspace: str, names: Sequence[str], model: str, dimension: int
) -> list[VectorPartition]:
    """The partitions as they are in the transaction's snapshot. Copies that a failure interrupts are gone."""
    if not names:
        return []
    held = {name: copies.take((workspace, name, model, dimension)) for name in names}
    news, newest = _read(session, workspace, {name: known for name, (_, known, _) in held.items()})
    epoch = newest.get(_EPOCH, 0)
    stale = [n for n, (kept, known, _) in held.items() if known and (kept != epoch or known > newest.get(n, 0))]
    if stale:
        held |= {name: (epoch, 0, VectorPartition(dimension)) for name in stale}
        news = [row for row in news if row.partition not in stale]
        news += _read(session, workspace, dict.fromkeys(stale, 0))[0]
    for name, (_, _, vectors) in held.items():
        _apply([row for row in news if row.partition == name], vectors, model, dimension)
        copies.put((workspace, name, model, dimension), epoch, newest.get(name, 0), vectors)
    return [vectors for _, _, vectors in held.values()]


def _read(session: Session, workspace: str, known: Mapping[str, int]) -> tuple[list[SqlRow[Any]], dict[str, int]]:
    """In one statement: of each partition the rows after its `seq`; its newest `seq`, and the epoch under its name."""
    since = {
        f"{word}{n}": value for n, each in enumerate(known.items()) for word, value in zip("ps", each, strict=True)
    }
    found = session.rows(_news(len(known)), {"w": workspace, **since})
    state = {row.partition: row.seq or 0 for row in found if not row.episode_id}
    return [row for row in found if row.episode_id], state


def _apply(news: Sequence[SqlRow[Any]], vectors: VectorPartition, model: str, dimension: int) -> None:
    """Bring the copy of one partition up to date with its new rows."""
    vectors.remove(row.episode_id for row in news)
    live = [row for row in news if row.model == model and len(row.vector or b"") == 2 * dimension]
    matrix = np.frombuffer(b"".join(row.vector for row in live), "<f2").reshape(-1, dimension)
    approvals = [
        Approval(row.action, row.words, row.author) if row.verdict is Verdict.SUCCESS else None for row in live
    ]
    vectors.add([(row.episode_id, row.audience, row.verdict) for row in live], matrix, approvals)
