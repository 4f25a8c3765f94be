"""What every store must do with topics."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memory import ports
from memory.errors import InvalidInput, NotFound
from memory.model.topic import FieldType, Revision, Topic, TopicEvent, TopicEventKind, TopicField, TopicLink
from memory.ports import Store, Transaction
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import MODEL, NOW, aborted, at


def topic(topic_id: str, workspace: str = "w", **changes: Any) -> Topic:
    values: dict[str, Any] = {
        "partition": "workspace",
        "person": "ana",
        "title": f"title {topic_id}",
        "created_at": NOW,
    }
    return Topic(workspace=workspace, id=topic_id, **(values | {"salience_at": NOW} | changes))


def field(topic_id: str, name: str = "owner", workspace: str = "w", person: str = "ana") -> TopicField:
    return TopicField(workspace=workspace, topic_id=topic_id, name=name, person=person)


def revision(revision_id: str, topic_id: str = "t1", workspace: str = "w", **changes: Any) -> Revision:
    values: dict[str, Any] = {
        "name": "owner",
        "person": "ana",
        "value": {"n": [1, 2.5, None, True, "é"]},
        "valid_from": NOW,
    }
    return Revision(workspace=workspace, topic_id=topic_id, id=revision_id, **(values | changes))


def link(from_id: str, to_id: str, workspace: str = "w", kind: str = "related", person: str = "ana") -> TopicLink:
    return TopicLink(workspace=workspace, from_id=from_id, to_id=to_id, kind=kind, person=person, at=NOW)


def happened(topic_id: str, kind: TopicEventKind, workspace: str = "w", actor: str = "ana") -> TopicEvent:
    return TopicEvent(workspace=workspace, topic_id=topic_id, kind=kind, actor=actor, at=NOW, detail={"n": [1]})


def told(tx: Transaction, workspace: str, topic_id: str, kind: str) -> TopicEvent:
    """The first entry of this kind in a topic's trail; one that is nowhere if there is none."""
    found = [each for each in tx.topics.event_log(workspace, topic_id) if each.kind == kind]
    return found[0] if found else happened(topic_id, TopicEventKind(kind), workspace)


def fill(tx: Transaction, workspace: str) -> None:
    """Something in every table, under the same ids in every workspace."""
    tx.topics.put(topic("t1", workspace))
    tx.topics.put(topic("t2", workspace, merged_into="t1", person="bob"))
    tx.topics.put_vector(workspace, "t1", MODEL, np.array([0.9, 0.1]))
    tx.topics.put_field(field("t1", workspace=workspace))
    tx.topics.add_revision(revision("o1", workspace=workspace))
    tx.topics.add_link(link("t1", "t2", workspace))
    tx.topics.append(happened("t1", TopicEventKind.REVISED, workspace))


def dump(store: Store, workspace: str) -> dict[str, object]:
    """What every reading method says about one workspace, without the numbers of the order."""
    with store.read() as tx:
        return dump_within(tx, workspace)


def dump_within(tx: Transaction, workspace: str) -> dict[str, object]:
    """The same, as a transaction sees it."""
    ids = ["t1", "t2", "t3"]
    return {
        "get": [replace(found, seq=0) for found in [tx.topics.get(workspace, "t1")] if found],
        "many": sorted(tx.topics.get_many(workspace, ids)),
        "within": [each.id for each in tx.topics.within(workspace)],
        "titled": [each.id for each in tx.topics.titled(workspace, "workspace", "title t1")],
        "merged": [each.id for each in tx.topics.merged_into(workspace, ids)],
        "of person": [each.id for each in tx.topics.of_person(workspace, "ana")],
        "count": tx.topics.count(workspace),
        "vectors": {name: v.tolist() for name, v in tx.topics.vectors(workspace, MODEL, ids).items()},
        "fields": tx.topics.fields(workspace, ids),
        "revisions": [replace(each, seq=0) for each in tx.topics.revisions(workspace, ids)],
        "revisions by": [replace(each, seq=0) for each in tx.topics.revisions_by(workspace, "ana")],
        "links": tx.topics.links(workspace, ids),
        "trail": [replace(each, seq=0) for each in tx.topics.event_log(workspace, "t1")],
    }


def moved(tx: Transaction, workspace: str) -> None:
    tx.topics.put(topic("t3", workspace))
    tx.topics.move(workspace, "t1", "t3")


