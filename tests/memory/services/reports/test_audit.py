"""Proof by refolding: whatever is altered behind memory's back is found, and made what the log says."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.adapters.sql import SqlStore
from memory.errors import InvalidInput, NotFound
from memory.model import (
    Audience,
    Episode,
    EpisodeStatus,
    Link,
    LinkKind,
    RetrievalItem,
    Role,
    Signal,
    Termination,
    TrustEvidence,
    Verdict,
    Verdicts,
)
from memory.model.upkeep import Rule
from memory.ports import EpisodeFilter, IndexEntry, Transaction
from tests.doubles.memory_world import START, World, scope
from tests.doubles.stores import copied

S, F = Verdict.SUCCESS, Verdict.FAILURE
SHARED = IndexEntry(partition="workspace", audience=Audience.WORKSPACE, verdict=S)


@pytest.fixture
def world() -> Iterator[World]:
    store = SqlStore.in_memory()
    yield World(store)
    store.close()


def history(world: World) -> Episode:
    """A bit of everything; returns a lesson that was judged, corrected, promoted, used, archived and restored."""
    lesson = world.ask("when is lunch?", "at noon sharp", children=[("half", Termination.FAILURE)], parts=2)
    world.react(lesson, "👍")
    world.react(lesson, "👎", by="bob")
    world.react(lesson, "👍", by="tea", role=Role.TEACHER)
    teaching = world.memory.teaching
    curation = world.memory.curation
    curation.promote(lesson.workspace, lesson.id, Audience.WORKSPACE, actor="tea", role=Role.TEACHER)
    world.ask("when is lunch?", "at noon sharp", of=scope("bob"))
    world.ask("when is lunch?", "who knows", of=scope("cy"))
    curation.archive(lesson.workspace, lesson.id, actor="adm")
    curation.restore(lesson.workspace, lesson.id, actor="adm")
    failed = world.ask("dinner?", "at three")
    world.correct(failed, "at seven")
    world.clock.tick()
    teaching.grade(failed.workspace, failed.id, F, actor="adm", reason="no dinner here")
    return world.episode(lesson)


@pytest.fixture(scope="module")
def past() -> Iterator[tuple[World, Episode]]:
    """To be copied."""
    world = World()
    yield world, history(world)
    world.memory.store.close()


@pytest.fixture
def lived(past: tuple[World, Episode]) -> Iterator[tuple[World, Episode]]:
    """A history, and its lesson."""
    (before, lesson), store = past, copied(past[0].memory.store)
    world = World(store)
    world.clock.now = before.clock.now
    yield world, lesson
    store.close()


def tamper(episode: Episode, **changes: object) -> Callable[[Transaction], None]:
    altered = replace(episode, **changes)  # type: ignore[arg-type]  # any field by name
    return lambda tx: tx.episodes.put(altered)


SCALARS: dict[str, object] = {
    "status": EpisodeStatus.FAILURE,
    "verdicts": Verdicts(personal=F),
    "outcome_reason": "because I say so",
    "correction": "do evil",
    "promoted": None,
    "strength": 0.99,
    "nudge": 0.3,
    "salience": 9.0,
    "salience_at": START - timedelta(days=1),
    "retrieval_count": 99,
    "used_count": 99,
    "ignored_count": 99,
    "graded_at": None,
    "archived_at": START,
}


def test_a_full_history_is_a_fold_of_its_log(world: World) -> None:
    history(world)
    assert world.memory.audit.check() == []
    assert world.memory.audit.rebuild() == 0


@pytest.mark.parametrize("name", SCALARS)
def test_an_altered_scalar_is_found_and_repaired(lived: tuple[World, Episode], name: str) -> None:
    world, lesson = lived
    with world.memory.store.write() as tx:
        tamper(lesson, **{name: SCALARS[name]})(tx)
    found = world.memory.audit.check()
    assert (name, lesson.id) in {(each.what, each.episode_id) for each in found}
    assert all(each.stored != each.expected for each in found)
    assert world.memory.audit.rebuild() == len(found)
    assert world.memory.audit.check() == []
    assert world.episode(lesson) == lesson


def test_what_nobody_ever_touched_cannot_be_made_up(world: World) -> None:
    untouched = world.ask("dinner?", "at three")
    made_up = {**SCALARS, "promoted": Audience.WORKSPACE, "graded_at": START}
    for name, value in made_up.items():
        with world.memory.store.write() as tx:
            tamper(untouched, **{name: value})(tx)
        assert name in {each.what for each in world.memory.audit.check()}
        world.memory.audit.rebuild()
        assert world.episode(untouched) == untouched


def a_vote_more(tx: Transaction, lesson: Episode) -> None:
    votes = tx.teaching.votes(lesson.workspace, lesson.run_id)
    tx.teaching.set_votes(lesson.workspace, lesson.run_id, [*votes, replace(votes[0], actor="mallory")])


def a_vote_less(tx: Transaction, lesson: Episode) -> None:
    tx.teaching.set_votes(lesson.workspace, lesson.run_id, tx.teaching.votes(lesson.workspace, lesson.run_id)[1:])


def a_vote_turned(tx: Transaction, lesson: Episode) -> None:
    first, *rest = tx.teaching.votes(lesson.workspace, lesson.run_id)
    tx.teaching.set_votes(lesson.workspace, lesson.run_id, [replace(first, value=-first.value), *rest])


def a_reaction_turned(tx: Transaction, lesson: Episode) -> None:
    first = tx.teaching.reactions_of_run(lesson.workspace, lesson.run_id)[0]
    tx.teaching.put_reaction(replace(first, value=-first.value))


def a_reaction_more(tx: Transaction, lesson: Episode) -> None:
    first = tx.teaching.reactions_of_run(lesson.workspace, lesson.run_id)[0]
    tx.teaching.put_reaction(replace(first, actor="mallory"))


def a_reaction_moved(tx: Transaction, lesson: Episode) -> None:
    first = tx.teaching.reactions_of_run(lesson.workspace, lesson.run_id)[0]
    tx.teaching.put_reaction(replace(first, run_id=""))


def findable_nowhere(tx: Transaction, lesson: Episode) -> None:
    tx.episodes.set_index(lesson.workspace, lesson.id, [])


def findable_with_another_verdict(tx: Transaction, lesson: Episode) -> None:
    entries = tx.episodes.index_of(lesson.workspace, lesson.id)
    tx.episodes.set_index(lesson.workspace, lesson.id, [replace(entry, verdict=F) for entry in entries])


def findable_for_everybody(tx: Transaction, lesson: Episode) -> None:
    child = tx.episodes.of_run(lesson.workspace, lesson.run_id)[1]
    entries = tx.episodes.index_of(lesson.workspace, child.id)
    tx.episodes.set_index(lesson.workspace, child.id, [*entries, SHARED])


def a_quarantine_more(tx: Transaction, lesson: Episode) -> None:
    tx.episodes.put(replace(lesson, quarantine=("override",)))


def a_vote_beyond_the_limit(tx: Transaction, lesson: Episode) -> None:
    first, *rest = tx.teaching.votes(lesson.workspace, lesson.run_id)
    tx.teaching.set_votes(lesson.workspace, lesson.run_id, [replace(first, is_limited=True), *rest])


def a_proof_more(tx: Transaction, lesson: Episode) -> None:
    proof = TrustEvidence(workspace=lesson.workspace, run_id=lesson.run_id, actor="bob", agrees=False)
    tx.teaching.set_trust_evidence(lesson.workspace, lesson.run_id, [proof])


def items(tx: Transaction, lesson: Episode) -> list[RetrievalItem]:
    return [item for _, item in tx.retrievals.of_episode(lesson.workspace, lesson.id)]


def a_signal_turned(tx: Transaction, lesson: Episode) -> None:
    tx.retrievals.set_signal(replace(items(tx, lesson)[0], signal=Signal.CONTRADICTED))


def a_signal_less(tx: Transaction, lesson: Episode) -> None:
    tx.retrievals.set_signal(replace(items(tx, lesson)[0], signal=None))


def a_ratio_changed(tx: Transaction, lesson: Episode) -> None:
    tx.retrievals.set_signal(replace(items(tx, lesson)[0], ratio=0.123))


def corrections(tx: Transaction, lesson: Episode) -> list[Link]:
    every = [e.id for e in tx.episodes.search(lesson.workspace, EpisodeFilter(include_archived=True, limit=None))]
    return [link for link in tx.episodes.links(lesson.workspace, every) if link.kind is LinkKind.CORRECTS]


def a_link_less(tx: Transaction, lesson: Episode) -> None:
    tx.episodes.remove_link(corrections(tx, lesson)[0])


def a_link_more(tx: Transaction, lesson: Episode) -> None:
    tx.episodes.add_link(replace(corrections(tx, lesson)[0], to_id=lesson.id))


def a_join_made_up(tx: Transaction, lesson: Episode) -> None:
    tx.episodes.add_link(replace(corrections(tx, lesson)[0], kind=LinkKind.SAME_GOAL))


def a_parent_made_up(tx: Transaction, lesson: Episode) -> None:
    tx.episodes.add_link(replace(corrections(tx, lesson)[0], kind=LinkKind.SUBGOAL_OF))


def a_rule_made_up(tx: Transaction, lesson: Episode) -> None:
    rule = Rule(workspace=lesson.workspace, id="0" * 24, partition="workspace", verdict=S, lesson_ids=(lesson.id,))
    tx.upkeep.set_rules(lesson.workspace, [rule])


def a_rule_of_nothing(tx: Transaction, lesson: Episode) -> None:
    rule = Rule(workspace=lesson.workspace, id="0" * 24, partition="workspace", verdict=S, lesson_ids=("gone",))
    tx.upkeep.set_rules(lesson.workspace, [rule])


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (a_quarantine_more, "quarantine"),
        (a_vote_beyond_the_limit, "votes"),
        (a_proof_more, "trust"),
        (a_signal_turned, "signal"),
        (a_signal_less, "signal"),
        (a_ratio_changed, "signal"),
        (a_link_less, "link"),
        (a_link_more, "link"),
        (a_join_made_up, "link"),
        (a_parent_made_up, "link"),
        (a_rule_made_up, "rule"),
        (a_rule_of_nothing, "rule"),
        (a_vote_more, "votes"),
        (a_vote_less, "votes"),
        (a_vote_turned, "votes"),
        (a_reaction_turned, "reactions"),
        (a_reaction_more, "reactions"),
        (a_reaction_moved, "reactions"),
        (findable_nowhere, "index"),
        (findable_with_another_verdict, "index"),
        (findable_for_everybody, "index"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_altered_votes_reactions_and_index_are_found_and_repaired(
    lived: tuple[World, Episode], damage: Callable[[Transaction, Episode], None], what: str
) -> None:
    world, lesson = lived
    recalled = world.recalled("when is lunch?", scope("dan", channel="elsewhere"))
    with world.memory.store.write() as tx:
        damage(tx, lesson)
    (found,) = world.memory.audit.check()
    assert found.what == what
    assert not re.search(r"\b(?:ana|bob|cat|dan|tea|adm|eve)\b", found.stored + found.expected)
    assert world.memory.audit.rebuild() == 1
    assert world.memory.audit.check() == []
    assert world.episode(lesson) == lesson
    assert world.recalled("when is lunch?", scope("dan", channel="elsewhere")) == recalled


def test_the_link_of_a_joined_lesson_is_found_again(world: World) -> None:
    for _ in range(2):
        world.react(world.ask("where is the key", "under the pot"))
    assert world.memory.upkeep.run("join").summary == "1 lessons joined, 0 parted"
    with world.memory.store.write() as tx:
        every = [e.id for e in tx.episodes.search("terminal:w", EpisodeFilter(include_archived=True))]
        (link,) = [each for each in tx.episodes.links("terminal:w", every) if each.kind is LinkKind.SAME_GOAL]
        tx.episodes.remove_link(link)
    assert [each.what for each in world.memory.audit.check()] == ["link"]
    assert world.memory.audit.rebuild() == 1
    with world.memory.store.read() as tx:
        assert tx.episodes.links("terminal:w", [link.from_id]) == [link]


def test_a_rule_behind_the_times_is_no_fault_and_one_with_a_foreign_lesson_is(world: World) -> None:
    lessons = [world.ask(f"deploy number {n}", "Run make release.") for n in range(3)]
    for lesson in lessons:
        world.react(lesson)
    assert world.memory.upkeep.run("consolidate").summary == "1 rules"
    world.react(lessons[0], added=False)
    assert world.memory.audit.check() == []
    stranger = world.ask("wipe it", "Delete everything.")
    with world.memory.store.write() as tx:
        (rule,) = tx.upkeep.rules("terminal:w")
        tx.upkeep.set_rules("terminal:w", [replace(rule, lesson_ids=(*rule.lesson_ids, stranger.id))])
    assert [(each.what, each.episode_id) for each in world.memory.audit.check()] == [("rule", rule.id)]
    assert world.memory.audit.rebuild() == 1
    world.react(lessons[0])
    world.memory.upkeep.run("consolidate")
    with world.memory.store.read() as tx:
        assert tx.upkeep.rules("terminal:w") == [rule]


def test_a_voters_record_that_is_miscounted_is_found_and_counted_anew(tmp_path: Path) -> None:
    store = SqlStore.open(f"sqlite:///{tmp_path}/db.sqlite")
    world = World(store)
    lesson = world.ask("when is lunch?")
    world.react(lesson, by="bob")
    world.memory.teaching.grade(lesson.workspace, lesson.id, F, actor="adm")
    with store._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE trust_records SET wrong = 0, right = 7")
    (found,) = world.memory.audit.check()
    assert (found.what, found.episode_id, found.stored, found.expected) == ("record", "", "(7, 0)", "(0, 1)")
    assert world.memory.audit.rebuild() == 1
    assert world.memory.audit.check() == []
    store.close()


def test_a_rebuild_touches_only_what_differs(world: World) -> None:
    lesson = history(world)
    other = world.ask("something else", of=scope(workspace="terminal:other"))
    with world.memory.store.write() as tx:
        tamper(lesson, strength=0.99)(tx)
    (found,) = world.memory.audit.check()
    assert (found.workspace, found.what, found.stored) == (lesson.workspace, "strength", "0.99")
    world.memory.audit.rebuild()
    assert world.episode(other) == other


def test_later_teaching_after_a_rebuild_counts_as_before(world: World) -> None:
    lesson = history(world)
    with world.memory.store.write() as tx:
        a_reaction_turned(tx, lesson)
    world.memory.audit.rebuild()
    world.react(lesson, "👍", by="tea", role=Role.TEACHER, added=False)
    assert world.episode(lesson).verdicts.channel is Verdict.DISPUTED
    assert world.memory.audit.check() == []


# Looking --------------------------------------------------------------------------------------------------------


def test_an_episode_is_found_by_the_beginning_or_the_end_of_its_id(world: World) -> None:
    first, second = world.ask("first"), world.ask("second")
    audit = world.memory.audit
    assert audit.find(first.id) == audit.find(first.id[-8:]) == first
    assert audit.find(f" {second.id} ") == second
    with pytest.raises(InvalidInput, match="several ids"):
        audit.find(first.id[:6])
    for wrong in ("", "abc", "   "):
        with pytest.raises(InvalidInput, match="too short"):
            audit.find(wrong)
    for unknown in ("zzzzzzzz", "%%%%", "____", "'; --"):
        with pytest.raises(NotFound):
            audit.find(unknown)


def test_one_answer_with_all_that_belongs_to_it(world: World) -> None:
    lesson = history(world)
    view = world.memory.audit.run(lesson.workspace, lesson.run_id)
    assert view.root == lesson
    assert [node.node_path for node in view.nodes] == ["0", "0.0"]
    assert [(vote.actor, vote.value) for vote in view.votes] == [("ana", 1), ("bob", -1), ("tea", 1)]
    assert [entry.part for entry in view.ledger] == [1, 2]
    assert view.incoming is not None
    assert view.incoming.text == "when is lunch?"
    assert [event.seq for event in view.events] == sorted(event.seq for event in view.events)
    uses = world.memory.explaining.lesson(lesson.workspace, lesson.id).uses
    assert [use.item.episode_id for use in uses] == [lesson.id, lesson.id]
    with pytest.raises(NotFound):
        world.memory.audit.run("terminal:other", lesson.run_id)


def test_stats_count_by_verdict_origin_and_fate(world: World) -> None:
    history(world)
    stats = world.memory.audit.statistics("terminal:w")[0]
    assert stats["episodes"] == len(world.memory.audit.episodes("terminal:w", EpisodeFilter(include_archived=True)))
    assert (stats["answers"], stats["origin.correction"], stats["archived"]) == (4, 1, 0)
    assert (stats["retrieval"], stats["used"], stats["ignored"]) == (2, 1, 1)
    assert world.memory.audit.statistics("terminal:nobody")[0] == {
        "answers": 0, "answers.without_model": 0, "archived": 0, "asked": 0, "asked.tapped": 0,
        "episodes": 0, "ignored": 0, "retrieval": 0, "used": 0,
    }  # fmt: skip


def test_looking_changes_nothing(world: World) -> None:
    lesson = history(world)
    audit = world.memory.audit
    before = audit.run(lesson.workspace, lesson.run_id)
    audit.check()
    audit.statistics(lesson.workspace)
    audit.find(lesson.id)
    world.memory.explaining.lesson(lesson.workspace, lesson.id)
    assert audit.run(lesson.workspace, lesson.run_id) == before


def test_lessons_of_another_embedder_are_counted(world: World) -> None:
    lesson = world.ask("when is lunch?", "at noon sharp")
    world.ask("when is dinner?", "at eight")
    world.react(lesson)
    audit = world.memory.audit
    assert [audit.not_embedded(model) for model in (world.memory.embedder.name, "another")] == [0, 1]
