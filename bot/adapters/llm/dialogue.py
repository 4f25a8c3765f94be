"""Converts requests and replies to and from those of pydantic-ai, which this module imports: import it late."""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic_ai import messages as vendor
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage
from pydantic_core import from_json

from bot.adapters.llm.written_calls import calls_in, text_of
from bot.errors import MalformedReply, ModelRefused
from bot.model import ModelReply, ModelRequest, ModelTurn, ToolCall, ToolSpec, ToolTurn, UserTurn
from memory.model import Usage
from memory.rules.retrieval.prompt import estimate_tokens

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARACTERS = 64
_UNNAMED = "unnamed"

NOT_SHOWN = "[The attached pictures could not be shown to you. Say so if they matter.]"


def to_messages(request: ModelRequest, *, with_images: bool = True) -> list[vendor.ModelMessage]:
    """The request as alternating vendor messages: consecutive turns of one side become one message.

    Without images a remark replaces them.
    """
    messages: list[vendor.ModelMessage] = []
    pending: list[vendor.ModelRequestPart] = []
    if request.system:
        pending.append(vendor.SystemPromptPart(content=request.system))
    for turn in request.turns:
        match turn:
            case UserTurn():
                pending.append(_user_prompt(turn, with_images))
            case ToolTurn():
                outcome: Literal["success", "failed"] = "failed" if turn.is_error else "success"
                pending.append(
                    vendor.ToolReturnPart(
                        tool_name=_accepted(turn.name), content=turn.content, tool_call_id=turn.call_id, outcome=outcome
                    )
                )
            case ModelTurn():
                if pending:
                    messages.append(vendor.ModelRequest(parts=pending))
                    pending = []
                messages.append(vendor.ModelResponse(parts=_response_parts(turn)))
    if pending:
        messages.append(vendor.ModelRequest(parts=pending))
    return messages


def _user_prompt(turn: UserTurn, with_images: bool) -> vendor.UserPromptPart:
    if not turn.images:
        return vendor.UserPromptPart(content=turn.text)
    if not with_images:
        return vendor.UserPromptPart(content=f"{NOT_SHOWN}\n{turn.text}")
    pictures = [vendor.BinaryContent(data=image.content, media_type=image.media_type) for image in turn.images]
    return vendor.UserPromptPart(content=[turn.text, *pictures])


def _response_parts(turn: ModelTurn) -> list[vendor.ModelResponsePart]:
    parts: list[vendor.ModelResponsePart] = []
    if turn.text:
        parts.append(vendor.TextPart(content=turn.text))
    for call in turn.calls:
        arguments = call.raw if call.arguments is None else dict(call.arguments)
        parts.append(vendor.ToolCallPart(tool_name=_accepted(call.name), args=arguments, tool_call_id=call.id))
    return parts


def _accepted(name: str) -> str:
    """The name that a model invented for a tool, as providers accept it when it is sent back."""
    return _NOT_IN_NAMES.sub("_", name)[:_NAME_CHARACTERS] or _UNNAMED


def to_parameters(tools: Sequence[ToolSpec]) -> ModelRequestParameters:
    """The tools with unchanged schemas. A reply may always be plain text."""
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.parameters),
                strict=False,
            )
            for tool in tools
        ],
        allow_text_output=True,
    )


def from_response(response: vendor.ModelResponse, name: str, offered: Collection[str] = ()) -> ModelReply:
    """A response as a `ModelReply`. `offered` has the names of the tools that the request offered.

    Raises `ModelRefused` for a refusal or a content filter, `MalformedReply` for a response with neither text nor
    calls.
    """
    text = text_of(response).strip()
    found = tuple(response.tool_calls)
    if not found:
        text, found = calls_in(text, offered)
    calls = tuple(_distinct(map(_call, found)))
    if not calls and not text:
        raise _nothing(response, name)
    tokens = response.usage
    usage = Usage(prompt_tokens=tokens.input_tokens, completion_tokens=tokens.output_tokens, cost_usd=_cost(response))
    return ModelReply(turn=ModelTurn(text=text, calls=calls), usage=usage, model=response.model_name or name)


def usage_of_broken_stream(text: str, whole: vendor.ModelResponse) -> Usage:
    """The usage of a stream that broke off after this text, where the same request then had the `whole` reply.

    The prompt is the same; the tokens of the text are estimated.
    """
    usage = RequestUsage(input_tokens=whole.usage.input_tokens, output_tokens=estimate_tokens(text))
    cost = _cost(replace(whole, usage=usage))
    return Usage(prompt_tokens=usage.input_tokens, completion_tokens=usage.output_tokens, cost_usd=cost)


def partial_turn(response: vendor.ModelResponse) -> ModelTurn:
    """The received part of a response, with the part of the calls' arguments that can be decoded."""
    calls = tuple(
        ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=_so_far(part.args))
        for part in response.tool_calls
    )
    return ModelTurn(text=text_of(response), calls=calls)


def _so_far(args: str | Mapping[str, object] | None) -> Mapping[str, object]:
    if not isinstance(args, str):
        return args or {}
    try:
        found = from_json(args, allow_partial="trailing-strings")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _nothing(response: vendor.ModelResponse, name: str) -> ModelRefused | MalformedReply:
    details = response.provider_details or {}
    if response.finish_reason == "content_filter":
        refusal = details.get("refusal")
        reason = f": {refusal}" if isinstance(refusal, str) else " (the provider's content filter stopped it)"
        return ModelRefused(f"{name} declined to answer{reason}. Ask in other words, or choose another model.")
    if response.finish_reason == "length":
        return MalformedReply(f"{name} used up its tokens before it said anything. Allow a reply more tokens.")
    return MalformedReply(f"{name} sent an empty reply: neither text nor a tool call. Try again.")


def _call(part: vendor.ToolCallPart) -> ToolCall:
    raw = part.args if isinstance(part.args, str) else ""
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=_arguments(part.args), raw=raw)


def _distinct(calls: Iterable[ToolCall]) -> Iterable[ToolCall]:
    """The calls with ids that differ, as providers refuse a turn in which one comes twice."""
    seen: Counter[str] = Counter()
    for call in calls:
        seen[call.id] += 1
        yield call if seen[call.id] == 1 else replace(call, id=f"{call.id}_{seen[call.id]}")


def _arguments(args: str | Mapping[str, object] | None) -> Mapping[str, object] | None:
    """The arguments if they are a JSON object, else None. No arguments are an empty object."""
    if not args:
        return {}
    if not isinstance(args, str):
        return args
    try:
        parsed = json.loads(args)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _cost(response: vendor.ModelResponse) -> float:
    """The cost in US dollars by pydantic-ai's price list; 0 if the model or provider is not on it."""
    if not response.model_name or not response.usage.total_tokens:
        return 0.0
    try:
        price = float(response.cost().total_price)
    except (LookupError, ValueError):
        return 0.0
    return price if math.isfinite(price) else 0.0
