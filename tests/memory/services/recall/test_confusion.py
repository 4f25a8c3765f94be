"""The confusion of what was taught, through the store: which lessons are asked for, and what follows."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

import pytest

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.errors import StoreUnavailable
from memory.model import Audience, Episode, Role, Verdict
from memory.model.batch import Proposal
from memory.model.evidence import INITIAL_THRESHOLD, Threshold
from memory.ports import EpisodeFilter
from memory.rules.evidence import confusion as rule
from memory.rules.evidence.confusion import LeftOut
from memory.services import Reviewer
from memory.services.recall import confusion as estimate
from memory.services.verdicts.tally import threshold_of
from tests.doubles.memory_world import World, scope

W = scope().workspace
WORDS = ("now", "please", "really", "soon", "today", "tomorrow", "tonight", "still")
PLACES = ("kitchen", "cellar", "attic", "garden", "garage", "hall", "office", "workshop")


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    assert world.memory.audit.check() == []


def teach(world: World, question: str, answer: str, person: str = "ana", channel: str = "c1") -> Episode:
    world.clock.tick()
    place = scope(person, channel=channel)
    lesson = world.memory.teaching.teach(
        place, question, answer, role=Role.MEMBER, audience=Audience.CHANNEL, at=world.clock()
    )
    assert lesson is not None
    return lesson


def teach_apart(world: World, person: str = "ana", of_each: int = 3) -> None:
    """Questions about different things, each with an answer of its own."""
    for place in PLACES:
        for number in range(of_each):
            teach(world, f"who cleans the {place} {WORDS[number]}", f"{place} crew", person)


def teach_alike(world: World, person: str = "ana") -> None:
    """The same question with an answer that nothing in it tells from the others."""
    for number in range(24):
        teach(world, f"who cleans the house {WORDS[number % 8]}", f"crew {PLACES[number // 3]}", person)


def threshold(world: World, workspace: str = W) -> float:
    with world.memory.store.read() as tx:
        return threshold_of(tx, workspace, world.memory.core.policy.error_budget)


def test_with_nothing_taught_nothing_is_stored(world: World) -> None:
    assert world.memory.confusion.update(W) == 1.0
    with world.memory.store.read() as tx:
        assert tx.judgements.threshold(W) is None


def test_answers_that_are_told_apart_lower_the_threshold_of_their_workspace_alone(world: World) -> None:
    teach_apart(world)
    assert world.memory.confusion.update(W) < 1
    assert threshold(world) < INITIAL_THRESHOLD
    assert threshold(world, "terminal:other") == INITIAL_THRESHOLD
    assert world.memory.recalling.weighing.weigh(scope(), "who cleans the attic", ()).threshold == threshold(world)


def test_answers_that_are_taken_for_each_other_raise_it(world: World) -> None:
    teach_alike(world)
    assert world.memory.confusion.update(W) > 1
    assert threshold(world) > INITIAL_THRESHOLD


def test_one_lesson_for_each_answer_tells_nothing(world: World) -> None:
    teach_apart(world, of_each=1)
    assert world.memory.confusion.update(W) == 1.0


def test_newcomers_decide_nothing_where_what_known_people_taught_tells_nothing(world: World) -> None:
    teach_apart(world, of_each=1)
    world.clock.tick(days=30)
    teach_alike(world, "eve")
    assert world.memory.confusion.update(W) == 1.0


def test_newcomers_keep_no_lesson_of_others_out_however_many_they_teach(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate, "_AT_ONCE", 10)
    teach_apart(world)
    found = world.memory.confusion.update(W)
    world.clock.tick(days=30)
    teach_alike(world, "eve")
    assert world.memory.confusion.update(W) == found < 1


def test_what_newcomers_teach_and_one_member_approves_counts_as_that_members(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule, "MOST_OF_ONE", 1.0)
    teach(world, "who cleans the roof", "roof crew", "bo")
    world.react(world.ask("hello"), by="ana")
    world.clock.tick(days=30)
    for eve in ("eve-1", "eve-2"):
        teach_alike(world, eve)
        for lesson in world.memory.audit.episodes(W, EpisodeFilter(author=eve, limit=None)):
            world.memory.teaching.grade(W, lesson.id, Verdict.SUCCESS, actor="ana", role=Role.MEMBER)
    assert 1 < world.memory.confusion.update(W) < 1.2


def test_corrections_are_left_out_as_people_correct_what_is_hard(world: World) -> None:
    for place in PLACES:
        for word in ("now", "please"):
            world.correct(world.ask(f"who cleans the {place} {word}", "nobody"), f"{place} crew")
    assert world.memory.confusion.update(W) == 1.0


def test_each_is_asked_for_within_the_reach_of_its_author(world: World) -> None:
    teach_apart(world)
    alone = world.memory.confusion.update(W)
    for place in PLACES:  # what others say elsewhere is no reason to be sure, nor to doubt
        teach(world, f"who cleans the {place} now", f"somebody from the {place}", "bo", channel="c2")
    assert world.memory.confusion.update(W) == pytest.approx(alone)


def test_it_stays_when_people_judge_and_when_what_they_judged_is_erased(world: World) -> None:
    teach_apart(world)
    found = world.memory.confusion.update(W)
    answer = world.ask("who cleans the attic", "attic crew")
    world.react(answer, "👍", by="ana")
    world.memory.privacy.erase_run(W, answer.run_id)
    with world.memory.store.read() as tx:
        stored = tx.judgements.threshold(W)
    assert stored is not None
    assert stored.confusion == found


def test_upkeep_estimates_it_where_something_changed_since_it_last_did(world: World) -> None:
    teach_apart(world)
    world.clock.tick()
    assert world.memory.upkeep.run("confusion").summary == "1 workspaces where something changed"
    assert threshold(world) < INITIAL_THRESHOLD
    world.clock.tick(hours=2)
    assert world.memory.upkeep.run("confusion").summary == "0 workspaces where something changed"
    teach(world, "who cleans the roof", "roof crew")
    assert world.memory.upkeep.run("confusion").summary == "1 workspaces where something changed"


def test_what_is_known_late_counts_too(world: World) -> None:
    """A reaction that a platform told hours later has the time when it was given."""
    teach_apart(world)
    world.clock.tick(hours=2)
    world.memory.upkeep.run("confusion")
    found = threshold(world)
    world.clock.now -= timedelta(hours=2)
    teach_alike(world)
    world.clock.now += timedelta(hours=4)
    assert world.memory.upkeep.run("confusion").summary == "1 workspaces where something changed"
    assert threshold(world) > found


def test_with_everything_forgotten_nothing_of_it_is_left(world: World) -> None:
    teach_alike(world)
    assert world.memory.confusion.update(W) > 1
    world.clock.tick()
    world.memory.privacy.forget(W, "ana")
    with world.memory.store.read() as tx:
        assert tx.judgements.threshold(W) == Threshold(workspace=W, budget=0.05, value=INITIAL_THRESHOLD)


def test_after_somebody_was_forgotten_it_is_as_if_they_had_taught_nothing(world: World) -> None:
    teach_apart(world)
    found = world.memory.confusion.update(W)
    teach_alike(world, "bob")
    assert world.memory.confusion.update(W) != found
    world.clock.tick()
    world.memory.privacy.forget(W, "bob")
    with world.memory.store.read() as tx:
        stored = tx.judgements.threshold(W)
    assert stored is not None
    assert stored.confusion == found


def test_what_was_forgotten_is_forgotten_where_nothing_can_be_estimated(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    teach_apart(world)
    teach_alike(world, "bob")
    world.memory.confusion.update(W)

    def failing(*_: object) -> float:
        raise StoreUnavailable("busy")

    with monkeypatch.context() as broken:
        broken.setattr(estimate.ConfusionEstimate, "update", failing)
        world.memory.privacy.forget(W, "bob")
    assert threshold(world) == INITIAL_THRESHOLD
    assert "was not estimated" in caplog.text
    world.clock.tick(minutes=10)
    world.memory.upkeep.run("confusion")
    assert threshold(world) < INITIAL_THRESHOLD


def test_an_estimate_under_way_comes_to_nothing_where_somebody_is_forgotten_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach_apart(world)
    found = world.memory.confusion.update(W)
    teach_alike(world, "bob")

    def forgotten_meanwhile(lessons: Iterable[LeftOut]) -> float:
        every = list(lessons)
        monkeypatch.undo()
        world.clock.tick()
        world.memory.privacy.forget(W, "bob")
        return rule.confusion(every)

    monkeypatch.setattr(estimate, "confusion", forgotten_meanwhile)
    assert world.memory.confusion.update(W) == found
    with world.memory.store.read() as tx:
        stored = tx.judgements.threshold(W)
    assert stored is not None
    assert stored.confusion == found


def test_what_one_person_taught_and_was_purged_counts_no_more(world: World) -> None:
    teach_apart(world)
    found = world.memory.confusion.update(W)
    teach_alike(world, "bob")
    world.clock.tick()
    assert world.memory.confusion.update(W) != found
    world.memory.purging.purge(W, "bob", actor="adm", at=world.clock())
    with world.memory.store.read() as tx:
        stored = tx.judgements.threshold(W)
    assert stored is not None
    assert stored.confusion == found


def test_nothing_is_left_of_a_batch_that_was_taken_back(world: World) -> None:
    teach_apart(world)
    found = world.memory.confusion.update(W)
    intake = world.memory.batches.intake(W, "faq.csv", "d", actor="cli:root")
    questions = [f"who cleans the house {word}" for word in WORDS]
    intake.take(
        [
            Proposal(
                scope=scope("bob"),
                question=question,
                answer=f"crew {PLACES[number // 2]}",
                key=question,
                audience=Audience.CHANNEL,
                source="",
            )
            for number, question in enumerate(questions)
        ]
    )
    tess = Reviewer(actor="tess", role=Role.TEACHER)
    world.memory.batch_review.approve(W, intake.batch.id, tess)
    world.clock.tick()
    assert world.memory.confusion.update(W) != found
    world.memory.batch_undo.purge(W, intake.batch.id, actor="cli:root")
    with world.memory.store.read() as tx:
        stored = tx.judgements.threshold(W)
    assert stored is not None
    assert stored.confusion == found


def test_nobody_waits_for_all_of_an_estimate(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory a transaction waits for the one before it, so another one in between would never begin."""
    teach_apart(world)
    asked = list[str]()

    def asked_between(lessons: Iterable[LeftOut]) -> float:
        every = list[LeftOut]()
        for each in lessons:
            asked.append(world.ask("what is that?").id)
            every.append(each)
        return rule.confusion(every)

    monkeypatch.setattr(estimate, "confusion", asked_between)
    assert world.memory.confusion.update(W) < 1
    assert len(asked) == 24


