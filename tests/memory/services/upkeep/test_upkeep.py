"""Upkeep: fading, the archive, joining, rules, sweeping, and jobs by lease."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from memory.adapters.sql import SqlStore
from memory.errors import InvalidInput, JobFailed
from memory.model import Episode, EventKind, Verdict, Verdicts
from memory.model.upkeep import Lease, Rule, UpkeepPolicy
from memory.rules.consolidation import active_lessons, rule_line, rules_of
from memory.rules.strength import is_ready_for_archive, salience_at, strength_at
from memory.services.upkeep.jobs import JOBS, LEASE_FOR
from memory.services.upkeep.workspaces import Workspaces
from tests.doubles.memory_world import World, scope

W = "terminal:w"
ana = scope("ana")


@pytest.fixture
def world() -> World:
    return World()


def kinds(world: World, episode: Episode) -> list[EventKind]:
    with world.memory.store.read() as tx:
        return [event.kind for event in tx.log.of_episode(episode.workspace, episode.id)]


def learned(world: World, goal: str, answer: str) -> Episode:
    episode = world.ask(goal, answer)
    world.react(episode)
    return world.episode(episode)


def run(world: World, job: str) -> str:
    done = world.memory.upkeep.run(job)
    assert done.error == ""
    return done.summary


# Fading ---------------------------------------------------------------------------------------------------------------


@given(
    st.floats(0, 1), st.integers(0, 40), st.timedeltas(timedelta(0), timedelta(days=900)),
    st.timedeltas(timedelta(0), timedelta(days=900)),
)  # fmt: skip
def test_fading_is_monotone(strength: float, used: int, one: timedelta, other: timedelta) -> None:
    born = datetime(2026, 1, 1, tzinfo=UTC)
    episode = Episode(goal="g", strength=strength, used_count=used, created_at=born, salience_at=born)
    earlier, later = sorted([born + one, born + other])
    assert strength_at(episode, later) <= strength_at(episode, earlier) <= strength
    assert salience_at(episode, later) <= salience_at(episode, earlier)


def test_a_clock_that_ran_backwards_fades_nothing() -> None:
    born = datetime(2026, 1, 1, tzinfo=UTC)
    episode = Episode(goal="g", strength=0.7, created_at=born, salience_at=born)
    assert strength_at(episode, born - timedelta(days=9)) == 0.7


def test_use_makes_a_lesson_last() -> None:
    born = datetime(2026, 1, 1, tzinfo=UTC)
    unused, used = (Episode(goal="g", strength=0.7, used_count=n, created_at=born, salience_at=born) for n in (0, 3))
    later = born + timedelta(days=200)
    assert strength_at(unused, later) < strength_at(used, later)
    validated = Verdicts(personal=Verdict.SUCCESS)
    year = born + timedelta(days=300)
    ready = [
        is_ready_for_archive(Episode(goal="g", strength=0.7, verdicts=validated, used_count=n, created_at=born,
                                     salience_at=born), year, UpkeepPolicy())
        for n in (0, 3)
    ]  # fmt: skip
    assert ready == [True, False]


# The archive ----------------------------------------------------------------------------------------------------------


def test_what_nobody_needs_goes_to_the_archive_and_a_reaction_brings_it_back() -> None:
    world = World(ledger_days=3650)
    lesson = learned(world, "where is the key", "under the pot")
    world.clock.tick(days=100)
    assert run(world, "archive") == "0 lessons archived"
    world.clock.tick(days=200)
    assert run(world, "archive") == "1 lessons archived"
    assert world.episode(lesson).archived_at is not None
    assert world.recalled("where is the key") == []
    assert world.memory.audit.check() == []
    world.react(lesson, by="bob")
    assert world.episode(lesson).archived_at is None
    assert world.recalled("where is the key") == [lesson.id]
    assert world.memory.audit.check() == []


def test_what_a_person_archived_stays_there(world: World) -> None:
    lesson = learned(world, "where is the key", "under the pot")
    world.memory.curation.archive(W, lesson.id, actor="admin")
    world.react(lesson, by="bob")
    assert world.episode(lesson).archived_at is not None


def test_being_shown_keeps_a_lesson(world: World) -> None:
    lesson = learned(world, "where is the key", "under the pot")
    world.clock.tick(days=290)
    world.ask("where is the key", "under the pot")
    world.clock.tick(days=20)
    assert run(world, "archive") == "0 lessons archived"
    assert world.episode(lesson).archived_at is None


# Joining --------------------------------------------------------------------------------------------------------------


def test_the_same_lesson_twice_is_one_with_its_history_kept(world: World) -> None:
    first = learned(world, "where is the key", "under the pot")
    second = learned(world, "Where is  the KEY", "under the pot")
    other = learned(world, "where is the key", "in the drawer")
    assert run(world, "join") == "1 lessons joined, 0 parted"
    kept, joined = sorted([first, second], key=lambda e: world.episode(e).archived_at is not None)
    assert world.episode(joined).archived_at is not None
    assert EventKind.MERGED in kinds(world, kept)
    assert EventKind.VOTED in kinds(world, joined)
    assert joined.id not in world.recalled("where is the key")
    assert world.episode(other).archived_at is None
    assert run(world, "join") == "0 lessons joined, 0 parted"
    assert world.memory.audit.check() == []


def test_joined_lessons_part_when_the_one_that_stayed_is_rejected(world: World) -> None:
    first = learned(world, "where is the key", "under the pot")
    second = learned(world, "where is the key", "under the pot")
    run(world, "join")
    kept, joined = sorted([first, second], key=lambda e: world.episode(e).archived_at is not None)
    world.react(kept, "👎")
    assert run(world, "join") == "0 lessons joined, 1 parted"
    assert world.episode(joined).archived_at is None
    assert world.memory.audit.check() == []


def test_lessons_of_different_people_are_never_joined(world: World) -> None:
    learned(world, "where is the key", "under the pot")
    theirs = world.ask("where is the key", "under the pot", of=scope("bob"))
    world.react(theirs, by="bob")
    assert run(world, "join") == "0 lessons joined, 0 parted"


# Rules ----------------------------------------------------------------------------------------------------------------


def rules(world: World) -> list[Rule]:
    from memory.rules.audience import partitions_for

    with world.memory.store.read() as tx:
        return [rule for rule in tx.upkeep.rules(W) if rule.partition in partitions_for(ana)]


def test_many_like_lessons_make_one_rule(world: World) -> None:
    goals = ["deploy the shop", "deploy the blog", "deploy the docs"]
    lessons = [learned(world, goal, "Run make release.") for goal in goals]
    learned(world, "lunch", "At noon.")
    assert run(world, "consolidate") == "1 rules"
    (rule,) = rules(world)
    assert rule.lesson_ids == tuple(lesson.id for lesson in lessons)
    line = rule_line(rule, active_lessons(rule, [world.episode(lesson) for lesson in lessons]), 3)
    assert line == "For “deploy the shop”, “deploy the blog”, “deploy the docs”: Run make release."
    assert rules_of(W, reversed([world.episode(lesson) for lesson in lessons]), 3) == [rule]


def test_a_rule_says_nothing_of_what_was_taken_back(world: World) -> None:
    lessons = [learned(world, f"deploy number {n}", "Run make release.") for n in range(3)]
    run(world, "consolidate")
    (rule,) = rules(world)
    world.react(lessons[0], added=False)
    assert rule_line(rule, active_lessons(rule, [world.episode(lesson) for lesson in lessons]), 3) == ""
    run(world, "consolidate")
    assert rules(world) == []


# Sweeping -------------------------------------------------------------------------------------------------------------


def test_what_nobody_judged_goes_after_its_time(world: World) -> None:
    unjudged = world.ask("what is that")
    lesson = learned(world, "where is the key", "under the pot")
    withdrawn = world.ask("and that")
    world.react(withdrawn)
    world.react(withdrawn, added=False)
    world.clock.tick(days=181)
    assert run(world, "retain") == "2 answers nobody judged"
    with world.memory.store.read() as tx:
        assert tx.episodes.get(W, unjudged.id) is None
        assert tx.episodes.get(W, lesson.id) is not None
    asked = world.memory.privacy.personal_data(W, unjudged.person).messages
    assert {each.text for each in asked} == {"", "where is the key"}
    assert world.memory.audit.check() == []


def test_expired_rows_are_swept(world: World) -> None:
    lesson = learned(world, "where is the key", "under the pot")
    world.clock.tick(days=31)
    assert run(world, "sweep").startswith("1 ledger rows")
    with world.memory.store.read() as tx:
        assert tx.teaching.ledger_of_run(W, lesson.run_id) == []


def test_a_muted_thread_is_listened_to_again_after_half_a_year_and_a_muted_channel_is_not(world: World) -> None:
    thread, channel = replace(ana, thread="t1"), ana
    for place in (thread, channel):
        world.memory.listening.mute(place)
    world.clock.tick(days=179)
    assert "0 muted threads" in run(world, "sweep")
    world.clock.tick(days=2)
    assert "1 muted threads" in run(world, "sweep")
    assert [world.memory.listening.state(place).is_muted for place in (thread, channel)] == [False, True]


# Jobs -----------------------------------------------------------------------------------------------------------------


def test_a_job_is_due_when_its_time_has_come_and_missed_runs_count_once(world: World) -> None:
    upkeep = world.memory.upkeep
    assert all(upkeep.due(job.name) for job in JOBS)
    upkeep.run("sweep")
    assert not upkeep.due("sweep")
    world.clock.tick(hours=5)
    assert upkeep.run_due("sweep", "p1") is not None
    assert upkeep.run_due("sweep", "p1") is None


def test_a_job_that_ran_when_the_clock_was_ahead_is_due(world: World) -> None:
    world.clock.tick(days=900)
    for job in JOBS:
        world.memory.upkeep.run(job.name)
    world.clock.tick(days=-900)
    assert all(world.memory.upkeep.due(job.name) for job in JOBS)


def test_one_process_has_the_jobs_until_it_dies_or_leaves(world: World) -> None:
    upkeep = world.memory.upkeep
    assert upkeep.hold("p1")
    assert upkeep.hold("p1")
    assert not upkeep.hold("p2")
    assert upkeep.run_due("sweep", "p2") is None
    assert {state.owner for state in upkeep.states()} == {"p1"}
    world.clock.tick(seconds=LEASE_FOR.total_seconds())
    assert upkeep.hold("p2")
    upkeep.release("p1")
    assert not upkeep.hold("p1")
    upkeep.release("p2")
    assert upkeep.hold("p1")


def test_a_failure_is_noted_and_an_unknown_job_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="sweep"):
        world.memory.upkeep.run("nap")
    monkeypatch.setattr("memory.services.upkeep.jobs.merge_duplicates", lambda *_: 1 / 0)
    learned(world, "where is the key", "under the pot")
    failed = (
        "In terminal:w: ZeroDivisionError: division by zero. Run `goodbot doctor`. "
        "Elsewhere: 0 lessons joined, 0 parted."
    )
    assert world.memory.upkeep.run("join").error == failed
    state = next(state for state in world.memory.upkeep.states() if state.job.name == "join")
    assert state.last is not None
    assert state.last.error == failed


@pytest.mark.parametrize(
    ("job", "days", "done"),
    [
        ("retain", 181, "1 answers nobody judged"),
        ("archive", 300, "1 lessons archived"),
        ("join", 1, "1 lessons joined, 0 parted"),
        ("consolidate", 1, "1 rules"),
    ],
)
def test_a_workspace_with_a_damaged_row_keeps_no_other_from_a_job(
    job: str, days: int, done: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = SqlStore.in_memory()
    world = World(store)
    world.ask("what is that", of=scope(workspace="terminal:v"))
    world.ask("what is that")
    for goal in ("deploy the shop", "deploy the shop", "deploy the blog", "deploy the docs"):
        learned(world, goal, "Run make release.")
    world.clock.tick(days=days)
    with store._engine.begin() as connection:
        connection.exec_driver_sql("UPDATE episodes SET created_at = 'x' WHERE workspace = 'terminal:v'")
    error = world.memory.upkeep.run(job).error
    assert error.startswith("In terminal:v: In the database")
    assert error.endswith(f"Elsewhere: {done}.")
    assert "a job failed in terminal:v" in caplog.text


def test_a_failure_in_many_workspaces_names_a_few() -> None:
    work = Workspaces()
    assert work.each("abcdef", {"f": 1}.__getitem__) == {"f": 1}
    with pytest.raises(JobFailed, match=r"^In a: KeyError: 'a'.*In c: .* It failed in 2 more. Elsewhere: 1 done.$"):
        work.summary("1 done")


def test_a_lease_must_be_for_some_time() -> None:
    store = SqlStore.in_memory()
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with store.write() as tx:
        assert tx.upkeep.take_lease(Lease(name="x", owner="a", until=now), now)
        assert tx.upkeep.take_lease(Lease(name="x", owner="b", until=now + timedelta(1)), now)
        assert not tx.upkeep.take_lease(Lease(name="x", owner="a", until=now + timedelta(2)), now)


@pytest.mark.parametrize("wrong", [{"rule_from": 1}, {"archive_idle": timedelta(0)}])
def test_the_policy_is_checked(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"rule|longer"):
        UpkeepPolicy(**wrong)  # type: ignore[arg-type]


def test_topics_are_kept_in_shape(world: World) -> None:
    from memory.services.topics import World as Topics, WorldPolicy
    from memory.services.topics.ingest import FieldInput, Ingest

    memory = world.memory
    patient = Topics(
        memory.store, memory.embedder, clock=world.clock, new_id=world.ids, policy=WorldPolicy(max_merges=0)
    )
    for _ in range(2):
        world.clock.tick()
        patient.ingest(ana, Ingest(title="Spare key", fields=(FieldInput(name="place", value="blue pot"),)))
    assert run(world, "topics") == "1 topics joined, 0 archived"
    assert run(world, "topics") == "0 topics joined, 0 archived"
    assert memory.audit.check() == []
