import pytest
from hypothesis import example, given, strategies as st

from bot.agent.control import Flow, Policy
from bot.agent.decision import Act, Answer, Ask, Choice, Expand, Fail, Invalid, Think
from bot.agent.textual import parse


def choice(text: str) -> Choice:
    return parse(text).decision.choice


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ('Act: clock {"place": "Tokyo"}', "clock", {"place": "Tokyo"}),
        ("Act: clock", "clock", {}),
        ("Act: clock()", "clock", {}),
        ('act: clock({"place": "Tokyo"})', "clock", {"place": "Tokyo"}),
        ('**Action:** `clock` {"place": "Tokyo"}', "clock", {"place": "Tokyo"}),
        ('Act: clock\n```json\n{"place": "Tokyo"}\n```', "clock", {"place": "Tokyo"}),
        ('Act: clock {"place":\n  "Tokyo"} and then we see', "clock", {"place": "Tokyo"}),
        ('Act: note {"text": "Answer: {1}"}', "note", {"text": "Answer: {1}"}),
        ("Act: clock Tokyo", "clock", None),
        ('Act: clock {"place": ', "clock", None),
        ('Act: clock ["Tokyo"]', "clock", None),
    ],
)
def test_acts(text: str, tool: str, arguments: dict[str, object] | None) -> None:
    chosen = choice(text)
    assert isinstance(chosen, Act)
    assert [(each.name, each.arguments) for each in chosen.calls] == [(tool, arguments)]


def test_a_thought_goes_with_the_act() -> None:
    parsed = parse('Let me see.\nThought: I need the time.\nAct: clock {"place": "Rome"}')
    assert parsed.decision.thoughts == ("Let me see.", "I need the time.")
    assert isinstance(parsed.decision.choice, Act)


def test_what_a_model_makes_up_after_its_choice_is_dropped() -> None:
    parsed = parse("Act: clock {}\nObservation: It is noon.\nAnswer: noon")
    assert isinstance(parsed.decision.choice, Act)
    assert parsed.prose == "Act: clock {}"


def test_an_observation_of_its_own_ends_the_reading() -> None:
    parsed = parse("Think: hm\nObservation: It is noon.\nAnswer: noon")
    assert parsed.decision.choice == Think(text="hm")
    assert parsed.prose == "Think: hm"


def test_an_answer_goes_on_to_the_end() -> None:
    assert choice("Think: easy\nAnswer: First line.\n\nAct: is a word, too.") == Answer(
        text="First line.\n\nAct: is a word, too."
    )
    assert choice("Final Answer: 4") == Answer(text="4")


def test_text_without_a_label_is_the_answer() -> None:
    assert choice("  It is noon.\n") == Answer(text="It is noon.")


def test_other_choices() -> None:
    assert choice("Ask: Which office?") == Ask(question="Which office?")
    assert choice("Fail: nobody knows") == Fail(reason="nobody knows")
    assert choice("Think: one\nThink: two") == Think(text="two")
    assert choice("Expand: sequence: buy salt, pepper | and cook") == Expand(
        flow=Flow.SEQUENCE, subgoals=("buy salt, pepper", "cook")
    )
    assert choice("Expand: parallel any: a | b") == Expand(flow=Flow.PARALLEL, subgoals=("a", "b"), policy=Policy.ANY)
    assert choice("Expand: Parallel (majority):\n a\n b\n c") == Expand(
        flow=Flow.PARALLEL, subgoals=("a", "b", "c"), policy=Policy.MAJORITY
    )


@pytest.mark.parametrize("text", ["", "  ", "Answer:", "Ask: ", "Expand: a | b", "Expand: sequence:", "Act:", "Think:"])
def test_what_decides_nothing_is_told_to_the_model(text: str) -> None:
    chosen = choice(text)
    assert isinstance(chosen, Invalid)
    assert chosen.problem


labels = st.sampled_from(
    [
        "Think:",
        "Act:",
        "Expand:",
        "Answer:",
        "Ask:",
        "Fail:",
        "Observation:",
        "\n",
        " ",
        "{",
        '"a": 1',
        "}",
        "|",
        "clock",
    ]
)


@given(st.text() | st.lists(labels).map("".join))
@example("0\nTHINK:0\nTHINK:0")
def test_no_reply_can_break_the_reading(text: str) -> None:
    parsed = parse(text)
    assert len(parsed.prose) <= len(text) + 8
    if isinstance(parsed.decision.choice, Answer | Think):
        assert parsed.decision.choice.text


def test_deep_nesting_is_only_malformed() -> None:
    chosen = choice("Act: clock " + '{"a":' * 100_000)
    assert isinstance(chosen, Act)
    assert chosen.calls[0].arguments is None


def test_a_number_of_too_many_digits_is_only_malformed() -> None:
    chosen = choice('Act: clock {"a": ' + "1" * 5_000 + "}")
    assert isinstance(chosen, Act)
    assert chosen.calls[0].arguments is None
