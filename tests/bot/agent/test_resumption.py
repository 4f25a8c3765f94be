"""A run that goes on: the same node, behind its last step; what is over stays over, and no tool runs twice."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from bot.agent.earlier_run import EarlierRun
from bot.agent.tools.notes import recall_tool, remember_tool
from bot.agent.tools.registry import Tool, ToolContext
from bot.agent.tree import AgentTree, RunResult
from bot.model import ModelReply, ToolCall
from memory.model import AllowedAction, Episode, Grant, Option, Permission, StepKind, Termination, Usage
from tests.doubles.model import (
    NOW,
    SCOPE,
    ByGoal,
    answer,
    call,
    expand,
    fail,
    make_tree,
    opening,
)

PERMISSION = Permission(grant=Grant.ONCE, by="tea")


class Tools:
    """A lookup, and something with effects; both count."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def tool(self, name: str, *, has_side_effects: bool = False) -> Tool:
        async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
            self.done.append(f"{name} {arguments.get('x', '')}".strip())
            return f"{name} is done"

        schema = {"type": "object", "properties": {"x": {"type": "string"}}}
        return Tool(name=name, description=name, parameters=schema, run=run, has_side_effects=has_side_effects)

    def tree(self, model: ByGoal, form: str = "native") -> AgentTree:
        send = self.tool("send", has_side_effects=True)
        notes = [remember_tool(lambda: NOW), recall_tool()]
        return make_tree(model, self.tool("look"), send, *notes, tool_calls=form)  # type: ignore[arg-type]


def earlier(result: RunResult, answered: str = "", reply: str = "") -> EarlierRun:
    return EarlierRun(nodes={node.node_path: node for node in result.nodes}, answered=answered, reply=reply)


def shapes(result: RunResult) -> list[tuple[str, str, str]]:
    return [(node.node_path, node.action, node.termination.value) for node in result.nodes]


async def test_a_node_goes_on_with_what_the_person_answered() -> None:
    tools = Tools()
    model = ByGoal({"book it": [call("look", x="rooms"), call("ask_person", question="Which room?")]})
    first = await tools.tree(model).run("book it", SCOPE, run_id="a")
    assert (first.output, first.asked) == ("Which room?", True)
    then = ByGoal({"book it": [answer("Room 5 is booked.")]})
    second = await tools.tree(then).run("room 5", SCOPE, run_id="b", resumed=earlier(first, "0", "room 5"))
    assert (second.output, second.nodes[0].goal, second.asked) == ("Room 5 is booked.", "book it", False)
    assert tools.done == ["look rooms"]
    seen = str(then.requests[0].turns)
    assert all(each in seen for each in ("look is done", "Which room?", "room 5"))
    texts = [step.text for step in second.nodes[0].trajectory if step.kind is StepKind.OBSERVE]
    assert texts == ["look is done", "Which room?\nroom 5"]


@pytest.mark.parametrize("flow", ["sequence", "parallel"])
async def test_what_was_let_run_runs_in_its_node_and_the_rest_follows(flow: str) -> None:
    tools = Tools()
    model = ByGoal(
        {"all": [expand(flow, "A", "B", "C")], "A": [answer("a")], "B": [call("send", x="1")], "C": [answer("c")]}
    )
    first = await tools.tree(model).run("all", SCOPE, run_id="a")
    assert (first.asked, tools.done) == (True, [])
    then = ByGoal({"B": [answer("b")], "C": [answer("c")]})
    chosen = Option(action="send", label="", arguments={"x": "1"}, permission=PERMISSION)
    second = await tools.tree(then).run("B", SCOPE, run_id="b", resumed=earlier(first, "0.1"), chosen=chosen)
    assert (second.output, tools.done) == ("a\n\nb\n\nc", ["send 1"])
    assert shapes(second) == [
        ("0", "expand", "expand"),
        ("0.0", "answer", "success"),
        ("0.1", "send", "success"),
        ("0.2", "answer", "success"),
    ]
    assert {node.run_id for node in second.nodes} == {"b"}
    assert {node.parent_id for node in second.nodes[1:]} == {second.nodes[0].id}
    assert [each.node_id for each in second.allowed] == [second.nodes[2].id]


async def test_of_two_that_wait_the_other_one_asks_again() -> None:
    tools = Tools()
    model = ByGoal({"all": [expand("parallel", "A", "B")], "A": [call("send", x="1")], "B": [call("send", x="2")]})
    first = await tools.tree(model).run("all", SCOPE, run_id="a")
    chosen = Option(action="send", label="", arguments={"x": "2"}, permission=PERMISSION)
    then = ByGoal({"B": [answer("b")]})
    second = await tools.tree(then).run("B", SCOPE, run_id="b", resumed=earlier(first, "0.1"), chosen=chosen)
    assert (second.asked, tools.done) == (True, ["send 2"])
    assert '"x": "1"' in second.output
    assert "b" in second.output


