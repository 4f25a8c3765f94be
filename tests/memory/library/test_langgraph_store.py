"""LangGraph's store over memory: what that project asks of a store, and the laws of memory."""

import asyncio
import json
from typing import Any, ClassVar

import numpy as np
import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.errors import EmbeddingFailed, InvalidInput
from memory.library.agent import AgentMemory
from memory.library.export import export_person
from memory.library.langgraph_store import LESSONS, LangGraphStore
from memory.model import Role, Scope, Vector, Visibility
from tests.doubles.memory_world import World, scope


@pytest.fixture
def world() -> World:
    return World(SqlStore.in_memory())


@pytest.fixture
def store(world: World) -> LangGraphStore:
    return store_of(world)


def store_of(world: World, of: Scope | None = None, **given: Any) -> LangGraphStore:
    return LangGraphStore(AgentMemory(memory=world.memory, scope=of or scope(), role=Role.TEACHER), **given)


PATHS = [
    ("farm", "north", "barn"),
    ("farm", "north", "well", "pump"),
    ("farm", "north", "well", "rope"),
    ("farm", "south", "barn"),
    ("town", "north", "barn"),
    ("town", "mill"),
]


@pytest.fixture
def paths(store: LangGraphStore) -> LangGraphStore:
    for path in PATHS:
        store.put(path, "k", {"is": path[-1]})
    return store


# Items


def test_what_is_put_comes_back_as_it_was(store: LangGraphStore) -> None:
    value = {"text": "größe 😀", "n": 1, "f": 0.5, "none": None, "deep": {"list": [1, {"a": [True]}]}, "": ""}
    store.put(("notes", "/%ü*"), "a/b.c", value)
    item = store.get(("notes", "/%ü*"), "a/b.c")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "a/b.c", ("notes", "/%ü*"))
    assert item == store.get(("notes", "/%ü*"), "a/b.c")
    assert store.get(("notes",), "/%ü*/a/b.c") is None
    assert store.get(("notes", "/%ü*"), "other") is None


def test_a_second_put_replaces_and_keeps_when_it_was_made(world: World, store: LangGraphStore) -> None:
    store.put(("n",), "k", {"v": 1, "old": True})
    made = world.clock.now
    later = world.clock.tick(seconds=5)
    store.put(("n",), "k", {"v": 2})
    item = store.get(("n",), "k")
    assert item is not None
    assert (item.value, item.created_at, item.updated_at) == ({"v": 2}, made, later)
    assert len(store.search(("n",))) == 1


def test_what_is_deleted_is_gone_and_deleting_nothing_is_fine(store: LangGraphStore) -> None:
    store.put(("n",), "k", {"v": 1})
    store.delete(("n",), "k")
    store.delete(("n",), "k")
    assert store.get(("n",), "k") is None
    assert store.search(("n",)) == []
    assert store.list_namespaces() == []


@pytest.mark.parametrize("path", [(), ("a", "b.c"), ("a", ""), ("langgraph", "a"), LESSONS, ("goodbot", "mine")])
async def test_nothing_is_put_where_nothing_may_be(store: LangGraphStore, path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(path, "k", {"v": 1})
    with pytest.raises(InvalidNamespaceError):
        await store.aput(path, "k", {"v": 1})
    assert store.search(()) == []


def test_a_batch_checks_its_paths_too(store: LangGraphStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a.b",), "k", {"v": 1})])
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("fine",), "k", {"v": 1}), PutOp(LESSONS, "k", {"v": 1})])
    assert store.search(()) == []


def test_what_is_no_json_is_refused_and_nothing_of_its_batch_is_kept(store: LangGraphStore) -> None:
    with pytest.raises(InvalidInput, match="the value of an item"):
        store.batch([PutOp(("a",), "1", {"v": 1}), PutOp(("a",), "2", {"v": object()})])
    assert store.search(()) == []


def test_an_end_is_refused(store: LangGraphStore) -> None:
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("a",), "k", {"v": 1}, ttl=5)


# Batches


def test_a_batch_answers_in_its_order_and_writes_last(store: LangGraphStore) -> None:
    store.put(("a",), "k", {"v": 1})
    done = store.batch(
        [
            PutOp(("a",), "k", {"v": 2}),
            GetOp(("a",), "k"),
            SearchOp(("a",)),
            ListNamespacesOp(),
            PutOp(("b",), "k", {"v": 3}),
            PutOp(("a",), "k", {"v": 4}),
            GetOp(("b",), "k"),
        ]
    )
    got, found = done[1], done[2]
    assert got is not None
    assert not isinstance(got, list)
    assert got.value == {"v": 1}
    assert isinstance(found, list)
    assert len(found) == 1
    assert done[3] == [("a",)]
    assert [done[at] for at in (0, 4, 5, 6)] == [None] * 4
    assert {each.namespace: each.value for each in store.search(())} == {("a",): {"v": 4}, ("b",): {"v": 3}}


