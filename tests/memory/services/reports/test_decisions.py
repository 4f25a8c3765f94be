"""What `stats` tells: how much was answered, asked back and called wrong, of one workspace."""

from memory.model import Termination
from memory.model.evidence import INITIAL_THRESHOLD
from memory.services.reports.decisions import Decisions
from tests.doubles.memory_world import World, scope

W = scope().workspace


def test_answers_questions_and_verdicts_are_counted_by_workspace() -> None:
    world = World()
    right, wrong = world.ask("one"), world.ask("two")
    world.ask("three")
    world.ask("four", termination=Termination.FAILURE)
    world.react(right, "👍")
    world.react(wrong, "👎")
    world.correct(wrong, "it is two")
    world.ask("five", of=scope(workspace="terminal:other"))
    found = world.memory.audit.statistics(W)[1]
    assert (found.questions, found.answered, found.judged, found.wrong, found.asked) == (4, 3, 2, 1, 0)
    assert (found.threshold, found.budget) == (INITIAL_THRESHOLD, 0.05)
    assert world.memory.audit.statistics("terminal:other")[1].questions == 1


def test_a_question_back_is_no_answer() -> None:
    world = World()
    world.action = "ask_person"
    world.ask("which one?", "Did you mean one of these?")
    found = world.memory.audit.statistics(W)[1]
    assert (found.questions, found.answered, found.asked) == (1, 0, 1)


def test_it_is_told_in_one_line() -> None:
    some = Decisions(questions=100, answered=71, judged=25, wrong=1, asked=20, threshold=0.184, budget=0.05)
    assert str(some) == ("answered 71%, of those judged 4% marked wrong; asked 20%; threshold 0.18 (budget 5%)")
    none = Decisions(questions=0, answered=0, judged=0, wrong=0, asked=0, threshold=0.16, budget=0.05)
    assert str(none) == "answered 0%, none judged; asked 0%; threshold 0.16 (budget 5%)"
