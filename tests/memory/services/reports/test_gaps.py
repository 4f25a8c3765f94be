"""What to teach next."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from memory.model import GAVE_UP, TAP, Episode, Reaction, Role, Termination
from memory.services.reports.gaps import has_words
from tests.doubles.memory_world import World, scope

WORKSPACE = scope().workspace
S, F = Termination.SUCCESS, Termination.FAILURE


@pytest.fixture
def world() -> World:
    return World()


def unanswered(world: World, goal: str, person: str = "ana") -> Episode:
    return world.ask(goal, "I don't know.", of=scope(person), termination=Termination.FAILURE)


def found(world: World) -> list[tuple[str, int]]:
    return [(gap.episode.goal, gap.asked) for gap in world.memory.gaps.find(WORKSPACE)]


def test_the_question_most_people_could_not_get_answered_comes_first(world: World) -> None:
    unanswered(world, "who feeds the office cat?")
    for person in ("ana", "bo", "cy"):
        unanswered(world, "where do I park my bicycle?", person)
    world.ask("what is the wifi password?", "swordfish")
    assert found(world) == [("where do I park my bicycle?", 3), ("who feeds the office cat?", 1)]


def test_what_has_no_words_is_none(world: World) -> None:
    for goal in ("2", "!!!", "❤️", ":parrot:", ":+1::skin-tone-3:", "WC?", "鍵は?"):
        unanswered(world, goal)
    assert sorted(found(world)) == [("WC?", 1), ("鍵は?", 1)]


def test_what_was_taught_since_is_no_gap_any_more(world: World) -> None:
    first = unanswered(world, "where do I park my bicycle?")
    unanswered(world, "where do I park my bicycle?", "bo")
    world.correct(first, "In the yard.", by="tina", role=Role.TEACHER)
    assert found(world) == []


def test_what_one_person_was_taught_is_still_a_gap_for_others(world: World) -> None:
    first = unanswered(world, "where do I park my bicycle?")
    unanswered(world, "where do I park my bicycle?", "bo")
    world.correct(first, "In the yard.", by="ana")
    assert found(world) == [("where do I park my bicycle?", 1)]


def test_a_question_of_several_parts_is_none_once_each_part_without_an_answer_was_taught(world: World) -> None:
    bicycle, cat, both = "where do I park my bicycle?", "who feeds the office cat?", "my bicycle, and the cat?"
    parts = [(bicycle, Termination.FAILURE), ("what time is it?", Termination.SUCCESS), (cat, Termination.FAILURE)]
    asked = world.ask(both, "It is noon.", children=parts)
    with world.memory.store.write() as tx:
        tx.episodes.put(replace(asked, termination=Termination.FAILURE))
    assert found(world) == [(both, 1)]
    world.correct(unanswered(world, bicycle, "bo"), "In the yard.", by="tina", role=Role.TEACHER)
    assert found(world) == [(both, 1)]
    world.correct(unanswered(world, cat, "bo"), "Tom does.", by="tina", role=Role.TEACHER)
    assert found(world) == []


def test_of_a_question_that_lacked_one_part_that_part_is_the_gap_and_is_taught(world: World) -> None:
    both, cat, noon = "what time is it, and who feeds the cat?", "who feeds the cat?", ("what time is it?", S)
    asked = world.ask(both, "It is noon.", children=[noon, (cat, F)])
    with world.memory.store.write() as tx:
        tx.episodes.put(replace(asked, termination=F))
    unanswered(world, cat, "bo")
    assert found(world) == [(cat, 2)]
    (gap,) = world.memory.gaps.find(WORKSPACE)
    parts = [gap.episode, *gap.like]
    assert all(world.memory.gaps.is_gap(each) for each in parts)
    assert world.correct(next(each for each in parts if not each.is_root), "Tom does.", role=Role.TEACHER).goal == cat
    assert found(world) == []


def test_a_part_that_was_asked_back_about_in_vain_is_a_gap(world: World) -> None:
    both, cat = "what time is it, and who feeds the cat?", "who feeds the cat?"
    asked = world.ask(both, "It is noon.", children=[("what time is it?", S), (cat, S)])
    with world.memory.store.write() as tx:
        part = tx.episodes.of_run(WORKSPACE, asked.run_id)[2]
        tx.episodes.put(replace(part, action="ask_person"))
    assert found(world) == []
    world.memory.teaching.vote(Reaction.on_run(part, "ana", TAP, -1, world.clock.tick(), node_id=part.id))
    assert found(world) == [(cat, 1)]
    world.react(asked, "👍")
    assert found(world) == []


def test_a_gap_that_a_teacher_approved_of_is_none_but_the_asker_s_thumb_hides_it_from_nobody(world: World) -> None:
    joke = world.ask("what is the answer to everything?", "I don't know.", action=GAVE_UP, termination=F)
    world.react(joke, "👍")
    assert found(world) == [(joke.goal, 1)]
    world.react(joke, "👍", by="tina", role=Role.TEACHER)
    assert found(world) == []


def test_a_question_that_was_asked_back_is_a_gap_once_it_was_none_of_what_was_offered(world: World) -> None:
    back = world.ask("where do I park?", "Did you mean the garage?", action="ask_person")
    assert found(world) == []
    world.react(back, "👎")
    assert found(world) == [("where do I park?", 1)]
    wrong = world.ask("when is lunch?", "At three.")
    world.react(wrong, "👎")
    assert found(world) == [("where do I park?", 1)]


def test_other_workspaces_are_not_looked_at(world: World) -> None:
    unanswered(world, "where do I park my bicycle?")
    assert world.memory.gaps.find("terminal:other") == []


def settled_by_teaching(goals: Sequence[str], subjects: Mapping[str, str], later: Sequence[str]) -> int:
    """How many later questions get their own subject's answer surely, once a teacher answered these."""
    world = World()
    for goal in goals:
        world.correct(unanswered(world, goal), f"all about {subjects[goal]}", by="tina", role=Role.TEACHER)
    right = 0
    for goal in later:
        evidence = world.memory.recalling.weighing.weigh(scope("cy"), goal, ())
        right += evidence.is_sure and evidence.beliefs[0].text == f"all about {subjects[goal]}"
    return right