async def test_it_does_the_same_without_blocking(store: LangGraphStore) -> None:
    await asyncio.gather(
        *(store.aput(("n", str(at % 3)), f"k{at}", {"at": at, "text": "a red fox"}) for at in range(30))
    )
    found = await store.asearch(("n",), query="fox", filter={"at": {"$lt": 10}}, limit=50)
    assert sorted(each.value["at"] for each in found) == list(range(10))
    assert await store.alist_namespaces() == [("n", "0"), ("n", "1"), ("n", "2")]
    await store.adelete(("n", "0"), "k0")
    assert await store.aget(("n", "0"), "k0") is None
    got = await store.aget(("n", "1"), "k1")
    assert got is not None
    assert got.value["at"] == 1


# Namespaces


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, sorted(PATHS)),
        ({"prefix": ("farm", "north")}, PATHS[:3]),
        ({"suffix": ("barn",)}, [PATHS[0], PATHS[3], PATHS[4]]),
        ({"prefix": ("farm",), "suffix": ("barn",)}, [PATHS[0], PATHS[3]]),
        ({"prefix": ("*", "north")}, [*PATHS[:3], PATHS[4]]),
        ({"suffix": ("*", "mill")}, [PATHS[5]]),
        ({"prefix": ("town", "mill", "wheel")}, []),
        ({"prefix": ("nowhere",)}, []),
        ({"max_depth": 2}, [("farm", "north"), ("farm", "south"), ("town", "mill"), ("town", "north")]),
        ({"prefix": ("farm", "north"), "max_depth": 3}, [PATHS[0], ("farm", "north", "well")]),
        ({"limit": 2}, sorted(PATHS)[:2]),
        ({"limit": 3, "offset": 4}, sorted(PATHS)[4:]),
    ],
)
def test_namespaces_are_listed(paths: LangGraphStore, wanted: dict[str, Any], found: list[tuple[str, ...]]) -> None:
    assert paths.list_namespaces(**wanted) == found


# Search


def test_search_goes_by_prefix_of_whole_labels(paths: LangGraphStore) -> None:
    paths.put(("farmhouse",), "k", {"is": "house"})
    assert {each.namespace for each in paths.search(("farm", "north"))} == set(PATHS[:3])
    assert len(paths.search(("farm",))) == 4
    assert len(paths.search(())) == 7


ANIMALS: dict[str, dict[str, Any]] = {
    "fox": {"kind": "wild", "legs": 4, "size": {"cm": 40, "name": "mid"}, "eats": ["hens", "mice"]},
    "hen": {"kind": "farm", "legs": 2, "size": {"cm": 30, "name": "small"}, "eats": ["corn"]},
    "cow": {"kind": "farm", "legs": 4, "size": {"cm": 140.5, "name": "big"}, "eats": ["grass"]},
    "eel": {"kind": "wild", "legs": None},
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"kind": "farm"}, {"hen", "cow"}),
        ({"kind": {"$eq": "wild"}}, {"fox", "eel"}),
        ({"kind": {"$ne": "wild"}}, {"hen", "cow"}),
        ({"legs": {"$gt": 2}}, {"fox", "cow"}),
        ({"legs": {"$gte": 2, "$lt": 4}}, {"hen"}),
        ({"legs": {"$lte": 2}}, {"hen"}),
        ({"legs": None}, {"eel"}),
        ({"kind": "farm", "legs": 4}, {"cow"}),
        ({"size": {"cm": {"$gt": 30.5}}}, {"fox", "cow"}),
        ({"size": {"name": "big"}}, {"cow"}),
        ({"size": {"name": {"$lt": "mid"}}}, {"cow"}),
        ({"eats": ["hens", "mice"]}, {"fox"}),
        ({"eats": ["hens"]}, set()),
        ({"legs": {"$gt": "2"}}, set()),
        ({}, set(ANIMALS)),
    ],
)
def test_search_filters(store: LangGraphStore, wanted: dict[str, Any], found: set[str]) -> None:
    for key, value in ANIMALS.items():
        store.put(("animals",), key, value)
    assert {each.key for each in store.search(("animals",), filter=wanted)} == found


