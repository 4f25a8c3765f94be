"""Memories beside each other: the same vectors, what is nearest in truth, and no failure that stops the others."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from bot.app.bench.peers import comparison, environments, worker
from bot.app.bench.peers.comparison import HEAD, compare, table
from bot.app.bench.peers.dataset import write_dataset
from bot.app.bench.peers.environments import PEERS
from bot.app.bench.peers.own import Search, WholeRecall
from bot.app.bench.peers.worker import ENGINES, Vectors, measure
from bot.cli.root import goodbot

pytestmark = pytest.mark.slow

ROWS, QUESTIONS = 300, 20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_dataset(tmp_path, ROWS, QUESTIONS)
    return tmp_path


class Plain:
    """Compares with every row of the person, or of everybody."""

    def __init__(self, _: Path, vectors: Vectors) -> None:
        self._vectors, self.people = vectors, list[str]()

    def load(self, people: Sequence[str]) -> None:
        self.people = list(people)

    def search(self, person: str, text: str) -> list[str]:
        near = sorted(self._own(person), key=lambda name: -float(self._vectors.of(name) @ self._vectors.of(text)))
        return near[:10]

    def _own(self, person: str) -> list[str]:
        return [f"t{row}" for row, who in enumerate(self.people) if who == person]

    def add(self, person: str, text: str) -> None:
        self.people.append(person)


class Careless(Plain):
    def _own(self, person: str) -> list[str]:
        return [f"t{row}" for row in range(len(self.people))]


def test_the_data_are_the_same_each_time_and_of_one_length(data: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    write_dataset(again, ROWS, QUESTIONS)
    for name in ("data.json", "vectors.npy"):
        assert (again / name).read_bytes() == (data / name).read_bytes()
    lengths = np.linalg.norm(np.load(data / "vectors.npy"), axis=1)
    assert lengths == pytest.approx(1, abs=1e-5)
    assert len(lengths) == ROWS + QUESTIONS


def test_what_is_found_is_counted_against_the_truth(data: Path) -> None:
    found = measure(Plain, data)
    assert found["recall"] == 1
    assert 0 <= found["search_ms"] <= found["search_p95_ms"]
    (data / "store").rmdir()
    assert measure(Careless, data)["recall"] < 0.9


def test_goodbot_finds_all_of_them(data: Path) -> None:
    found = measure(Search, data)
    assert found["recall"] == 1
    assert found["disk_mib"] > 0
    for each in (data / "store").iterdir():
        each.unlink()
    (data / "store").rmdir()
    assert 0.5 < measure(WholeRecall, data)["recall"] <= 1  # what is unlike the question is not recalled


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="only Linux tells")
def test_the_memory_of_who_starts_a_measurement_is_no_part_of_it() -> None:
    large = np.ones(25 << 20)  # 200 MiB
    code, folder = "import worker; print(worker.most_memory())", Path(worker.__file__).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    assert 5 < float(done.stdout) < large.nbytes / 2**20


def test_every_peer_has_an_engine() -> None:
    assert {peer.name for peer in PEERS} == set(ENGINES)


@pytest.mark.process
def test_one_that_cannot_be_installed_is_told_and_the_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = replace(PEERS[0], needs="raise SystemExit(3)")
    monkeypatch.setattr(comparison, "PEERS", (peer,))
    said: list[str] = []
    found = compare([ROWS], QUESTIONS, [peer.name], tmp_path / "cache", said.append)
    assert [bool(each.numbers) for each in found] == [True, True, False]
    rows = table(found)
    assert [len(row) for row in rows] == [len(HEAD)] * 3
    assert rows[0][4] == "1.0 x"
    assert "no Python here can run" in rows[2][-1]
    assert len(said) == 3
    assert not (tmp_path / "cache").exists()


@pytest.mark.process
def test_one_that_breaks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "python_of", lambda peer, cache: Path(sys.executable))
    monkeypatch.setattr(comparison, "PEERS", (replace(PEERS[0], name="unknown"),))
    found = compare([ROWS], QUESTIONS, ["unknown"], tmp_path, lambda what: None)
    assert "KeyError" in found[-1].failure


def test_an_environment_that_is_there_is_used_as_long_as_it_is_what_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], _: object) -> None:
        ran.append(command)
        (tmp_path / "chroma").mkdir(exist_ok=True)

    monkeypatch.setattr(environments, "_run", run)
    peer = next(each for each in PEERS if each.name == "chroma")
    python = environments.python_of(peer, tmp_path)
    assert python == tmp_path / "chroma" / "bin" / "python"
    assert [command[1:3] for command in ran] == [["-m", "venv"], ["-m", "pip"]]
    assert environments.python_of(peer, tmp_path) == python
    assert len(ran) == 2
    environments.python_of(replace(peer, packages=("another",)), tmp_path)
    assert len(ran) == 4


@pytest.mark.process
def test_the_command_prints_a_table_and_writes_numbers(tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    arguments = ["bench", "peers", "--peer", "none", "--rows", "40", "--questions", "20", "--json", str(file)]
    done = CliRunner().invoke(goodbot, arguments)
    assert done.exit_code == 0, done.output
    assert "Goodbot, a whole recall" in done.output
    assert json.loads(file.read_text())[0]["numbers"]["recall"] == 1
    wrong = CliRunner().invoke(goodbot, ["bench", "peers", "--peer", "mem1"])
    assert "there is no peer mem1" in str(wrong.exception)
