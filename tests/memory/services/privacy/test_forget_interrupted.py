"""A forget that is killed anywhere is finished by the next start, down to the bytes in the database's files."""

import shutil
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from memory.adapters.sql import SqlStore
from memory.errors import StoreUnavailable
from memory.model import EventKind, Role
from memory.model.upkeep import Erasure
from memory.ports import Store
from tests.doubles.memory_world import World, scope
from tests.doubles.process import python

W, PERSON, WORD = "terminal:w", "quokka", "zyzzyva"


class _Killed(BaseException):
    """The process is no more: nobody catches this."""


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which one person said something, and another one taught."""
    folder = tmp_path_factory.mktemp("life")
    store = SqlStore.open(f"sqlite:///{folder / 'goodbot.db'}")
    world = World(store)
    answer = world.ask(f"where is the {WORD}?", f"the {WORD} is upstairs", of=scope(PERSON))
    world.correct(answer, "in the cellar", by="tea", role=Role.TEACHER)
    world.react(world.ask("when is lunch?", of=scope("bob")), by=PERSON)
    world.memory.recording.claim_occasion(W, f"asked/{PERSON}")
    store.close()
    return folder


def killed_at(step: int, store: SqlStore, folder: Path, image: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Forget, and be killed before a statement, a commit, or one of the passes over the free space.

    The files are copied as a kill leaves them. Returns the steps that were taken.
    """
    taken: list[str] = []

    def come_to(what: str) -> None:
        taken.append(what)
        if len(taken) == step:
            shutil.copytree(folder, image)
            raise _Killed

    class Driver:
        """A connection of the driver that says what it is told to do."""

        def __init__(self, connection: Any) -> None:
            self._connection = connection

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

        def execute(self, statement: str) -> Any:
            come_to(statement)
            return self._connection.execute(statement)

    world, engine = World(store), store._engine
    event.listen(engine, "before_cursor_execute", lambda *given: come_to(str(given[2]).split()[0]))
    event.listen(engine, "commit", lambda _: come_to("COMMIT"))
    raw = engine.raw_connection
    with monkeypatch.context() as patched:
        patched.setattr(engine, "raw_connection", lambda: Driver(raw()))
        with suppress(_Killed):
            world.memory.privacy.forget(W, PERSON)
    return taken


def remains(folder: Path) -> list[tuple[str, str]]:
    words = (WORD, PERSON)
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return [(file.name, word) for file in files for word in words if word.encode() in file.read_bytes()]


def steps_of(life: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    shutil.copytree(life, folder)
    store = SqlStore.open(f"sqlite:///{folder / 'goodbot.db'}")
    taken = killed_at(-1, store, folder, folder, monkeypatch)
    store.close()
    assert remains(folder) == []
    return taken


def test_a_forget_killed_between_any_two_steps_is_finished_by_the_next_start(
    life: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = steps_of(life, tmp_path / "whole", monkeypatch)
    assert [each for each in steps if each in ("COMMIT", "VACUUM")] == ["COMMIT"] * 4 + ["VACUUM", "COMMIT"]
    begun = steps.index("COMMIT") + 1
    # Within a transaction every statement is like the next: all around the commits, and some of those between.
    near = {place + shift for place, each in enumerate(steps, 1) if each in ("COMMIT", "VACUUM") for shift in (0, 1, 2)}
    for step in sorted({*near, *range(1, len(steps), 12)} & set(range(1, len(steps) + 1))):
        folder, image = tmp_path / f"{step}", tmp_path / f"{step}-killed"
        shutil.copytree(life, folder)
        store = SqlStore.open(f"sqlite:///{folder / 'goodbot.db'}")
        assert len(killed_at(step, store, folder, image, monkeypatch)) == step
        store.close()
        again = SqlStore.open(f"sqlite:///{image / 'goodbot.db'}")
        world = World(again)
        with again.read() as tx:
            assert tx.upkeep.erasures() == []
        if step <= begun:
            assert not world.memory.privacy.personal_data(W, PERSON).is_empty, "nobody was told yet that it is gone"
            world.memory.privacy.forget(W, PERSON)
        assert world.memory.privacy.personal_data(W, PERSON).is_empty
        assert [each.output for each in world.memory.restating.waiting(W, "tea")] == ["in the cellar"]
        assert remains(image) == []
        assert world.memory.audit.check() == []
        again.close()
        assert remains(image) == []


def test_a_process_killed_before_the_free_space_was_overwritten_leaves_that_to_the_next(
    life: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "home"
    shutil.copytree(life, folder)
    script = """
import os, signal, sys
from memory.adapters.sql import SqlStore
from tests.doubles.memory_world import World
SqlStore.erase_free_space = lambda self: os.kill(os.getpid(), signal.SIGKILL)
World(SqlStore.open(sys.argv[1])).memory.privacy.forget(sys.argv[2], sys.argv[3])
"""
    url = f"sqlite:///{folder / 'goodbot.db'}"
    process = python(script, url, W, PERSON)
    process.communicate(b"", timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert remains(folder), "in the log file at least"
    store = SqlStore.open(url)
    assert World(store).memory.privacy.personal_data(W, PERSON).is_empty
    store.close()
    assert remains(folder) == []


class _Busy(SqlStore):
    """Somebody else reads the files for ever."""

    is_busy = True

    def erase_free_space(self) -> None:
        if self.is_busy:
            raise StoreUnavailable("Another process is still reading.")


def test_free_space_that_cannot_be_overwritten_now_is_by_the_hourly_job() -> None:
    store = _Busy.in_memory()
    world = World(store)
    world.ask("where is it?", of=scope(PERSON))
    with pytest.raises(StoreUnavailable):
        world.memory.privacy.forget(W, PERSON)
    assert [each.person for each in erasures(store)] == [""], "what is left to do names nobody"
    World(store)  # a start at the wrong moment is none the worse
    assert len(erasures(store)) == 1
    assert world.memory.upkeep.run("sweep").error == "Another process is still reading."
    store.is_busy = False
    assert world.memory.upkeep.run("sweep").error == ""
    assert erasures(store) == []


def test_two_processes_that_finish_the_same_erasure_leave_one_tombstone() -> None:
    store = SqlStore.in_memory()
    world = World(store)
    world.ask("where is it?", of=scope(PERSON))
    with store.write() as tx:
        tx.upkeep.put_erasure(Erasure(workspace=W, id="1", person=PERSON))
    World(store)
    assert world.memory.privacy.finish() == 0
    with store.read() as tx:
        assert len(tx.log.by_actor(W, "", [EventKind.FORGOTTEN])) == 1


def test_erasing_an_answer_is_finished_too() -> None:
    store = _Busy.in_memory()
    world = World(store)
    answer = world.ask("where is it?", of=scope(PERSON))
    with pytest.raises(StoreUnavailable):
        world.memory.privacy.erase_run(W, answer.run_id)
    store.is_busy = False
    assert World(store).memory.privacy.finish() == 0
    assert erasures(store) == []


def erasures(store: Store) -> list[Erasure]:
    with store.read() as tx:
        return tx.upkeep.erasures()
