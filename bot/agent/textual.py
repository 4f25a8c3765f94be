"""Textual replies: instructions and parser of the ReAct form, for models without tool calls; and JSON replies.

A reply is read up to its first choice. What follows (an invented `Observation:`, a second action) is dropped, and left
out of the dialogue too.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.agent.decision import Act, Answer, Ask, Choice, Decision, Fail, Invalid, Think, expansion
from bot.model import ToolCall, ToolSpec

_LABEL = re.compile(
    r"^[ \t>*_#-]*"
    r"(?P<label>think|thought|act|action|expand|final answer|answer|ask|fail|observation)"
    r"[ \t*_]*:[ \t*_]*",
    re.IGNORECASE | re.MULTILINE,
)
_CALL = re.compile(r"[`*\s]*(?P<tool>[\w.-]+)[`*]*[ \t]*\(?(?P<rest>.*)", re.DOTALL)
_FENCE = re.compile(r"^```\w*|```\Z")
_OBJECT = re.compile(r"\{[^{}]*\}")
_SPLIT = re.compile(r"\s*(?P<flow>\w++)[ \t]*+\(?(?P<policy>\w*+)\)?[ \t]*+:(?P<goals>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A decision and the part of the reply that it was read from."""

    decision: Decision
    prose: str


def instructions(tools: Sequence[ToolSpec], *, can_expand: bool) -> str:
    """The part of the system prompt that explains the textual form of tool calls."""
    lines = ["Reply with one of these lines, and nothing after it:"]
    lines.append("Think: what you reason (you will be asked again)")
    if tools:
        lines.append('Act: tool {"argument": "value"} (the tool\'s name, then its arguments as one JSON object)')
    if can_expand:
        lines.append("Expand: sequence: first subgoal | second subgoal")
        lines.append("Expand: fallback: first choice | second choice")
        lines.append("Expand: parallel: one subgoal | another (parallel any, parallel majority: not all must succeed)")
    lines.append("Answer: what to say to the person (may go over several lines)")
    lines.append("Ask: one question to the person, when the goal cannot be understood without the answer")
    lines.append("Fail: why the goal cannot be reached")
    if tools:
        lines.append("\nTools, each with the JSON schema of its arguments:")
        for tool in tools:
            schema = json.dumps(tool.parameters, ensure_ascii=False, sort_keys=True)
            lines.append(f"- {tool.name}: {tool.description}\n  {schema}")
    return "\n".join(lines)


def parse(text: str) -> Parsed:
    """Read a reply. A text without any label is the answer. Never raises: an unusable reply becomes `Invalid`."""
    found = list(_LABEL.finditer(text))
    if not found:
        stripped = text.strip()
        choice: Choice = Answer(text=stripped) if stripped else Invalid(problem="Your reply was empty.")
        return Parsed(decision=Decision(choice=choice), prose=stripped)
    thoughts, read = [text[: found[0].start()].strip()], len(text)
    for position, match in enumerate(found):
        following = found[position + 1].start() if position + 1 < len(found) else len(text)
        label = match["label"].casefold()
        body = text[match.end() : following]
        if label in ("think", "thought"):
            thoughts.append(body.strip())
        elif label == "observation":
            read = match.start()
            break
        else:
            # An answer may itself contain "Act:" at the start of a line; the rest of the reply belongs to it.
            end = len(text) if label in ("answer", "final answer") else following
            choice = _choice(label, text[match.end() : end])
            return Parsed(decision=_decision(choice, thoughts), prose=text[:end].strip())
    kept = [thought for thought in thoughts if thought]
    if not kept:
        return Parsed(decision=Decision(choice=Invalid(problem="Your reply decided nothing.")), prose="")
    return Parsed(decision=_decision(Think(text=kept[-1]), kept[:-1]), prose=text[:read].strip())


def answer_in(text: str) -> str:
    """The partial answer in an unfinished reply: the text after `Answer:`, if no other choice precedes it."""
    for match in _LABEL.finditer(text):
        label = match["label"].casefold()
        if label not in ("think", "thought"):
            return text[match.end() :].strip() if label in ("answer", "final answer") else ""
    return ""


def only_object(text: str) -> dict[str, object]:
    """The JSON object of a reply that has exactly one, without nested objects; empty for anything else."""
    found = _OBJECT.findall(text)
    try:
        value = json.loads(found[0]) if len(found) == 1 else {}
    except (ValueError, RecursionError):  # not JSON, a number of too many digits
        return {}
    return value if isinstance(value, dict) else {}


def _decision(choice: Choice, thoughts: Sequence[str]) -> Decision:
    return Decision(choice=choice, thoughts=tuple(thought for thought in thoughts if thought))


def _choice(label: str, body: str) -> Choice:
    content = body.strip()
    if label in ("act", "action"):
        return _act(content)
    if label == "expand":
        return _expand(content)
    if label == "fail":
        return Fail(reason=content)
    if not content:
        return Invalid(problem=f"There was nothing after {label.capitalize()}:")
    return Ask(question=content) if label == "ask" else Answer(text=content)


def _act(content: str) -> Act | Invalid:
    match = _CALL.match(content)
    if match is None:
        return Invalid(problem='Act needs a tool\'s name and its arguments: Act: tool {"argument": "value"}')
    raw = _FENCE.sub("", match["rest"].strip()).strip()
    return Act(calls=(ToolCall(id="", name=match["tool"], arguments=_arguments(raw), raw=raw),))


def _arguments(raw: str) -> dict[str, object] | None:
    """The first JSON object of the text; empty for no text; None for anything else."""
    if raw in ("", ")"):
        return {}
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(raw)
    except (ValueError, RecursionError):  # not JSON, a number of too many digits, too many brackets
        return None
    return value if isinstance(value, dict) else None


def _expand(content: str) -> Choice:
    match = _SPLIT.match(content)
    if match is None:
        return Invalid(problem="Expand needs a flow and subgoals: Expand: sequence: first subgoal | second subgoal")
    return expansion(match["flow"], re.split(r"[|\n]", match["goals"]), policy=match["policy"])
