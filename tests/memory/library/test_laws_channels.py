"""The doors for other agents after a channel changed who reads it: told to those of then who are those of now.

All of it is one person's own: what they left through a door in one channel, looked for by them in others.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from memory import (
    EpisodeContext,
    EpisodicMemory,
    GradingRequest,
    ReactionGrader,
    ShortMemoryStore,
    StepGrade,
    add_grades_to_memories,
    grade_run,
    init_episode,
    load_all_memories_for_session,
    persist_memories,
    record_step_end,
    record_step_start,
    retrieve_memories,
)
from memory.adapters.sql import SqlStore
from memory.errors import InvalidInput
from memory.model import Scope, ShortMemory, Visibility
from memory.ports import EpisodeFilter
from tests.doubles.memory_world import World, scope

PUBLIC, PRIVATE, SHARED, DIRECT = Visibility.PUBLIC, Visibility.PRIVATE, Visibility.SHARED, Visibility.DIRECT
MARK = "zyzzyva"
DAY = timedelta(days=1)


@pytest.fixture
def world() -> Iterator[World]:
    store = SqlStore.in_memory()
    yield World(store)
    store.close()


def seat(channel: str = "c1", visibility: Visibility = PUBLIC) -> Scope:
    return scope("ana", channel=channel, visibility=visibility)


def of(world: World, here: Scope) -> EpisodicMemory:
    return EpisodicMemory(world.memory, here)


def begun(world: World, here: Scope, mark: str = MARK, run: str = "r") -> EpisodeContext:
    """A run with one noted step, every text of which has the mark."""
    context = init_episode("s", run, episodic=of(world, here), task=f"task {mark}")
    record_step_start(
        context,
        f"click('{mark}')",
        action_element_text=mark,
        env_pre={"elements": [f"button:{mark}"], "url": f"https://{mark}"},
        internal_state=f"state {mark}",
        think=mark,
    )
    return context


class Curious:
    """A grader that remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[GradingRequest] = []

    def grade(self, request: GradingRequest) -> None:
        self.asked.append(request)


def told_at(world: World, here: Scope, run: str = "r") -> str:
    """Everything a session tells at a place, its pending steps persisted from there as well."""
    mine, curious = of(world, here), Curious()
    context = init_episode("s", run, episodic=mine)
    persisted = persist_memories(context, env_post=["the end"])
    grade_run(context, curious)
    other = init_episode("s", "another", episodic=mine)
    report = add_grades_to_memories(context, [StepGrade(step_number=1, is_correct=True)])
    return repr(
        [
            context.run.task,
            persisted,
            curious.asked,
            ReactionGrader(mine).grade(GradingRequest(session_id="s", run_id=run)),
            report,
            load_all_memories_for_session("s", episodic=mine),
            retrieve_memories(other, internal_state="state"),
        ]
    )


# Steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("now", [PRIVATE, SHARED])
def test_steps_noted_in_a_channel_that_then_narrowed_become_no_memories_of_another(
    world: World, now: Visibility
) -> None:
    begun(world, seat())
    world.memory.channels.note(seat("c1", now))
    for here in (seat("c2"), seat("ext", SHARED), seat("priv", PRIVATE)):
        assert MARK not in told_at(world, here)
    with world.memory.store.read() as tx:
        stored = tx.episodes.search(seat().workspace, EpisodeFilter(limit=None))
    assert [each for each in stored if MARK in repr(each)] == []
    assert world.memory.audit.check() == []


def test_steps_noted_in_a_channel_are_still_there_when_it_opens_again(world: World) -> None:
    begun(world, seat())
    world.memory.channels.note(seat("c1", PRIVATE))
    assert MARK not in told_at(world, seat("c2"))
    world.memory.channels.note(seat("c1"))
    context = init_episode("s", "r", episodic=of(world, seat()))
    assert (context.run.task, context.rep) == (f"task {MARK}", 1)
    (step,) = persist_memories(context)
    assert step.internal_state == f"state {MARK}"
    with world.memory.store.read() as tx:
        nodes = tx.episodes.of_run(context.run.workspace, context.run.node_run)
    assert {(node.channel, node.visibility) for node in nodes} == {("c1", PUBLIC)}


