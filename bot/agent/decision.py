"""The decisions of a node, and the parser for replies with native tool calls.

Besides its tools the model is offered control tools. A reply without a tool call is the answer.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from bot.agent.control import Flow, Policy
from bot.agent.tools.registry import object_schema, text_argument, text_property
from bot.model import ModelReply, ModelTurn, ToolCall, ToolSpec
from memory.model import ASK, MOST_OPTIONS, Option
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.retrieval.prompt import shown_line

MAX_SUBGOALS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Run tools."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expand:
    """Split the goal into subgoals under one control flow."""

    flow: Flow
    subgoals: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    """Why each subgoal is needed; as long as `subgoals`, or empty."""
    policy: Policy = Policy.ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Answer the goal with this text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Give up the goal."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Ask the person a question."""

    question: str
    options: tuple[Option, ...] = ()
    """Possible meanings or answers to choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Think:
    """Only a thought; the model is asked again."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Invalid:
    """The reply is no decision; `problem` tells the model why."""

    problem: str


Choice: TypeAlias = Act | Expand | Answer | Fail | Ask | Think | Invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A choice, and the thoughts that came with it."""

    choice: Choice
    thoughts: tuple[str, ...] = ()


def _control_tool(name: str, description: str, properties: Mapping[str, object], *required: str) -> ToolSpec:
    return ToolSpec(name=name, description=description, parameters=object_schema(properties, *required))


_TEXTS = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_SUBGOALS}

EXPAND = _control_tool(
    "expand",
    "Split your goal into subgoals; each is pursued by itself. The person reads what they find, one below the other, "
    "and you add nothing: what must be compared or put together is for the last subgoal of a sequence, which can "
    "recall what the others found, or for you alone, with tools. "
    "sequence: one after another, all must succeed. fallback: one after another until one succeeds. "
    "parallel: independent ones, at the same time.",
    {
        "flow": {"type": "string", "enum": [flow.value for flow in Flow]},
        "subgoals": {**_TEXTS, "minItems": 1, "description": "each a complete goal that can be understood alone"},
        "reasons": {**_TEXTS, "description": "why each subgoal is needed, in the same order"},
        "policy": {
            "type": "string",
            "enum": [policy.value for policy in Policy],
            "description": "how many parallel subgoals must succeed; all by default",
        },
    },
    "flow",
    "subgoals",
)
FAIL = _control_tool(
    "fail",
    "Say honestly that the goal cannot be reached, and why.",
    {"reason": text_property("what to tell the person")},
    "reason",
)
ASK_PERSON = _control_tool(
    ASK,
    "Ask the person one question, when the goal cannot be understood without the answer.",
    {
        "question": {"type": "string"},
        "options": {
            "type": "array",
            "maxItems": MOST_OPTIONS,
            "description": "what they may have meant, where there are a few ways: a tap chooses one, and it is done",
            "items": {
                "type": "object",
                "properties": {
                    "label": text_property("what it is, in a few plain words"),
                    "answer": text_property("the whole answer, if it is one"),
                    "tool": text_property("else the tool to run"),
                    "arguments": {"type": "object", "description": "the tool's"},
                },
            },
        },
    },
    "question",
)

FINAL_ANSWER = _control_tool(
    "final_answer",
    "End with this answer: it is shown to the person while you write it. Call nothing else with it.",
    {"text": text_property("all that the person is to read")},
    "text",
)
"""Offered if partial answers are shown, as a text without a call may still turn out to be a thought."""

LABEL_CHARACTERS = 70
"""Characters of an option's label that buttons show on every platform."""
THINK = _control_tool(
    "think", "Reason about what to do next, without doing it.", {"thought": {"type": "string"}}, "thought"
)

CONTROL_TOOLS = (EXPAND, FAIL, ASK_PERSON, THINK, FINAL_ANSWER)
CONTROL_NAMES = frozenset(tool.name for tool in CONTROL_TOOLS)


def decide(reply: ModelReply) -> Decision:
    """Read a reply with native tool calls. Never raises: an unusable one becomes `Invalid`.

    Tool calls take precedence over a control call in the same reply, as their results may change the decision; except
    over a final answer that comes first, as it has been shown.
    """
    turn = reply.turn
    if not turn.calls:
        text = turn.text.strip()
        return Decision(choice=Answer(text=text) if text else Invalid(problem="Your reply was empty."))
    thoughts = tuple(_thoughts(turn))
    if turn.calls[0].name == FINAL_ANSWER.name:
        return Decision(choice=_control_choice(turn.calls[0]), thoughts=thoughts)
    calls = tuple(call for call in turn.calls if call.name not in CONTROL_NAMES)
    if calls:
        return Decision(choice=Act(calls=calls), thoughts=thoughts)
    for call in turn.calls:
        if call.name != THINK.name:
            return Decision(choice=_control_choice(call), thoughts=thoughts)
    if thoughts:
        return Decision(choice=Think(text=thoughts[-1]), thoughts=thoughts[:-1])
    return Decision(choice=Invalid(problem="The thought was empty."))


