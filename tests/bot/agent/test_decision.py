import pytest
from hypothesis import given, strategies as st

from bot.agent.control import Flow, Policy
from bot.agent.decision import (
    MAX_SUBGOALS,
    Act,
    Answer,
    Ask,
    Choice,
    Decision,
    Expand,
    Fail,
    Invalid,
    Think,
    clean_subgoals,
    decide,
    is_same_goal,
)
from bot.model import ModelReply, ModelTurn, ToolCall
from tests.doubles.model import answer, broken_call, call, calls, expand, fail, tool_call


def choice(reply: ModelReply) -> Choice:
    return decide(reply).choice


def test_plain_text_is_the_answer() -> None:
    assert choice(answer(" At noon. ")) == Answer(text="At noon.")


def test_an_empty_reply_decides_nothing() -> None:
    assert isinstance(choice(answer(" \n")), Invalid)


def test_real_calls_are_acts_and_text_beside_them_is_a_thought() -> None:
    wanted = (tool_call("clock", place="Tokyo"), tool_call("clock", place="Rome"))
    decision = decide(calls(*wanted, text="Both at once."))
    assert decision == Decision(choice=Act(calls=wanted), thoughts=("Both at once.",))


def test_real_calls_go_before_control_calls() -> None:
    clock = tool_call("clock")
    decision = decide(calls(tool_call("fail", reason="no"), clock, tool_call("think", thought="hm")))
    assert decision == Decision(choice=Act(calls=(clock,)), thoughts=("hm",))


def test_control_calls() -> None:
    assert choice(fail("no idea")) == Fail(reason="no idea")
    assert choice(call("ask_person", question="Which one?")) == Ask(question="Which one?")
    assert choice(call("think", thought="hm")) == Think(text="hm")
    assert choice(expand("fallback", "a", "b")) == Expand(flow=Flow.FALLBACK, subgoals=("a", "b"))
    assert choice(expand("parallel", "a", "b", reasons=["x", "y"], policy="any")) == Expand(
        flow=Flow.PARALLEL, subgoals=("a", "b"), reasons=("x", "y"), policy=Policy.ANY
    )


def test_a_thought_beside_an_expansion_is_kept() -> None:
    decision = decide(calls(tool_call("think", thought="two parts"), *expand("sequence", "a", "b").turn.calls))
    assert decision.thoughts == ("two parts",)
    assert isinstance(decision.choice, Expand)


def test_reasons_that_do_not_match_the_subgoals_are_dropped() -> None:
    chosen = choice(expand("sequence", "a", "b", reasons=["only one"]))
    assert isinstance(chosen, Expand)
    assert chosen.reasons == ()


@pytest.mark.parametrize(
    "reply",
    [
        expand("all at once", "a", "b"),
        expand("parallel", "a", "b", policy="some"),
        expand("sequence"),
        expand("sequence", " ", "and "),
        expand("sequence", *map(str, range(MAX_SUBGOALS + 1))),
        call("expand"),
        call("expand", flow=7, subgoals={"a": 1}),
        call("ask_person", question=" "),
        call("think", thought=""),
        broken_call("expand", '{"flow": '),
        broken_call("fail", "no"),
    ],
)
def test_what_cannot_be_carried_out_is_told_to_the_model(reply: ModelReply) -> None:
    chosen = choice(reply)
    assert isinstance(chosen, Invalid)
    assert chosen.problem


def test_subgoals_are_cleaned() -> None:
    assert clean_subgoals([" find  the file ", "and read it", "And then print it", "", " . ", "then stop"]) == (
        "find the file",
        "read it",
        "print it",
        "stop",
    )


def test_the_lines_of_a_subgoal_stay_apart() -> None:
    assert clean_subgoals(["\n- where  is it \n\n - who has it", "a\u2028b"]) == ("- where is it\n- who has it", "a\nb")


def test_words_that_only_begin_like_and_stay() -> None:
    assert clean_subgoals(["Andorra's capital", "thentic"]) == ("Andorra's capital", "thentic")


def test_one_text_is_split_at_bars_but_never_at_commas() -> None:
    chosen = choice(call("expand", flow="sequence", subgoals="buy salt, pepper | cook"))
    assert isinstance(chosen, Expand)
    assert chosen.subgoals == ("buy salt, pepper", "cook")


def test_same_goal_ignores_case_spaces_and_the_closing_mark() -> None:
    assert is_same_goal("What  is 2+2?", "what is 2+2")
    assert not is_same_goal("What is 2+2?", "What is 2+3?")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
arguments = st.none() | st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("flow", "subgoals", "reasons", "policy", "reason", "question", "thought"), json_values),
)
any_calls = st.lists(
    st.builds(
        ToolCall,
        id=st.just("c"),
        name=st.sampled_from(["expand", "fail", "ask_person", "think", "clock", ""]),
        arguments=arguments,
        raw=st.text(max_size=5),
    ),
    max_size=4,
).map(tuple)


@given(text=st.text(), wanted=any_calls)
def test_no_reply_can_break_the_reading(text: str, wanted: tuple[ToolCall, ...]) -> None:
    decision = decide(ModelReply(turn=ModelTurn(text=text, calls=wanted)))
    match decision.choice:
        case Answer(text=said) | Ask(question=said) | Think(text=said) | Invalid(problem=said):
            assert said
        case Expand(subgoals=subgoals):
            assert 1 <= len(subgoals) <= MAX_SUBGOALS
        case Act(calls=acts):
            assert acts
        case Fail():
            pass
