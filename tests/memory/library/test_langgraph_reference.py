"""Whatever is asked of it, LangGraph's store over memory answers as that project's own store in memory does."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, Op, PutOp, Result, SearchOp
from langgraph.store.memory import InMemoryStore

from memory.adapters.sql import SqlStore
from memory.errors import InvalidInput
from memory.library.agent import AgentMemory
from memory.library.langgraph_store import LangGraphStore
from tests.doubles.memory_world import World, scope

LABELS = st.sampled_from(["a", "b", "ab", "ü/%"])
PATHS = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "a", "k/1", ""])
PARTS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "y"]) | st.lists(st.integers(0, 2))
VALUES = st.dictionaries(st.sampled_from(["p", "q"]), PARTS | st.dictionaries(st.sampled_from(["r"]), PARTS))
EQUAL = st.fixed_dictionaries({}, optional={"$eq": PARTS, "$ne": PARTS}).filter(bool)
FILTERS = st.dictionaries(st.sampled_from(["p", "q"]), PARTS | EQUAL | st.dictionaries(st.just("r"), PARTS), max_size=2)
CONDITIONS = st.builds(
    MatchCondition,
    match_type=st.sampled_from(["prefix", "suffix"]),
    path=st.lists(LABELS | st.just("*"), min_size=1, max_size=3).map(tuple),
)
STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
INDEXED = st.none() | st.just(False) | st.lists(STORABLE, max_size=3)
PUTS = st.builds(PutOp, namespace=PATHS, key=KEYS, value=st.none() | VALUES, index=INDEXED)

READS = (
    st.builds(GetOp, namespace=PATHS, key=KEYS)
    # From the first on: of items that nobody ranked the order is nobody's promise.
    | st.builds(
        SearchOp,
        namespace_prefix=st.just(()) | PATHS,
        filter=st.none() | FILTERS,
        limit=st.just(99),
        offset=st.just(0),
        query=st.none(),
    )
    | st.builds(
        ListNamespacesOp,
        match_conditions=st.none() | st.lists(CONDITIONS, max_size=2).map(tuple),
        max_depth=st.none() | st.integers(1, 3),
        limit=st.integers(1, 9),
        offset=st.integers(0, 2),
    )
)
BATCHES = st.lists(st.lists(PUTS | READS, max_size=6), max_size=6)


def comparable(result: Any) -> Any:
    """A result without times, and without the order of items that nobody ranked."""
    if isinstance(result, list):
        return sorted((comparable(each) for each in result), key=repr)
    return result if result is None or isinstance(result, tuple) else (result.namespace, result.key, result.value)


@given(BATCHES)
def test_it_answers_as_the_reference(batches: list[list[Op]]) -> None:
    ours = LangGraphStore(AgentMemory(memory=World(SqlStore.in_memory()).memory, scope=scope()))
    theirs = Reference()
    for ops in batches:
        assert [comparable(each) for each in ours.batch(ops)] == [comparable(each) for each in theirs.batch(ops)]


def test_what_no_store_takes_is_refused() -> None:
    items = LangGraphStore(AgentMemory(memory=World(SqlStore.in_memory()).memory, scope=scope()))
    with pytest.raises(InvalidInput, match="NUL"):
        items.put(("a",), "k", {"p": 1}, index=["\0"])
    assert items.get(("a",), "k") is None


class Reference(InMemoryStore):
    """The reference, but for the paths it lists though no item is there: all are deleted, or one was only asked for."""

    def batch(self, ops: Any) -> list[Result]:
        read = [None if isinstance(op, PutOp) else self._one(op) for op in ops]
        super().batch([op for op in ops if isinstance(op, PutOp)])
        return read

    def _one(self, op: Op) -> Result:
        for path in [path for path, items in self._data.items() if not items]:
            del self._data[path]
        return super().batch([op])[0]