async def test_a_failed_expansion_is_told_again_and_its_parent_goes_on() -> None:
    tools = Tools()
    model = ByGoal({"all": [expand("sequence", "A"), call("ask_person", question="And now?")], "A": [fail("no A")]})
    first = await tools.tree(model).run("all", SCOPE, run_id="a")
    then = ByGoal({"all": [answer("so be it")]})
    second = await tools.tree(then).run("x", SCOPE, run_id="b", resumed=earlier(first, "0", "stop it"))
    assert second.output == "so be it"
    assert "no A" in str(then.requests[0].turns)
    assert shapes(second) == [("0", "answer", "success"), ("0.0", "none", "failure")]


async def test_notes_are_on_the_board_again() -> None:
    tools = Tools()
    model = ByGoal({"go": [call("remember", key="door", value="4711"), call("ask_person", question="Which door?")]})
    first = await tools.tree(model).run("go", SCOPE, run_id="a")
    then = ByGoal({"go": [call("recall", key="door"), answer("ok")]})
    await tools.tree(then).run("x", SCOPE, run_id="b", resumed=earlier(first, "0", "the red one"))
    assert "4711" in str(then.requests[1].turns)


async def test_in_the_textual_form_too() -> None:
    tools = Tools()
    model = ByGoal({"go": [answer('Act: look {"x": "a"}'), answer("Ask: Which one?")]})
    first = await tools.tree(model, "text").run("go", SCOPE, run_id="a")
    assert first.asked
    then = ByGoal({"go": [answer("Answer: fine")]})
    second = await tools.tree(then, "text").run("x", SCOPE, run_id="b", resumed=earlier(first, "0", "the red one"))
    assert (second.output, tools.done) == ("fine", ["look a"])
    assert "the red one" in str(then.requests[0].turns)


class Journal:
    """Keeps every entry."""

    def __init__(self) -> None:
        self.entries: list[tuple[list[Episode], list[AllowedAction], ToolCall | None]] = []

    async def __call__(
        self, nodes: Sequence[Episode], allowed: Sequence[AllowedAction], doing: ToolCall | None
    ) -> None:
        self.entries.append((list(nodes), list(allowed), doing))


async def test_whatever_entry_the_process_ended_behind_the_run_comes_to_the_same_end_without_doing_anything_twice() -> (
    None
):
    tools, journal = Tools(), Journal()
    script = {
        "all": [expand("sequence", "A", "B")],
        "A": [call("look", x="1"), call("look", x="2"), answer("a")],
        "B": [call("look", x="3"), answer("b")],
    }
    costs = Usage(prompt_tokens=1)

    def costly(goals: Mapping[str, Sequence[ModelReply]]) -> ByGoal:
        return ByGoal({goal: [replace(reply, usage=costs) for reply in replies] for goal, replies in goals.items()})

    whole = await tools.tree(costly(script)).run("all", SCOPE, run_id="a", journal=journal)
    assert tools.done == ["look 1", "look 2", "look 3"]
    assert len(journal.entries) >= 3
    for nodes, _, doing in journal.entries:
        assert doing is None
        assert nodes[0].termination in (Termination.ABORTED, Termination.SUCCESS)
        by_path = {node.node_path: node for node in nodes}
        before = [step for node in nodes for step in node.trajectory if step.tool == "look"]
        taken = {
            path: sum(step.kind is not StepKind.OBSERVE for step in node.trajectory) for path, node in by_path.items()
        }
        left = {"A": script["A"][taken.get("0.0", 0) :], "B": script["B"][taken.get("0.1", 0) :]}
        tools.done.clear()
        again = await tools.tree(costly(left)).run("all", SCOPE, run_id="b", resumed=EarlierRun(nodes=by_path))
        assert again.output == whole.output
        assert shapes(again) == shapes(whole)
        assert len(tools.done) + len(before) // 2 == 3


async def test_the_journal_is_written_before_an_effect_begins_and_after_it() -> None:
    tools, journal = Tools(), Journal()

    async def permit(*_: object) -> Permission:
        return PERMISSION

    tree = tools.tree(ByGoal({"go": [call("send", x="1"), answer("ok")]}))
    tree.tools.permit = permit
    await tree.run("go", SCOPE, run_id="a", journal=journal)
    assert [(doing.name if doing else None, len(allowed)) for _, allowed, doing in journal.entries] == [
        ("send", 0),
        (None, 1),
    ]


async def test_what_is_free_and_has_no_effects_keeps_no_journal() -> None:
    tools, journal = Tools(), Journal()
    model = ByGoal({"go": [call("look", x="1"), answer("ok")]})
    await tools.tree(model).run("go", SCOPE, run_id="a", journal=journal)
    assert journal.entries == []
    assert "go" in opening(model.requests[0])
