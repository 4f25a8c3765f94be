"""Every run ends, within its budgets, with something to say."""

import asyncio
import itertools
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from bot.agent.run import Limits
from bot.agent.tools.calculator import calculator_tool
from bot.agent.tools.registry import Tool, ToolContext
from bot.errors import MalformedReply, ModelError, ModelRefused, ModelUnavailable
from bot.model import ModelReply, ModelRequest, ModelTurn, ToolCall
from memory.model import Termination, Usage
from tests.doubles.model import (
    SCOPE,
    ByGoal,
    ReadyModel,
    ScriptedModel,
    answer,
    call,
    calls,
    expand,
    make_tree,
    tool_call,
)

CALCULATOR = calculator_tool()


async def test_decisions_run_out_with_what_was_found() -> None:
    model = ScriptedModel([call("calculator", expression=f"{n}+1") for n in range(3)])
    result = await make_tree(model, CALCULATOR, limits=Limits(max_decisions=3)).run("G", SCOPE, run_id="R")
    assert result.termination is Termination.ABORTED
    assert result.output == (
        "I had to stop: I reached my limit of 3 decisions for one question.\n\n"
        "This is what I found so far:\n\n2 + 1 = 3"
    )
    (episode,) = result.nodes
    assert episode.task_incomplete == "I reached my limit of 3 decisions for one question"
    assert episode.termination is Termination.ABORTED
    assert episode.action == "calculator"


async def test_a_limit_reached_in_a_child_ends_the_tree_and_is_told_once() -> None:
    model = ByGoal(
        {
            "G": [expand("sequence", "A", "B", "C")],
            "A": [answer("found A")],
            "B": [call("calculator", expression="2+2")],
        }
    )
    result = await make_tree(model, CALCULATOR, limits=Limits(max_decisions=3)).run("G", SCOPE, run_id="R")
    assert result.output == (
        "I had to stop: I reached my limit of 3 decisions for one question.\n\n"
        "This is what I found so far:\n\nfound A\n\n2 + 2 = 4"
    )
    assert [node.termination for node in result.nodes] == [
        Termination.ABORTED,
        Termination.SUCCESS,
        Termination.ABORTED,
    ]
    assert [bool(node.task_incomplete) for node in result.nodes] == [True, False, True]


async def test_tokens_and_cost_end_a_run_but_an_answer_in_hand_is_used() -> None:
    costly = Usage(prompt_tokens=900, completion_tokens=200, cost_usd=2.0)
    limits = Limits(max_tokens=1_000, max_cost_usd=100)
    result = await make_tree(ScriptedModel([answer("x", usage=costly)]), limits=limits).run("G", SCOPE, run_id="R")
    assert (result.output, result.termination) == ("x", Termination.SUCCESS)

    def thinking() -> ModelReply:
        return replace(call("think", thought="hm"), usage=costly)

    result = await make_tree(ScriptedModel([thinking()]), limits=limits).run("G", SCOPE, run_id="R")
    assert result.output == (
        "I had to stop: I reached my limit of 1000 tokens for one question. I had found nothing by then."
    )
    limits = Limits(max_cost_usd=1.5)
    result = await make_tree(ScriptedModel([thinking()]), limits=limits).run("G", SCOPE, run_id="R")
    assert "1.5 US dollars" in result.output


async def test_the_clock_ends_a_run_between_decisions() -> None:
    seconds = itertools.count(0, 10)
    model = ScriptedModel([call("think", thought="hm")] * 100)
    tree = make_tree(model, limits=Limits(max_seconds=60), monotonic=lambda: float(next(seconds)))
    result = await tree.run("G", SCOPE, run_id="R")
    assert result.termination is Termination.ABORTED
    assert "60 seconds" in result.output


class Silent(ReadyModel):
    """Never replies; says when it was asked and when it was told to stop."""

    name = "silent"

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.stopped = asyncio.Event()

    async def reply(self, request: ModelRequest) -> ModelReply:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        raise AssertionError("unreachable")


async def test_the_deadline_ends_a_wait_for_the_model() -> None:
    model = Silent()
    tree = make_tree(model, limits=Limits(max_seconds=0.02))
    result = await tree.run("G", SCOPE, run_id="R")
    assert (result.termination, "0.02 seconds" in result.output) == (Termination.ABORTED, True)
    assert model.stopped.is_set()


async def test_cancelling_ends_a_wait_for_the_model() -> None:
    model, cancel = Silent(), asyncio.Event()
    running = asyncio.create_task(make_tree(model).run("G", SCOPE, run_id="R", cancel=cancel))
    await model.asked.wait()
    cancel.set()
    result = await running
    assert result.output == "I had to stop: I was asked to stop. I had found nothing by then."
    assert result.termination is Termination.ABORTED
    assert result.nodes[0].task_incomplete == ""
    assert model.stopped.is_set()


