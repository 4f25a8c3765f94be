"""How often the offline model is right, on goals people write, with the real embedder."""

import functools
from collections.abc import Sequence
from typing import Any, cast

import pytest

from bot.adapters.llm.offline.decisions import Decider
from bot.adapters.llm.offline.prompt_parser import Prompt, PromptLesson
from bot.adapters.llm.offline.similarity import Similarity
from bot.agent.tools.about import about_tool
from bot.agent.tools.who import who_tool
from bot.model import ModelTurn
from memory.model import Lesson
from tests.bot.adapters.llm import offline_goals as goals
from tests.bot.adapters.llm.offline_tools import NOW, OFFERED
from tests.doubles.packaged_embedder import packaged_embedder

pytestmark = pytest.mark.model


@functools.cache
def _real() -> Similarity:
    return Similarity(packaged_embedder().embed)


def _decide(goal: str, *lessons: PromptLesson) -> ModelTurn:
    return Decider(_real(), Prompt(goal=goal, lessons=lessons), OFFERED).decide()


def _taught() -> tuple[PromptLesson, ...]:
    return tuple(
        PromptLesson(kind=Lesson.REPEAT, action="answer", goal=question, answer=answer)
        for question, answer, _ in goals.TAUGHT
    )


def _uses(goal: str, tool: str, argument: str, value: str) -> bool:
    return any(
        call.name == tool and call.arguments is not None and value in ("", call.arguments.get(argument))
        for call in _decide(goal).calls
    )


def _claims(goal: str, *lessons: PromptLesson) -> bool:
    """Whether it answers, or uses a tool whose result nobody judges."""
    return _tool(goal, *lessons) not in ("fail", "ask_person", "search_knowledge")


def _tool(goal: str, *lessons: PromptLesson) -> str:
    """The tool it uses; empty for an answer."""
    return next((call.name for call in _decide(goal, *lessons).calls), "")


@pytest.mark.parametrize(("asked", "missed"), [(goals.TOOL_GOALS, 3), (goals.UNSEEN_TOOL_GOALS, 1)])
def test_questions_for_tools_reach_them(asked: Sequence[tuple[str, str, str, str]], missed: int) -> None:
    assert len([one for one in asked if not _uses(*one)]) <= missed


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [(goals.UNANSWERABLE, 0), (goals.UNSEEN_UNANSWERABLE, 0), (goals.FRESH_UNANSWERABLE, 1)],
)
def test_what_it_cannot_know_it_does_not_claim(asked: Sequence[str], wrong: int) -> None:
    assert len([goal for goal in asked if _claims(goal)]) <= wrong


def test_paraphrases_of_taught_questions_are_answered() -> None:
    answers = {question: answer for question, answer, _ in goals.TAUGHT}
    asked = [(paraphrase, answer) for _, answer, paraphrases in goals.TAUGHT for paraphrase in paraphrases]
    unseen = [(paraphrase, answers[question]) for paraphrase, question in goals.UNSEEN_PARAPHRASES]
    lessons = _taught()
    for pairs, missed in ((asked, 2), (unseen, 3)):
        assert len([goal for goal, answer in pairs if _decide(goal, *lessons) != ModelTurn(text=answer)]) <= missed


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [(goals.NEAR_MISSES, 2), (goals.UNSEEN_NEAR_MISSES, 0), (goals.FRESH_NEAR_MISSES, 2)],
)
def test_a_lesson_is_not_stretched_to_other_questions(asked: Sequence[str], wrong: int) -> None:
    lessons = _taught()
    assert len([goal for goal in asked if _claims(goal, *lessons)]) <= wrong


def test_an_answer_is_not_told_where_the_opposite_is_asked() -> None:
    opening = PromptLesson(kind=Lesson.REPEAT, action="answer", goal="When does the canteen open?", answer="At 11:30.")
    assert _decide("What time does the canteen open?", opening) == ModelTurn(text="At 11:30.")
    assert not _claims("When does the canteen close?", opening)


def test_a_thumb_down_on_a_tool_changes_similar_choices() -> None:
    goal = "what day is the big party in Rome?"
    approved = PromptLesson(kind=Lesson.REPEAT, action="clock", goal="what day is the party in Rome?")
    rejected = PromptLesson(kind=Lesson.AVOID, action="clock", goal="what time is it in Rome?")
    assert _tool(goal, approved) == "clock"
    for similar in ("what time is it in Rome?", "What's the time in Rome now?", "tell me the time in Rome"):
        assert _tool(similar) == "clock"
        assert _tool(similar, rejected) not in ("clock", "")


@pytest.mark.parametrize(
    "goal", ["tell me about the fire drill", "what about the holiday form?", "who knows about the printer?"]
)
def test_what_it_is_to_tell_about_is_not_looked_for_in_what_the_asker_said(goal: str) -> None:
    assert _tool(goal) != "search_conversation"


@pytest.mark.parametrize("goal", ["who are you?", "what are you", "who are you"])
def test_who_asks_who_it_is_is_told_so_beside_the_tool_that_tells_who_they_are(goal: str) -> None:
    about = about_tool(lambda scope, role: ())
    unused = cast("Any", None)
    who = who_tool(unused, unused, unused, lambda: NOW)
    tools = (*OFFERED, about.spec, who.spec)
    assert [call.name for call in Decider(_real(), Prompt(goal=goal), tools).decide().calls] == ["about_me"]
