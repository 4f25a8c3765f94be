"""What every store does with episodes."""

from dataclasses import fields, replace
from datetime import timedelta, timezone
from typing import Any

import pytest

from memory.errors import Conflict, NotFound
from memory.model import (
    Audience,
    Episode,
    EpisodeStatus,
    EventKind,
    LinkKind,
    Origin,
    Scope,
    Signal,
    Verdict,
    Verdicts,
    Visibility,
)
from memory.ports import EpisodeFilter, Store
from memory.rules.fold import apply, with_verdicts
from memory.services.topics.taught_topics import attention_of
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import (
    CHANNEL,
    EVERYONE,
    MODEL,
    NOW,
    at,
    episode,
    event,
    fill,
    full_episode,
    item,
    link,
    nearest,
    retrieval,
    unit,
    use,
)


class EpisodesContract(StoreCase):
    """Episodes, and what hangs on them."""

    def test_an_episode_comes_back_whole(self, store: Store) -> None:
        whole = full_episode()
        neutral = Episode(goal="")
        same = [f.name for f in fields(Episode) if getattr(whole, f.name) == getattr(neutral, f.name)]
        assert same == ["channel_visibility"]  # which no episode brings along
        with store.write() as tx:
            tx.episodes.put(whole)
            tx.episodes.put(episode("e-plain", "slack:T1"))
        with store.read() as tx:
            found = tx.episodes.get("slack:T1", "e-full")
            assert found == whole
            assert tx.episodes.get_many("slack:T1", ["e-full", "none"]) == {"e-full": whole}
            assert tx.episodes.get("slack:T1", "e-plain") == episode("e-plain", "slack:T1")
        assert found is not None
        assert found.created_at.microsecond == 535897
        assert found.created_at.utcoffset() == timedelta(0)

    @pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 63, 64, 65, 100])
    def test_so_many_are_found_again_and_again(self, store: Store, count: int) -> None:
        names = [f"e{number}" for number in range(count)]
        with store.write() as tx:
            tx.episodes.put(*(episode(name) for name in (*names, "other")))
        with store.read() as tx:
            for _ in range(3):
                found = tx.episodes.get_many("w", names)
                assert sorted(found) == sorted(names)
                assert {each.created_at for each in found.values()} <= {episode("e0").created_at}

    def test_times_of_other_zones_are_the_same_moment(self, store: Store) -> None:
        local = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))
        with store.write() as tx:
            tx.episodes.put(episode("e1", created_at=local))
        with store.read() as tx:
            found = tx.episodes.get("w", "e1")
        assert found is not None
        assert found.created_at == NOW

    def test_putting_again_replaces_and_keeps_what_belongs_to_it(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            tx.episodes.put(episode("e1", goal="new"))
        with store.read() as tx:
            assert tx.episodes.get_many("w", ["e1"])["e1"].goal == "new"
            assert tx.episodes.index_of("w", "e1") == [CHANNEL, EVERYONE]
            assert len(tx.episodes.links("w", ["e1"])) == 1

    def test_what_the_caller_keeps_does_not_change_what_is_stored(self, store: Store) -> None:
        detail: dict[str, object] = {"n": [1]}
        with store.write() as tx:
            tx.log.append(replace(event("e1", EventKind.VOTED), detail=detail))
        detail["n"] = "changed"
        with store.read() as tx:
            assert dict(tx.log.of_episode("w", "e1")[0].detail) == {"n": [1]}

    def test_finds_by_start_or_end_of_the_id(self, store: Store) -> None:
        with store.write() as tx:
            for workspace, name in [("w", "abc1"), ("v", "abc1"), ("w", "xxabc"), ("w", "%b_"), ("w", "b")]:
                tx.episodes.put(episode(name, workspace))
        with store.read() as tx:
            found = [(e.workspace, e.id) for e in tx.episodes.find_prefix("abc", 10)]
            assert found == [("v", "abc1"), ("w", "abc1"), ("w", "xxabc")]
            assert len(tx.episodes.find_prefix("abc")) == 2
            assert [e.id for e in tx.episodes.find_prefix("%", 10)] == ["%b_"]
            assert tx.episodes.find_prefix("ABC") == []
            assert tx.episodes.find_prefix("much longer than any id") == []

    def test_a_run_is_in_order_of_its_steps(self, store: Store) -> None:
        with store.write() as tx:
            for number, name in [(10, "a"), (2, "b"), (1, "c")]:
                tx.episodes.put(episode(name, step_number=number))
            tx.episodes.put(episode("d", run_id="r2"))
        with store.read() as tx:
            assert [e.id for e in tx.episodes.of_run("w", "r1")] == ["c", "b", "a"]

    def test_lists_are_ordered_narrow_and_limited(self, store: Store) -> None:
        whole = replace(full_episode(), archived_at=None)
        with store.write() as tx:
            for number in (2, 1, 3):
                same = {"workspace": "w", "created_at": at(number // 2)}
                tx.episodes.put(replace(whole, id=f"e{number}", **same))  # type: ignore[arg-type]  # two of its fields
        with store.read() as tx:
            newest = tx.episodes.search("w", EpisodeFilter())
            assert [e.id for e in newest] == ["e3", "e2", "e1"]
            assert [e.id for e in tx.episodes.search("w", EpisodeFilter(newest_first=False))] == ["e1", "e2", "e3"]
            assert [e.id for e in tx.episodes.search("w", EpisodeFilter(limit=1))] == ["e3"]
            assert tx.episodes.search("w", EpisodeFilter(limit=0)) == []
        narrow = {"trajectory": (), "context_before": (), "context_after": (), "thoughts": ""}
        assert newest[0] == replace(whole, id="e3", workspace="w", created_at=at(1), **narrow)  # type: ignore[arg-type]

    def test_outlines_are_lists_without_any_text(self, store: Store) -> None:
        whole = replace(full_episode(), id="e1", workspace="w", archived_at=None)
        with store.write() as tx:
            tx.episodes.put(whole)
        with store.read() as tx:
            (outline,) = tx.episodes.outlines("w", EpisodeFilter())
        texts = (
            "goal",
            "why",
            "thoughts",
            "action_target",
            "output",
            "outcome_reason",
            "correction",
            "task_incomplete",
        )
        lists = ("trajectory", "context_before", "context_after")
        empty = dict.fromkeys(texts, "") | dict.fromkeys(lists, ())
        assert outline == replace(whole, **empty)  # type: ignore[arg-type]  # fields by name

    def test_lists_for_a_reader_and_for_a_teacher_have_all_that_may_be_theirs(self, store: Store) -> None:
        yes = Verdict.SUCCESS
        said = {
            "mine": episode("mine", author="bo", verdicts=Verdicts(personal=yes), promoted=Audience.PERSONAL),
            "theirs": episode("theirs", verdicts=Verdicts(personal=yes)),
            "here": episode("here", verdicts=Verdicts(channel=yes), promoted=Audience.CHANNEL),
            "there": episode("there", channel="C2", visibility=Visibility.PRIVATE, verdicts=Verdicts(channel=yes)),
            "all": episode("all", channel="C2", verdicts=Verdicts(workspace=yes), promoted=Audience.WORKSPACE),
            "none": episode("none"),
            "held": episode("held", channel="C2", quarantine=("instructions",)),
        }
        bo = Scope(workspace="w", channel="C1", person="bo")
        with store.write() as tx:
            tx.episodes.put(*said.values())
            for wanted, names in (
                (EpisodeFilter(counting_for=bo), {"mine", "here", "all"}),
                (EpisodeFilter(to_review_in=bo), {"theirs", "held"}),
            ):
                assert {each.id for each in tx.episodes.outlines("w", wanted)} == names

    def test_a_renamed_channel_is_told_by_its_new_name_where_it_has_one(self, store: Store) -> None:
        with store.write() as tx:
            for name, place in {"e1": "#old", "e2": "", "e3": "#new"}.items():
                tx.episodes.put(replace(episode(name), place=place))
            tx.episodes.put(replace(episode("e4"), channel="C2", place="#old"))
            tx.episodes.put(replace(episode("e1", "v"), place="#old"))
            tx.episodes.rename_place("w", "C1", "#new")
        with store.read() as tx:
            found = tx.episodes.get_many("w", ["e1", "e2", "e3", "e4"])
            assert [found[name].place for name in ("e1", "e2", "e3", "e4")] == ["#new", "", "#new", "#old"]
            assert [each.place for each in tx.episodes.get_many("v", ["e1"]).values()] == ["#old"]

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (EpisodeFilter(), "ab"),
            (EpisodeFilter(include_archived=True), "abc"),
            (EpisodeFilter(archived_only=True), "c"),
            (EpisodeFilter(channel="C2"), "b"),
            (EpisodeFilter(person="bo"), "b"),
            (EpisodeFilter(author="bo"), "a"),
            (EpisodeFilter(status=EpisodeStatus.FAILURE), "b"),
            (EpisodeFilter(verdict=Verdict.SUCCESS), "b"),
            (EpisodeFilter(verdict=Verdict.PENDING), "a"),
            (EpisodeFilter(judged_only=True), "b"),
            (EpisodeFilter(newest=2), "b"),
            (EpisodeFilter(newest=2, include_archived=True), "bc"),
            (EpisodeFilter(newest=50), "ab"),
            (EpisodeFilter(text="ÉCOLE"), "a"),
            (EpisodeFilter(text="100%"), "b"),
            (EpisodeFilter(text="%"), "b"),
            (EpisodeFilter(text="100% SURE"), "b"),
            (EpisodeFilter(text="100_ sure"), ""),
            (EpisodeFilter(text="!"), ""),
            (EpisodeFilter(roots_only=True), "a"),
            (EpisodeFilter(text="x" * 100_000), ""),
            (EpisodeFilter(person="bo", text="école"), ""),
            (EpisodeFilter(visibilities=(Visibility.PRIVATE,)), "b"),
            (EpisodeFilter(visibilities=(Visibility.PRIVATE, Visibility.PUBLIC)), "ab"),
            (EpisodeFilter(visibilities=(Visibility.SHARED,)), ""),
        ],
    )
    def test_filters(self, store: Store, wanted: EpisodeFilter, found: str) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("a", goal="Où est l'école ?", author="bo"))
            other: dict[str, Any] = {
                "run_id": "r2",
                "channel": "C2",
                "person": "bo",
                "output": "100% sure",
                "parent_id": "a",
                "visibility": Visibility.PRIVATE,
            }
            later: dict[str, Any] = {"created_at": NOW + timedelta(minutes=1)}
            graded: dict[str, Any] = {"status": EpisodeStatus.FAILURE, "verdicts": Verdicts(channel=Verdict.SUCCESS)}
            tx.episodes.put(episode("b", **other, **graded, **later))
            tx.episodes.put(episode("c", archived_at=NOW, parent_id="a", **later))
        with store.read() as tx:
            assert sorted(e.id for e in tx.episodes.search("w", wanted)) == list(found)

    def test_what_is_disputed_is_listed(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("a"), episode("b", verdicts=Verdicts(personal=Verdict.DISPUTED)))
            disputed = EpisodeFilter(verdict=Verdict.DISPUTED)
            assert [each.id for each in tx.episodes.search("w", disputed)] == ["b"]
            tx.episodes.update(episode("b"), episode("a", verdicts=Verdicts(personal=Verdict.DISPUTED)))
            assert [each.id for each in tx.episodes.search("w", disputed)] == ["a"]

    def test_attempts_ignore_case_and_spaces_and_are_those_of_roots(self, store: Store) -> None:
        with store.write() as tx:
            goals: dict[str, dict[str, Any]] = {
                "a": {"goal": " What  TIME\nis it ", "rep": 2},
                "b": {"goal": "what time is it"},
                "c": {"goal": "what time is it", "parent_id": "a", "rep": 3},
                "d": {"goal": "what time is it", "person": "bo", "rep": 4},
                "e": {"goal": "what time is it", "channel": "C2", "rep": 5},
                "f": {"goal": "what time is it?", "rep": 6},
                "g": {"goal": "what time is it", "origin": Origin.TAUGHT, "rep": 7},
            }
            for name, changes in goals.items():
                tx.episodes.put(episode(name, **changes))
            tx.episodes.add(episode("h", goal="WHAT TIME IS IT"), episode("i", goal=""))
        with store.read() as tx:
            added = tx.episodes.get_many("w", ["h", "i"])
            assert (added["h"].rep, added["i"].rep) == (3, 1)

    def test_the_nodes_of_a_run_are_added_with_the_number_of_the_attempt(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("e1", goal="lunch?", rep=4))
            tx.episodes.add(
                episode("e2", goal=" LUNCH? "),
                episode("e3", goal="lunch?", parent_id="e2", rep=1),
                episode("e4", goal="lunch?", origin=Origin.TAUGHT, rep=1),
            )
            tx.episodes.add(episode("e5", goal="lunch?", quarantine=("secret",)), episode("e6", "v", goal="lunch?"))
        with store.read() as tx:
            found = tx.episodes.get_many("w", ["e2", "e3", "e4", "e5"])
            assert {name: each.rep for name, each in found.items()} == {"e2": 5, "e3": 1, "e4": 1, "e5": 6}
            assert found["e5"].quarantine == ("secret",)
            assert [each.rep for each in tx.episodes.get_many("v", ["e6"]).values()] == [1]

    def test_a_new_episode_does_not_take_the_place_of_another(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.add(episode("e1", goal="lunch?"))
        with pytest.raises(Conflict, match="new id"), store.write() as tx:
            tx.episodes.add(episode("e2", goal="tea?"), episode("e1", goal="dinner?"))
        with store.read() as tx:
            assert [each.goal for each in tx.episodes.get_many("w", ["e1", "e2"]).values()] == ["lunch?"]

    @pytest.mark.parametrize("signal", Signal)
    def test_use_changes_a_lesson_as_the_fold_of_its_events_does(self, store: Store, signal: Signal) -> None:
        now = at(3_000_000)
        lessons = [
            episode("e1", nudge=0.28, strength=0.98, verdicts=Verdicts(personal=Verdict.SUCCESS), salience_at=at(5)),
            episode("e2", verdicts=Verdicts(workspace=Verdict.FAILURE), salience=9.99, salience_at=at(4_000_000)),
        ]
        with store.write() as tx:
            tx.episodes.put(*lessons)
            assert tx.retrievals.use([replace(use(name), signal=signal, at=now) for name in ("e1", "e2", "e1")])
        expected = {each.id: each for each in lessons}
        for name in ("e1", "e2", "e1"):
            for kind in (EventKind.INJECTED, EventKind(signal.value)):
                expected[name] = apply(expected[name], replace(event(name, kind), at=now))
        with store.read() as tx:
            assert tx.episodes.get_many("w", ["e1", "e2"]) == expected

    def test_what_is_gone_or_has_another_question_is_not_used(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("e1"))
            assert tx.retrievals.use([])
            assert not tx.retrievals.use([use("e2")])
            assert not tx.retrievals.use([use("e1", "v")])
            assert not tx.retrievals.use([replace(use("e1"), goal="another question")])
            assert tx.episodes.get("w", "e1") == episode("e1")

    def test_attention_is_read_and_stored_by_itself(self, store: Store) -> None:
        verdicts = Verdicts(personal=Verdict.SUCCESS, channel=Verdict.FAILURE)
        made = episode("e1", verdicts=verdicts, promoted=Audience.CHANNEL, archived_at=at(7), salience_at=at(5))
        with store.write() as tx:
            tx.episodes.put(made)
            assert tx.retrievals.attention("w", ["e1", "e2"]) == {"e1": attention_of(made)}
            assert tx.retrievals.attention("v", ["e1"]) == {}
            raised = replace(made, salience=2.5, salience_at=at(9))
            tx.retrievals.attend("w", [attention_of(raised), attention_of(episode("e2"))])
            assert tx.episodes.get_many("w", ["e1", "e2"]) == {"e1": raised}

    def test_several_vectors_are_added_at_once(self, store: Store) -> None:
        with store.write() as tx:
            tx.episodes.put(episode("e1"), episode("e2"))
            tx.episodes.add_vectors("w", MODEL, {})
            tx.episodes.add_vectors("w", MODEL, {"e1": unit(1, 0, 0)})
            tx.episodes.add_vectors("w", "other", {"e1": unit(0, 1, 0), "e2": unit(0, 0, 1)})
        with store.read() as tx:
            found = {name: (model, v.tolist()) for name, (model, v) in tx.episodes.vectors("w", ["e1", "e2"]).items()}
        assert found == {"e1": ("other", [0, 1, 0]), "e2": ("other", [0, 0, 1])}
        with pytest.raises(NotFound), store.write() as tx:
            tx.episodes.add_vectors("w", MODEL, {"e9": unit(1, 0, 0)})

    def test_deleting_takes_everything_of_the_episode(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            tx.retrievals.put(retrieval("q2"), [item("q2", "e1"), item("q2", "e2", rank=2)])
            assert tx.episodes.delete("w", ["e1", "e1", "none"]) == 1
            assert tx.episodes.delete("w", ["e1"]) == 0
        with store.read() as tx:
            assert tx.episodes.get("w", "e1") is None
            assert tx.episodes.vectors("w", ["e1"]) == {}
            assert tx.episodes.index_of("w", "e1") == []
            assert tx.episodes.links("w", ["e1", "e2"]) == []
            assert tx.log.of_episode("w", "e1") == []
            assert len(tx.log.of_episode("w", "e2")) == 1
            assert [[i.episode_id for i in items] for _, items in tx.retrievals.of_run("w", "r1")] == [[], ["e2"]]
        assert nearest(store, "w", ["workspace"], MODEL, unit(1, 0, 0), 5, -1.0).hits == ()

    def test_the_note_that_it_was_forgotten_stays(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx, "w")
            tx.episodes.delete("w", ["e1"])
            tx.log.append(event("e1", EventKind.FORGOTTEN, actor=""))
        with store.read() as tx:
            assert [e.kind for e in tx.log.of_episode("w", "e1")] == [EventKind.FORGOTTEN]

    def test_links(self, store: Store) -> None:
        with store.write() as tx:
            for name in ("e1", "e2", "e3"):
                tx.episodes.put(episode(name))
            for _ in range(2):
                tx.episodes.add_link(link("e1", "e2"))
            tx.episodes.add_link(link("e2", "e1"))
            tx.episodes.add_link(link("e1", "e2", LinkKind.CORRECTS))
            tx.episodes.remove_link(link("e3", "e1"))
            with pytest.raises(NotFound):
                tx.episodes.add_link(link("e1", "none"))
        with store.read() as tx:
            expected = [link("e1", "e2", LinkKind.CORRECTS), link("e1", "e2"), link("e2", "e1")]
            assert tx.episodes.links("w", ["e1", "e2"]) == expected
            assert tx.episodes.links("w", ["e2"], LinkKind.CORRECTS) == expected[:1]
            assert tx.episodes.links("w", ["e3"]) == []
        with store.write() as tx:
            tx.episodes.remove_link(link("e1", "e2"))
            assert tx.episodes.links("w", ["e1"]) == [expected[0], expected[2]]

    def test_an_update_stores_what_people_and_use_make_of_an_episode(self, store: Store) -> None:
        made, other = episode("e1", quarantine=("length",)), episode("e2")
        changed = with_verdicts(
            replace(
                made,
                outcome_reason="it worked",
                correction="room 5",
                promoted=Audience.CHANNEL,
                nudge=0.1,
                salience=2.5,
                salience_at=at(5),
                retrieval_count=3,
                used_count=2,
                ignored_count=1,
                graded_at=at(6),
                archived_at=at(7),
            ),
            Verdicts(personal=Verdict.FAILURE, channel=Verdict.DISPUTED),
        )
        with store.write() as tx:
            tx.episodes.put(made, other, episode("e1", "v"))
            tx.episodes.update(replace(changed, goal="another", output="another", quarantine=()), episode("none"))
        with store.read() as tx:
            assert tx.episodes.get_many("w", ["e1", "e2", "none"]) == {"e1": changed, "e2": other}
            assert tx.episodes.get("v", "e1") == episode("e1", "v")
            found = tx.episodes.of_runs("w", ["r1", "r9"])
            assert found == {"r1": tx.episodes.of_run("w", "r1")}
            wanted = EpisodeFilter(verdict=changed.verdict, include_archived=True)
            assert [each.id for each in tx.episodes.search("w", wanted)] == ["e1"]
