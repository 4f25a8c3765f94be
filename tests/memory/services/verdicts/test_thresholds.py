"""The threshold through the store: votes move it, what is taken back or forgotten does not, every workspace has one."""

import random
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from memory.model import ASK, Episode, Role, TeachingPolicy
from memory.model.evidence import INITIAL_THRESHOLD, ActionText, Threshold
from memory.services import FinishedRun
from memory.services.verdicts.tally import threshold_of
from tests.doubles.memory_world import World, scope
from tests.doubles.stores import open_file

W = scope().workspace
ACTIONS = (
    ActionText(name="pay_bill", description="Pays a bill."),
    ActionText(name="play_music", description="Plays a song."),
)
GOAL = "please settle what I owe for the electricity"
UNSURE = "what do I owe the desk for the letters?"
ANSWER = "At the desk."


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    world.actions = ACTIONS
    yield world
    assert world.memory.audit.check() == []


def judged(world: World, episode: Episode) -> list[tuple[str, bool]]:
    with world.memory.store.read() as tx:
        return [(each.actor, each.is_right) for each in tx.judgements.of_run(episode.workspace, episode.run_id)]


def threshold(world: World, workspace: str = W) -> float:
    with world.memory.store.read() as tx:
        return threshold_of(tx, workspace, world.memory.core.policy.error_budget)


def reliability(world: World) -> Mapping[str, float]:
    with world.memory.store.read() as tx:
        stored = tx.judgements.threshold(W)
    return stored.reliability if stored else {}


def taught(world: World, person: str = "ana") -> Episode:
    """A lesson, so that what follows has evidence for an answer."""
    episode = world.ask(GOAL, ANSWER, of=scope(person))
    world.react(episode, "👍", by=person)
    return episode


def refused(world: World, times: int, person: str = "ana") -> list[Episode]:
    answers = [world.ask(GOAL, ANSWER, of=scope(person)) for _ in range(times)]
    for each in answers:
        world.react(each, "👎", by=person)
    return answers


def chosen(world: World, action: str, output: str = "", *, source: str = "", value: int = 1) -> Episode:
    """A node that did this about the goal, with a vote of the asker."""
    asker, run_id = scope(), world.ids()
    node = replace(world.ask("something else"), id=world.ids(), run_id=run_id, goal=GOAL, action=action, output=output)
    recall = world.memory.recalling.recall(asker, UNSURE, run_id=run_id, actions=ACTIONS)
    assert recall.evidence is not None
    assert not recall.evidence.is_sure
    run = FinishedRun(workspace=W, run_id=run_id, event_id="", nodes=[node], recalls=[recall], parts=[])
    world.memory.recording.finish(run)
    world.memory.teaching.vote(replace(world.reaction(node), run_id=run_id, source=source, value=value, message_id=""))
    return node


def test_without_a_vote_it_is_where_it_starts(world: World) -> None:
    assert threshold(world) == INITIAL_THRESHOLD
    assert world.memory.recalling.weighing.weigh(scope(), GOAL, ACTIONS).threshold == INITIAL_THRESHOLD


def test_a_vote_on_the_best_candidate_is_a_judgement(world: World) -> None:
    first = taught(world)
    assert judged(world, first) == []  # nothing was known yet
    again = world.ask(GOAL, ANSWER)
    world.react(again, "👍")
    world.react(again, "👎", by="bo")
    assert judged(world, again) == [("ana", True), ("bo", False)]
    other = world.ask(GOAL, "In the app.")
    world.react(other, "👎")
    assert judged(world, other) == []


def test_refusals_raise_it_for_what_is_asked_next(world: World) -> None:
    taught(world)
    refused(world, 3)
    raised = threshold(world)
    assert raised > INITIAL_THRESHOLD
    assert world.memory.recalling.weighing.weigh(scope("cy", channel="c9"), GOAL, ACTIONS).threshold == raised


def test_taking_the_votes_back_restores_it_exactly(world: World) -> None:
    taught(world)
    answers = refused(world, 4)
    for each in answers:
        world.react(each, "👎", added=False)
    assert threshold(world) == INITIAL_THRESHOLD
    assert all(judged(world, each) == [] for each in answers)