def test_an_unknown_operator_is_named(store: LangGraphStore) -> None:
    store.put(("a",), "k", {"v": 1})
    with pytest.raises(ValueError, match=r"\$near is no operator"):
        store.search(("a",), filter={"v": {"$near": 1}})


def test_pages_of_a_search_have_everything_once(world: World, store: LangGraphStore) -> None:
    for at in range(7):
        store.put(("a",), f"k{at}", {"text": f"fox number {at}"})
        world.clock.tick()
    for query in (None, "fox"):
        pages = [store.search(("a",), query=query, limit=3, offset=at) for at in (0, 3, 6, 9)]
        assert [len(page) for page in pages] == [3, 3, 1, 0]
        assert len({each.key for page in pages for each in page}) == 7
    assert [each.key for each in store.search(("a",), limit=2)] == ["k6", "k5"]


def test_a_query_ranks_by_meaning_and_says_how_near(store: LangGraphStore) -> None:
    store.put(("a",), "key", {"text": "the spare key is under the pot"})
    store.put(("a",), "fern", {"text": "water the fern every day"})
    store.put(("a",), "hidden", {"text": "the spare key"}, index=False)
    found = store.search(("a",), query="where is the spare key")
    assert [each.key for each in found] == ["key", "fern", "hidden"]
    assert found[0].score is not None
    assert found[1].score is not None
    assert found[0].score > found[1].score
    assert found[2].score is None
    assert [each.score for each in store.search(("a",), query="")] == [None] * 3
    before = found[0].score
    store.put(("a",), "key", {"text": "feed the cat"})
    after = {each.key: each.score for each in store.search(("a",), query="where is the spare key")}["key"]
    assert after is not None
    assert after < before


def test_fields_say_what_is_searched(world: World) -> None:
    store = store_of(world, fields=["title"])
    store.put(("a",), "by title", {"title": "spare key", "body": "water the fern"})
    store.put(("a",), "by parts", {"title": "fern", "parts": [{"t": "dog"}, {"t": "spare key"}]}, index=["parts[*].t"])
    store.put(("a",), "no field", {"body": "spare key"})
    found = store.search(("a",), query="spare key")
    assert [each.key for each in found][2:] == ["no field"]
    assert [each.score for each in found] == [pytest.approx(1.0), pytest.approx(1.0), None]


def test_what_was_embedded_is_not_embedded_again() -> None:
    class Counting(HashingEmbedder):
        seen: ClassVar[list[str]] = []

        def embed(self, texts: Any) -> list[Vector]:
            self.seen.extend(texts)
            return super().embed(texts)

    store = store_of(World(embedder=Counting()))
    store.put(("a",), "k", {"t": "fox"})
    store.search(("a",), query="one")
    Counting.seen.clear()
    store.search(("a",), query="two")
    assert Counting.seen == ["two"]


def test_without_an_embedding_items_are_found_in_their_order() -> None:
    class Broken(HashingEmbedder):
        def embed(self, texts: Any) -> list[Vector]:
            raise EmbeddingFailed("no model")

    store = store_of(World(embedder=Broken()))
    store.put(("a",), "k", {"t": "fox"})
    assert [(each.key, each.score) for each in store.search(("a",), query="fox")] == [("k", None)]


def test_there_are_no_scores_by_vectors_that_are_too_long() -> None:
    class Huge(HashingEmbedder):
        def embed(self, texts: Any) -> list[Vector]:
            return [np.array([3e38, 3e38 if text == "fox" else -3e38], np.float32) for text in texts]

    store = store_of(World(embedder=Huge()), fields=["t"])
    store.put(("a",), "other", {"t": "dog"})
    store.put(("a",), "k", {"t": "fox"})
    assert [(each.key, each.score) for each in store.search(("a",), query="fox")] == [("k", None), ("other", None)]


# Lessons


@pytest.fixture
def taught(world: World) -> str:
    """The id of a lesson that everybody in the channel may be told."""
    door = AgentMemory(memory=world.memory, scope=scope("tea"), role=Role.TEACHER)
    answer = door.record("where is the spare key?", "Under the mat.", [])
    return str(door.correct(answer["answer_id"], "Under the pot.")["lesson_id"])


