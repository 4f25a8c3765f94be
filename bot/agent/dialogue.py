"""One node's dialogue with the model, with native tool calls or without."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

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
from bot.agent.prompt import ToolCalls, system_prompt, tool_output
from bot.model import (
    ImageFile,
    ModelReply,
    ModelRequest,
    ModelTurn,
    PartialReply,
    ToolCall,
    ToolSpec,
    ToolTurn,
    Turn,
    UserTurn,
)
from memory.model.evidence import Evidence
from memory.rules.retrieval.prompt import sound


class Dialogue:
    """The turns so far, in the form the model understands."""

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
        self._turns: list[Turn] = [UserTurn(text=opening, images=images)]
        self._open: list[ToolCall] = []

    def request(self) -> ModelRequest:
        """The next request. Providers want a result for every call, so what was not run is said to be so."""
        for call in list(self._open):
            self._result(call, "Not done: one kind of decision at a time. Decide again.", is_error=True)
        return ModelRequest(
            system=self._system,
            turns=tuple(self._turns),
            tools=self._tools,
            weigh=self._weigh,
            on_partial=self._pass_on if self._on_answer is not None else None,
        )

    def _pass_on(self, reply: PartialReply) -> None:
        """Pass on what certainly is said to the person of a reply that is still coming."""
        text = answer_in(reply) if self._native else textual.answer_in(reply.text)
        if text and self._on_answer is not None:
            self._on_answer(text)

    def add_reply(self, reply: ModelReply) -> Decision:
        """Add the model's turn and read its decision. An empty turn is left out: providers refuse it."""
        turn = _sound_turn(reply.turn)
        if self._native:
            decision = decide(replace(reply, turn=turn))
        else:
            parsed = textual.parse(turn.text)
            turn, decision = ModelTurn(text=parsed.prose), parsed.decision
            if isinstance(decision.choice, Act):
                calls = tuple(map(_sound_call, decision.choice.calls))
                decision = replace(decision, choice=replace(decision.choice, calls=calls))
        if turn.text.strip() or turn.calls:
            self._turns.append(turn)
        self._open = list(turn.calls)
        return decision

    def recount(self, thought: str) -> None:
        """Let the model find that it thought this."""
        self._turns += [ModelTurn(text=thought if self._native else f"Think: {thought}"), UserTurn(text="OK.")]

    def begin_with(self, call: ToolCall) -> None:
        """Let the model find that it called a tool, which a person chose."""
        if self._native:
            self._turns.append(ModelTurn(calls=(call,)))
            self._open = [call]
        else:
            self._turns.append(ModelTurn(text=f"Act: {call.name} {json.dumps(call.arguments, ensure_ascii=False)}"))

    def observe(self, call: ToolCall, content: str, *, is_error: bool = False) -> None:
        """Tell the model what a tool returned."""
        wrapped = tool_output(call.name, content)
        if self._native:
            self._result(call, wrapped, is_error=is_error)
        else:
            self._turns.append(UserTurn(text=f"Observation: {wrapped}"))

    def remark(self, content: str, *, is_error: bool = False) -> None:
        """Tell the model the result of a control tool, or that its reply was no decision."""
        control = next((call for call in self._open if call.name in CONTROL_NAMES), None)
        if control is not None:
            self._result(control, content, is_error=is_error)
        else:
            self._turns.append(UserTurn(text=content if self._native else f"Observation: {content}"))

    def _result(self, call: ToolCall, content: str, *, is_error: bool) -> None:
        self._turns.append(ToolTurn(call_id=call.id, name=call.name, content=content, is_error=is_error))
        self._open = [other for other in self._open if other is not call]


def _sound_turn(turn: ModelTurn) -> ModelTurn:
    """The turn without what cannot be stored, which would be found when a call has had its effects."""
    return replace(turn, text=sound(turn.text), calls=tuple(map(_sound_call, turn.calls)))


def _sound_call(call: ToolCall) -> ToolCall:
    try:
        known = None if call.arguments is None else {sound(n): _sound(each) for n, each in call.arguments.items()}
    except RecursionError:
        known = None
    return replace(call, name=sound(call.name), arguments=known, raw=sound(call.raw))


def _sound(value: object) -> object:
    match value:
        case str():
            return sound(value)
        case float() if not math.isfinite(value):
            return str(value)
        case Mapping():
            return {sound(str(name)): _sound(each) for name, each in value.items()}
        case list() | tuple():
            return [_sound(each) for each in value]
        case _:
            return value
