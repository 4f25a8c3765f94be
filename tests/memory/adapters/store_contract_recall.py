"""What every store must do when it searches by vector."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from memory.adapters.sql.recall import partition_copies
from memory.errors import NotFound
from memory.model import GAVE_UP, Audience, Origin, Role, Verdict
from memory.ports import Ballot, IndexEntry, LessonSummary, Store, Transaction
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import (
    CHANNEL,
    EVERYONE,
    MODEL,
    NOW,
    aborted,
    at,
    episode,
    nearest,
    unit,
    vote,
)

PARTITIONS = ("workspace", "channel/C1", "person/ana")


def learn(store: Store, name: str, vector: tuple[float, ...], *entries: IndexEntry, model: str = MODEL) -> None:
    with store.write() as tx:
        tx.episodes.put(episode(name))
        tx.episodes.put_vector("w", name, model, unit(*vector))
        tx.episodes.set_index("w", name, entries or (EVERYONE,))


def near(
    store: Store, *partitions: str, query: tuple[float, ...] = (1, 0, 0), k: int = 10, floor: float = -1.0
) -> list[str]:
    return [hit.episode_id for hit in nearest(store, "w", partitions, MODEL, unit(*query), k, floor).hits]


class RecallContract(StoreCase):
    """The recall index."""

    def test_vectors_come_back_as_halves(self, store: Store) -> None:
        learn(store, "a", (0.1, 0.2, 0.7))
        with store.read() as tx:
            model, vector = tx.episodes.vectors("w", ["a", "none"])["a"]
        assert model == MODEL
        assert vector.dtype == np.float32
        assert np.abs(vector - unit(0.1, 0.2, 0.7)).max() < 5e-4

    def test_a_summary_says_what_was_done_and_who_judged_it(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(
                episode("a", action="answer", output="Yes.", graded_at=at(9)),
                episode("b", run_id="r1", parent_id="a"),
                episode("c", archived_at=at(1)),
                episode("a", "other", output="No."),
            )
            tx.teaching.put_votes(vote("bo"), vote("ana", value=-1), vote("cy", node_id="b"), vote("eve", "other"))
        with store.read() as tx:
            found = tx.episodes.weighing_input("w", "", ["a", "b", "c", "none"]).lessons
        assert found.keys() == {"a", "b"}
        assert found["a"] == LessonSummary(
            id="a",
            run_id="r1",
            goal="goal of a",
            origin=Origin.RUN,
            author="ana",
            action="answer",
            output="Yes.",
            decided_at=at(9),
            votes=(
                Ballot("ana", Role.TEACHER, -1, True, vote().source, at=vote().at),
                Ballot("bo", Role.TEACHER, 1, True, vote().source, at=vote().at),
            ),
        )
        assert found["b"].decided_at == NOW
        assert [each.actor for each in found["b"].votes] == ["bo", "cy"]

    def test_without_its_vector_an_episode_is_findable_nowhere(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("e1"))
            tx.episodes.put_vector("w", "e1", MODEL, unit(1, 0))
            tx.episodes.set_index("w", "e1", [EVERYONE])
        assert nearest(store, "w", ["workspace"], MODEL, unit(1, 0), 3, -1.0).searched == 1
        with store.write() as tx:
            tx.episodes.delete_vector("w", "e1")
            tx.episodes.delete_vector("w", "e1")
            assert tx.episodes.vectors("w", ["e1"]) == {}
            assert tx.episodes.index_of("w", "e1") == []
        assert nearest(store, "w", ["workspace"], MODEL, unit(1, 0), 3, -1.0).searched == 0

    def test_whose_words_it_holds_is_known_as_long_as_the_episode(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("e1"), episode("e2"))
            for words in ({"e2": ["bo"], "e1": ["cy"]}, {"e1": ["bo"]}, {"e1": ["bo"], "e2": []}, {}):
                tx.episodes.note_words("w", words)
            tx.episodes.put(episode("e2", goal="other"))
            assert tx.episodes.with_words_of("w", "bo") == ["e1", "e2"]
            assert tx.episodes.words_of_others("w", ["e1", "e2", "e3"]) == {"e1": ["bo", "cy"], "e2": ["bo"]}
            tx.episodes.clear_words("w", "e1")
            tx.episodes.delete("w", ["e2"])
            assert tx.episodes.words_of_others("w", ["e1", "e2"]) == {}
            tx.episodes.put(episode("e2"))
            assert tx.episodes.with_words_of("w", "bo") == []
        with pytest.raises(NotFound), store.write() as tx:
            tx.episodes.note_words("w", {"e1": ["bo"], "e9": ["bo"]})

    def test_vectors_need_their_episode_and_index_entries_their_vector(self, store: Store) -> None:
        with store.write() as tx:
            with pytest.raises(NotFound):
                tx.episodes.put_vector("w", "a", MODEL, unit(1, 0))
            tx.episodes.put(episode("a"))
            with pytest.raises(NotFound):
                tx.episodes.set_index("w", "a", [EVERYONE])
            tx.episodes.set_index("w", "a", [])
            for wrong in (np.zeros(0), np.zeros((2, 2)), np.array([np.nan, 1])):
                with pytest.raises(ValueError):
                    tx.episodes.put_vector("w", "a", MODEL, wrong.astype(np.float32))

    def test_the_closest_come_first(self, store: Store) -> None:
        for name, vector in {"a": (0, 1, 0), "b": (1, 0.1, 0), "c": (-1, 0, 0), "d": (1, 1, 0)}.items():
            learn(store, name, vector)
        found = nearest(store, "w", ["workspace"], MODEL, unit(1, 0, 0), 3, -1.0)
        assert [hit.episode_id for hit in found.hits] == ["b", "d", "a"]
        assert found.searched == 4
        assert [hit.cosine for hit in found.hits] == pytest.approx([1 / 1.01**0.5, 0.5**0.5, 0], abs=1e-3)
        assert found.hits[0].audience is Audience.WORKSPACE
        assert found.hits[0].verdict is Verdict.SUCCESS
        assert near(store, "workspace", k=0) == []
        assert near(store, "workspace", floor=0.5) == ["b", "d"]
        assert near(store, "workspace", floor=1.0) == []
        assert near(store) == []

    def test_of_equal_ones_the_later_id_comes_first(self, store: Store) -> None:
        for number in range(20):
            learn(store, f"e{number:02d}", (1, 0, 0))
        assert near(store, "workspace", k=3) == ["e19", "e18", "e17"]
        learn(store, "b", (1, 0.01, 0))
        assert near(store, "workspace", k=2) == ["e19", "e18"]

    def test_an_episode_in_two_partitions_counts_in_the_one_named_first(self, store: Store) -> None:
        learn(store, "a", (1, 0, 0), EVERYONE, CHANNEL)
        learn(store, "b", (1, 1, 0), EVERYONE)
        for order, entry in [(("channel/C1", "workspace"), CHANNEL), (("workspace", "channel/C1"), EVERYONE)]:
            hits = nearest(store, "w", order, MODEL, unit(1, 0, 0), 5, -1.0).hits
            assert [hit.episode_id for hit in hits] == ["a", "b"]
            assert (hits[0].audience, hits[0].verdict) == (entry.audience, entry.verdict)
        assert near(store, "channel/C1", "channel/C1") == ["a"]
        assert near(store, "nobody") == []

    def test_many_are_filed_as_one_by_one(self, store: Store) -> None:
        learn(store, "a", (1, 0, 0), EVERYONE, CHANNEL)
        learn(store, "b", (1, 1, 0), EVERYONE)
        learn(store, "c", (0, 1, 0), CHANNEL)
        assert near(store, "workspace") == ["a", "b"]
        refused = IndexEntry(partition=CHANNEL.partition, audience=CHANNEL.audience, verdict=Verdict.FAILURE)
        with store.write() as tx:
            tx.episodes.put(episode("d"))  # has no vector
            tx.episodes.set_indexes(
                "w", {"a": [CHANNEL], "b": [], "c": [refused, EVERYONE], "d": [EVERYONE], "none": []}
            )
            tx.episodes.set_indexes("w", {})
        with store.read() as tx:
            indexed = {name: tx.episodes.index_of("w", name) for name in "abcd"}
        assert indexed == {"a": [CHANNEL], "b": [], "c": [refused, EVERYONE], "d": []}
        assert (near(store, "workspace"), near(store, "channel/C1")) == (["c"], ["a", "c"])

    def test_the_first_in_some_partitions_are_the_oldest(self, store: Store) -> None:
        with store.write() as tx:
            for name, seconds in {"a": 2, "b": 0, "c": 1, "d": 0}.items():
                tx.episodes.put(episode(name, created_at=at(seconds)))
                tx.episodes.put_vector("w", name, MODEL, unit(1, 0, 0))
                tx.episodes.set_index("w", name, [CHANNEL, EVERYONE] if name != "c" else [CHANNEL])
            tx.episodes.delete_vector("w", "d")
            assert tx.episodes.first_indexed("w", ["channel/C1", "workspace"], 9) == ["b", "c", "a"]
            assert tx.episodes.first_indexed("w", ["workspace"], 1) == ["b"]
            assert tx.episodes.first_indexed("w", [], 9) == tx.episodes.first_indexed("v", ["workspace"], 9) == []

    def test_other_models_and_other_lengths_take_no_part(self, store: Store) -> None:
        learn(store, "a", (1, 0, 0))
        learn(store, "b", (1, 0, 0), model="other")
        learn(store, "c", (1, 0))
        assert near(store, "workspace") == ["a"]
        assert near(store, "workspace", query=(1, 0)) == ["c"]
        assert nearest(store, "w", ["workspace"], "other", unit(1, 0, 0), 5, -1.0).searched == 1

    def test_the_models_that_made_vectors_are_known(self, store: Store) -> None:
        learn(store, "a", (1, 0, 0), model="one")
        learn(store, "b", (1, 0, 0), model="other")
        learn(store, "c", (1, 0), model="other")
        with store.read() as tx:
            assert (tx.episodes.models("w"), tx.episodes.models("v")) == (["one", "other"], [])
        learn(store, "a", (1, 0, 0), model="other")
        with store.read() as tx:
            assert tx.episodes.models("w") == ["other"]

    def test_every_change_is_seen_by_the_next_search(self, store: Store) -> None:
        for name in ("a", "b", "c"):
            learn(store, name, (1, 0, 0))
        assert near(store, "workspace") == ["c", "b", "a"]
        with store.write() as tx:
            tx.episodes.set_index("w", "c", [])
        assert near(store, "workspace") == ["b", "a"]
        with store.write() as tx:
            tx.episodes.set_index("w", "b", [CHANNEL])
        assert near(store, "workspace") == ["a"]
        assert near(store, "channel/C1") == ["b"]
        with store.write() as tx:
            tx.episodes.put_vector("w", "a", MODEL, unit(0, 1, 0))
            assert tx.episodes.index_of("w", "a") == [EVERYONE]
        assert near(store, "workspace", query=(0, 1, 0), floor=0.9) == ["a"]
        with store.write() as tx:
            tx.episodes.put_vector("w", "a", "other", unit(0, 1, 0))
        assert near(store, "workspace") == []
        with store.write() as tx:
            tx.episodes.set_index("w", "c", [EVERYONE])
            tx.episodes.delete("w", ["b"])
        assert near(store, *PARTITIONS) == ["c"]
        store.erase_free_space()
        assert near(store, *PARTITIONS) == ["c"]
        learn(store, "b", (1, 0, 0))
        assert near(store, *PARTITIONS) == ["c", "b"]

    def test_many_episodes_are_filed_anew_at_once(self, store: Store) -> None:
        learn(store, "a", (1, 0, 0), EVERYONE, CHANNEL)
        learn(store, "b", (1, 0, 0))
        with store.write() as tx:
            tx.episodes.put(episode("bare"))
        assert near(store, *PARTITIONS) == ["b", "a"]
        disputed = IndexEntry(partition="workspace", audience=Audience.WORKSPACE, verdict=Verdict.FAILURE)
        with store.write() as tx:
            tx.episodes.change_index(
                "w",
                put=[("a", disputed), ("bare", EVERYONE), ("none", EVERYONE)],
                remove=[("a", CHANNEL), ("b", EVERYONE), ("b", CHANNEL), ("bare", CHANNEL)],
            )
            assert {each: tx.episodes.index_of("w", each) for each in ("a", "b", "bare", "none")} == {
                "a": [disputed],
                "b": [],
                "bare": [],
                "none": [],
            }
        assert near(store, "workspace") == ["a"]
        assert near(store, "channel/C1") == []
        with store.write() as tx:
            tx.episodes.change_index("w", put=[("b", CHANNEL), ("b", EVERYONE)], remove=[("a", disputed)])
        assert near(store, *PARTITIONS) == near(store, "channel/C1") == ["b"]

    def test_new_episodes_are_filed_without_being_read(self, store: Store) -> None:
        learn(store, "gone", (1, 0, 0), EVERYONE, CHANNEL)
        new = {"a": unit(1, 0, 0), "b": unit(0, 1, 0), "gone": unit(1, 1, 0)}
        with store.write() as tx:
            tx.episodes.delete("w", ["gone"])
            tx.episodes.add(*map(episode, new))
            tx.episodes.add_vectors("w", MODEL, new)
            indexed = [(episode(name), vector, entry) for name, vector in new.items() for entry in (EVERYONE, CHANNEL)]
            tx.episodes.index_new(MODEL, indexed)
            assert [tx.episodes.index_of("w", name) for name in new] == 3 * [[CHANNEL, EVERYONE]]
        assert near(store, "workspace") == near(store, "channel/C1") == ["a", "gone", "b"]

    def test_a_changed_verdict_is_seen(self, store: Store) -> None:
        learn(store, "a", (1, 0, 0))
        assert near(store, "workspace") == ["a"]
        with store.write() as tx:
            changed = IndexEntry(partition="workspace", audience=Audience.WORKSPACE, verdict=Verdict.FAILURE)
            tx.episodes.set_index("w", "a", [changed])
            assert tx.episodes.index_of("w", "a") == [changed]
        (hit,) = nearest(store, "w", ["workspace"], MODEL, unit(1, 0, 0), 5, -1.0).hits
        assert hit.verdict is Verdict.FAILURE

    def test_what_is_approved_is_known_to_whoever_searches_first(self, store: Store) -> None:
        learned = {
            "a": {"action": "clock", "author": "bo"},
            "b": {"action": "answer", "output": "use the clock", "origin": Origin.TAUGHT, "author": ""},
            "c": {"action": "answer", "output": "use the clock", "origin": Origin.RUN},
            "d": {"action": "answer", "output": "use the clock" + 200 * " ", "origin": Origin.TAUGHT},
        }
        for name, facts in learned.items():
            with store.write() as tx:
                tx.episodes.put(episode(name, **facts))
                tx.episodes.put_vector("w", name, MODEL, unit(1, 0, 0))
                tx.episodes.set_index("w", name, [EVERYONE])
        with store.read() as tx:
            found = tx.episodes.nearest(
                "w", ["workspace"], MODEL, unit(1, 0, 0), 9, -1.0, actions=["clock", "answer", "other"]
            )
        assert {name: fit.lessons for name, fit in found.fits.items()} == {"clock": 2, "answer": 2}

    def test_whatever_is_written_in_one_lesson_it_says_nothing_of_another(self, store: Store) -> None:
        written = ["", '","', "\x1f\x1e", "[null]", "\\", "🦉 ‮a\n", "use the clock"]
        for number, words in enumerate(written):
            name = f"e{number}{words}"
            with store.write() as tx:
                tx.episodes.put(episode(name, action="answer", output=words, origin=Origin.TAUGHT))
                tx.episodes.put_vector("w", name, MODEL, unit(1, number, 0))
                tx.episodes.set_index("w", name, [EVERYONE])
        with store.read() as tx:
            found = tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 9, -1.0, actions=["clock", "answer"])
        assert [hit.episode_id for hit in found.hits] == [f"e{number}{words}" for number, words in enumerate(written)]
        assert {name: fit.lessons for name, fit in found.fits.items()} == {"clock": 1, "answer": 1}
        assert found.fits["answer"].cosine == pytest.approx(found.hits[0].cosine)
        assert found.fits["clock"].cosine == pytest.approx(found.hits[-1].cosine)

    def test_many_changes_are_read_in_parts(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(partition_copies, "_AT_ONCE", 2)
        for number in range(7):
            learn(store, f"e{number}", (1, number, 0), EVERYONE, *([CHANNEL] if number % 3 else []))
        learn(store, "e1", (0, 0, 1))
        assert near(store, "workspace", "channel/C1") == ["e0", "e2", "e3", "e4", "e5", "e6", "e1"]
        assert near(store, "channel/C1") == ["e2", "e4", "e5"]
        with store.write() as tx:
            tx.episodes.delete("w", ["e0", "e2", "e4", "e6"])
        learn(store, "e7", (1, 0, 0))
        assert near(store, "workspace", "channel/C1") == ["e7", "e3", "e5", "e1"]

    def test_what_was_rolled_back_is_not_found(self, store: Store) -> None:
        learn(store, "a", (1, 0, 0))
        assert near(store, "workspace") == ["a"]
        with aborted(store) as tx:
            tx.episodes.put(episode("b"))
            tx.episodes.put_vector("w", "b", MODEL, unit(1, 0, 0))
            tx.episodes.set_index("w", "b", [EVERYONE])
            tx.episodes.set_index("w", "a", [])
            found = tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 5, -1.0)
            assert [hit.episode_id for hit in found.hits] == ["b"]
        assert near(store, "workspace") == ["a"]
        learn(store, "c", (1, 0, 0))
        assert near(store, "workspace") == ["c", "a"]

    def test_new_ones_that_were_rolled_back_are_not_found(self, store: Store) -> None:
        def file(tx: Transaction, name: str) -> list[str]:
            tx.episodes.add(episode(name))
            tx.episodes.add_vectors("w", MODEL, {name: unit(1, 0, 0)})
            tx.episodes.index_new(MODEL, [(episode(name), unit(1, 0, 0), EVERYONE)])
            found = tx.episodes.nearest("w", ["workspace"], MODEL, unit(1, 0, 0), 5, -1.0)
            return [hit.episode_id for hit in found.hits]

        with store.write() as tx:
            assert file(tx, "a") == ["a"]
        with aborted(store) as tx:
            assert file(tx, "never") == ["never", "a"]
        with store.write() as tx:
            assert file(tx, "b") == ["b", "a"]
        assert near(store, "workspace") == ["b", "a"]

    def test_equals_sorting_everything(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        @given(
            vectors=st.lists(st.tuples(*[st.integers(-2, 2)] * 3).filter(any), min_size=1, max_size=12),
            indexed=st.lists(st.sets(st.sampled_from(PARTITIONS)), min_size=12, max_size=12),
            order=st.permutations(PARTITIONS),
            k=st.integers(0, 6),
            floor=st.sampled_from([-1.0, 0.0, 0.5]),
            actions=st.lists(st.sampled_from(["", "answer", GAVE_UP]), min_size=12, max_size=12),
            include_gave_up=st.booleans(),
        )
        @settings(max_examples=2 * settings().max_examples)  # each is quick
        def law(
            vectors: list[tuple[int, ...]],
            indexed: list[set[str]],
            order: list[str],
            k: int,
            floor: float,
            actions: list[str],
            include_gave_up: bool,
        ) -> None:
            store = self.make_store(tmp_path_factory.mktemp("law"))
            expected: list[tuple[float, str]] = []
            for number, (vector, partitions) in enumerate(zip(vectors, indexed, strict=False)):
                name = f"e{number:02d}"
                file_under(store, name, vector, partitions, actions[number])
                cosine = float(np.dot(unit(*vector).astype(np.float16).astype(np.float64), query))
                if partitions and cosine >= floor and (include_gave_up or actions[number] != GAVE_UP):
                    expected.append((round(cosine, 5), name))
            found = nearest(
                store, "w", order, MODEL, query.astype(np.float32), k, floor, include_gave_up=include_gave_up
            ).hits
            store.close()
            assert [(round(hit.cosine, 5), hit.episode_id) for hit in found] == sorted(expected, reverse=True)[:k]

        # No two different directions of small whole numbers are equally near to it.
        query = unit(1, 0.3141, -0.2718).astype(np.float64)
        law()


def file_under(store: Store, name: str, vector: tuple[int, ...], partitions: set[str], action: str = "answer") -> None:
    with store.write() as tx:
        tx.episodes.put(episode(name, action=action))
        tx.episodes.put_vector("w", name, MODEL, unit(*vector))
        entries = [IndexEntry(partition=p, audience=Audience.CHANNEL, verdict=Verdict.SUCCESS) for p in partitions]
        tx.episodes.set_index("w", name, entries)
