"""Where the offline model takes a goal apart: by its words, and by what is known of the whole and of its parts."""

import re
from collections.abc import Mapping

import pytest
from hypothesis import given, strategies as st

from bot.adapters.llm.offline.decisions import Decider, refers_back
from bot.adapters.llm.offline.prompt_parser import Prompt
from bot.adapters.llm.offline.similarity import Similarity
from bot.adapters.llm.offline.splitting import Split, cuts, split
from bot.agent.decision import CONTROL_TOOLS
from bot.model import ModelTurn, ToolSpec
from memory.adapters.embedding.hashing import HashingEmbedder
from memory.model.evidence import Belief, Evidence

Known = tuple[str, float, float]
"""The best action for a goal, the belief in it, and the cosine of the nearest lesson."""
CARD, ALIKE = "I lost my card, tell me a joke", "lock my card and tell me about my card"


def decided(goal: str, parts: Mapping[str, Known], other: Known, weighed: list[str] | None = None) -> ModelTurn:
    """What is decided about a goal where that is known of parts, and `other` of every other text."""
    weighed = [] if weighed is None else weighed

    def weigh(text: str) -> Evidence:
        weighed.append(text)
        action, value, nearest = parts.get(text, other)
        return Evidence(beliefs=(Belief(action=action, value=value, prior=0.0),), nearest=nearest, lessons=1)

    names = sorted({action for action, _, _ in [*parts.values(), other]})
    tools = [ToolSpec(name=each, description=each, parameters={"type": "object", "properties": {}}) for each in names]
    similarity = Similarity(HashingEmbedder().embed)
    return Decider(similarity, Prompt(goal=goal), [*tools, *CONTROL_TOOLS], weigh=weigh).decide()


@pytest.mark.parametrize(
    ("goal", "known", "is_split"),
    [
        (CARD, [("card", 0.3, 0.9), ("joke", 0.3, 0.9)], True),
        (CARD, [("card", 0.3, 0.9), ("card", 0.3, 0.9)], False),  # one thing in two pieces
        (CARD, [("card", 0.3, 0.6), ("joke", 0.1, 0.3)], False),  # the whole is nearer
        ("I lost my card, and tell me a joke", [("card", 0.05, 0.58), ("joke", 0.05, 0.58)], True),  # "and" joins them
        (CARD, [("card", 0.05, 0.58), ("joke", 0.05, 0.58)], False),
        ("text Ann and tell me a joke", [("text", 0.3, 0.85), ("joke", 0.3, 0.85)], True),
        ("text Ann and tell me a joke", [("text", 0.1, 0.75), ("joke", 0.1, 0.75)], False),  # two words say little
        ("text Ann, then tell me a joke", [("text", 0.1, 0.55), ("joke", 0.1, 0.55)], True),  # "then" says much
        ("if Ann calls, then tell me a joke", [("text", 0.1, 0.55), ("joke", 0.1, 0.55)], False),  # not behind "if"
        (ALIKE, [("lock", 0.1, 0.85), ("tell", 0.1, 0.85)], False),  # much alike
        (ALIKE, [("lock", 0.1, 0.95), ("tell", 0.1, 0.95)], True),  # asked before in these words
        ("I lost my card, and tell me a joke", [("card", 0.0, 0.75), ("joke", 0.0, 0.75)], False),  # nothing is known
    ],
)
def test_a_goal_is_taken_apart_where_its_parts_are_likelier_requests_of_their_own(
    goal: str, known: list[Known], is_split: bool
) -> None:
    parts = dict(zip(re.split(r",? and |, then |, ", goal), known, strict=True))
    turn = decided(goal, parts, (known[0][0], 0.15, 0.75))
    assert [call.name == "expand" for call in turn.calls] == [is_split]


