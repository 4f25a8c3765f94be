"""What still runs when a parallel flow is decided is cancelled."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from bot.agent.tools.registry import ToolContext
from memory.model import Termination
from tests.bot.agent.test_tree import run, tool
from tests.doubles.model import ByGoal, answer, call, expand, make_tree


@pytest.mark.parametrize(("policy", "ran"), [("any", ["x"]), ("majority", ["x", "y"]), ("all", ["x", "y", "z"])])
async def test_what_still_runs_when_a_parallel_flow_is_decided_is_cancelled(policy: str, ran: list[str]) -> None:
    """Each child waits for the one before it; the others wait for ever once the flow is decided."""
    gates = {goal: asyncio.Event() for goal in "xyz"}
    gates["x"].set()
    following = {"x": "y", "y": "z"}
    is_last = {"any": "x", "majority": "y", "all": "z"}[policy]

    async def wait(arguments: Mapping[str, object], _: ToolContext) -> str:
        name = str(arguments["what"])
        await gates[name].wait()
        if name != is_last:
            gates[following[name]].set()
        return name

    model = ByGoal(
        {
            "G": [expand("parallel", "x", "y", "z", policy=policy)],
            **{goal: [call("wait", what=goal), answer(goal)] for goal in "xyz"},
        }
    )
    result = await run(make_tree(model, replace(tool("wait"), run=wait)))
    assert (result.termination, result.output) == (Termination.EXPAND, "\n\n".join(ran))
    ends = {node.goal: node.termination for node in result.nodes[1:]}
    assert ends == {goal: Termination.SUCCESS if goal in ran else Termination.ABORTED for goal in "xyz"}
