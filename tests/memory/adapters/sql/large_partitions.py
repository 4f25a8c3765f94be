"""Large partitions: stores to which a few rows are one, and what a full scan finds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from memory.adapters.sql.tables.episodes import recall_index
from memory.model import GAVE_UP, Vector
from tests.doubles.stores import open_file
from tests.memory.adapters.store_samples import CHANNEL, EVERYONE, MODEL, episode, nearest
from tests.memory.adapters.vectors.vector_samples import DIMENSION, vector_of

EXACT_ROWS = 5


def opened(path: Path, exact_rows: int = EXACT_ROWS) -> SqlStore:
    """A store to which a row more than these are a large partition."""
    open_file(path).close()
    return SqlStore(SqliteDatabase(path), exact_rows=exact_rows)


def file_of(store: SqlStore) -> Path:
    where = store._database.where
    assert isinstance(where, Path)
    return where


def add(store: SqlStore, *numbers: int, dimension: int = DIMENSION) -> None:
    with store.write() as tx:
        for number in numbers:
            tx.episodes.put(episode(f"e{number}", action="answer" if number % 4 else GAVE_UP))
            tx.episodes.put_vector("w", f"e{number}", MODEL, vector_of(number, dimension))
            tx.episodes.set_index("w", f"e{number}", [EVERYONE, CHANNEL] if number % 3 else [EVERYONE])


def ready(store: SqlStore) -> None:
    """Wait for the planes of what was searched."""
    assert store._plane_cache is not None
    store._plane_cache.wait()


def found(
    store: SqlStore,
    query: Vector,
    k: int = 10,
    partitions: Sequence[str] = ("workspace",),
    *,
    include_gave_up: bool = True,
) -> list[tuple[str, float]]:
    hits = nearest(store, "w", partitions, MODEL, query, k, -1.0, include_gave_up=include_gave_up).hits
    return [(hit.episode_id, round(hit.cosine, 4)) for hit in hits]


def scanned(
    store: SqlStore,
    query: Vector,
    k: int = 10,
    partitions: Sequence[str] = ("workspace",),
    *,
    include_gave_up: bool = True,
) -> list[tuple[str, float]]:
    """What a full scan of the table finds."""
    with store.read() as tx:
        rows = tx.episodes._session.rows(recall_index.select())  # type: ignore[attr-defined]  # behind the port
    named = {
        row.episode_id: round(float(np.clip(row.vector @ query, -1, 1)), 4)
        for row in rows
        if row.workspace == "w" and row.partition in partitions and row.vector is not None and row.model == MODEL
        if len(row.vector) == len(query) and (include_gave_up or row.action != GAVE_UP)
    }
    return sorted(named.items(), key=lambda each: (each[1], each[0]), reverse=True)[:k]


def files_of(store: SqlStore) -> list[Path]:
    return sorted(file_of(store).parent.glob("goodbot.db-planes/*"))