def test_the_order_of_votes_does_not_matter() -> None:
    found = set()
    for seed in range(3):
        world = World()
        world.actions = ACTIONS
        taught(world)
        answers = [world.ask(GOAL, ANSWER) for _ in range(6)]
        acts = [(each, "👎" if n % 2 else "👍") for n, each in enumerate(answers)]
        random.Random(seed).shuffle(acts)
        for each, emoji in acts:
            world.react(each, emoji)
        found.add(threshold(world))
    assert len(found) == 1


def test_each_workspace_has_its_own(world: World) -> None:
    taught(world)
    refused(world, 5)
    assert threshold(world, "terminal:other") == INITIAL_THRESHOLD


def test_what_a_person_judged_goes_with_them(world: World) -> None:
    taught(world, "bo")
    more = [world.ask(GOAL, ANSWER, of=scope("bo")) for _ in range(40)]
    answers = refused(world, 3, "bo")
    before = threshold(world)
    for each in [*answers, *more]:
        world.react(each, "👍", by="eve")
    assert threshold(world) < before
    world.memory.privacy.forget(W, "eve")
    assert threshold(world) == before
    assert set(reliability(world)) == {"bo"}
    world.memory.privacy.forget(W, "bo")
    assert threshold(world) == INITIAL_THRESHOLD
    assert reliability(world) == {}


def test_whoever_refuses_what_is_nearly_certain_can_be_relied_on_less(world: World) -> None:
    taught(world)
    refused(world, 3)
    assert set(reliability(world)) == {"ana"}
    other = world.ask("where is the spare key?", "Under the pot.")

    def effect() -> float:
        found = world.memory.recalling.weighing.weigh(scope(), "where is the spare key?", ACTIONS)
        return found.beliefs[0].value

    world.react(other, "👍")
    less = effect()
    with world.memory.store.write() as tx:
        stored = tx.judgements.threshold(W)
        assert stored is not None
        tx.judgements.put_threshold(replace(stored, reliability={}))
    assert effect() > less
    world.memory.audit.rebuild()
    assert effect() == less


def test_who_teaches_the_bot_something_wrong_for_themself_makes_nobody_less_reliable(world: World) -> None:
    taught(world, "eve")
    wrong = [world.ask(GOAL, ANSWER, of=scope("eve")) for _ in range(5)]
    for each in wrong:
        world.react(each, "👎", by="bo")
        assert judged(world, each) == [("bo", False)]
    assert reliability(world) == {}
    refused(world, 1, "eve")
    assert set(reliability(world)) == {"eve"}


def test_what_a_purged_person_judged_counts_no_more(world: World) -> None:
    taught(world, "bo")
    for each in refused(world, 3, "bo"):
        world.react(each, "👎", by="eve")
        world.react(each, "👎", by="bo", added=False)
    assert threshold(world) > INITIAL_THRESHOLD
    world.memory.purging.purge(W, "eve", actor="adm", at=world.clock.tick())
    assert threshold(world) == INITIAL_THRESHOLD


def test_a_correction_alone_says_nothing_of_how_often_answers_are_wrong(world: World) -> None:
    taught(world)
    again = world.ask(GOAL, ANSWER)
    world.correct(again, "In the app.")
    assert judged(world, again) == []
    assert world.memory.audit.check() == []


def test_whoever_refuses_and_then_corrects_has_refused(world: World) -> None:
    taught(world)
    again = world.ask(GOAL, ANSWER)
    world.react(again, "👎")
    world.correct(again, "In the app.")
    assert judged(world, again) == [("ana", False)]
    world.react(again, "👎", added=False)
    assert judged(world, again) == []
    assert world.memory.audit.check() == []


def test_a_guest_says_nothing(world: World) -> None:
    taught(world)
    again = world.ask(GOAL, ANSWER)
    world.react(again, "👎", by="gus", role=Role.GUEST)
    assert judged(world, again) == []


def test_for_another_budget_it_is_counted_when_it_is_asked_for(world: World) -> None:
    taught(world)
    refused(world, 5)
    with world.memory.store.read() as tx:
        strict, lax = (threshold_of(tx, W, budget) for budget in (0.02, 0.3))
    assert strict >= threshold(world) >= lax
    assert strict > lax


def test_a_budget_is_a_share() -> None:
    for wrong in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="error budget"):
            TeachingPolicy(error_budget=wrong)