def test_lessons_are_found_by_meaning_and_by_id(store: LangGraphStore, taught: str) -> None:
    for prefix in (LESSONS, LESSONS[:1]):
        found = {each.key: each for each in store.search(prefix, query="where is the spare key?")}
        assert found[taught].value["answer"] == "Under the pot."
        assert found[taught].namespace == LESSONS
        assert found[taught].score == pytest.approx(1.0, abs=0.01)
    item = store.get(LESSONS, taught)
    assert item is not None
    assert (item.value["advice"], item.value["answer"]) == ("REPEAT", "Under the pot.")
    only = store.search(LESSONS, query="where is the spare key?", filter={"advice": "AVOID"})
    assert taught not in {each.key for each in only}
    assert store.search(LESSONS, query="where is the spare key?", offset=20) == []


def test_lessons_are_in_no_other_search_and_in_no_list(store: LangGraphStore, taught: str) -> None:
    assert taught
    assert store.search(LESSONS) == []
    assert store.search((*LESSONS, "more"), query="where is the spare key?") == []
    assert store.search((), query="where is the spare key?") == []
    assert store.list_namespaces() == []


def test_what_is_not_validated_is_no_lesson(world: World, store: LangGraphStore) -> None:
    pending = world.ask("where is the ladder?", "In the barn.")
    assert store.get(LESSONS, pending.id) is None
    assert store.get(LESSONS, "nothing") is None
    assert store.search(LESSONS, query="where is the ladder?") == []


def test_a_lesson_of_elsewhere_is_not_there(world: World, taught: str) -> None:
    for of in (scope(channel="c2"), scope(workspace="terminal:v")):
        assert store_of(world, of).get(LESSONS, taught) is None


# The laws of memory


def test_nobody_else_meets_an_item(world: World, store: LangGraphStore) -> None:
    store.put(("a",), "k", {"v": "ana's"})
    for of in (scope("bo"), scope(workspace="terminal:v")):
        other = store_of(world, of)
        assert other.get(("a",), "k") is None
        assert other.search(()) == []
        assert other.list_namespaces() == []
        other.delete(("a",), "k")
        other.put(("a",), "k", {"v": "theirs"})
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"v": "ana's"}


@pytest.mark.parametrize("visibility", [Visibility.PRIVATE, Visibility.DIRECT])
def test_what_was_put_in_private_is_found_only_there(
    world: World, store: LangGraphStore, visibility: Visibility
) -> None:
    there = store_of(world, scope(channel="secret", visibility=visibility))
    store.put(("a",), "k", {"v": "public"})
    there.put(("a",), "k", {"v": "private"})
    there.put(("b",), "k", {"v": "private"})
    assert [each.value["v"] for each in there.search(("a",))] == ["private"]
    assert [each.value["v"] for each in store.search(())] == ["public"]
    assert store.list_namespaces() == [("a",)]
    store.delete(("b",), "k")
    assert there.get(("b",), "k") is not None


def test_secrets_are_not_kept(store: LangGraphStore) -> None:
    store.put(("a",), "k", {"password": "tulip-garden-99", "text": "token xoxb-123456789012-abcdefghijklmnop"})
    item = store.get(("a",), "k")
    assert item is not None
    assert "tulip" not in str(item.value)
    assert "abcdefghijklmnop" not in str(item.value)


def test_items_are_exported_and_forgotten_with_their_person(world: World, store: LangGraphStore) -> None:
    store.put(("diet",), "k", {"v": "no walnuts"})
    held = world.memory.privacy.copy("terminal:w", "ana")
    assert "no walnuts" in json.dumps(export_person(held, "ana"), default=str)
    world.memory.privacy.forget("terminal:w", "bo")
    assert store.get(("diet",), "k") is not None
    world.memory.privacy.forget("terminal:w", "ana")
    assert store.get(("diet",), "k") is None
    assert world.memory.privacy.personal_data("terminal:w", "ana").is_empty


def test_a_purge_leaves_what_taught_nobody(world: World, store: LangGraphStore) -> None:
    store.put(("a",), "k", {"v": 1})
    world.memory.purging.purge("terminal:w", "ana", actor="root", at=world.clock.now)
    assert store.get(("a",), "k") is not None
    assert store_of(world, scope("root")).search(()) == []


def test_items_outlive_the_sweep_of_what_expires(world: World, store: LangGraphStore) -> None:
    store.put(("a",), "k", {"v": 1})
    world.clock.tick(days=3650)
    with world.memory.store.write() as tx:
        tx.short.sweep(world.clock.now)
    assert store.get(("a",), "k") is not None
