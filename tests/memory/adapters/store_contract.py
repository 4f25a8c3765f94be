"""What every store must do. A store's test module subclasses `StoreContract` and makes the store."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from memory import ports
from memory.errors import InvalidInput, NotFound, StoreUnavailable
from memory.model import (
    EventKind,
    LinkKind,
    Progress,
)
from memory.model.evidence import Threshold
from memory.ports import Store, Transaction
from memory.services.topics.taught_topics import attention_of
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import (
    ALL,
    CHANNEL,
    MODEL,
    NOW,
    aborted,
    api_key,
    at,
    batch,
    batch_lesson,
    chat_setting,
    dump,
    dump_within,
    entry,
    episode,
    event,
    fill,
    grade,
    incoming,
    is_empty,
    item,
    judgement,
    link,
    muted,
    outgoing,
    reaction,
    retrieval,
    saved_message,
    session_run,
    short,
    step,
    unit,
    use,
    vote,
)

CHANGES: dict[str, Callable[[Transaction, str], object]] = {
    "put": lambda tx, w: tx.episodes.put(episode("e1", w, goal="other")),
    "add": lambda tx, w: tx.episodes.add(episode("e3", w)),
    "use": lambda tx, w: tx.retrievals.use([use("e1", w)]),
    "attend": lambda tx, w: tx.retrievals.attend(w, [attention_of(episode("e1", w, salience=2.5))]),
    "add_vectors": lambda tx, w: tx.episodes.add_vectors(w, MODEL, {"e1": unit(0, 1, 0), "e2": unit(0, 0, 1)}),
    "delete": lambda tx, w: tx.episodes.delete(w, ["e1", "e2"]),
    "put_vector": lambda tx, w: tx.episodes.put_vector(w, "e1", MODEL, unit(0, 1, 0)),
    "delete_vector": lambda tx, w: tx.episodes.delete_vector(w, "e1"),
    "note_words": lambda tx, w: tx.episodes.note_words(w, {"e1": ["cy"]}),
    "rename_place": lambda tx, w: tx.episodes.rename_place(w, "C1", "#new"),
    "clear_words": lambda tx, w: tx.episodes.clear_words(w, "e1"),
    "set_index": lambda tx, w: tx.episodes.set_index(w, "e1", []),
    "index_new": lambda tx, w: tx.episodes.index_new(MODEL, [(episode("e1", w), unit(0, 1, 0), CHANNEL)]),
    "set_indexes": lambda tx, w: tx.episodes.set_indexes(w, {"e1": []}),
    "change_index": lambda tx, w: tx.episodes.change_index(w, put=[], remove=[("e1", CHANNEL)]),
    "update": lambda tx, w: tx.episodes.update(replace(episode("e1", w), used_count=9)),
    "add_link": lambda tx, w: tx.episodes.add_link(link("e1", "e2", LinkKind.CORRECTS, w)),
    "remove_link": lambda tx, w: tx.episodes.remove_link(link("e2", "e1", workspace=w)),
    "claim": lambda tx, w: tx.log.claim(w, "ev2", NOW),
    "append": lambda tx, w: tx.log.append(event("e1", EventKind.VOTED, w)),
    "erase_actor": lambda tx, w: tx.log.erase_actor(w, "ana"),
    "put_reaction": lambda tx, w: tx.teaching.put_reaction(reaction(w, value=-1)),
    "delete_reactions": lambda tx, w: tx.teaching.delete_reactions(w, "ana"),
    "set_votes": lambda tx, w: tx.teaching.set_votes(w, "r1", []),
    "put_votes": lambda tx, w: tx.teaching.put_votes(replace(vote(workspace=w), value=-1)),
    "people.note": lambda tx, w: tx.people.note(w, "new", NOW, timedelta(days=1)),
    "people.forget": lambda tx, w: tx.people.forget(w, "ana"),
    "put_ledger": lambda tx, w: tx.teaching.put_ledger(entry("m1", w, part=2)),
    "teaching.delete_runs": lambda tx, w: tx.teaching.delete_runs(w, ["r1"]),
    "accept": lambda tx, w: tx.deliveries.accept(incoming("ev9", w)),
    "advance": lambda tx, w: tx.deliveries.advance(w, "ev1", Progress.ACCEPTED, Progress.DELIVERED, "r2"),
    "advance_run": lambda tx, w: tx.deliveries.advance_run(w, "r1", Progress.ACCEPTED, Progress.DELIVERED),
    "answer": lambda tx, w: tx.deliveries.answer(w, "ev1", "r2"),
    "post": lambda tx, w: tx.deliveries.post(w, "r1", 3, "m3", NOW),
    "put_exit_counts": lambda tx, w: tx.deliveries.put_exit_counts(w, "ev1", crashes=1, kills=2),
    "drop_unsent": lambda tx, w: tx.deliveries.drop_unsent(w, "r1"),
    "put_outgoing": lambda tx, w: tx.deliveries.put_outgoing(outgoing(2, w)),
    "delete_by": lambda tx, w: tx.deliveries.delete_by(w, "ana"),
    "deliveries.delete_runs": lambda tx, w: tx.deliveries.delete_runs(w, ["r1"]),
    "retrievals.put": lambda tx, w: tx.retrievals.put(retrieval("q2", w), [item("q2", "e1", workspace=w)]),
    "retrievals.add": lambda tx, w: tx.retrievals.add([retrieval("q2", w)], [item("q2", "e1", workspace=w)]),
    "set_signal": lambda tx, w: tx.retrievals.set_signal(replace(item("q1", "e1", workspace=w), signal=None)),
    "judgements.set": lambda tx, w: tx.judgements.set(w, {"r1": [judgement(workspace=w, is_right=False)]}),
    "judgements.delete_runs": lambda tx, w: tx.judgements.delete_runs(w, ["r1"]),
    "put_threshold": lambda tx, w: tx.judgements.put_threshold(Threshold(workspace=w, budget=0.5, value=0.5)),
    "put_run": lambda tx, w: tx.steps.put_run(session_run(workspace=w, rep=3)),
    "steps.put": lambda tx, w: tx.steps.put(step(workspace=w, action="other")),
    "add_grade": lambda tx, w: tx.steps.add_grade(grade(workspace=w)),
    "erase_grades": lambda tx, w: tx.steps.erase_grades(w, "ana"),
    "steps.delete_runs": lambda tx, w: tx.steps.delete_runs(w, "ana"),
    "short.put": lambda tx, w: tx.short.put(short(workspace=w, value={})),
    "short.delete": lambda tx, w: tx.short.delete(w, "notes", "k1"),
    "short.delete_by": lambda tx, w: tx.short.delete_by(w, "ana"),
    "settings.put": lambda tx, w: tx.settings.put(chat_setting(w, value="mention")),
    "settings.drop": lambda tx, w: tx.settings.drop(w, "C1", "mode"),
    "settings.erase_person": lambda tx, w: tx.settings.erase_person(w, "ana"),
    "mute": lambda tx, w: tx.channels.mute(muted(w, "t2")),
    "unmute": lambda tx, w: tx.channels.unmute(w, "C1", "t1"),
    "api_keys.add": lambda tx, w: tx.api_keys.add(replace(api_key(w), name="k2", digest="d2")),
    "api_keys.put": lambda tx, w: tx.api_keys.put(replace(api_key(w), revoked_at=NOW)),
    "saved.put": lambda tx, w: tx.saved.put(replace(saved_message(w), message_id="m2")),
    "saved.delete": lambda tx, w: tx.saved.delete(saved_message(w)),
    "batches.put": lambda tx, w: tx.batches.put(batch(w, id="b2")),
    "batches.put_lessons": lambda tx, w: tx.batches.put_lessons(batch_lesson(w, key="k2")),
    "batches.drop": lambda tx, w: tx.batches.drop(w, ["k1"]),
    "batches.erase_person": lambda tx, w: tx.batches.erase_person(w, "ana"),
    "welcome": lambda tx, w: tx.people.welcome(w, at(5), person="bo"),
    "retrievals.delete_runs": lambda tx, w: tx.retrievals.delete_runs(w, ["r1"]),
}
"""Every method that changes something of one workspace: that each does is held by `test_store_in_memory.py`."""


class StoreContract(StoreCase):
    """The store as a whole, and its episodes."""

    # the whole

    def test_implements_every_method_of_the_ports(self, store: Store) -> None:
        with store.read() as tx:
            pairs = [
                (ports.Store, store),
                (ports.EpisodeTable, tx.episodes),
                (ports.EventLog, tx.log),
                (ports.TeachingTable, tx.teaching),
                (ports.PeopleTable, tx.people),
                (ports.ChannelTable, tx.channels),
                (ports.DeliveryTable, tx.deliveries),
                (ports.RetrievalTable, tx.retrievals),
                (ports.JudgementTable, tx.judgements),
                (ports.StepTable, tx.steps),
                (ports.ShortMemoryTable, tx.short),
                (ports.ApiKeyTable, tx.api_keys),
                (ports.ChatSettingTable, tx.settings),
                (ports.SavedMessageTable, tx.saved),
                (ports.BatchTable, tx.batches),
            ]
        for port, implementation in pairs:
            names = [name for name, member in vars(port).items() if not name.startswith("_") and callable(member)]
            assert names
            assert [name for name in names if not callable(getattr(implementation, name, None))] == []

    def test_is_empty_at_first(self, store: Store) -> None:
        assert is_empty(dump(store, "w"))
        assert store.workspaces() == []

    def test_no_change_reaches_another_workspace_with_equal_ids(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            fill(tx, "v")
        before = dump(store, "v")
        with store.write() as tx:
            for number, (name, change) in enumerate(CHANGES.items(), 1):
                fill(tx, "w")
                change(tx, "w")
                if number % 10 == 0:  # a dump takes longer than ten changes
                    assert dump_within(tx, "v") == before, f"{name} or one of the nine before it"
        assert dump(store, "v") == before

    def test_workspaces_do_not_see_each_other(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
        assert is_empty(dump(store, "v"))
        with store.write() as tx:
            assert tx.log.claim("v", "ev1", NOW)
            assert tx.log.append(event("e1", EventKind.CREATED, "v", source="ev1"))
            assert tx.deliveries.accept(incoming("ev1", "v"))
            assert not tx.deliveries.advance("v", "ev2", Progress.ACCEPTED, Progress.ANSWERED)
            with pytest.raises(NotFound):
                tx.retrievals.set_signal(item("q1", "e1", workspace="v"))
        assert store.workspaces() == ["v", "w"]

    def test_several_episodes_are_put_at_once_and_the_last_of_one_id_stays(self, store: Store) -> None:
        held = episode("a", quarantine=("secret",))
        with store.write() as tx:
            tx.episodes.put(held, episode("b"), episode("b", quarantine=("secret",)), episode("c", "v"))
        with store.write() as tx:
            assert tx.episodes.get_many("w", ["a", "b"])["b"].quarantine == ("secret",)
            tx.episodes.put(episode("a"), episode("b", goal="another"))
            tx.episodes.put()
        with store.read() as tx:
            assert tx.episodes.get_many("w", ["a", "b", "c"]) == {"a": episode("a"), "b": episode("b", goal="another")}
            assert tx.episodes.get("v", "c") == episode("c", "v")

    def test_an_exception_rolls_everything_back(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
        before = dump(store, "w")
        with aborted(store) as tx:
            for change in CHANGES.values():
                fill(tx, "v")
                change(tx, "v")
            tx.log.claim("w", "ev7", NOW)
            tx.episodes.delete("w", ["e1"])
        assert dump(store, "w") == before
        assert is_empty(dump(store, "v"))
        assert store.workspaces() == ["w"]
        with store.write() as tx:
            assert tx.log.claim("w", "ev7", NOW)

    def test_reading_cannot_write(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
        before = dump(store, "w")
        for change in CHANGES.values():
            with store.read() as tx, pytest.raises(RuntimeError, match="cannot write"):
                change(tx, "w")
        with store.read() as tx, pytest.raises(RuntimeError, match="cannot write"):
            tx.teaching.sweep_ledger(at(1000))
        assert dump(store, "w") == before

    def test_nobody_sees_a_write_before_its_end(self, store: Store) -> None:
        seen: list[bool] = []
        begun = threading.Event()

        def look() -> None:
            begun.set()
            seen.append(is_empty(dump(store, "w")))

        looking = threading.Thread(target=look)
        with pytest.raises(ZeroDivisionError), store.write() as tx:
            fill(tx, "w")
            assert tx.episodes.get("w", "e1") is not None
            looking.start()
            assert begun.wait(60)
            raise ZeroDivisionError
        looking.join()
        assert seen == [True]

    def test_a_write_inside_a_write_is_refused_at_once(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("e1"))
            with pytest.raises(RuntimeError, match="inside another"), store.write():
                pass
        with store.read() as tx:
            assert tx.episodes.get("w", "e1") is not None

    def test_a_transaction_is_useless_after_its_end(self, store: Store) -> None:
        with store.write() as tx:
            pass
        with pytest.raises(StoreUnavailable, match="ended"):
            tx.episodes.put(episode("e1"))
        with pytest.raises(StoreUnavailable, match="ended"):
            tx.episodes.get("w", "e1")

    def test_closing_twice_is_fine_and_using_it_then_is_not(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(StoreUnavailable, match="closed"), store.read():
            pass
        with pytest.raises(StoreUnavailable, match="closed"), store.write():
            pass

    def test_erasing_free_space_keeps_everything(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            fill(tx, "v")
            tx.episodes.delete("v", ["e1"])
        before = dump(store, "w"), dump(store, "v")
        store.erase_free_space()
        assert (dump(store, "w"), dump(store, "v")) == before

    def test_four_threads_lose_nothing(self, store: Store) -> None:
        def work(name: str) -> None:
            for number in range(25):
                with store.write() as tx:
                    tx.episodes.put(episode(f"{name}-{number}"))
                    tx.log.append(event(f"{name}-{number}", EventKind.CREATED))
                with store.read() as tx:
                    assert tx.episodes.get("w", f"{name}-{number}") is not None

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.read() as tx:
            assert len(tx.episodes.search("w", ALL)) == 100
            assert len({e.seq for e in tx.log.by_actor("w", "ana", [EventKind.CREATED], 1000)}) == 100

    @pytest.mark.parametrize("bad", ["nul \0 inside", "half \ud83d a character"])
    def test_unstorable_text_is_refused_and_rolls_back(self, store: Store, bad: str) -> None:
        attempts: list[Callable[[Transaction], object]] = [
            lambda tx: tx.episodes.put(episode("e2", goal=bad)),
            lambda tx: tx.episodes.put(episode("e2", context_before=("fine", bad))),
            lambda tx: tx.log.append(replace(event("e1", EventKind.VOTED), detail={"deep": [{"x": bad}]})),
            lambda tx: tx.teaching.put_reaction(reaction(source=bad)),
            lambda tx: tx.deliveries.accept(replace(incoming("ev1"), text=bad)),
            lambda tx: tx.deliveries.put_outgoing(replace(outgoing(1), text=bad)),
        ]

        def write(attempt: Callable[[Transaction], object]) -> None:
            with store.write() as tx:
                fill(tx, "v")
                attempt(tx)

        for attempt in attempts:
            with pytest.raises(InvalidInput):
                write(attempt)
        assert is_empty(dump(store, "w"))
        assert store.workspaces() == []

    def test_wrong_values_of_a_programmer_are_refused(self, store: Store) -> None:
        with store.write() as tx:
            for wrong in (episode("e1", strength=float("nan")), episode("e1", rep=2**64), episode("", "w")):
                with pytest.raises(ValueError):
                    tx.episodes.put(wrong)
            with pytest.raises(TypeError):
                tx.log.append(replace(event("e1", EventKind.VOTED), detail={"when": object()}))
            with pytest.raises(ValueError):
                tx.log.claim("w", "", NOW)
            with pytest.raises(ValueError):
                tx.teaching.set_votes("w", "other run", [vote()])
            with pytest.raises(ValueError):
                tx.teaching.set_votes("w", "r1", [vote(), vote()])
            with pytest.raises(ValueError):
                tx.retrievals.put(retrieval("q1"), [item("q1", "e1"), item("q1", "e1", rank=2)])
        assert store.workspaces() == []