def test_steps_of_a_run_that_goes_on_while_its_channel_narrows_are_told_in_it_alone(world: World) -> None:
    context = begun(world, seat())
    world.memory.channels.note(seat("c1", PRIVATE))
    persist_memories(context)
    assert MARK not in told_at(world, seat("c2"))
    assert MARK in told_at(world, seat("c1", PRIVATE))


def test_a_run_is_resumed_in_its_channel_and_in_no_other(world: World) -> None:
    first = begun(world, seat())
    other = init_episode("s", "r", episodic=of(world, seat("c2")))
    assert (other.run.task, other.rep) == ("", 2)
    assert persist_memories(other) == []
    with pytest.raises(InvalidInput, match="begun by somebody else or elsewhere"):
        EpisodeContext(episodic=of(world, seat("c2")), run=first.run)
    assert init_episode("s", "r", episodic=of(world, seat())).run == first.run
    assert len(persist_memories(first)) == 1
    # What both channels' people may read is one session, wherever it was said.
    assert MARK in repr(load_all_memories_for_session("s", episodic=of(world, seat("c2"))))


def test_what_a_step_led_to_is_never_taken_from_another_channel(world: World) -> None:
    early = begun(world, seat("c2"), "early")
    late = begun(world, seat("c1"), MARK)
    (first,) = persist_memories(early, env_post=["the end"])
    (second,) = persist_memories(late, env_post=["the end"])
    assert first.env_post.elements == second.env_post.elements == ("the end",)
    world.memory.channels.note(seat("c1", PRIVATE))
    assert MARK not in told_at(world, seat("c2"))
    with world.memory.store.read() as tx:
        nodes = tx.episodes.of_run(early.run.workspace, early.run.node_run)
    assert len(nodes) == 2
    assert MARK not in repr(nodes)


def test_what_was_said_of_a_whole_run_elsewhere_is_not_told_with_its_steps(world: World) -> None:
    """Runs whose steps were persisted from two channels, as they were kept once."""
    context = begun(world, seat(), "step")
    persist_memories(context)
    add_grades_to_memories(context, {"task_completed": False, "overall_explanation": MARK})
    with world.memory.store.write() as tx:
        (root, step) = tx.episodes.of_run(context.run.workspace, context.run.node_run)
        assert root.is_root
        tx.episodes.put(replace(step, channel="c2"))
    assert MARK in repr(load_all_memories_for_session("s", episodic=of(world, seat("c2"))))
    world.memory.channels.note(seat("c1", PRIVATE))
    told = repr(load_all_memories_for_session("s", episodic=of(world, seat("c2"))))
    assert "state step" in told
    assert MARK not in told


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, str, Visibility, str]]:
    acts = st.sampled_from(["note", "note", "end", "persist", "turn", "turn"])
    channels, runs = st.sampled_from(["c1", "c1", "c2"]), st.sampled_from(["r", "r2"])
    act = st.tuples(acts, channels, st.sampled_from([PUBLIC, PUBLIC, PRIVATE, SHARED]), runs)
    return draw(st.lists(act, min_size=2, max_size=12))


def may_be_told(here: Scope, source: Scope, now: Visibility) -> bool:
    """Said anew and not taken from the code: whoever reads at `here` read the source then, and reads it now."""
    for visibility in (source.visibility, now):
        if visibility is PUBLIC:
            if here.visibility is SHARED:
                return False
        elif here.visibility is not DIRECT and (here.channel, here.visibility) != (source.channel, visibility):
            return False
    return True