def answer_in(reply: ModelTurn) -> str:
    """The partial answer in an unfinished reply: the text of a `final_answer` that comes first, else empty."""
    if not reply.calls or reply.calls[0].name != FINAL_ANSWER.name:
        return ""
    return text_argument(reply.calls[0].arguments or {}, "text")


def expansion(flow: str, subgoals: Iterable[str], reasons: Iterable[str] = (), policy: str = "") -> Expand | Invalid:
    """An expansion from the texts that a model wrote, with cleaned subgoals; `Invalid` if they are unusable."""
    try:
        chosen = Flow(flow.strip().casefold())
        wanted = Policy(policy.strip().casefold() or Policy.ALL)
    except ValueError:
        return Invalid(
            problem=f"Expand needs a flow ({', '.join(Flow)}) and, for parallel, a policy ({', '.join(Policy)}); "
            f"got {flow.strip()[:40]!r} {policy.strip()[:40]!r}."
        )
    goals = clean_subgoals(subgoals)
    if not goals:
        return Invalid(problem="Expand needs at least one subgoal.")
    if len(goals) > MAX_SUBGOALS:
        return Invalid(problem=f"At most {MAX_SUBGOALS} subgoals; group them.")
    why = tuple(reason.strip() for reason in reasons)
    return Expand(flow=chosen, subgoals=goals, reasons=why if len(why) == len(goals) else (), policy=wanted)


_LEADING = re.compile(r"^(?:(?:and|then)(?:\s+|$))+", re.IGNORECASE)


def clean_subgoals(subgoals: Iterable[str]) -> tuple[str, ...]:
    """Subgoals without outer spaces and a leading "and" or "then", and without empty ones.

    The published memories kept such leftovers: 36 of 977 stored goals begin with "and" (evidence on ReAcTree).
    """
    cleaned = (_LEADING.sub("", _without_spaces(subgoal)) for subgoal in subgoals)
    return tuple(subgoal for subgoal in cleaned if subgoal.strip(" .,;|"))


def _without_spaces(text: str) -> str:
    """The text without needless spaces and empty lines. Lines stay apart, as each may be a request."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(filter(None, lines))


def is_same_goal(one: str, other: str) -> bool:
    """Whether two goals are the same text, ignoring case, spaces and closing punctuation."""
    return _folded(one) == _folded(other)


def _folded(goal: str) -> str:
    return " ".join(goal.casefold().split()).rstrip(" .!?")


def _thoughts(turn: ModelTurn) -> Iterable[str]:
    if turn.text.strip():
        yield turn.text.strip()
    for call in turn.calls:
        if call.name == THINK.name and call.arguments is not None:
            thought = text_argument(call.arguments, "thought")
            if thought:
                yield thought


def _control_choice(call: ToolCall) -> Choice:
    if call.arguments is None:
        return Invalid(problem=f"The arguments of {call.name} were not a JSON object: {call.raw[:200]}")
    if call.name == EXPAND.name:
        return expansion(
            text_argument(call.arguments, "flow"),
            _texts(call.arguments, "subgoals"),
            _texts(call.arguments, "reasons"),
            text_argument(call.arguments, "policy"),
        )
    if call.name == FAIL.name:
        return Fail(reason=text_argument(call.arguments, "reason"))
    if call.name == FINAL_ANSWER.name:
        text = text_argument(call.arguments, "text")
        return Answer(text=text) if text else Invalid(problem="final_answer needs a text.")
    question = text_argument(call.arguments, "question")
    if not question:
        return Invalid(problem="ask_person needs a question.")
    return Ask(question=question, options=tuple(_options(call.arguments.get("options"))))


def _options(offered: object) -> Iterable[Option]:
    """The usable options that a model offers: an answer, or a tool with its arguments."""
    for each in offered[:MOST_OPTIONS] if isinstance(offered, list) else ():
        if not isinstance(each, Mapping):
            continue
        answer, tool, arguments = text_argument(each, "answer"), text_argument(each, "tool"), each.get("arguments")
        label = shown_line(text_argument(each, "label") or answer, LABEL_CHARACTERS)
        if answer:
            yield Option(action=ANSWER, label=label, text=answer)
        elif tool and tool not in CONTROL_NAMES:
            yield Option(action=tool, label=label, arguments=arguments if isinstance(arguments, Mapping) else {})


def _texts(arguments: Mapping[str, object], name: str) -> list[str]:
    """A list of texts, or one text split at `|` and line breaks, as small models write it. Never split at commas."""
    value = arguments.get(name)
    if isinstance(value, str):
        return re.split(r"[|\n]", value)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
