"""The office tasks: what they are, how they are judged, and that nothing but the agent can do them."""

from collections import Counter

import pytest

from bot.adapters.llm.offline.prompt_parser import PromptLesson
from bot.app.bench.tasks.arms import ARMS, TaskArm, compare_arms, head, is_done as judged, plain, plot
from bot.app.bench.tasks.office import BY_TOOL, OPERATIONS, TAKEN
from bot.app.bench.tasks.policy import by_part, ways
from bot.app.bench.tasks.task_set import THAT_PERSON, Difficulty, OfficeTask, tasks
from bot.config import Settings
from memory.adapters.embedding import HashingEmbedder
from memory.model import Lesson


def test_there_are_seventy_two_always_the_same_a_third_of_each_difficulty() -> None:
    found = tasks()
    assert found == tasks()
    assert len({task.text for task in found}) == 72
    assert Counter(task.difficulty for task in found) == dict.fromkeys(Difficulty, 24)
    assert {tool for task in found for tool, _ in task.acts} == set(BY_TOOL)


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.text[:40])
def test_each_has_a_part_for_everything_that_is_to_be_done(task: OfficeTask) -> None:
    every = ways(task.text)
    assert len(every[-1]) == len(task.acts)
    assert len(every) == (2 if "or else" in task.text else 1)
    assert any(room in task.text for room in TAKEN) or len(every) == 1
    for words, (tool, of) in zip(every[-1], task.acts, strict=True):
        assert (of in words) != (THAT_PERSON in words)
        assert any(each.format(of=of) == words.replace(THAT_PERSON, of) for each in BY_TOOL[tool].asked_as)


def test_a_tool_does_not_give_itself_away_by_the_words_people_use() -> None:
    for each in OPERATIONS:
        assert not any(each.tool in asked for asked in each.asked_as)


def test_it_is_done_if_all_was_done_and_said_and_nothing_else_had_effects() -> None:
    task = OfficeTask(
        text="t", difficulty=Difficulty.EASY, acts=(("fac_hold", "Porto"), ("fac_cap", "Porto")), results=("yours", "6")
    )
    answer, acts = "Porto is yours. It takes 6.", list(task.acts)
    assert judged(task, answer, acts)
    assert judged(task, answer, [*acts, ("fac_cap", "Oslo")])
    assert not judged(task, answer, acts[:1])
    assert not judged(task, "Porto is yours.", acts)
    assert not judged(task, answer, [*acts, ("erp_po", "Vesta")])
    assert not judged(task, answer, [*acts, ("fac_hold", "Porto")])


def test_a_flat_agent_takes_from_a_lesson_which_tool_did_which_part() -> None:
    lesson = PromptLesson(
        kind=Lesson.REPEAT,
        action="inv_loc",
        goal="find the ladder and say where Ines Duarte sits",
        steps="a(x='1'); b(y='2')",
    )
    assert [(each.goal, each.action) for each in by_part([lesson])] == [
        ("find the ladder", "a"),
        ("say where Ines Duarte sits", "b"),
    ]


@pytest.mark.slow
def test_every_arm_runs_and_writes_what_came_of_it() -> None:
    settings, shown = Settings(), list[str]()
    results = compare_arms(
        seeds=[0, 1], rounds=2, count=2, settings=settings, embedder=HashingEmbedder(), show=shown.append
    )
    assert [each.arm for each in results] == list(ARMS)
    assert len(shown) == len(ARMS)
    assert {len(each.row()) for each in results} == {len(head(2))}
    assert plot(results).startswith("<svg ")
    (first, *_) = plain(results)
    assert [[len(one) for one in stream] for stream in first["seeds"]] == [[2, 2], [2, 2]]  # type: ignore[attr-defined]
    again = compare_arms(
        seeds=[0, 1],
        rounds=2,
        count=2,
        settings=settings,
        embedder=HashingEmbedder(),
        show=shown.append,
        arms=[TaskArm()],
    )
    assert again[0] == results[0]
