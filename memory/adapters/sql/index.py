"""The recall index: vectors in scope-and-sequence order in the database, and a copy of the partitions in use.

The process's copy is checked against the database in every search (`seq` after the last one seen), so it is never
stale, whoever wrote. `epoch` is raised when rows disappear without a trace; copies of an earlier epoch are dropped.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Row as SqlRow
from sqlalchemy import and_, bindparam, delete, insert, select, type_coerce
from sqlalchemy.types import LargeBinary

from memory.adapters.shelf import Shelf, search
from memory.adapters.sql.session import ID_LIMIT, Session
from memory.adapters.sql.tables import counters, episode_vectors, recall_index
from memory.adapters.storable import chunks
from memory.errors import NotFound
from memory.ports import IndexEntry, Neighbourhood

if TYPE_CHECKING:
    from memory.model import Vector

_SEQ = "index"
_EPOCH = "index_epoch"

_t = recall_index.c
_own = and_(_t.workspace == bindparam("w"), _t.episode_id == bindparam("e"))
_FILED = select(_t.partition, _t.audience, _t.verdict, _t.model, _t.vector).where(_own).order_by(_t.partition)
_TAKE = delete(recall_index).where(_own, _t.partition == bindparam("p"))
_ADD = insert(recall_index)
_VECTOR = select(episode_vectors.c.model, episode_vectors.c.vector).where(
    episode_vectors.c.workspace == bindparam("w"), episode_vectors.c.episode_id == bindparam("e")
)
_STATE = select(counters.c.name, counters.c.value).where(
    counters.c.workspace == bindparam("w"), counters.c.name.in_([_SEQ, _EPOCH])
)
# The bytes are decoded for a whole partition at once, which is what makes the first search of a partition quick.
_NEWS = select(_t.episode_id, _t.audience, _t.verdict, _t.model, type_coerce(_t.vector, LargeBinary)).where(
    _t.workspace == bindparam("w"), _t.partition == bindparam("p"), _t.seq > bindparam("seq")
)
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
    rows: list[dict[str, Any]] = []
    for row in session.rows(_FILED, {"w": workspace, "e": episode_id}):
        entry = wanted.get(row.partition)
        if entry is None and _is_live(row):
            gone = IndexEntry(partition=row.partition, audience=row.audience, verdict=row.verdict)
            rows.append(_row(gone, "", None))
        elif entry is not None and stored is not None and _is_same(row, entry, stored):
            del wanted[row.partition]
    if stored is not None:
        rows.extend(_row(entry, stored.model, stored.vector) for entry in wanted.values())
    _rewrite(session, workspace, episode_id, rows)


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


def _rewrite(session: Session, workspace: str, episode_id: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    session.run(_TAKE, [{"w": workspace, "e": episode_id, "p": row["partition"]} for row in rows])
    last = session.advance(workspace, _SEQ, len(rows))
    for seq, row in enumerate(rows, last - len(rows) + 1):
        row.update(workspace=workspace, episode_id=episode_id, seq=seq)
    session.run(_ADD, rows)


def _row(entry: IndexEntry, model: str, vector: "Vector | None") -> dict[str, Any]:
    return {
        "partition": entry.partition,
        "audience": entry.audience,
        "verdict": entry.verdict,
        "model": model,
        "vector": vector,
    }


def _is_live(row: SqlRow[Any]) -> bool:
    return row.vector is not None


def _is_same(row: SqlRow[Any], entry: IndexEntry, stored: SqlRow[Any]) -> bool:
    return (
        (row.audience, row.verdict, row.model) == (entry.audience, entry.verdict, stored.model)
        and _is_live(row)
        and bool(np.array_equal(row.vector, stored.vector))
    )


class RecallIndex:
    """The process's copy of the partitions that were searched last, up to `budget` bytes (one is always kept).

    Not safe for threads by itself: `SqlStore.nearest` holds a lock around the snapshot and the search, so that no
    snapshot is older than the copy it is compared with.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._copies: OrderedDict[tuple[str, str, str, int], tuple[int, int, Shelf]] = OrderedDict()

    def clear(self) -> None:
        """Forget every copy: the database is another one now."""
        self._copies.clear()

    def nearest(
        self,
        session: Session,
        workspace: str,
        partitions: Sequence[str],
        model: str,
        vector: "Vector",
        k: int,
        min_cosine: float,
    ) -> Neighbourhood:
        """`Store.nearest` in the snapshot of this session."""
        state = {row.name: row.value for row in session.rows(_STATE, {"w": workspace})}
        now = (state.get(_EPOCH, 0), state.get(_SEQ, 0))
        names = list(dict.fromkeys(partitions))
        shelves = [self._shelf(session, (workspace, name, model, len(vector)), now) for name in names]
        found = search(shelves, vector, k, min_cosine)
        self._shrink()
        return found

    def _shelf(self, session: Session, key: tuple[str, str, str, int], now: tuple[int, int]) -> Shelf:
        """The partition as it is in the session's snapshot."""
        epoch, seq = now
        workspace, partition, model, dimension = key
        known_epoch, known_seq, shelf = self._copies.pop(key, (epoch, 0, Shelf(dimension)))
        if known_epoch != epoch or known_seq > seq:
            known_seq, shelf = 0, Shelf(dimension)
        if known_seq < seq:
            news = session.rows(_NEWS, {"w": workspace, "p": partition, "seq": known_seq})
            shelf.remove(row.episode_id for row in news)
            live = [row for row in news if row.model == model and len(row.vector or b"") == 2 * dimension]
            matrix = np.frombuffer(b"".join(row.vector for row in live), "<f2").reshape(-1, dimension)
            shelf.add([(row.episode_id, row.audience, row.verdict) for row in live], matrix)
        self._copies[key] = (epoch, seq, shelf)
        return shelf

    def _shrink(self) -> None:
        """Drop the copies that were used longest ago."""
        size = sum(shelf.nbytes for _, _, shelf in self._copies.values())
        while size > self._budget and len(self._copies) > 1:
            _, (_, _, shelf) = self._copies.popitem(last=False)
            size -= shelf.nbytes