@pytest.mark.slow
def test_teaching_the_first_suggestions_settles_at_least_twice_as_many_later_questions_as_teaching_any(
    world: World,
) -> None:
    """Zipf: few things are asked often, many once, each in several wordings. The later questions come the same way."""
    chance = random.Random(5)
    syllables = ["ka", "lo", "mi", "nu", "pe", "ra", "so", "tu", "vi", "ze"]
    things = [" ".join("".join(chance.choices(syllables, k=3)) for _ in range(4)) for _ in range(120)]
    weights = [1 / (rank + 1) for rank in range(len(things))]
    wordings = ["{}?", "{} please", "and {} now?"]
    subjects = {wording.format(thing): thing for thing in things for wording in wordings}

    def question() -> str:
        return chance.choice(wordings).format(chance.choices(things, weights)[0])

    asked = [unanswered(world, question()).goal for _ in range(150)]
    later = [question() for _ in range(200)]
    suggested = [gap.episode.goal for gap in world.memory.gaps.find(WORKSPACE, limit=10)]
    assert len(suggested) == len({subjects[goal] for goal in suggested}) == 10
    rounds = [settled_by_teaching(chance.sample(sorted(set(asked)), 10), subjects, later) for _ in range(5)]
    settled = settled_by_teaching(suggested, subjects, later)
    assert settled >= 2 * sum(rounds) / len(rounds)
    assert settled >= len(later) / 3


@pytest.mark.parametrize(
    ("question", "is_a_gap"),
    [("wifi?", True), ("2", False), ("!!!", False), (":two::+1:", False), (":two: wifi?", True), ("x", False)],
)
def test_a_message_without_words_is_no_gap(question: str, is_a_gap: bool) -> None:
    assert has_words(question) is is_a_gap


def test_a_long_word_is_read_once_for_the_names_of_emoji() -> None:
    # Read again from each of its letters, it would take an hour.
    assert has_words("a" * 1_000_000)