def test_rebuild_finds_and_mends_what_is_not_as_the_votes_say() -> None:
    world = World()
    world.actions = ACTIONS
    taught(world)
    answers, right = refused(world, 4), threshold(world)
    with world.memory.store.write() as tx:
        (stored,) = tx.judgements.of_run(W, answers[0].run_id)
        tx.judgements.set(W, {answers[0].run_id: [replace(stored, is_right=True)]})
        tx.judgements.set(W, {answers[1].run_id: []})
        tx.judgements.put_threshold(Threshold(workspace=W, budget=0.05, value=0.33, reliability={"eve": 0.4}))
    found = world.memory.audit.check()
    assert sorted(each.what for each in found) == ["judgements", "judgements", "threshold"]
    assert not any(name in each.stored + each.expected for each in found for name in ("ana", "eve"))
    assert world.memory.audit.rebuild() == 3
    assert world.memory.audit.check() == []
    assert threshold(world) == right
    assert set(reliability(world)) == {"ana"}


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("budget", "much", "a damaged budget (str instead of float)"),
        ("budget", 0, "makes no sense (ValueError: no threshold"),
        ("value", "high", "a damaged value (str instead of float)"),
        ("value", 1e999, "makes no sense (ValueError: no threshold"),
        ("confusion", "often", "a damaged confusion (str instead of float)"),
        ("confusion", -5.0, "makes no sense (ValueError: no threshold"),
        ("confusion", 1e999, "makes no sense (ValueError: no threshold"),
        ("reliability", "{", "a damaged reliability (JSONDecodeError"),
        ("reliability", '{"ana": "wholly"}', "a damaged reliability (TypeError"),
    ],
)
def test_a_damaged_threshold_is_found_and_counted_anew_and_keeps_nobody_from_anything(
    tmp_path: Path, column: str, value: object, told: str
) -> None:
    path = tmp_path / "memory.db"
    with closing(open_file(path)) as store:
        world = World(store)
        world.actions = ACTIONS
        taught(world)
        refused(world, 4)
        with store.read() as tx:
            right = tx.judgements.threshold(W)

        def damage() -> None:
            with store._engine.begin() as connection:
                connection.exec_driver_sql(f"UPDATE thresholds SET {column} = ?", (value,))

        damage()
        (found,) = world.memory.audit.check()
        assert found.what == "threshold"
        assert all(part in found.stored for part in (str(path), "thresholds", W, told))
        assert world.memory.audit.rebuild() == 1
        assert world.memory.audit.check() == []
        with store.read() as tx:
            assert tx.judgements.threshold(W) == right
        damage()
        assert world.memory.recalling.weighing.weigh(scope(), GOAL, ACTIONS).threshold == INITIAL_THRESHOLD
        assert world.memory.confusion.update(W) == 1.0
        world.react(world.ask(GOAL, ANSWER, of=scope("bo")), "👎", by="bo")
        assert world.memory.audit.check() == []


@pytest.mark.parametrize("share", [0.0, -1.0, 1e-300, 7.0])
def test_a_reliability_that_nobody_can_have_breaks_no_recall(world: World, share: float) -> None:
    taught(world)
    asked = scope("bo")
    honest = world.memory.recalling.weighing.weigh(asked, GOAL, ACTIONS)
    with world.memory.store.write() as tx:
        wrong = Threshold(workspace=W, budget=0.05, value=honest.threshold, reliability={"ana": share})
        tx.judgements.put_threshold(wrong)
    found = world.memory.recalling.weighing.weigh(asked, GOAL, ACTIONS)
    assert 0 < found.beliefs[0].value <= honest.beliefs[0].value
    world.memory.audit.rebuild()


@pytest.mark.parametrize(
    ("action", "output", "source", "value", "expected"),
    [
        ("answer", ANSWER, "tap", 1, True),
        ("pay_bill", "", "tap", 1, False),
        (ASK, "Did you mean one of these?", "tap", -1, False),
        (ASK, "Did you mean one of these?", "emoji:👍", 1, None),
    ],
)
def test_a_tap_says_whether_the_best_of_the_question_was_right(
    world: World, action: str, output: str, source: str, value: int, *, expected: bool | None
) -> None:
    taught(world)
    node = chosen(world, action, output, source=source, value=value)
    assert [right for _, right in judged(world, node)] == ([] if expected is None else [expected])
