"""Reads and writes the recall index, which has one row for each episode in each partition where it can be found.

Each change of a partition gets the partition's next `seq`. A removed row stays as a tombstone (no vector), so that
other processes see the removal. `sweep` deletes tombstones and raises the epoch; processes drop their copies of earlier
epochs (`nearest`). `action`, `words` and `author` are copied from the episode when it is indexed, as they do not change
while it can be found.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import (
    Boolean,
    Row as SqlRow,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    null,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.sql.base import Executable
from sqlalchemy.types import LargeBinary, String

from memory.adapters.row_validation import chunks, require_all_storable
from memory.adapters.sql.tables.dialect import insert
from memory.adapters.sql.tables.episodes import counters, episode_vectors, episodes, recall_index
from memory.adapters.sql.transaction.session import ID_LIMIT, Session, among
from memory.errors import NotFound
from memory.model import Episode, Origin
from memory.ports import IndexEntry
from memory.rules.evidence.named_action import LONGEST_NAMING

if TYPE_CHECKING:
    from memory.model import Vector

EPOCH = "index_epoch"
"""The counter that is raised when tombstones are deleted."""
PLANES = "planes/"
"""Prefix of the counters that name the valid planes of large partitions (`planes`)."""

_t = recall_index.c
_e = episodes.c
_own = and_(_t.workspace == bindparam("w"), _t.episode_id == bindparam("e"))
_FILED = select(_t.partition, _t.audience, _t.verdict, _t.model, _t.vector).where(_own).order_by(_t.partition)
_LIVE_OF = select(_t.episode_id, _t.partition, _t.audience, _t.verdict).where(
    among(recall_index, "episode_id"), _t.vector.is_not(None)
)
_VECTOR = select(episode_vectors.c.model, episode_vectors.c.vector).where(
    episode_vectors.c.workspace == bindparam("w"), episode_vectors.c.episode_id == bindparam("e")
)
_FIRST = (
    select(_e.id)
    .join(recall_index, and_(_t.workspace == _e.workspace, _t.episode_id == _e.id))
    .where(_t.workspace == bindparam("w"), _t.partition.in_(bindparam("names", expanding=True)), _t.vector.is_not(None))
    .group_by(_e.id, _e.created_at)
    .order_by(_e.created_at, _e.id)
    .limit(bindparam("limit"))
)
_LIVE_IDS = select(_t.episode_id).distinct().where(_t.workspace == bindparam("w"), _t.vector.is_not(None))
_TOMBSTONES = select(_t.workspace).distinct().where(_t.vector.is_(None))
_SWEEP = delete(recall_index).where(_t.workspace == bindparam("w"), _t.vector.is_(None))
_VALID_PLANES = select(counters.c.value).where(counters.c.name.startswith(PLANES))
_DROP_PLANES = delete(counters).where(counters.c.workspace == bindparam("w"), counters.c.name.startswith(PLANES))


def entries_of(session: Session, workspace: str, episode_id: str) -> list[IndexEntry]:
    """The entries of an episode, ordered by partition name."""
    rows = session.rows(_FILED, {"w": workspace, "e": episode_id})
    return [IndexEntry(partition=r.partition, audience=r.audience, verdict=r.verdict) for r in rows if _is_live(r)]


def first_episodes(session: Session, workspace: str, partitions: Sequence[str], limit: int) -> list[str]:
    """The ids of the oldest episodes in these partitions, at most `limit`."""
    rows = session.rows(_FIRST, {"w": workspace, "names": list(partitions), "limit": limit})
    return [row.id for row in rows]


def add(session: Session, workspace: str, episode_id: str, entries: Sequence[IndexEntry]) -> None:
    """Make the episode findable in exactly these partitions. Raises `NotFound` if it has no vector."""
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


def set_many(session: Session, workspace: str, wanted: Mapping[str, Sequence[IndexEntry]]) -> None:
    """Make these episodes findable in exactly these partitions, as far as they have vectors, which did not change."""
    session.require_writing()
    put: list[tuple[str, IndexEntry]] = []
    remove: list[tuple[str, IndexEntry]] = []
    for ids in chunks(wanted, ID_LIMIT):
        indexed: dict[str, dict[str, IndexEntry]] = {}
        for row in session.rows(_LIVE_OF, {"workspace": workspace, "ids": ids}):
            entry = IndexEntry(partition=row.partition, audience=row.audience, verdict=row.verdict)
            indexed.setdefault(row.episode_id, {})[row.partition] = entry
        for name in ids:
            before, after = indexed.get(name, {}), {entry.partition: entry for entry in wanted[name]}
            put += [(name, entry) for entry in after.values() if before.get(entry.partition) != entry]
            remove += [(name, entry) for entry in before.values() if entry.partition not in after]
    change(session, workspace, put=put, remove=remove)


def change(
    session: Session, workspace: str, *, put: Sequence[tuple[str, IndexEntry]], remove: Sequence[tuple[str, IndexEntry]]
) -> None:
    """Put and remove entries of episodes. Episodes without a vector are not put."""
    rows = [_row(workspace, *each, is_live=False) for each in remove]
    rows += [_row(workspace, *each, is_live=True) for each in put]
    if session.run(_CHANGE, rows):
        session.indexed.add(workspace)


def index_new(session: Session, model: str, new: Sequence["tuple[Episode, Vector, IndexEntry]"]) -> None:
    """Put entries of newly stored episodes from their values: reading them back takes three times as long."""
    require_all_storable([(model, entry) for _, _, entry in new])
    if session.run(_FILE_NEW, [_new_row(model, *each) for each in new]):
        session.indexed.update(episode.workspace for episode, _, _ in new)


def rebuild(session: Session, workspace: str, episode_id: str) -> None:
    """Update the rows of an episode after its vector changed."""
    if entries := entries_of(session, workspace, episode_id):
        add(session, workspace, episode_id, entries)


def remove(session: Session, workspace: str, episode_ids: Iterable[str]) -> None:
    """Remove these episodes from the index."""
    for ids in chunks(episode_ids, ID_LIMIT):
        for row in session.rows(_LIVE_IDS.where(_t.episode_id.in_(ids)), {"w": workspace}):
            add(session, workspace, row.episode_id, ())


def sweep(session: Session) -> tuple[list[str], set[int]]:
    """Delete all tombstones, as names of partitions contain people's ids. Processes then drop their copies.

    Returns the workspaces that had some, and the tokens of all planes that are still valid: none of those workspaces.
    """
    swept = [row.workspace for row in session.rows(_TOMBSTONES)]
    for workspace in swept:
        session.advance(workspace, EPOCH)
        session.run(_DROP_PLANES, {"w": workspace})
        session.run(_SWEEP, {"w": workspace})
    return swept, {row.value for row in session.rows(_VALID_PLANES)}


def _change_statement() -> Executable:
    """Put one row, with values of the stored episode and the partition's next `seq`, or its tombstone.

    `_new_row` has the same rules for `action`, `words` and `author` in Python.
    """
    w, e, p = (bindparam(name, type_=String()) for name in "wep")
    is_live = bindparam("live", type_=Boolean())
    newest = recall_index.alias("newest").c
    known = recall_index.alias("known").c
    vector = episode_vectors.c
    may_name_an_action = and_(is_live, _e.origin != Origin.RUN, func.length(_e.output) <= LONGEST_NAMING)
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
        "action": case((is_live, _e.action), else_=""),
        "words": case((may_name_an_action, _e.output), else_=""),
        "author": case((~is_live, ""), (_e.author == "", _e.person), else_=_e.author),
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
    changing = ("seq", "audience", "verdict", "action", "words", "author", "model", "vector")
    return statement.on_conflict_do_update(
        index_elements=[_t.workspace, _t.episode_id, _t.partition],
        set_={name: statement.excluded[name] for name in changing},
    )


_CHANGE = _change_statement()


def _file_new_statement() -> Executable:
    """Put one row with given values and the partition's next `seq`; it replaces a deleted episode's tombstone."""
    last_seq = (
        select(_t.seq)
        .where(_t.workspace == bindparam("w"), _t.partition == bindparam("p"))
        .order_by(_t.seq.desc())
        .limit(1)
        .scalar_subquery()
    )
    # Without `inline`, SQLAlchemy would add RETURNING, and SQLite's driver would count no rows.
    statement = insert(recall_index).values(seq=func.coalesce(last_seq, 0) + 1).inline()
    key = ("workspace", "episode_id", "partition")
    return statement.on_conflict_do_update(
        index_elements=key,
        set_={column.name: statement.excluded[column.name] for column in _t if column.name not in key},
    )


_FILE_NEW = _file_new_statement()


def _new_row(model: str, episode: Episode, vector: "Vector", entry: IndexEntry) -> dict[str, Any]:
    """The values that `_change_statement` selects, taken from the episode."""
    may_name_an_action = episode.origin is not Origin.RUN and len(episode.output) <= LONGEST_NAMING
    return {
        "w": episode.workspace,
        "p": entry.partition,
        "workspace": episode.workspace,
        "partition": entry.partition,
        "episode_id": episode.id,
        "audience": entry.audience,
        "verdict": entry.verdict,
        "action": episode.action,
        "words": episode.output if may_name_an_action else "",
        "author": episode.author or episode.person,
        "model": model,
        "vector": vector,
    }


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