@pytest.mark.parametrize("between", [", ", " and ", " then ", ". ", ' and "', ", then ", "; and "])
def test_of_a_message_of_connectives_few_pieces_are_judged(between: str) -> None:
    weighed: list[str] = []
    goal = between.join(f"w{number}" for number in range(300))[:1000]
    assert decided(goal, {}, ("tool", 0.01, 0.2), weighed).calls[0].name == "fail"
    assert len(set(weighed)) <= 2
    of_few = between.join(f"w{number}" for number in range(16))
    decided(of_few, {}, ("tool", 0.01, 0.2), weighed)
    assert len(set(weighed)) <= 100


def test_what_was_asked_before_as_a_whole_is_not_taken_apart() -> None:
    parts = {"I lost my card": ("card", 0.5, 0.9), "tell me a joke": ("joke", 0.5, 0.9)}
    (call,) = decided(CARD, parts, ("both", 0.9, 1.0)).calls
    assert call.name == "both"
    (call,) = decided(CARD, parts, ("both", 0.1, 1.0)).calls  # and was refused then
    assert call.name == "expand"


@pytest.mark.parametrize(
    ("goal", "parts"),
    [
        # By its words alone it would be taken for three requests.
        ("is Tom a person, cat or dog and tell me a joke", ("is Tom a person, cat or dog", "tell me a joke")),
        # The first of these breaks off.
        ("show me where the bus is and tell me a joke", ("show me where the bus is", "tell me a joke")),
    ],
)
def test_a_goal_is_cut_where_its_parts_fit_best(goal: str, parts: tuple[str, str]) -> None:
    known = {part: (f"tool_{number}", 0.3, 0.85) for number, part in enumerate(parts)}
    (call,) = decided(goal, known, ("tool_0", 0.05, 0.5)).calls
    assert call.arguments == {"flow": "parallel", "subgoals": list(parts)}


def test_a_cut_may_follow_what_breaks_off_but_halves_no_pair() -> None:
    assert [way.parts for way in cuts("where the bus is and go on, stop", lambda part: part == "stop")] == [
        ("where the bus is", "go on, stop"),
        ("where the bus is and go on", "stop"),
    ]
    assert cuts("where the bus is and stop", lambda _: False) == []
    assert cuts("tell me the difference between tea and coffee beans", lambda _: True) == []
    assert [way.parts for way in cuts('say "now and then" and leave it', lambda _: False)] == [
        ('say "now and then"', "leave it")
    ]
    assert cuts("do this, or else do that", lambda _: False) == []
    assert cuts(" and ".join(["go on"] * 500), lambda _: False) == []


@pytest.mark.parametrize(
    "goal", ["what zone is Ireland in and who is our CFO", "may I get a new card and search the rules"]
)
def test_words_that_would_hold_two_requests_together_do_not_where_both_are_known(goal: str) -> None:
    parts = tuple(goal.split(" and "))
    assert split(goal, lambda part: False) is None
    assert split(goal, lambda part: part in parts) == Split(flow="parallel", parts=parts)


@pytest.mark.parametrize(
    ("goal", "parts"),
    [
        ("book a room & order a pizza", ("book a room", "order a pizza")),
        ("where is the key & then call a taxi", ("where is the key", "call a taxi")),
        ("what do AT&T and R&D cost & who asks", ("what do AT&T and R&D cost", "who asks")),
        ("what is the difference between tea & book a room", None),
        ("book a room and cancel it", None),
        ("who pays for black & white prints?", None),
    ],
)
def test_an_ampersand_joins_like_and_and_an_errand_begins_a_request(goal: str, parts: tuple[str, ...] | None) -> None:
    found = split(goal, lambda _: False)
    assert (found.parts if found else None) == parts
    assert found is None or found.is_said


