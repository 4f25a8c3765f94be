"""New episodes are indexed as stored ones are: row by row the same."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np

from memory.adapters.sql import SqlStore
from memory.model import Origin
from memory.ports import Transaction
from memory.rules.evidence.named_action import LONGEST_NAMING
from tests.memory.adapters.store_samples import CHANNEL, EVERYONE, MODEL, episode, unit

NEW = [
    episode("ran", action="clock", output="It is five."),
    episode("taught", origin=Origin.TAUGHT, action="answer", output="ü" * LONGEST_NAMING),
    episode("long", origin=Origin.IMPORT, output="x" * (LONGEST_NAMING + 1)),
    episode("nobodys", origin=Origin.CORRECTION, output="use the clock", author="", person="ana"),
    episode("authors", output="", author="bo", person="ana"),
]
VECTORS = {each.id: unit(1 / 3, number, 0.1).astype(np.float32) for number, each in enumerate(NEW)}


def _rows(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM recall_index ORDER BY workspace, partition, seq").fetchall()


def _add(tx: Transaction) -> None:
    tx.episodes.add(*NEW)
    tx.episodes.add_vectors("w", MODEL, VECTORS)


def test_new_episodes_are_filed_as_stored_ones_are(tmp_path: Path) -> None:
    places = [(each, entry) for each in NEW for entry in (EVERYONE, CHANNEL)]
    for name in ("read.db", "new.db"):
        store = SqlStore.open(f"sqlite:///{tmp_path / name}")
        for _ in range(2):  # the second time there are rows that say that they are gone
            with store.write() as tx:
                tx.episodes.delete("w", [each.id for each in NEW])
                _add(tx)
                if name == "new.db":
                    tx.episodes.index_new(MODEL, [(each, VECTORS[each.id], entry) for each, entry in places])
                else:
                    tx.episodes.change_index("w", put=[(each.id, entry) for each, entry in places], remove=[])
        store.close()
    assert len(_rows(tmp_path / "new.db")) == len(places)
    assert _rows(tmp_path / "new.db") == _rows(tmp_path / "read.db")


def test_nothing_new_is_filed_nowhere(tmp_path: Path) -> None:
    store = SqlStore.open(f"sqlite:///{tmp_path / 'a.db'}")
    with store.write() as tx:
        tx.episodes.index_new(MODEL, [])
        assert tx.episodes.index_of("w", "none") == []
    store.close()
