"""The dialogue of a node with the model: its prompts and turns, with native or textual tool calls.

Texts of people, tools and other nodes are put into named blocks, neutralised so that they cannot close the block, and
the system prompt says that blocks are data. The goal is the last block of the opening turn.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypeAlias

from bot.agent import textual
from bot.agent.decision import (
    ASK_PERSON,
    CONTROL_NAMES,
    EXPAND,
    FAIL,
    FINAL_ANSWER,
    THINK,
    Act,
    Decision,
    answer_in,
    decide,
)
from bot.agent.prompts import sections_of
from bot.agent.record import Task
from bot.agent.textual import instructions
from bot.model import (
    DialogueTurn,
    ImageFile,
    ModelReply,
    ModelRequest,
    ModelTurn,
    ToolCall,
    ToolSpec,
    ToolTurn,
    UserTurn,
)
from memory.library.working_memory import Observation
from memory.model.evidence import Evidence
from memory.rules.retrieval.prompt import neutralise, one_line, replace_unstorable

ToolCalls: TypeAlias = Literal["native", "text"]
"""How the model calls tools: natively, or by the lines of `bot.agent.textual`."""

TOOL_OUTPUT_CHARACTERS = 8_000
_KEY_CHARACTERS = 100
_LINE_CHARACTERS = 300

_TEXT = sections_of("agent")


def system_prompt(
    tools: Sequence[ToolSpec],
    tool_calls: ToolCalls,
    *,
    can_expand: bool = True,
    has_conversation: bool = False,
    preferences: Sequence[str] = (),
    shows_answer: bool = False,
) -> str:
    """The system prompt. With textual tool calls it includes the tools.

    `preferences` are instructions from a closed set, never words of a person.
    """
    names = {tool.name for tool in tools}
    parts = [_TEXT["role"], _TEXT["data"], _TEXT["lessons"]]
    if "recall" in names:
        parts.append(_TEXT["memory"])
    if has_conversation:
        parts.append(_TEXT["conversation"])
    parts.append(_TEXT["act"])
    if can_expand:
        parts.append(_TEXT["expand"])
    if tool_calls == "native":
        control = "think to reason, " + ("expand to split the goal, " if can_expand else "")
        parts.append(
            f"Besides the tools you have {control}ask_person to ask back when the goal is not clear, and fail to give "
            f"up. {_TEXT['shown_answer'] if shows_answer else 'Text without a tool call is your answer.'}"
        )
    else:
        parts.append(instructions(tools, can_expand=can_expand))
    parts.append(_TEXT["end"])
    if preferences:
        parts.append("\n".join([_TEXT["preferences"], *(f"- {each}" for each in preferences)]))
    return "\n\n".join(parts)


def node_prompt(
    task: Task, now: datetime, *, lessons: str = "", memory: Sequence[Observation] = (), conversation: str = ""
) -> str:
    """The opening turn: lessons, working-memory keys, conversation, situation, goal. Empty blocks are left out.

    `now` is aware. `lessons` is from `memory.rules.retrieval.prompt.render_lessons`, `conversation` from
    `bot.agent.conversation.render_conversation`; both are neutralised already.
    """
    blocks: list[str] = []
    if lessons:
        blocks.append(_block("lessons", lessons))
    if memory:
        blocks.append(_block("working-memory", "\n".join(_key_line(entry) for entry in memory)))
    if conversation:
        blocks.append(_block("conversation", conversation))
    blocks.append(_block("situation", "\n".join(_situation_lines(task, now))))
    blocks.append(_block("goal", neutralise(task.goal)))
    return "\n".join(blocks)


def tool_output(name: str, content: str) -> str:
    """The result of a tool as the model reads it: neutralised, cut after `TOOL_OUTPUT_CHARACTERS`."""
    left_out = len(content) - TOOL_OUTPUT_CHARACTERS
    shown = content if left_out <= 0 else f"{content[:TOOL_OUTPUT_CHARACTERS]}… ({left_out} more characters)"
    safe_name = "".join(c for c in name if c.isalnum() or c in "_-.")[:64]
    return f'<tool-output name="{safe_name}">{neutralise(shown)}</tool-output>'


def _block(name: str, content: str) -> str:
    return f"<{name}>\n{content}\n</{name}>"


def _key_line(entry: Observation) -> str:
    source = f" (from node {entry.node})" if entry.node else ""
    return f"- {one_line(entry.key, _KEY_CHARACTERS)}{source}"


def _situation_lines(task: Task, now: datetime) -> list[str]:
    lines = [f"Now: {now:%Y-%m-%d %H:%M %Z} ({now:%A})"]
    if task.original:
        lines.append(f"Said as: {one_line(task.original, _LINE_CHARACTERS)}")
    if task.why:
        lines.append(f"This goal exists because: {one_line(task.why, _LINE_CHARACTERS)}")
    if task.flow:
        lines.append(f"Control flow: {task.flow}, subgoal {task.position} of {task.total}")
    if task.siblings:
        lines.append("Sibling goals: " + " | ".join(one_line(goal, _LINE_CHARACTERS) for goal in task.siblings))
    return lines


class Dialogue:
    """The turns so far, in the form that the model uses for tool calls."""

    def __init__(
        self,
        opening: str,
        tools: Sequence[ToolSpec],
        tool_calls: ToolCalls,
        *,
        can_expand: bool,
        can_ask: bool = True,
        has_conversation: bool = False,
        images: tuple[ImageFile, ...] = (),
        preferences: Sequence[str] = (),
        weigh: Callable[[str], Evidence] | None = None,
        on_answer: Callable[[str], None] | None = None,
    ) -> None:
        self._on_answer = on_answer
        self._written = ""
        self._weigh = weigh
        self._native = tool_calls == "native"
        self._system = system_prompt(
            tools,
            tool_calls,
            can_expand=can_expand,
            has_conversation=has_conversation,
            preferences=preferences,
            shows_answer=on_answer is not None,
        )
        control = (*([EXPAND] if can_expand else []), FAIL, *([ASK_PERSON] if can_ask else []), THINK)
        if on_answer is not None:
            control += (FINAL_ANSWER,)
        self._tools = (*tools, *control) if self._native else ()
        self._turns: list[DialogueTurn] = [UserTurn(text=opening, images=images)]
        self._open: list[ToolCall] = []

    def request(self) -> ModelRequest:
        """The next request. Providers require a result for every call, so calls that did not run get an error."""
        self._written = ""
        for call in list(self._open):
            self._result(call, "Not done: one kind of decision at a time. Decide again.", is_error=True)
        return ModelRequest(
            system=self._system,
            turns=tuple(self._turns),
            tools=self._tools,
            weigh=self._weigh,
            on_partial=self._pass_on if self._on_answer is not None else None,
        )

    def _pass_on(self, reply: ModelTurn) -> None:
        """Pass on the partial answer in an unfinished reply."""
        text = answer_in(reply) if self._native else textual.answer_in(reply.text)
        if text and self._on_answer is not None:
            self._written = text
            self._on_answer(text)

    @property
    def begun(self) -> str:
        """The answer of a reply that is not complete, up to its last whole word, as a secret may be half written."""
        *whole, _ = re.split(r"(?=\s)", self._written)
        return "".join(whole).strip()

    def add_reply(self, reply: ModelReply) -> Decision:
        """Add the model's turn and read its decision. Empty turns are left out, as providers refuse them."""
        turn = _storable_turn(reply.turn)
        if self._native:
            decision = decide(replace(reply, turn=turn))
        else:
            parsed = textual.parse(turn.text)
            turn, decision = ModelTurn(text=parsed.prose), parsed.decision
            if isinstance(decision.choice, Act):
                calls = tuple(map(_storable_call, decision.choice.calls))
                decision = replace(decision, choice=replace(decision.choice, calls=calls))
        if turn.text.strip() or turn.calls:
            self._turns.append(turn)
        self._open = list(turn.calls)
        return decision

    def recount(self, thought: str) -> None:
        """Add a thought of an earlier run as the model's turn."""
        self._turns += [ModelTurn(text=thought if self._native else f"Think: {thought}"), UserTurn(text="OK.")]

    def begin_with(self, call: ToolCall) -> None:
        """Add a tool call that a person chose, or of an earlier run, as the model's turn."""
        if self._native:
            self._turns.append(ModelTurn(calls=(call,)))
            self._open = [call]
        else:
            self._turns.append(ModelTurn(text=f"Act: {call.name} {json.dumps(call.arguments, ensure_ascii=False)}"))

    def observe(self, call: ToolCall, content: str, *, is_error: bool = False) -> None:
        """Add the result of a tool call."""
        wrapped = tool_output(call.name, content)
        if self._native:
            self._result(call, wrapped, is_error=is_error)
        else:
            self._turns.append(UserTurn(text=f"Observation: {wrapped}"))

    def remark(self, content: str, *, is_error: bool = False) -> None:
        """Add the result of a control tool, or the reason why a reply was invalid."""
        control = next((call for call in self._open if call.name in CONTROL_NAMES), None)
        if control is not None:
            self._result(control, content, is_error=is_error)
        else:
            self._turns.append(UserTurn(text=content if self._native else f"Observation: {content}"))

    def _result(self, call: ToolCall, content: str, *, is_error: bool) -> None:
        self._turns.append(ToolTurn(call_id=call.id, name=call.name, content=content, is_error=is_error))
        self._open = [other for other in self._open if other is not call]


def _storable_turn(turn: ModelTurn) -> ModelTurn:
    """The turn without characters that cannot be stored, before its calls have effects."""
    return replace(turn, text=replace_unstorable(turn.text), calls=tuple(map(_storable_call, turn.calls)))


def _storable_call(call: ToolCall) -> ToolCall:
    try:
        known = (
            None
            if call.arguments is None
            else {replace_unstorable(n): _storable(each) for n, each in call.arguments.items()}
        )
    except RecursionError:
        known = None
    return replace(call, name=replace_unstorable(call.name), arguments=known, raw=replace_unstorable(call.raw))


def _storable(value: object) -> object:
    match value:
        case str():
            return replace_unstorable(value)
        case float() if not math.isfinite(value):
            return str(value)
        case Mapping():
            return {replace_unstorable(str(name)): _storable(each) for name, each in value.items()}
        case list() | tuple():
            return [_storable(each) for each in value]
        case _:
            return value
