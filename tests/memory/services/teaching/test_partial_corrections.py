"""Corrections of answers that lacked a part."""

from dataclasses import replace

from memory.model import Episode, Termination, Verdict
from memory.services.teaching.correct import corrected_node
from tests.doubles.memory_world import World

F, P = Verdict.FAILURE, Verdict.PENDING


def nodes_of(world: World, episode: Episode) -> list[Episode]:
    with world.memory.store.read() as tx:
        return tx.episodes.of_run(episode.workspace, episode.run_id)


def test_a_correction_of_an_answer_that_lacked_one_part_teaches_that_part() -> None:
    world = World()
    parts = [("when is lunch?", Termination.SUCCESS), ("when is dinner?", Termination.FAILURE)]
    asked = world.ask("when are lunch and dinner?", "at noon", children=parts)
    lesson = world.correct(asked, "at seven")
    assert lesson.goal == "when is dinner?"
    assert [each.verdict for each in nodes_of(world, asked)] == [P, P, F]
    assert lesson.id in world.recalled("when is dinner?")
    assert world.memory.teaching.undo(lesson.workspace, "ana", at=world.clock.tick()) is not None
    assert [each.verdict for each in nodes_of(world, asked)] == [P, P, P]
    assert world.memory.audit.check() == []


def test_a_correction_is_about_the_whole_where_no_part_alone_was_missing() -> None:
    world = World()
    lunch, dinner, tea = (f"when is {meal}?" for meal in ("lunch", "dinner", "tea"))
    both = "when are lunch and dinner?"
    for missing in ([], [lunch, dinner]):
        parts = [
            (each, Termination.FAILURE if each in missing else Termination.SUCCESS) for each in (lunch, dinner, tea)
        ]
        assert world.correct(world.ask(both, "at noon", children=parts), "at seven").goal == both
    one, two, three = nodes_of(
        world, world.ask(both, "x", children=[(lunch, Termination.SUCCESS), (tea, Termination.FAILURE)])
    )
    assert corrected_node([one, two, three]) is three
    assert corrected_node([replace(one, flow="fallback"), two, three]).id == one.id
    assert corrected_node([replace(one, action="answer"), two, three]).id == one.id
    assert corrected_node([one, replace(two, action="ask_person"), three]).id == one.id
