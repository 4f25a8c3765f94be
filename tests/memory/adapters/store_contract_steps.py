"""What every store must do with runs taken step by step, with grades, and with values that expire."""

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

from memory.errors import InvalidInput, NotFound
from memory.model import GradeSource, SessionRun, StoredGrade, StoredStep
from memory.ports import Store
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import NOW, at, episode, fill, grade, session_run, short, step


class StepsContract(StoreCase):
    """Runs, steps, grades and short memories."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = self.make_store(tmp_path)
        with store.write() as tx:
            for name in ("e1", "e2", "e3"):
                tx.episodes.put(episode(name))
        yield store
        store.close()

    def test_a_run_comes_back_whole(self, store: Store) -> None:
        whole = session_run()
        assert all(getattr(whole, field.name) for field in fields(SessionRun))
        with store.write() as tx:
            tx.steps.put_run(whole)
            assert tx.steps.run("w", "ana", "person/ana", "s1", "run-1") == whole
            tx.steps.put_run(replace(whole, rep=5))
            assert tx.steps.runs("w", "ana", "s1") == [replace(whole, rep=5)]

    def test_runs_are_in_order_and_apart(self, store: Store) -> None:
        runs = [
            session_run("b", started_at=at(1)),
            session_run("a", started_at=at(2)),
            session_run("c", started_at=at(0)),
            session_run("b", person="bo"),
            session_run("b", session_id="s2"),
            session_run("b", workspace="v"),
        ]
        with store.write() as tx:
            for run in runs:
                tx.steps.put_run(run)
            assert [run.run_id for run in tx.steps.runs("w", "ana", "s1")] == ["c", "b", "a"]
            assert tx.steps.run("w", "bo", "person/ana", "s1", "b") == runs[3]
            assert tx.steps.run("w", "bo", "person/ana", "s1", "a") is None
            assert tx.steps.delete_runs("w", "ana") == 4
            assert tx.steps.runs("w", "ana", "s1") == tx.steps.runs("w", "ana", "s2") == []
            assert tx.steps.run("v", "ana", "person/ana", "s1", "b") == runs[5]
            assert tx.steps.delete_runs("w", "ana") == 0

    def test_one_run_id_in_two_places_is_two_runs(self, store: Store) -> None:
        public, direct = session_run(), session_run(partition="person/ana/direct", task="said in private")
        with store.write() as tx:
            tx.steps.put_run(public)
            assert tx.steps.run("w", "ana", "person/ana/direct", "s1", "run-1") is None
            tx.steps.put_run(direct)
            assert tx.steps.run("w", "ana", "person/ana", "s1", "run-1") == public
            assert tx.steps.run("w", "ana", "person/ana/direct", "s1", "run-1") == direct
            assert tx.steps.runs("w", "ana", "s1") == [public, direct]
            assert tx.steps.delete_runs("w", "ana") == 2

    def test_a_step_comes_back_whole(self, store: Store) -> None:
        whole = step()
        assert all(getattr(whole, field.name) for field in fields(StoredStep))
        with store.write() as tx:
            tx.steps.put(whole)
            assert tx.steps.of_session("w", "ana", "s1") == [whole]
            tx.steps.put(replace(whole, embedding=(), number=7))
            assert tx.steps.of_session("w", "ana", "s1") == [replace(whole, embedding=(), number=7)]

    def test_steps_are_by_number_and_of_one_person(self, store: Store) -> None:
        with store.write() as tx:
            tx.steps.put(step("e1", number=3))
            tx.steps.put(step("e2", number=1))
            tx.steps.put(step("e3", number=2, session_id="s0"))
            assert [each.episode_id for each in tx.steps.of_session("w", "ana", "s1")] == ["e2", "e1"]
            assert [each.episode_id for each in tx.steps.of_person("w", "ana")] == ["e3", "e2", "e1"]
            assert tx.steps.of_session("w", "bo", "s1") == tx.steps.of_session("v", "ana", "s1") == []

    def test_grades_are_kept_in_order(self, store: Store) -> None:
        given = [
            grade(at=at(5)),
            grade(at=at(1), is_correct=True, source=GradeSource.MODEL),
            grade("e2", actor="bo"),
            grade(at=at(1), is_correct=True, source=GradeSource.MODEL),
        ]
        with store.write() as tx:
            for each in given:
                tx.steps.add_grade(each)
            found = tx.steps.grades("w", ["e1", "e2", "e3", "e1"])
            assert {of: [each.grade for each in found[of]] for of in found} == {
                "e1": [given[0].grade, given[1].grade, given[3].grade],
                "e2": [given[2].grade],
            }
            numbers = [each.seq for each in found["e1"]]
            assert numbers == sorted(set(numbers))
            assert numbers[0] > 0
            assert tx.steps.grades("w", []) == tx.steps.grades("v", ["e1"]) == {}
            assert [replace(each, seq=0) for each in tx.steps.grades_by("w", "bo")] == [given[2]]

    def test_one_persons_grades_are_erased(self, store: Store) -> None:
        with store.write() as tx:
            for actor in ("ana", "bo", "ana"):
                tx.steps.add_grade(grade(actor=actor))
            assert tx.steps.erase_grades("w", "ana") == 2
            assert tx.steps.erase_grades("w", "ana") == 0
            assert [each.actor for each in tx.steps.grades("w", ["e1"])["e1"]] == ["bo"]

    def test_steps_and_grades_go_with_their_episode(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "v")
            for name in ("e1", "e2"):
                tx.steps.put(step(name))
                tx.steps.add_grade(grade(name))
            tx.episodes.put(episode("e2", goal="changed"))
            tx.episodes.delete("w", ["e1"])
            assert [each.episode_id for each in tx.steps.of_person("w", "ana")] == ["e2"]
            assert list(tx.steps.grades("w", ["e1", "e2"])) == ["e2"]
            assert tx.steps.of_person("v", "ana")

    def test_what_belongs_to_no_episode_is_refused(self, store: Store) -> None:
        with store.write() as tx:
            with pytest.raises(NotFound, match="no episode e9 in w"):
                tx.steps.put(step("e9"))
            with pytest.raises(NotFound, match="no episode e9 in w"):
                tx.steps.add_grade(grade("e9"))

    def test_unstorable_text_is_refused(self, store: Store) -> None:
        with store.write() as tx:
            with pytest.raises(InvalidInput):
                tx.steps.put(step(action="\0"))
            with pytest.raises(InvalidInput):
                tx.steps.put_run(session_run(task="\ud800"))
            with pytest.raises(InvalidInput):
                tx.steps.add_grade(grade(explanation="\0"))
            with pytest.raises(InvalidInput):
                tx.short.put(short(value={"a": "\0"}))
            assert isinstance(grade(), StoredGrade)
            with pytest.raises(ValueError, match="finite"):
                tx.steps.put(step(embedding=(float("nan"),)))

    # values that expire

    def test_a_value_is_set_and_got(self, store: Store) -> None:
        with store.write() as tx:
            tx.short.put(short())
            assert tx.short.get("w", "notes", "k1", NOW) == short()
            assert tx.short.get("w", "other", "k1", NOW) is None
            assert tx.short.get("w", "notes", "k2", NOW) is None
            assert tx.short.get("v", "notes", "k1", NOW) is None

    def test_a_value_is_gone_when_it_has_expired(self, store: Store) -> None:
        with store.write() as tx:
            tx.short.put(short())
            assert tx.short.get("w", "notes", "k1", at(99.9)) == short()
            assert tx.short.get("w", "notes", "k1", at(100)) is None

    def test_the_same_key_again_replaces_value_and_expiry(self, store: Store) -> None:
        with store.write() as tx:
            tx.short.put(short())
            tx.short.put(short(value={"n": 2}, created_at=at(5), expires_at=at(200), person="bo"))
            kept = short(value={"n": 2}, expires_at=at(200), person="bo")
            assert tx.short.get("w", "notes", "k1", at(150)) == kept

    def test_a_value_is_deleted_once(self, store: Store) -> None:
        with store.write() as tx:
            tx.short.put(short())
            assert tx.short.delete("w", "notes", "k1")
            assert not tx.short.delete("w", "notes", "k1")

    def test_a_persons_values_are_listed_and_erased(self, store: Store) -> None:
        with store.write() as tx:
            for key, kind, person in [("k2", "b", "ana"), ("k1", "b", "ana"), ("k3", "a", "ana"), ("k4", "a", "bo")]:
                tx.short.put(short(key, kind=kind, person=person))
            assert [each.key for each in tx.short.of_person("w", "ana")] == ["k3", "k1", "k2"]
            assert [each.key for each in tx.short.of_person("w", "ana", "b")] == ["k1", "k2"]
            assert [each.key for each in tx.short.up_to("w", "b", "k1", 9)] == ["k1"]
            assert [each.key for each in tx.short.up_to("w", "b", "k1x", 9)] == ["k1"]
            assert [each.key for each in tx.short.up_to("w", "b", "k3", 2)] == ["k1", "k2"]
            assert tx.short.up_to("v", "b", "z", 9) == []
            assert tx.short.delete_by("w", "ana") == 3
            assert tx.short.delete_by("w", "ana") == 0
            assert [each.key for each in tx.short.of_person("w", "bo")] == ["k4"]

    def test_the_sweep_takes_only_what_has_expired_everywhere(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("w", "v"):
                tx.short.put(short("old", workspace, expires_at=at(10)))
                tx.short.put(short("new", workspace, expires_at=at(11)))
            assert tx.short.sweep(at(10)) == 2
            assert tx.short.sweep(at(10)) == 0
            assert [each.key for w in ("w", "v") for each in tx.short.of_person(w, "ana")] == ["new", "new"]
