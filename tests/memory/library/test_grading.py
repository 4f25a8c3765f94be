"""Graders: the one that was set, people's reactions as the first, and a model's guesses as what they are."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from memory import (
    EpisodeContext,
    MemoryEntry,
    ReactionGrader,
    StepGrade,
    export_memories,
    get_grader,
    grade_run,
    has_grader,
    retrieve_memories,
    set_grader,
)
from memory.adapters.sql import SqlStore
from memory.errors import GraderMissing
from memory.library.grading import Grader, GradingRequest, GradingResult, grading_result
from memory.model import GradeSource, Outcome, Reaction
from tests.memory.library.test_lifecycle import PAGE, Agent


class Guessing:
    """A grader that knows what to say, and remembers what it was asked."""

    def __init__(self, *right: bool, completed: bool | None = None) -> None:
        self._right = right
        self._completed = completed
        self.asked: list[GradingRequest] = []

    def grade(self, request: GradingRequest) -> GradingResult | None:
        self.asked.append(request)
        return GradingResult(
            task_completed=self._completed,
            overall_explanation="not done" if self._completed is False else "",
            step_grades=[
                StepGrade(step_id=step.step_id, is_correct=right, explanation="a guess")
                for step, right in zip(request.steps, self._right, strict=False)
            ],
        )


@pytest.fixture
def agent() -> Iterator[Agent]:
    agent = Agent(SqlStore.in_memory())
    yield agent
    set_grader(None)
    assert agent.service.audit.check() == []


def react(agent: Agent, context: EpisodeContext, value: int, by: str = "ana", after: int = 1) -> None:
    """Somebody reacts to the answer of a run."""
    agent.clock.now += timedelta(seconds=after)
    run = context.run
    agent.service.teaching.vote(
        Reaction(
            workspace=run.workspace,
            channel=context.scope.channel,
            message_id="",
            actor=by,
            source="emoji:👍" if value > 0 else "emoji:👎",
            value=value,
            at=agent.clock(),
            run_id=run.node_run,
        )
    )


def told(entries: list[MemoryEntry]) -> list[tuple[str, GradeSource | None]]:
    return [(entry.outcome.value, entry.graded_by) for entry in entries]


# The port -------------------------------------------------------------------------------------------------------


def test_without_a_grader_asking_for_one_is_an_error_that_says_what_to_do(agent: Agent) -> None:
    assert not has_grader()
    with pytest.raises(GraderMissing, match=r"no grader is set; call set_grader\(grader\) first, or ask has_grader"):
        get_grader()
    with pytest.raises(GraderMissing):
        grade_run(agent.ran("r1"))
    assert agent.all()[0].outcome is Outcome.PENDING


def test_a_grader_is_set_and_taken_away(agent: Agent) -> None:
    grader: Grader = Guessing()
    set_grader(grader)
    assert (has_grader(), get_grader()) == (True, grader)
    set_grader(None)
    assert not has_grader()


def test_a_grader_is_asked_with_the_seeds_request(agent: Agent) -> None:
    grader = Guessing(True)
    context = agent.begin("r1", task="save it")
    step = agent.step(context)
    agent.service.clock()
    from memory import persist_memories

    persist_memories(context)
    grade_run(context, grader, host="app.example")
    (request,) = grader.asked
    assert (request.session_id, request.run_id, request.task_description, request.host) == (
        "s", "r1", "save it", "app.example",
    )  # fmt: skip
    (asked,) = request.steps
    assert (asked.step_id, asked.step_num, asked.action, asked.semantic_action) == (
        step, 1, "click('42')", "click: 'Save'",
    )  # fmt: skip


def test_a_grader_with_nothing_to_say_changes_nothing(agent: Agent) -> None:
    class Silent:
        def grade(self, request: GradingRequest) -> None:
            return None

    report = grade_run(agent.ran("r1"), Silent())
    assert (report.updated, len(report.pending)) == ((), 1)


def test_results_are_read_in_either_spelling() -> None:
    ours = GradingResult(task_completed=False, overall_explanation="x", step_grades=[StepGrade(is_correct=True)])
    seeds = {"taskCompleted": False, "overallExplanation": "x", "stepGrades": [{"isCorrect": True, "stepId": None}]}
    assert grading_result(seeds) == grading_result(ours) == ours
    assert grading_result([{"is_correct": True}]) == GradingResult(step_grades=[StepGrade(is_correct=True)])
    with pytest.raises(ValueError, match="completion_confidence must be a number from 0 to 1, got 2"):
        GradingResult(completion_confidence=2)


# People's reactions ---------------------------------------------------------------------------------------------


def test_a_thumb_grades_every_step_and_a_rejection_none_that_did_not_fail(agent: Agent) -> None:
    liked, rejected = agent.ran("r1", "Open", "Save"), agent.ran("r2", "Open", "Save")
    react(agent, liked, 1)
    react(agent, rejected, -1)
    assert told(agent.all()) == [("success", GradeSource.REACTION)] * 2 + [("pending", None)] * 2
    react(agent, liked, -1)
    assert told(agent.all()) == [("pending", None)] * 4


def test_reactions_are_the_first_grader(agent: Agent) -> None:
    context = agent.ran("r1", "Open", "Save")
    grader = ReactionGrader(agent.ana)
    assert grade_run(context, grader).updated == ()
    react(agent, context, 1)
    for _ in range(2):
        report = grade_run(context, grader)
        assert told(list(report.updated)) == [("success", GradeSource.REACTION)] * 2
    assert [[grade.source for grade in entry.grades] for entry in agent.all()] == [[GradeSource.REACTION]] * 2
    with agent.service.store.read() as tx:
        assert len(tx.teaching.votes(context.run.workspace, context.run.node_run)) == 1


def test_a_reaction_that_is_taken_back_takes_its_grades_along(agent: Agent) -> None:
    context = agent.ran("r1")
    react(agent, context, 1)
    grade_run(context, ReactionGrader(agent.ana))
    agent.service.teaching.undo(context.run.workspace, "ana", at=agent.clock.tick())
    assert told(agent.all()) == [("pending", None)]


# A model's guesses ----------------------------------------------------------------------------------------------


def test_a_models_grade_is_labelled_and_nobodys_vote(agent: Agent) -> None:
    context = agent.ran("r1", "Open", "Save")
    grade_run(context, Guessing(True, False, completed=False))
    assert told(agent.all()) == [("success", GradeSource.MODEL), ("failure", GradeSource.MODEL)]
    assert agent.all()[0].task_incomplete == "not done"
    assert [grade.grader for grade in agent.all()[0].grades] == ["Guessing"]
    with agent.service.store.read() as tx:
        assert tx.teaching.votes(context.run.workspace, context.run.node_run) == []
        nodes = tx.episodes.of_run(context.run.workspace, context.run.node_run)
    assert {node.status.value for node in nodes} == {"pending"}
    assert agent.ana.retrieve("s", 10) == []
    assert "\nJudged by a model, not by a person." in export_memories(agent.all(), "prompt")


def test_a_model_is_asked_only_where_nobody_reacted(agent: Agent) -> None:
    context = agent.ran("r1")
    react(agent, context, -1)
    grader = Guessing(True)
    grade_run(context, grader)
    assert grader.asked == []
    assert agent.all()[0].outcome is Outcome.PENDING


def test_a_persons_word_replaces_a_guess_for_good(agent: Agent) -> None:
    context = agent.ran("r1")
    grade_run(context, Guessing(True))
    agent.grade(context, False)
    assert told(agent.all()) == [("failure", GradeSource.PERSON)]
    grade_run(context, Guessing(True))
    agent.grade(context, True, source=GradeSource.MODEL)
    assert told(agent.all()) == [("failure", GradeSource.PERSON)]
    agent.service.teaching.undo(context.run.workspace, "ana", at=agent.clock.tick())
    assert told(agent.all()) == [("pending", None)]


def test_guesses_only_fill_the_places_people_leave(agent: Agent) -> None:
    guessed = agent.ran("r1", "Open", "Same", "Other")
    grade_run(guessed, Guessing(True, True, False))
    agent.grade(agent.ran("r2", "Same"), False)
    context = agent.begin("r3")

    def texts(final_k: int) -> list[tuple[str, GradeSource | None]]:
        found = retrieve_memories(context, env=PAGE, internal_state="s", config={"finalK": final_k})
        return [(each.memory.action_element_text, each.memory.graded_by) for each in found.memories]

    assert texts(1) == [("Same", GradeSource.PERSON)]
    assert texts(2)[0] == ("Same", GradeSource.PERSON)
    assert texts(2)[1][1] is GradeSource.MODEL
    assert sorted(texts(5)) == [
        ("Open", GradeSource.MODEL), ("Other", GradeSource.MODEL), ("Same", GradeSource.PERSON),
    ]  # fmt: skip


def test_guesses_stay_with_the_asker(agent: Agent) -> None:
    grade_run(agent.ran("r1"), Guessing(True))
    bob = agent.of("bob")
    assert agent.found(agent.begin("r2", episodic=bob)) == []
    assert agent.all(of=bob) == []
    assert agent.found(agent.begin("r2")) == [("Save", "success")]