def test_what_comes_back_counts_from_the_next_time_on(world: World) -> None:
    teach_apart(world)
    lessons = world.memory.audit.episodes(W, EpisodeFilter(written_only=True, limit=None))
    for lesson in lessons:
        world.memory.curation.archive(W, lesson.id, actor="adm")
    world.clock.tick()
    world.memory.upkeep.run("confusion")
    assert threshold(world) == INITIAL_THRESHOLD
    world.clock.tick(hours=1)
    for lesson in lessons:
        world.memory.curation.restore(W, lesson.id, actor="adm")
    world.memory.upkeep.run("confusion")
    assert threshold(world) < INITIAL_THRESHOLD


def test_a_run_that_failed_is_made_up_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    teach_apart(world)
    world.clock.tick()
    with monkeypatch.context() as broken:
        broken.setattr(estimate, "confusion", lambda _: 1 / 0)
        assert world.memory.upkeep.run("confusion").error
    world.clock.tick(hours=1)
    assert world.memory.upkeep.run("confusion").summary == "1 workspaces where something changed"
    assert threshold(world) < INITIAL_THRESHOLD


def test_it_stays_until_all_is_embedded_by_a_new_embedder() -> None:
    store = SqlStore.in_memory()
    before = World(store)
    teach_apart(before)
    found = before.memory.confusion.update(W)
    now = World(store, embedder=HashingEmbedder(128))
    assert now.memory.confusion.update(W) == found < 1
    now.memory.upkeep.run("embed")
    assert now.memory.confusion.update(W) != found