@pytest.mark.parametrize(
    ("goal", "parts", "is_said"),
    [
        ("where is the key\nwho has it", ("where is the key", "who has it"), False),
        ("where is the key \n\n  who has it", ("where is the key", "who has it"), False),
        ("- where is the key\n- who has it", ("where is the key", "who has it"), True),
        ("Two things:\n1) where is the key\n2) who has it", ("Two things:\n1) where is the key", "who has it"), True),
        (
            "• where is it kept\n• order a pizza\n• who has it",
            ("where is it kept", "order a pizza", "who has it"),
            True,
        ),
        ("where is\nthe key", None, False),
        ("note this:\n- find it\n- ask Ana\nwho has it", ("note this:\n- find it\n- ask Ana", "who has it"), False),
        ("tell me this:\n- where is it\n- who has it", ("tell me this:\n- where is it", "who has it"), True),
        ("what's 'it'\nwho's 'she'", ("what's 'it'", "who's 'she'"), False),
        ("where's the bosses' room\nwho's in it", ("where's the bosses' room", "who's in it"), False),
        ("¿is it here? ¿who has it?", ("¿is it here?", "¿who has it?"), False),
    ],
)
def test_lines_are_parted_like_sentences_and_lists_like_words_that_join(
    goal: str, parts: tuple[str, ...] | None, is_said: bool
) -> None:
    found = split(goal, lambda part: part.startswith("¿"))
    assert (found.parts if found else None) == parts
    assert found is None or found.is_said is is_said


def test_a_question_ends_with_its_goal_whatever_its_last_word_is() -> None:
    parts = ("what is our zone", "where do you come from")
    assert split(" and ".join(parts), lambda part: False) == Split(flow="parallel", parts=parts)
    assert split("where do you come from and the time", lambda part: False) is None


@pytest.mark.parametrize(
    "goal",
    [
        "rock and roll",
        "what is rock and roll?",
        "salt and pepper",
        "what is 2 and 3",
        "who are Ana and Bob?",
        "How do I clean and store the racket?",
        "tell me when and where the party is",
        "What is the difference between what we say and what we do?",
        "if it rains then we stay home",
        'say "what is it and who is it"',
        "say 'what is it and who is it'",
        "say ‘what is it and who is it’",
        "say `what is it and who is it`",
        "please note that the list is:\n- find the map\n- ask who has it",
        "Remind me tomorrow at 9: \n\n 1. find the map\n 2. ask who has it",
        "My token is broken. How do I reset it?",
        "and",
        ", then",
        "or else",
        "",
    ],
)
def test_one_thing_is_not_taken_apart(goal: str) -> None:
    assert split(goal, lambda part: False) is None


@given(st.text(alphabet='ab ,;.?!"andthenorelswhat', max_size=200), st.booleans())
def test_parts_keep_their_words(goal: str, stands: bool) -> None:
    found = split(goal, lambda part: stands)
    if found is not None:
        assert 2 <= len(found.parts) <= 8
        assert all(part and part in goal for part in found.parts)
    assert all(part and part in goal for way in cuts(goal, lambda part: stands) for part in way.parts)


@pytest.mark.parametrize(
    ("goal", "parts"),
    [
        ('is the 24" monitor free and what is 2+2?', ('is the 24" monitor free', "what is 2+2?")),
        ("translate “you and me” and tell me a joke", ("translate “you and me”", "tell me a joke")),
        ("translate «open and close» and tell me a joke", ("translate «open and close»", "tell me a joke")),
        ('open "room 5" and show me "what is here and why"', ('open "room 5"', 'show me "what is here and why"')),
        ('tell me "what is it and what is that', None),
        ("tell me „what is it and what is that“", None),
    ],
)
def test_what_quotation_marks_enclose_stays_together(goal: str, parts: tuple[str, ...] | None) -> None:
    found = split(goal, lambda _: False)
    assert (found.parts if found else None) == parts


@pytest.mark.parametrize(
    ("part", "is_about_the_one_before"),
    [("how long does it take", True), ("who lives there?", True), ("and when?", True), ("where is the key?", False)],
)
def test_a_part_refers_back_by_a_word_or_by_being_short(part: str, is_about_the_one_before: bool) -> None:
    assert refers_back(part) is is_about_the_one_before


def test_a_long_run_of_signs_before_a_part_is_read_once() -> None:
    # Read again for each way to divide it, it would take hours.
    assert not refers_back("!" * 20_000 + " where is the key?")