async def test_cancelling_during_a_parallel_flow_keeps_what_was_found() -> None:
    cancel = asyncio.Event()

    def last(_: ModelRequest) -> ModelReply:
        cancel.set()
        return call("calculator", expression="2+2")

    model = ByGoal({"G": [expand("parallel", "A", "B")], "A": [answer("found A")], "B": [last]})
    result = await make_tree(model, CALCULATOR).run("G", SCOPE, run_id="R", cancel=cancel)
    assert result.termination is Termination.ABORTED
    assert result.output.startswith("I had to stop: I was asked to stop.\n\nThis is what I found so far:\n\nfound A")


async def test_a_task_that_is_cancelled_from_outside_leaves_nothing_running() -> None:
    model = Silent()
    running = asyncio.create_task(make_tree(model).run("G", SCOPE, run_id="R"))
    await model.asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert model.stopped.is_set()


async def test_a_tool_that_takes_too_long_is_an_observation() -> None:
    async def sleep(_: Mapping[str, object], __: ToolContext) -> str:
        await asyncio.Event().wait()
        return "never"

    slow = Tool(name="slow", description="", parameters={"type": "object", "properties": {}}, run=sleep)
    model = ScriptedModel([call("slow"), answer("It takes too long.")])
    result = await make_tree(model, slow, timeout_s=0.01).run("G", SCOPE, run_id="R")
    assert result.output == "It takes too long."
    assert "slow took longer than 0.01 seconds." in [step.text for step in result.nodes[0].trajectory]


class RandomModel(ReadyModel):
    """Decides anything at all, right or wrong."""

    name = "random"

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.replies = 0

    async def reply(self, request: ModelRequest) -> ModelReply:
        await asyncio.sleep(0)
        self.replies += 1
        usage = Usage(prompt_tokens=self._random.randrange(50), cost_usd=self._random.random() / 100)
        return replace(self._choose(), usage=usage)

    def _choose(self) -> ModelReply:
        pick = self._random.randrange(16)
        goal = f"goal {self._random.randrange(1000)}"
        match pick:
            case 0:
                return answer("done")
            case 1:
                return call("fail", reason="no")
            case 2:
                return call("think", thought="hm")
            case 3:
                return call("ask_person", question="what?")
            case 4:
                raise self._random.choice([ModelRefused("no"), MalformedReply("?"), ModelUnavailable("down")])
            case 5:
                return ModelReply(turn=ModelTurn(calls=(ToolCall(id="1", name="calculator", arguments=None, raw="{"),)))
            case 6:
                return call("nothing", at="all")
            case 7 | 8 | 9:
                return call("calculator", expression="2+2")
            case 10:
                return calls(tool_call("calculator", expression="1/0"), tool_call("expand", flow="x"))
            case _:
                flow = self._random.choice(["sequence", "fallback", "parallel", "parallel"])
                subgoals = [f"{goal} part {n}" for n in range(self._random.randrange(1, 5))]
                return expand(flow, *subgoals, policy=self._random.choice(["all", "any", "majority"]))


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    decisions=st.integers(1, 30),
    depth=st.integers(1, 5),
    tokens=st.integers(1, 500),
)
def test_every_tree_ends_within_its_budgets(seed: int, decisions: int, depth: int, tokens: int) -> None:
    limits = Limits(max_decisions=decisions, max_depth=depth, max_tokens=tokens, max_seconds=1e9, max_cost_usd=1e9)
    model = RandomModel(seed)
    try:
        result = asyncio.run(make_tree(model, CALCULATOR, limits=limits).run("G", SCOPE, run_id="R"))
    except ModelError:
        assert model.replies == 1
        return
    assert model.replies <= decisions
    assert result.output
    assert result.termination is result.nodes[0].termination
    assert [node.step_number for node in result.nodes] == list(range(1, len(result.nodes) + 1))
    by_id = {node.id: node for node in result.nodes}
    assert len(by_id) == len({node.node_path for node in result.nodes}) == len(result.nodes)
    for node in result.nodes:
        assert node.node_path.count(".") < depth
        assert node.output or node.termination is Termination.ABORTED
        if node.parent_id:
            assert node.node_path.rpartition(".")[0] == by_id[node.parent_id].node_path
    total = sum((node.usage for node in result.nodes), Usage())
    assert (total.prompt_tokens, total.completion_tokens) == (result.usage.prompt_tokens, 0)
