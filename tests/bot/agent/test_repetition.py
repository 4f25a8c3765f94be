"""A call that says nothing new is not run again, and a model that goes round in circles ends."""

from collections.abc import Mapping
from dataclasses import replace

from bot.agent.tools.registry import ToolContext
from memory.model import Termination
from tests.bot.agent.test_tree import results, run, tool
from tests.doubles.model import ScriptedModel, answer, call, make_tree


async def test_the_same_call_again_is_not_run_and_said_so() -> None:
    runs: list[object] = []

    async def counted(arguments: Mapping[str, object], _: ToolContext) -> str:
        runs.append(dict(arguments))
        return "done"

    once = replace(tool("look"), run=counted)
    model = ScriptedModel([call("look", what="x"), call("look", what="x"), call("look", what="y"), answer("done")])
    result = await run(make_tree(model, once))
    assert runs == [{"what": "x"}, {"what": "y"}]
    assert "did not run again" in results(model.requests[2])[1]
    assert result.termination is Termination.SUCCESS


async def test_a_model_that_repeats_itself_ends() -> None:
    model = ScriptedModel([call("look", what="x")] * 50)
    result = await run(make_tree(model, tool("look", says="found x")))
    assert (result.termination, len(model.requests)) == (Termination.FAILURE, 4)
    assert result.output == "found x\n\nI could not work out how to go on."


async def test_two_calls_in_turn_without_end_are_stopped() -> None:
    turns = [call("look", what="x"), call("look", what="y")]
    model = ScriptedModel(turns * 25)
    result = await run(make_tree(model, tool("look")))
    assert (result.termination, len(model.requests)) == (Termination.FAILURE, 7)


async def test_a_call_that_failed_may_be_tried_once_more() -> None:
    model = ScriptedModel([call("look", what="x")] * 3 + [answer("gave up")])
    await run(make_tree(model, tool("look", fails="the line is busy")))
    said = results(model.requests[-1])
    assert ["line is busy" in each for each in said] == [True, True, False]
