"""The offline model: through the port with real prompts, and part by part."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, strategies as st

from bot.adapters.llm.offline.arguments import FilledArguments, fill
from bot.adapters.llm.offline.arithmetic import find_expression
from bot.adapters.llm.offline.decisions import Decider
from bot.adapters.llm.offline.model import OfflineModel
from bot.adapters.llm.offline.place import find_place
from bot.adapters.llm.offline.prompt_parser import Prompt, PromptLesson, read_output, read_prompt
from bot.adapters.llm.offline.similarity import Similarity
from bot.agent.decision import CONTROL_TOOLS
from bot.agent.dialogue import node_prompt, tool_output
from bot.agent.record import Task
from bot.agent.tools.notes import remember_tool
from bot.errors import ModelUnavailable
from bot.model import ModelRequest, ModelTurn, ToolCall, ToolSpec, ToolTurn, UserTurn
from memory.adapters.embedding.hashing import HashingEmbedder
from memory.errors import EmbeddingFailed
from memory.library.working_memory import Observation
from memory.model import Audience, Episode, Exemplar, Lesson, Scope, Step, StepKind, Vector, Verdict, Verdicts
from memory.rules.retrieval.prompt import render_lessons
from tests.bot.adapters.llm.offline_tools import BUILT_IN, CALCULATOR, CLOCK, NOW, OFFERED
from tests.doubles.model import CannedRecall, make_tree


def lesson(
    goal: str,
    output: str = "",
    *,
    action: str = "answer",
    verdict: Verdict = Verdict.SUCCESS,
    correction: str = "",
    trajectory: tuple[Step, ...] = (),
) -> Exemplar:
    episode = Episode(
        id=f"{goal}/{output}",
        goal=goal,
        output=output,
        action=action,
        correction=correction,
        trajectory=trajectory,
        place="#general",
        verdicts=Verdicts(personal=verdict),
    )
    return Exemplar(
        episode=episode,
        verdict=verdict,
        audience=Audience.PERSONAL,
        context_score=1.0,
        intent_score=0.8,
        relevance=0.8,
    )


def opening(goal: str, *lessons: Exemplar, keys: Sequence[str] = ()) -> UserTurn:
    text, _ = render_lessons(lessons, budget_tokens=4_000)
    memory = [Observation(key=key, value="?", node="0.1", at=NOW) for key in keys]
    return UserTurn(text=node_prompt(Task(goal=goal, why="asked"), NOW, lessons=text, memory=memory))


def hashing() -> OfflineModel:
    return OfflineModel(HashingEmbedder().embed)


async def ask(
    goal: str,
    *lessons: Exemplar,
    model: OfflineModel | None = None,
    tools: tuple[ToolSpec, ...] = OFFERED,
    keys: Sequence[str] = (),
) -> ModelTurn:
    turns = (opening(goal, *lessons, keys=keys),)
    return (await (model or hashing()).reply(ModelRequest(system="You are Goodbot.", turns=turns, tools=tools))).turn


def only_call(turn: ModelTurn) -> tuple[str, Mapping[str, object]]:
    (call,) = turn.calls
    assert call.arguments is not None
    return call.name, call.arguments


# What it does, through the port -------------------------------------------------------------------------------------


async def test_it_uses_the_tool_whose_examples_fit() -> None:
    assert only_call(await ask("What time is it in Oslo?")) == ("clock", {"place": "Oslo"})
    assert only_call(await ask("what is 12 * 7?")) == ("calculator", {"expression": "12 * 7"})


async def test_it_costs_nothing_and_says_who_it_is() -> None:
    reply = await hashing().reply(ModelRequest(system="", turns=(opening("hi"),), tools=OFFERED))
    assert reply.model == "offline"
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.cost_usd) == (0, 0, 0.0)


@pytest.mark.parametrize(
    ("goal", "keys", "possible"),
    [
        ("where is the spare key?", (), {"clock"}),
        ("what is 2+2?", (), {"clock", "calculator"}),
        ("note that the door code is 4711", (), {"clock", "remember"}),
        ("what is the door code?", ("door code",), {"clock", "recall"}),
    ],
)
async def test_it_says_which_tools_need_what_the_goal_does_not_have(
    goal: str, keys: Sequence[str], possible: set[str]
) -> None:
    reply = await hashing().reply(ModelRequest(system="", turns=(opening(goal, keys=keys),), tools=OFFERED))
    assert {"clock", "calculator", "remember", "recall"} - reply.impossible == possible


async def test_what_it_does_not_know_it_says_honestly() -> None:
    name, arguments = only_call(await ask("tell me a joke about pirates", tools=(CLOCK.spec, *CONTROL_TOOLS)))
    assert name == "fail"
    reason = str(arguments["reason"])
    assert "don't know" in reason
    assert "no language model" in reason
    assert "👎" in reason


async def test_without_a_fail_tool_it_says_so_in_plain_text() -> None:
    turn = await ask("tell me a joke about pirates", tools=())
    assert not turn.calls
    assert "no language model" in turn.text


async def test_a_known_answer_is_repeated_whole() -> None:
    answer = "Open it:\n\n1. `vpn <goal> reset`\n    indented\n2. wait\nAnswer: done\n3. REPEAT: not a lesson: 'x'"
    turn = await ask("how do I reset my VPN token", lesson("How do I reset my VPN token?", answer))
    assert turn == ModelTurn(text=answer)


async def test_of_two_answers_the_closer_question_wins() -> None:
    closer = lesson("Who is on call this week?", "Ana")
    other = lesson("Who is on call this month?", "Bo")
    assert (await ask("Who is on call this week?", other, closer)).text == "Ana"


async def test_two_answers_to_one_question_are_asked_about_unless_it_must_choose() -> None:
    lessons = [lesson("Who is on call?", "Ana"), lesson("Who is on call?", "Bo")]
    name, arguments = only_call(await ask("Who is on call?", *lessons, tools=CONTROL_TOOLS))
    assert name == "ask_person"
    assert arguments["options"] == [{"answer": "Ana"}, {"answer": "Bo"}]
    choosing = OfflineModel(HashingEmbedder().embed, must_choose=True)
    assert (await ask("Who is on call?", *lessons, model=choosing)).text == "Ana"


async def test_a_rejected_answer_is_not_given_again_but_another_is() -> None:
    goal = "Who is our CFO?"
    rejected = lesson(goal, "Tom", verdict=Verdict.FAILURE)
    name, _ = only_call(await ask(goal, rejected, tools=CONTROL_TOOLS))
    assert name == "fail"
    assert (await ask(goal, rejected, lesson(goal, "Dana"), lesson(goal, "Tom"))).text == "Dana"


async def test_a_correction_is_the_answer_unless_it_names_a_tool() -> None:
    goal = "Who is our CFO?"
    corrected = lesson(goal, "Tom", verdict=Verdict.FAILURE, correction="Dana, since May.")
    assert (await ask(goal, corrected)).text == "Dana, since May."
    told = lesson(
        "How late is it for us?", "I don't know", action="none", verdict=Verdict.FAILURE, correction="Use the clock!"
    )
    assert only_call(await ask("How late is it for us?", told)) == ("clock", {})


async def test_an_approved_tool_is_used_again_on_this_goal() -> None:
    approved = lesson("When is it where Ana sits, in Lima?", "It is 04:05 in Lima.", action="clock")
    turn = await ask("When is it where Ana sits, in Quito?", approved)
    assert only_call(turn) == ("clock", {"place": "Quito"})


async def test_a_rejected_tool_choice_changes_the_next_one() -> None:
    goal = "what time is it in Oslo at the big clock?"
    assert only_call(await ask(goal))[0] == "clock"
    rejected = lesson(goal, "It is 10:05.", action="clock", verdict=Verdict.FAILURE)
    for asked in (goal, "what time is it at the big clock in Oslo?"):
        assert [call.name for call in (await ask(asked, rejected)).calls] != ["clock"]


async def test_a_lesson_about_something_else_changes_nothing() -> None:
    unrelated = lesson("who feeds the cat", "It is 10:05.", action="clock", verdict=Verdict.FAILURE)
    assert only_call(await ask("What time is it in Oslo?", unrelated))[0] == "clock"


@pytest.mark.parametrize(
    ("goal", "flow", "parts"),
    [
        ("What time is it in Oslo and what is 2+2?", "parallel", ["What time is it in Oslo", "what is 2+2?"]),
        ("what is 2+2, then what time is it?", "sequence", ["what is 2+2", "what time is it?"]),
        ("what is 2+2 and then 3*3", "sequence", ["what is 2+2", "3*3"]),
        ("what is 2+2, or else what time is it?", "fallback", ["what is 2+2", "what time is it?"]),
        ("Calculate 5*5, otherwise tell me the time", "fallback", ["Calculate 5*5", "tell me the time"]),
        ("what is 1+1, what is 2+2 and what is 3+3?", "parallel", ["what is 1+1", "what is 2+2", "what is 3+3?"]),
        (
            "what is 1+1 and what is 2+2, then what is 3+3?",
            "sequence",
            ["what is 1+1 and what is 2+2", "what is 3+3?"],
        ),
    ],
)
async def test_a_goal_of_several_is_taken_apart(goal: str, flow: str, parts: list[str]) -> None:
    assert only_call(await ask(goal)) == ("expand", {"flow": flow, "subgoals": parts})


async def test_a_goal_is_left_whole_when_expanding_was_rejected_or_is_not_offered() -> None:
    goal = "what is 2+2 and what time is it?"
    rejected = lesson(goal, "4", action="expand", verdict=Verdict.FAILURE)
    assert only_call(await ask(goal, rejected))[0] != "expand"
    assert only_call(await ask(goal, tools=BUILT_IN))[0] != "expand"


async def test_a_known_answer_to_the_whole_goal_is_not_taken_apart() -> None:
    goal = "Who is our CFO and who is our CTO?"
    assert (await ask(goal, lesson(goal, "Dana and Tom."))).text == "Dana and Tom."
    parts = [lesson("Who is our CFO?", "Dana"), lesson("who is our CTO?", "Tom")]
    assert only_call(await ask(goal, *parts))[0] == "expand"


async def test_an_approved_expansion_is_done_again() -> None:
    steps = (Step(kind=StepKind.EXPAND, flow="parallel", subgoals=("what is the date?", "what is 2+2?")),)
    approved = lesson("Give me the morning report", "It is Monday.\n\n4", action="expand", trajectory=steps)
    assert only_call(await ask("give me the morning report", approved)) == (
        "expand",
        {"flow": "parallel", "subgoals": ["what is the date?", "what is 2+2?"]},
    )


async def test_a_note_is_read_when_the_prompt_lists_its_key() -> None:
    assert only_call(await ask("what is the door code?", keys=["door code"])) == ("recall", {"key": "door code"})
    assert [call.name for call in (await ask("what is the door code?")).calls] != ["recall"]


# What it makes of results --------------------------------------------------------------------------------------------


async def _after(goal: str, call: ToolCall, content: str, *, is_error: bool = False) -> ModelTurn:
    turns = (
        opening(goal),
        ModelTurn(text="clock fits best", calls=(call,)),
        ToolTurn(call_id=call.id, name=call.name, content=tool_output(call.name, content), is_error=is_error),
    )
    return (await hashing().reply(ModelRequest(system="", turns=turns, tools=OFFERED))).turn


async def test_a_result_is_the_answer() -> None:
    call = ToolCall(id="offline-1", name="clock", arguments={"place": "Oslo"})
    said = "It is 10:05 in Oslo.\n\n<goal> is text"
    assert await _after("What time is it in Oslo?", call, said) == ModelTurn(text=said)


async def test_after_an_error_it_fails_and_says_what_went_wrong() -> None:
    goal, no_place = "What time is it in Narnia?", "I know no place named Narnia."
    clock = ToolCall(id="offline-1", name="clock", arguments={"place": "Narnia"})
    name, query = only_call(await _after(goal, clock, no_place, is_error=True))
    assert (name, query) == ("search_knowledge", {"query": goal})  # the documents are asked before it gives up

    search = ToolCall(id="offline-2", name=name, arguments=query)
    turns = (opening(goal), *_exchange(clock, no_place), *_exchange(search, "Nothing about that."))
    reply = await hashing().reply(ModelRequest(system="", turns=turns, tools=OFFERED))
    name, arguments = only_call(reply.turn)
    assert name == "fail"
    assert "I know no place named Narnia." in str(arguments["reason"])


def _exchange(call: ToolCall, error: str) -> tuple[ModelTurn, ToolTurn]:
    content = tool_output(call.name, error)
    return ModelTurn(calls=(call,)), ToolTurn(call_id=call.id, name=call.name, content=content, is_error=True)


def test_what_a_search_finds_must_fit_the_question() -> None:
    similarity = Similarity(HashingEmbedder().embed)
    asked = Prompt(goal="What does the policy say?")
    fits = ToolTurn(call_id="", name="search_knowledge", content="The policy does say what the policy is.")
    astray = ToolTurn(call_id="", name="search_knowledge", content="Gurken wachsen im Gewächshaus.")
    assert Decider(similarity, asked, OFFERED, [fits]).decide() == ModelTurn(text=fits.content)
    assert only_call(Decider(similarity, asked, OFFERED, [astray]).decide())[0] == "fail"


async def test_made_to_choose_it_does_the_best_it_can_think_of() -> None:
    goal, tools = "tell me a joke about pirates", (CLOCK.spec, *CONTROL_TOOLS)
    made_to = OfflineModel(HashingEmbedder().embed, must_choose=True)
    assert only_call(await ask(goal, tools=tools))[0] == "fail"
    assert only_call(await ask(goal, tools=tools, model=made_to))[0] == "clock"


async def test_in_the_tree_two_parts_are_answered_by_two_nodes() -> None:
    tree = make_tree(hashing(), CLOCK, CALCULATOR)
    result = await tree.run("what is 2+2 and what time is it in Tokyo?", _scope(), run_id="r1")
    assert result.output.startswith("2 + 2 = 4\n\nIt is ")
    assert [node.node_path for node in result.nodes] == ["0", "0.0", "0.1"]


async def test_in_the_tree_a_failed_part_is_named_and_the_other_told() -> None:
    tree = make_tree(hashing(), CLOCK, CALCULATOR)
    result = await tree.run("what is 2+2 and who feeds the cat?", _scope(), run_id="r1")
    assert "2 + 2 = 4" in result.output
    assert result.output.endswith("I don't know: “who feeds the cat?”.")
    assert result.lacks_parts


async def test_in_the_tree_it_is_told_why_a_tool_failed_on_a_part() -> None:
    tree = make_tree(hashing(), CLOCK, CALCULATOR)
    result = await tree.run("what is 2+2 and what is 5/0?", _scope(), run_id="r1")
    assert result.output.endswith("I don't know: “what is 5/0?” (Division by zero has no result).")


async def test_in_the_tree_a_lesson_answers() -> None:
    goal = "who feeds the cat?"
    recall = CannedRecall({goal: (lesson(goal, "Ana does."),)})
    result = await make_tree(hashing(), CLOCK, recall=recall).run(goal, _scope(), run_id="r1")
    assert result.output == "Ana does."


def _scope() -> Scope:
    return Scope(workspace="terminal:home", channel="C1", person="ana")


async def test_an_embedder_that_fails_is_a_model_that_is_unavailable() -> None:
    def broken(texts: Sequence[str]) -> list[Vector]:
        raise EmbeddingFailed("the weights are gone")

    with pytest.raises(ModelUnavailable, match="the weights are gone"):
        await ask("What time is it?", model=OfflineModel(broken))


# Its parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("17+25", "17+25"),
        ("What is 3 plus 4 times 2?", "3 + 4 * 2"),
        ("how much is 15 percent of 1,200?", "15% of 1,200"),
        ("half of 30", "50% of 30"),
        ("the square root of 16", "sqrt(16)"),
        ("calculate sqrt(2) * 12 please", "sqrt(2) * 12"),
        ("subtract 3 from ten", "10 - 3"),
        ("3 x 4", "3 * 4"),
        ("((1 + 2) * 3", "(1 + 2) * 3"),
        ("calculate 12*(3+4", "12*(3+4)"),
        ("2+2)*3", "(2+2)*3"),
        ("it is easy (so 2 + 3)", "2 + 3"),
        ("what is (1+2))?", "(1+2)"),
        ("call me on 555-0100", ""),
        ("is support there 24/7?", ""),
        ("due 2026-11-21", ""),
        ("on 3/5/2026", ""),
        ("rock and roll", ""),
        ("version 2", ""),
        ("what is 2 and 3", ""),
        ("what is 2+2 and what is 3+3", ""),
    ],
)
def test_a_calculation_is_found(text: str, expression: str) -> None:
    assert find_expression(text) == expression


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("what time is it in São Paulo right now?", "São Paulo"),
        ("time in new york please", "new york"),
        ("time in the Netherlands", "Netherlands"),
        ("Tokyo time?", "Tokyo"),
        ("what time does the office in Rome open?", "Rome"),
        ("what time is it in the morning", ""),
        ("in 5 minutes", ""),
        ("what time is it?", ""),
        ("what time is it in Paris and in Tokyo?", "Paris and in Tokyo"),
        ("what time is it in Paris, Tokyo and New York right now?", "Paris, Tokyo and New York"),
        ("what time is it in Paris & Tokyo?", "Paris & Tokyo"),
        ("what time is it in Paris & what is 2+2?", "Paris"),
        ("what time is it in Rome, Milan, and in Oslo, please?", "Rome, Milan, and in Oslo"),
        ("the time in Bosnia and Herzegovina", "Bosnia and Herzegovina"),
        ("what time is it in Tokyo, Japan?", "Tokyo"),
        ("what time is it in Paris and What is 2+2?", "Paris"),
        ("what time is it in Paris and Who are you?", "Paris"),
        ("what time is it in Paris and what is 2+2?", "Paris"),
    ],
)
def test_a_place_is_found(text: str, place: str) -> None:
    assert find_place(text) == place


def test_arguments_follow_the_schema() -> None:
    schema: dict[str, object] = {
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["celsius", "kelvin"]},
            "limit": {"type": "integer"},
            "verbose": {"type": "boolean"},
            "title": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["unit", "title"],
    }
    filled = fill(schema, 'plot "Heat" in Kelvin, limit 5, not verbose')
    assert filled is not None
    assert filled.arguments == {"unit": "kelvin", "limit": 5, "verbose": False, "title": "Heat"}
    assert fill(schema, "plot it in Kelvin") is None
    assert fill({"type": "object", "properties": {}}, "anything") == FilledArguments()
    assert fill({}, "anything") == FilledArguments()


def test_a_note_needs_a_key_and_a_value() -> None:
    schema = remember_tool(lambda: NOW).parameters
    filled = fill(schema, "please remember that the door code is 4711.")
    assert filled is not None
    assert filled.arguments == {"key": "door code", "value": "4711"}
    assert fill(schema, "do you remember me?") is None


_TEXTS = st.text(
    alphabet=st.characters(codec="utf-8", exclude_categories=["C", "Z"], include_characters=" "), max_size=80
)
_ANSWERS = st.lists(_TEXTS, min_size=1, max_size=4).map("\n".join).filter(str.strip)


@given(goal=_TEXTS.filter(str.strip), asked=_TEXTS.filter(str.strip), answer=_ANSWERS)
def test_a_rendered_prompt_is_read_back(goal: str, asked: str, answer: str) -> None:
    prompt = read_prompt(opening(goal, lesson(asked, answer), lesson("second", "two"), keys=["a (b)"]).text)
    assert prompt.goal == goal.strip()
    assert prompt.keys == ("a (b)",)
    first, second = prompt.lessons
    assert (first.kind, first.action, first.answer) == (Lesson.REPEAT, "answer", answer.strip())
    assert first.goal == " ".join(asked.split())
    assert (second.goal, second.answer) == ("second", "two")


def test_an_avoid_lesson_is_read_back() -> None:
    rejected = lesson("when is lunch", "It is 9.", verdict=Verdict.FAILURE)
    corrected = lesson("who", "x", action="none", verdict=Verdict.FAILURE, correction="Ana.\nOr Bo.")
    prompt = read_prompt(opening("now", rejected, corrected).text)
    assert prompt.lessons == (
        PromptLesson(kind=Lesson.AVOID, action="answer", goal="when is lunch", wrong_answer="It is 9."),
        PromptLesson(kind=Lesson.AVOID, action="none", goal="who", instead="Ana.\nOr Bo."),
    )


def test_a_text_without_blocks_is_a_goal() -> None:
    assert read_prompt(" just this ") == Prompt(goal="just this")
    assert read_output("plain") == "plain"
    assert read_output('<tool-output name="x">\n12\n</tool-output>') == "12"
