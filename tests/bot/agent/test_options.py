"""The tree asks the person: with options, before what changes something, where lessons disagree, and never in vain."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from bot.agent.decision import LABEL_CHARACTERS, Ask, decide
from bot.agent.options import answer_option, known_options, tool_label
from bot.agent.tools.registry import Tool, ToolContext, ToolRegistry
from bot.agent.tree import RunResult
from bot.model import ToolSpec
from memory.model import ASK, Grant, Option, Permission, Recollection, Scope, StageCounts, Termination, options_of
from memory.model.evidence import ActionText, Belief, Evidence, LessonWeight
from tests.doubles.model import SCOPE, ByGoal, CannedRecall, ScriptedModel, answer, call, expand, fail, make_tree

YARD, GOAL = "In the yard.", "Where is it?"
NO_ARGUMENTS = {"type": "object", "properties": {}}


def tool(done: list[Mapping[str, object]] | None = None, *, has_side_effects: bool = False) -> Tool:
    async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
        if done is not None:
            done.append(arguments)
        return "The shed is open."

    return Tool(
        name="shed",
        description="Opens the shed. It is behind the house.",
        parameters=NO_ARGUMENTS if not has_side_effects else {"type": "object"},
        run=run,
        has_side_effects=has_side_effects,
    )


class Weighed(CannedRecall):
    """Recall that brings this evidence."""

    def __init__(self, *beliefs: Belief) -> None:
        super().__init__()
        self._evidence = Evidence(beliefs=beliefs, nearest=0.9, lessons=len(beliefs))

    async def __call__(
        self, scope: Scope, goal: str, *, run_id: str, context: frozenset[str], actions: Sequence[ActionText]
    ) -> Recollection:
        return Recollection(retrieval_id="R", goal=goal, exemplars=(), counts=StageCounts(), evidence=self._evidence)


def belief(text: str, value: float, action: str = "answer") -> Belief:
    lesson = LessonWeight(episode_id=f"e-{text}", goal=GOAL, author="", approves=True, weight=value, effect=value)
    return Belief(action=action, text=text, value=value, prior=0.0, weights=(lesson,))


def offered(result: RunResult) -> list[Option]:
    return [option for node in result.nodes for option in options_of(node.trajectory)]


def test_options_that_cannot_be_carried_out_are_left_out() -> None:
    wanted = [
        {"answer": " Yes. ", "label": "yes\nplease"},
        {"label": "nothing"},
        "text",
        {"tool": "expand"},
        {"tool": "shed", "arguments": "no object"},
    ]
    choice = decide(call("ask_person", question="Which?", options=wanted[:3])).choice
    assert choice == Ask(question="Which?", options=(Option(action="answer", label="yes please", text="Yes."),))
    choice = decide(call("ask_person", question="Which?", options=wanted[2:])).choice
    assert choice == Ask(question="Which?", options=(Option(action="shed", label=""),))
    assert decide(call("ask_person", question="Which?", options="both")).choice == Ask(question="Which?")
    many = [{"answer": str(number)} for number in range(5)]
    assert len(decide(call("ask_person", question="Which?", options=many)).choice.options) == 3  # type: ignore[union-attr]


def test_an_offered_answer_names_whose_words_it_has_though_they_were_only_refused() -> None:
    good, bad = belief(YARD, 0.4).weights[0], LessonWeight("e-no", "g", "", approves=False, weight=-0.1, effect=0.1)
    beliefs = [
        Belief(action="answer", text=text, value=0.1, prior=0.0, weights=weights)
        for text, weights in ((YARD, (good, bad)), ("No.", (bad,)))
    ]
    options = [Option(action="answer", label=each, text=each) for each in (YARD, "No.", "Mine.")]
    known = known_options(options, ToolRegistry(), Evidence(beliefs=tuple(beliefs)))
    assert [option.lessons for option in known] == [(good.episode_id,), ("e-no",), ()]


@pytest.mark.parametrize(
    ("text", "goal", "label"),
    [
        ("Yes.", "is there any parking?", "Yes. (is there any parking?)"),
        ("Yes.", "is there\nany parking?", "Yes. (is there any parking?)"),
        ("Yes.", "is there " + "any " * 100, f"Yes. (is there {'any ' * 13}a…)"),
        ("a" * 57, "why is it so?", "a" * 57),
        ("a" * 54, "why is it so?", f"{'a' * 54} (why is it so?)"),
        ("a" * 300, "why?", f"{'a' * 69}…"),
        ("Yes.", "", "Yes."),
    ],
)
def test_a_button_says_for_which_question_its_answer_is_known_where_there_is_room(
    text: str, goal: str, label: str
) -> None:
    weights = (
        LessonWeight("e-1", "refused?", "", approves=False, weight=0.3, effect=-0.2),
        LessonWeight("e-2", goal, "", approves=True, weight=0.1, effect=0.1),
    )
    evidence = Evidence(beliefs=(Belief(action="answer", text=text, value=0.1, prior=0.0, weights=weights),))
    (known,) = known_options([answer_option(text)], ToolRegistry(), evidence)
    assert (known.label, known.lessons) == (label, ("e-2",))
    assert len(known.label) <= LABEL_CHARACTERS
    assert goal.startswith(known.question)
    (named,) = known_options([Option(action="answer", label="Sure", text=text)], ToolRegistry(), evidence)
    assert (named.label, named.question) == ("Sure", known.question)


def test_of_an_answer_that_was_only_refused_no_question_is_shown() -> None:
    weights = (LessonWeight("e-1", "is it?", "", approves=False, weight=-0.1, effect=0.1),)
    evidence = Evidence(beliefs=(Belief(action="answer", text="Yes.", value=0.1, prior=0.0, weights=weights),))
    (known,) = known_options([answer_option("Yes.")], ToolRegistry(), evidence)
    assert (known.label, known.question) == ("Yes.", "")


@pytest.mark.parametrize(
    ("description", "arguments", "expected"),
    [
        ("Tells the time, in any city. For example: what time is it?", {}, "Tells the time, in any city"),
        ("Tells the time.\nMore.", {"zone": "Oslo", "hours": 2}, "Tells the time: Oslo, 2"),
        (
            "Tells the current time and date, in any city, country or time zone.",
            {"place": "Santiago de Compostela"},
            "Tells the current time and date, in any city: Santiago de Compostela",
        ),
        ("", {}, "world clock"),
        ("long " * 40, {}, ("long " * 14)[:69] + "…"),
    ],
)
def test_a_tool_is_offered_in_the_words_of_its_description(
    description: str, arguments: dict[str, object], expected: str
) -> None:
    spec = ToolSpec(name="world_clock", description=description, parameters=NO_ARGUMENTS)
    assert tool_label(spec, arguments) == expected


async def test_a_question_keeps_what_it_offers_and_the_lessons_behind_it() -> None:
    model = ScriptedModel(
        [call("ask_person", question="Which?", options=[{"answer": YARD}, {"tool": "shed"}, {"tool": "gone"}])]
    )
    recall = Weighed(belief(YARD, 0.1))
    result = await make_tree(model, tool(), recall=recall).run("where?", SCOPE, run_id="r")
    assert result.output == f"Which?\n\n- “{YARD}” (for “{GOAL}”)\n- Opens the shed"
    assert offered(result) == [
        Option(action="answer", label=f"{YARD} ({GOAL})", text=YARD, lessons=(f"e-{YARD}",), question=GOAL),
        Option(action="shed", label="Opens the shed"),
    ]
    assert (result.asked, result.nodes[0].action, result.termination) == (True, ASK, Termination.SUCCESS)


async def test_a_question_without_anything_to_choose_is_as_it_was() -> None:
    model = ScriptedModel([call("ask_person", question="Which?", options=[{"tool": "gone"}])])
    result = await make_tree(model, tool()).run("where?", SCOPE, run_id="r")
    assert (result.output, result.asked, result.nodes[0].action) == ("Which?", True, "answer")


async def test_a_chosen_answer_needs_no_model() -> None:
    chosen = Option(action="answer", label=YARD, text=YARD)
    result = await make_tree(ScriptedModel([])).run("where?", SCOPE, run_id="r", chosen=chosen)
    assert (result.output, result.chosen, result.nodes[0].model) == (YARD, True, "people")


@pytest.mark.parametrize("form", ["native", "text"])
async def test_a_chosen_tool_runs_first_and_the_model_finds_what_it_said(form: str) -> None:
    done: list[Mapping[str, object]] = []
    model = ScriptedModel([answer("Answer: It is open." if form == "text" else "It is open.")])
    tree = make_tree(model, tool(done, has_side_effects=True), tool_calls=form)  # type: ignore[arg-type]
    chosen = Option(action="shed", label="s", arguments={"n": 1})
    assert (await tree.run("where?", SCOPE, run_id="r", chosen=chosen)).asked
    assert done == []
    permission = Permission(grant=Grant.ONCE, by="tea")
    result = await tree.run("where?", SCOPE, run_id="r", chosen=replace(chosen, permission=permission))
    assert (result.output, done, result.allowed[0].permission) == ("It is open.", [{"n": 1}], permission)
    assert "The shed is open." in str(model.requests[0].turns)
    assert "shed" in str(model.requests[0].turns[1])


async def test_what_changes_something_is_asked_about_before_it_is_done() -> None:
    done: list[Mapping[str, object]] = []
    model = ScriptedModel([call("shed", key="4711")])
    result = await make_tree(model, tool(done, has_side_effects=True)).run("open it", SCOPE, run_id="r")
    assert (done, result.asked) == ([], True)
    assert offered(result) == [
        Option(action="shed", label="Opens the shed: 4711", arguments={"key": "4711"}, is_approval=True)
    ]
    assert result.output.endswith('Opens the shed:\n\n```\nshed {\n  "key": "4711"\n}\n```')
    harmless = ScriptedModel([call("shed"), answer("Open.")])
    assert not (await make_tree(harmless, tool(done)).run("open it", SCOPE, run_id="r")).asked
    assert done == [{}]


async def test_where_lessons_disagree_the_person_is_asked_and_not_the_model() -> None:
    recall = Weighed(belief(YARD, 0.4), belief("In the cellar.", 0.39), belief("", 0.3, "shed"), belief("No.", 0.01))
    tree = make_tree(ScriptedModel([]), tool(), recall=recall, asks_first=True)
    result = await tree.run("where?", SCOPE, run_id="r")
    assert [each.text or each.label for each in offered(result)] == [YARD, "In the cellar.", "Opens the shed"]
    assert all(GOAL in each.label for each in offered(result)[:2])


@pytest.mark.parametrize(
    "beliefs",
    [
        (),
        (belief(YARD, 0.5),),
        (belief(YARD, 0.9), belief("In the cellar.", 0.3)),
        (belief(YARD, 0.5), belief("In the cellar.", 0.1)),
        (Belief(action="shed", value=0.4, prior=0.4), belief(YARD, 0.4)),
    ],
)
async def test_otherwise_the_model_is_asked(beliefs: tuple[Belief, ...]) -> None:
    tree = make_tree(ScriptedModel([answer("Paris.")]), tool(), recall=Weighed(*beliefs), asks_first=True)
    assert (await tree.run("where?", SCOPE, run_id="r")).output == "Paris."


async def test_nobody_is_asked_while_there_is_something_to_fall_back_to() -> None:
    model = ByGoal(
        {"both": [expand("fallback", "A", "B")], "A": [fail("no A")], "B": [call("ask_person", question="Which?")]}
    )
    result = await make_tree(model).run("both", SCOPE, run_id="r")
    tools = {goal: [spec.name for spec in model.requests_for(goal)[0].tools] for goal in ("A", "B")}
    assert ("ask_person" in tools["A"], "ask_person" in tools["B"]) == (False, True)
    assert result.output == "Which?"


async def test_of_several_parts_those_that_are_known_are_answered_and_each_other_is_asked_about() -> None:
    options = [{"answer": YARD}]
    model = ByGoal(
        {
            "all": [expand("parallel", "A", "B", "C")],
            "A": [answer("a")],
            "B": [call("ask_person", question="Which?", options=options)],
            "C": [fail("no idea")],
        }
    )
    result = await make_tree(model).run("all", SCOPE, run_id="r")
    question = f"About “B”: Which?\n\n- “{YARD}”"
    assert result.output == f"a\n\n{question}\n\nI don't know: “C”."
    assert result.asked
