"""A pydantic-ai agent recalls, records and passes on what its person says."""

from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from memory.adapters.sql import SqlStore
from memory.library.agent import AgentMemory
from memory.library.toolset import INSTRUCTIONS, memory_toolset
from memory.model import StepKind
from memory.ports import EpisodeFilter
from tests.doubles.memory_world import World, scope


@pytest.fixture
def agent_memory() -> AgentMemory:
    return AgentMemory(memory=World(SqlStore.in_memory()).memory, scope=scope())


def last_return(messages: list[ModelMessage]) -> Any:
    """What the newest tool call gave the model."""
    part = messages[-1].parts[-1]
    return part.content if isinstance(part, ToolReturnPart | RetryPromptPart) else None


async def test_an_agent_uses_the_four_tools(agent_memory: AgentMemory) -> None:
    seen: list[Any] = []

    def decide(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert info.instructions is not None
        assert INSTRUCTIONS in info.instructions
        seen.append(last_return(messages))
        answer = seen[2]["answer_id"] if len(seen) > 2 else ""
        steps = [
            ("recall_lessons", {"goal": "where is the key?"}),
            ("record_answer", {"goal": "where is the key?", "answer": "Under the mat."}),
            ("react_to_answer", {"answer_id": answer, "emoji": "👎"}),
            ("correct_answer", {"answer_id": answer, "text": "Under the pot."}),
            ("recall_lessons", {"goal": "where is the key?"}),
        ]
        if len(seen) > len(steps):
            return ModelResponse(parts=[TextPart("done")])
        name, arguments = steps[len(seen) - 1]
        return ModelResponse(parts=[ToolCallPart(name, arguments)])

    done = await Agent(FunctionModel(decide), toolsets=[memory_toolset(agent_memory)]).run("where is the key?")
    assert done.output == "done"
    assert seen[1]["lessons"] == []
    assert seen[3]["verdict"] == "failure"
    assert ("REPEAT", "Under the pot.") in [(each["advice"], each["answer"]) for each in seen[5]["lessons"]]


async def test_a_fault_comes_back_as_something_to_retry(agent_memory: AgentMemory) -> None:
    seen: list[Any] = []

    def decide(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        seen.append(last_return(messages))
        if len(seen) > 1:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("react_to_answer", {"answer_id": "nothing", "emoji": "👍"})])

    await Agent(FunctionModel(decide), toolsets=[memory_toolset(agent_memory)]).run("thanks")
    assert "there is no answer 'nothing'" in str(seen[1])


def test_what_an_agent_leaves_null_in_a_step_is_no_step(agent_memory: AgentMemory) -> None:
    given: list[dict[str, Any]] = [
        {"thought": "I know that.", "tool": None, "arguments": None, "observation": None},
        {"thought": None, "tool": "count", "arguments": None, "observation": 0},
    ]
    agent_memory.record("how many keys are there?", "None.", given)
    (stored,) = agent_memory.memory.audit.whole(agent_memory.scope.workspace, EpisodeFilter())
    assert [(step.kind, step.tool, step.text) for step in stored.trajectory] == [
        (StepKind.THINK, "", "I know that."),
        (StepKind.ACT, "count", ""),
        (StepKind.OBSERVE, "count", "0"),
    ]