@given(histories())
def test_a_step_is_told_only_to_the_people_of_then_who_are_those_of_now(
    history: list[tuple[str, str, Visibility, str]],
) -> None:
    world = World()
    now = {"c1": PUBLIC, "c2": PUBLIC}
    said: dict[str, Scope] = {}
    for what, channel, visibility, run in history:
        here = seat(channel, now[channel])
        mark = f"mark{len(said):03}x"
        match what:
            case "turn":
                now[channel] = visibility
                world.memory.channels.note(seat(channel, visibility))
            case "note":
                said[mark] = here
                begun(world, here, mark, run)
            case "end":
                context = init_episode("s", run, episodic=of(world, here))
                said[mark] = here
                record_step_end(context, record_step_start(context, "look('x')"), [f"text:{mark}"])
            case _:
                persist_memories(init_episode("s", run, episodic=of(world, here)))
    seats = [seat(channel, visibility) for channel, visibility in now.items()]
    for here in (*seats, seat("dm", DIRECT), seat("c3"), seat("ext", SHARED), seat("priv", PRIVATE)):
        for run in ("r", "r2"):
            told = told_at(world, here, run)
            leaked = {m for m, at in said.items() if m in told and not may_be_told(here, at, now[at.channel])}
            assert leaked == set(), here
    assert world.memory.audit.check() == []


# Values that expire ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("now", [PRIVATE, SHARED])
def test_a_value_set_in_a_channel_that_then_narrowed_is_found_in_no_other(world: World, now: Visibility) -> None:
    here, there = ShortMemoryStore(of(world, seat())), ShortMemoryStore(of(world, seat("c2")))
    here.set("k", "a", {"said": MARK}, ttl=DAY)
    assert there.get("k", "a") == {"said": MARK}
    world.memory.channels.note(seat("c1", now))
    assert (there.get("k", "a"), there.delete("k", "a")) == (None, False)
    assert ShortMemoryStore(of(world, seat("priv", PRIVATE))).get("k", "a") is None
    inside = ShortMemoryStore(of(world, seat("c1", now)))
    assert inside.get("k", "a") == ({"said": MARK} if now is PRIVATE else None)
    direct = ShortMemoryStore(of(world, seat("dm", DIRECT)))
    assert direct.get("k", "a") == {"said": MARK}
    world.memory.channels.note(seat("c1"))
    assert (there.get("k", "a"), there.delete("k", "a"), here.get("k", "a")) == ({"said": MARK}, True, None)


def test_a_value_that_is_kept_without_its_place_is_found_as_ever(world: World) -> None:
    value = {"value": {"said": MARK}}
    entry = ShortMemory(
        workspace="terminal:w",
        kind="k",
        key="person/ana/a%2Fb",
        value=value,
        person="ana",
        created_at=world.clock(),
        expires_at=world.clock() + DAY,
    )
    with world.memory.store.write() as tx:
        tx.short.put(entry)
    assert ShortMemoryStore(of(world, seat("c2"))).get("k", "a/b") == value


Turn = tuple[str, str, Visibility]
turns = st.tuples(
    st.sampled_from(["set", "set", "turn"]), st.sampled_from(["c1", "c2"]), st.sampled_from([PUBLIC, PRIVATE, SHARED])
)


@given(st.lists(turns, min_size=2, max_size=10))
def test_a_value_is_found_only_by_the_people_of_then_who_are_those_of_now(history: list[Turn]) -> None:
    world = World()
    now = {"c1": PUBLIC, "c2": PUBLIC}
    said: dict[str, Scope] = {}
    for what, channel, visibility in history:
        if what == "turn":
            now[channel] = visibility
            world.memory.channels.note(seat(channel, visibility))
        else:
            mark = f"mark{len(said)}"
            said[mark] = seat(channel, now[channel])
            ShortMemoryStore(of(world, said[mark])).set("k", "a", {"said": mark}, ttl=DAY)
            assert ShortMemoryStore(of(world, said[mark])).get("k", "a") == {"said": mark}
    seats = [seat(channel, visibility) for channel, visibility in now.items()]
    for here in (*seats, seat("dm", DIRECT), seat("c3"), seat("ext", SHARED), seat("priv", PRIVATE)):
        found = ShortMemoryStore(of(world, here)).get("k", "a")
        if found is not None:
            source = said[str(found["said"])]
            assert may_be_told(here, source, now[source.channel])


# Runs that were kept without their channel ------------------------------------------------------------------------