CHANGES: dict[str, Callable[[Transaction, str], object]] = {
    "put": lambda tx, w: tx.topics.put(topic("t1", w, title="other")),
    "set_salience": lambda tx, w: tx.topics.set_salience(
        topic("t1", w, title="other", salience=2.5, salience_at=at(5))
    ),
    "delete": lambda tx, w: tx.topics.delete(w, ["t1"]),
    "put_vector": lambda tx, w: tx.topics.put_vector(w, "t1", MODEL, np.array([0.0, 1.0])),
    "put_field": lambda tx, w: tx.topics.put_field(field("t1", "status", w)),
    "add_revision": lambda tx, w: tx.topics.add_revision(revision("o2", workspace=w)),
    "add_link": lambda tx, w: tx.topics.add_link(link("t2", "t1", w)),
    "append": lambda tx, w: tx.topics.append(happened("t1", TopicEventKind.LINKED, w)),
    "erase_words": lambda tx, w: tx.topics.erase_words(w, "ana"),
    "copy_vector": lambda tx, w: tx.topics.copy_vector(w, "t1", "t2"),
    "move": lambda tx, w: moved(tx, w),
    "replace_detail": lambda tx, w: tx.topics.replace_detail(replace(told(tx, w, "t1", "revised"), detail={})),
}
"""Every method that changes something."""


