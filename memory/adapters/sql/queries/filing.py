"""New episodes in the recall index, by what is at hand of them: to read it back takes three times as long."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, func, select

from memory.adapters.row_validation import all_storable
from memory.adapters.sql.tables.dialect import insert
from memory.adapters.sql.tables.episodes import recall_index
from memory.adapters.sql.transaction.session import Session
from memory.model import Episode, Origin
from memory.ports import IndexEntry
from memory.rules.evidence.answers import LONGEST_NAMING

if TYPE_CHECKING:
    from memory.model import Vector

_t = recall_index.c
_LAST_SEQ = (
    select(_t.seq)
    .where(_t.workspace == bindparam("w"), _t.partition == bindparam("p"))
    .order_by(_t.seq.desc())
    .limit(1)
    .scalar_subquery()
)
# `inline`: otherwise it would return its keys, and the driver of SQLite would count no rows.
_FILE = insert(recall_index).values(seq=func.coalesce(_LAST_SEQ, 0) + 1).inline()
_KEY = ("workspace", "episode_id", "partition")
_FILE_ANEW = _FILE.on_conflict_do_update(
    index_elements=_KEY,
    set_={column.name: _FILE.excluded[column.name] for column in _t if column.name not in _KEY},
)
"""An episode that was deleted has left rows that say that it is gone."""


def file_new(session: Session, model: str, new: Sequence["tuple[Episode, Vector, IndexEntry]"]) -> None:
    """`EpisodeTable.file_new`."""
    all_storable([(model, entry) for _, _, entry in new])
    if session.run(_FILE_ANEW, [_row(model, *each) for each in new]):
        session.filed.update(episode.workspace for episode, _, _ in new)


def _row(model: str, episode: Episode, vector: "Vector", entry: IndexEntry) -> dict[str, Any]:
    """What `recall.index` makes of the stored episode."""
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
