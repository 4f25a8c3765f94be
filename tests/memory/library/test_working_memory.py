from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from hypothesis import given, strategies as st

from memory.library.working_memory import Observation, WorkingMemory
from tests.doubles.model import NOW

pairs = st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)))


@given(pairs)
def test_it_behaves_as_a_dictionary_with_sorted_keys(written: list[tuple[str, str]]) -> None:
    board = WorkingMemory()
    for key, value in written:
        board.store(key, value)
    expected = dict(written)
    assert board.snapshot() == expected
    assert board.keys() == sorted(expected)
    assert all(board.recall(key) == value for key, value in expected.items())


def test_an_unknown_key_is_none() -> None:
    assert WorkingMemory().recall("nothing") is None
    assert WorkingMemory().recall_entry("nothing") is None


def test_an_observation_keeps_the_node_and_time_it_came_from() -> None:
    board = WorkingMemory()
    board.store("price", "5", node="0.1", at=NOW)
    assert board.recall_entry("price") == Observation(key="price", value="5", node="0.1", at=NOW)
    assert board.entries() == [Observation(key="price", value="5", node="0.1", at=NOW)]


def test_the_last_write_wins() -> None:
    board = WorkingMemory()
    board.store("price", "5", node="0.0")
    board.store("price", "6", node="0.1")
    assert board.entries() == [Observation(key="price", value="6", node="0.1")]


def test_a_snapshot_is_a_copy() -> None:
    board = WorkingMemory()
    board.store("a", "1")
    taken = board.snapshot()
    taken["b"] = "2"
    board.store("a", "changed")
    assert taken["a"] == "1"
    assert board.keys() == ["a"]


def test_clear_removes_everything() -> None:
    board = WorkingMemory()
    board.store("a", "1")
    board.clear()
    assert board.keys() == []
    assert board.snapshot() == {}


def test_threads_lose_no_write() -> None:
    board = WorkingMemory()
    together = Barrier(8)

    def write(thread: int) -> None:
        together.wait()
        for number in range(200):
            board.store(f"{thread}-{number}", str(number))
            board.snapshot()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert len(board.keys()) == 1600