class WorldContract(StoreCase):
    """Topics and what belongs to them."""

    def test_implements_every_method_of_the_port(self, store: Store) -> None:
        names = [name for name, member in vars(ports.TopicTable).items() if name[0] != "_" and callable(member)]
        with store.read() as tx:
            assert [name for name in names if not callable(getattr(tx.topics, name, None))] == []
        assert set(CHANGES) < set(names)

    def test_is_empty_at_first(self, store: Store) -> None:
        assert not any(dump(store, "w").values())

    def test_no_change_reaches_another_workspace_with_equal_ids(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            fill(tx, "v")
        before, own = dump(store, "v"), dump(store, "w")
        for name, change in CHANGES.items():
            with aborted(store) as tx:
                change(tx, "w")
                assert dump_within(tx, "v") == before, name
                assert dump_within(tx, "w") != own, name
            assert store.workspaces() == ["v", "w"], name

    def test_reading_cannot_write_and_a_failed_write_leaves_nothing(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
        before = dump(store, "w")
        for name, change in CHANGES.items():
            with store.read() as tx, pytest.raises(RuntimeError, match="cannot write"):
                change(tx, "w")
            with aborted(store) as tx:
                change(tx, "w")
            assert dump(store, "w") == before, name

    def test_everything_comes_back_whole(self, store: Store) -> None:
        whole = topic(
            "t1",
            partition="person/ana",
            summary="s",
            topic_kind="note",
            first_salience=2.5,
            failed_salience=0.5,
            salience=2.6,
            salience_at=at(1),
            archived_at=at(2),
            merged_into="t2",
        )
        bare = topic("t2", title=None)
        named = replace(field("t1"), field_type=FieldType.JSON, ref_topic_id="t2")
        said = revision("o1", provenance="ui", why_changed="x", impact_expected="y", valid_from=at(0.000001))
        event = happened("t1", TopicEventKind.SALIENCE)
        with store.write() as tx:
            for each in (whole, bare):
                tx.topics.put(each)
            tx.topics.put_field(named)
            assert tx.topics.add_revision(said)
            tx.topics.append(event)
        with store.read() as tx:
            found = tx.topics.get_many("w", ["t1", "t2", "t3"])
            assert {name: replace(each, seq=0) for name, each in found.items()} == {"t1": whole, "t2": bare}
            assert tx.topics.fields("w", ["t1"]) == [named]
            assert [replace(each, seq=0) for each in tx.topics.revisions("w", ["t1"])] == [said]
            assert [replace(each, seq=0) for each in tx.topics.event_log("w", "t1")] == [event]

    def test_topics_keep_the_order_they_came_in(self, store: Store) -> None:
        with store.write() as tx:
            for topic_id in ("t3", "t1", "t2"):
                tx.topics.put(topic(topic_id, partition=f"p{topic_id}"))
            tx.topics.put(topic("t3", partition="pt3", title="again"))
        with store.read() as tx:
            assert [each.id for each in tx.topics.within("w")] == ["t3", "t1", "t2"]
            assert [each.id for each in tx.topics.within("w", ["pt2", "pt3"])] == ["t3", "t2"]
            assert tx.topics.within("w", []) == []

    def test_an_embedding_keeps_every_digit_and_is_of_one_model(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            with pytest.raises(ValueError):
                tx.topics.put_vector("w", "t1", MODEL, np.array([float("nan")]))
        with store.read() as tx:
            assert tx.topics.vectors("w", MODEL, ["t1", "t2"])["t1"].tolist() == [0.9, 0.1]
            assert tx.topics.vectors("w", "other model", ["t1"]) == {}

    def test_of_a_topic_that_is_attended_to_only_the_salience_changes(self, store: Store) -> None:
        with store.write() as tx:
            tx.topics.put(topic("t1"))
            tx.topics.set_salience(topic("t1", title="other", salience=2.5, salience_at=at(5)), topic("t9"))
            assert tx.topics.get("w", "t1") == topic("t1", salience=2.5, salience_at=at(5), seq=1)
            assert tx.topics.get("w", "t9") is None

    def test_entries_are_appended_in_their_order(self, store: Store) -> None:
        kinds = [TopicEventKind.ARCHIVED, TopicEventKind.RESTORED, TopicEventKind.SALIENCE]
        with store.write() as tx:
            tx.topics.put(topic("t1"))
            tx.topics.append()
            tx.topics.append(*(happened("t1", kind) for kind in kinds))
            tx.topics.append(happened("t1", TopicEventKind.REVISED))
            assert [each.kind for each in tx.topics.event_log("w", "t1")] == [*kinds, TopicEventKind.REVISED]
            assert len({each.seq for each in tx.topics.event_log("w", "t1")}) == 4

    def test_a_known_revision_or_edge_is_not_added_again(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            assert not tx.topics.add_revision(revision("o1", value="changed"))
            assert not tx.topics.add_link(link("t1", "t2", person="bob"))
            assert tx.topics.add_link(link("t1", "t2", kind="depends"))
        with store.read() as tx:
            assert [each.value for each in tx.topics.revisions("w", ["t1"])] == [revision("o1").value]
            assert [(each.kind, each.person) for each in tx.topics.links("w", ["t2"])] == [
                ("depends", "ana"),
                ("related", "ana"),
            ]

    def test_the_id_of_a_revision_is_known_for_one_person_and_field(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            tx.topics.put_field(field("t1", "status"))
            tx.topics.put_field(field("t2"))
            for other in ({"person": "bob"}, {"name": "status"}, {"topic_id": "t2"}):
                assert tx.topics.add_revision(revision("o1", **other))
                assert not tx.topics.add_revision(revision("o1", **other))
        with store.read() as tx:
            assert [each.id for each in tx.topics.revisions("w", ["t1", "t2"])] == ["o1"] * 4

    def test_nothing_hangs_in_the_air(self, store: Store) -> None:
        attempts: list[Callable[[Transaction], object]] = [
            lambda tx: tx.topics.put_vector("w", "none", MODEL, np.array([1.0])),
            lambda tx: tx.topics.put_field(field("none")),
            lambda tx: tx.topics.add_revision(revision("o9", name="none")),
            lambda tx: tx.topics.add_link(link("t1", "none")),
            lambda tx: tx.topics.append(happened("none", TopicEventKind.CREATED)),
        ]
        for attempt in attempts:
            with store.write() as tx:
                fill(tx, "w")
                with pytest.raises(NotFound):
                    attempt(tx)

    def test_unstorable_text_is_refused(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            for attempt in (
                lambda: tx.topics.put(topic("t9", title="nul \0")),
                lambda: tx.topics.add_revision(revision("o9", value=["half \ud83d"])),
                lambda: tx.topics.put_field(field("t1", "nul \0")),
            ):
                with pytest.raises(InvalidInput):
                    attempt()

    def test_deleting_a_topic_takes_all_that_belongs_to_it(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            assert tx.topics.delete("w", ["t1", "t2", "none"]) == 2
        assert not any(dump(store, "w").values())

    def test_erasing_words_keeps_what_others_said(self, store: Store) -> None:
        with store.write() as tx:
            tx.topics.put(topic("t1", person="bob"))
            tx.topics.put(topic("t2", person="bob"))
            for name in ("mine", "shared"):
                tx.topics.put_field(field("t1", name))
                tx.topics.add_revision(revision(f"a-{name}", name=name))
            tx.topics.add_revision(revision("b-shared", name="shared", person="bob"))
            tx.topics.add_link(link("t1", "t2"))
            tx.topics.append(happened("t2", TopicEventKind.SALIENCE))
            tx.topics.append(happened("t1", TopicEventKind.REVISED))
            tx.topics.append(happened("t1", TopicEventKind.REVISED, actor="bob"))
            assert tx.topics.erase_words("w", "ana") == ["t1", "t2"]
            assert tx.topics.erase_words("w", "ana") == []
        with store.read() as tx:
            assert [(each.name, each.person) for each in tx.topics.fields("w", ["t1"])] == [("shared", "")]
            assert [each.id for each in tx.topics.revisions("w", ["t1"])] == ["b-shared"]
            assert tx.topics.links("w", ["t1", "t2"]) == []
            assert [each.actor for each in tx.topics.event_log("w", "t1")] == ["bob"]
            assert [(each.kind, each.actor) for each in tx.topics.event_log("w", "t2")] == [
                (TopicEventKind.SALIENCE, "")
            ]

    def test_what_belongs_to_a_topic_moves_with_its_numbers(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            tx.topics.put(topic("t3"))
            tx.topics.add_revision(revision("o2", person="bob"))
            tx.topics.put_field(field("t3", "own"))
            tx.topics.add_revision(revision("o3", "t3", name="own"))
            tx.topics.put(topic("new", title=None))
            before = (tx.topics.revisions("w", ["t1"]), tx.topics.event_log("w", "t1"))
            tx.topics.move("w", "t1", "new")
        with store.read() as tx:
            moved = (tx.topics.revisions("w", ["new"]), tx.topics.event_log("w", "new"))
            assert moved == tuple([replace(each, topic_id="new") for each in rows] for rows in before)
            assert [each.name for each in tx.topics.fields("w", ["new"])] == ["owner"]
            assert [(each.from_id, each.to_id) for each in tx.topics.links("w", ["t2"])] == [("new", "t2")]
            assert [each.id for each in tx.topics.revisions("w", ["new", "t3"])] == ["o1", "o2", "o3"]
            left = (tx.topics.fields("w", ["t1"]), tx.topics.revisions("w", ["t1"]), tx.topics.event_log("w", "t1"))
            assert left == ([], [], [])
            assert tx.topics.get("w", "t1") is not None
        for attempt in ("move", "copy_vector"):
            with store.write() as tx, pytest.raises(NotFound):
                getattr(tx.topics, attempt)("w", "t1", "none")

    def test_an_embedding_is_copied(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            tx.topics.copy_vector("w", "t2", "t1")  # it has none
            tx.topics.copy_vector("w", "t1", "t2")
        with store.read() as tx:
            found = tx.topics.vectors("w", MODEL, ["t1", "t2"])
            assert {name: v.tolist() for name, v in found.items()} == {"t1": [0.9, 0.1], "t2": [0.9, 0.1]}

    def test_entries_that_name_a_topic_are_found_and_told_anew(self, store: Store) -> None:
        named = {
            TopicEventKind.LINKED: {"to": "t1", "kind": "t2"},
            TopicEventKind.MERGED: {"into": "t1"},
            TopicEventKind.RESTORED: {"because": "t1"},
            TopicEventKind.REVISED: {"field": "t1", "revision": "t1"},
        }
        with store.write() as tx:
            fill(tx, "w")
            fill(tx, "v")
            for kind, detail in named.items():
                tx.topics.append(replace(happened("t2", kind), detail=detail))
            tx.topics.append(replace(happened("t2", TopicEventKind.LINKED, "v"), detail={"to": "t1"}))
            found = tx.topics.naming("w", ["t1", "none"])
            assert [each.detail for each in found] == [named[each.kind] for each in found]
            assert [each.kind for each in found] == ["linked", "merged", "restored"]
            assert (tx.topics.naming("w", ["t2"]), tx.topics.naming("w", [])) == ([], [])
            tx.topics.replace_detail(replace(found[1], detail={"into": "t3"}))
            assert [each.kind for each in tx.topics.naming("w", ["t1"])] == ["linked", "restored"]
            assert tx.topics.naming("w", ["t3"]) == [replace(found[1], detail={"into": "t3"})]
