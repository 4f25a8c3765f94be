"""Converts requests, replies and errors to and from those of pydantic-ai, which this module imports: import it late."""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import httpx2
from pydantic_ai import exceptions, messages as vendor
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition
from pydantic_core import from_json

from bot.adapters.llm.providers import key_variable
from bot.adapters.llm.written import calls_in, text_of
from bot.errors import MalformedReply, ModelError, ModelRefused, ModelRejected, ModelUnavailable
from bot.model import ModelReply, ModelRequest, ModelTurn, ToolCall, ToolSpec, ToolTurn, UserTurn
from memory.model import Usage

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


def partial(response: vendor.ModelResponse) -> ModelTurn:
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


# Errors -------------------------------------------------------------------------------------------------------------

_WRONG_SHAPE = (LookupError, AttributeError, TypeError, ValueError, RecursionError)
"""Exceptions of the library for a body that is JSON but no chat completion (no choices, a choice that is a number)."""

VENDOR_FAULTS = (exceptions.AgentRunError, exceptions.UserError, TimeoutError, *_WRONG_SHAPE)
"""The exceptions of a request."""

STREAM_FAULTS = (exceptions.AgentRunError, exceptions.UserError, httpx2.HTTPError, *_WRONG_SHAPE)
"""The exceptions of a stream, except timeouts."""

_NO_STREAMS = {400, 405, 422, 501}
"""Status codes of servers without streaming; any other would also come without streaming."""

_BODY_CHARACTERS = 300


def is_safe(exc: Exception, secret: str) -> bool:
    """Whether neither the exception nor its causes contain the secret, which may be empty."""
    cause: BaseException | None = exc
    while cause is not None:
        if secret and secret in f"{cause} {cause!r}":
            return False
        cause = cause.__cause__ or cause.__context__
    return True


def is_worth_asking_whole(exc: Exception) -> bool:
    """Whether a failed stream may succeed as a request without streaming."""
    return not isinstance(exc, exceptions.ModelHTTPError) or exc.status_code in _NO_STREAMS


def translate(exc: Exception, name: str, timeout_s: float, secret: str) -> ModelError:
    """The exception as a `ModelError`, which says what failed and what to do. The secret is removed."""
    kind, message = _judge(exc, name, timeout_s)
    return kind(f"{name}: {message.replace(secret, '***') if secret else message}")


def _judge(exc: Exception, name: str, timeout_s: float) -> tuple[type[ModelError], str]:
    match exc:
        case exceptions.ModelRequestTimeout() | exceptions.ModelTimeoutError() | TimeoutError():
            return ModelUnavailable, f"no reply within {timeout_s:g} s. Try again, or allow a reply more time."
        case exceptions.ModelConnectionError():
            return ModelUnavailable, f"the server cannot be reached ({exc}). Check its address and that it runs."
        case exceptions.ModelHTTPError():
            return _judge_status(exc, name)
        case exceptions.ContentFilterError():
            return ModelRefused, f"the provider's content filter stopped it ({exc}). Ask in other words."
        case exceptions.UserError():
            return ModelRejected, f"the request cannot be made ({_short(exc)}). Check the model's settings."
        case _:
            return MalformedReply, f"the reply cannot be understood ({_short(exc)}). Is it such a server?"


def _judge_status(exc: exceptions.ModelHTTPError, name: str) -> tuple[type[ModelError], str]:
    description = f"HTTP {exc.status_code}: {_explanation(exc)}"
    match exc:
        case exceptions.ModelQuotaExceededError():
            return (
                ModelRejected,
                f"the account's quota is used up ({description}). Look at the provider's billing page.",
            )
        case exceptions.ModelRateLimitError():
            return ModelUnavailable, f"too many requests ({description}). Try again later."
        case exceptions.ModelAuthenticationError():
            return ModelRejected, f"the key was refused ({description}). Check {key_variable(name)}."
        case exceptions.ModelNotFoundError():
            return (
                ModelRejected,
                f"no such model or address ({description}). Check GOODBOT_MODEL and the server's address.",
            )
        case _ if exc.status_code in (408, 425, 429) or exc.status_code >= 500:
            return ModelUnavailable, f"the server failed ({description}). Try again later."
        case _ if exc.provider_error_code == "content_filter":
            return ModelRefused, f"the provider's content filter stopped it ({description}). Ask in other words."
        case _:
            return ModelRejected, f"the request was refused ({description}). Check the model's settings."


def _explanation(exc: exceptions.ModelHTTPError) -> str:
    """The server's own message."""
    message = exc.body.get("message") if isinstance(exc.body, dict) else None
    return _clip(message if isinstance(message, str) else str(exc.body or "no explanation"))


def _short(exc: Exception) -> str:
    return _clip(str(exc) or type(exc).__name__)


def _clip(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= _BODY_CHARACTERS else folded[: _BODY_CHARACTERS - 1] + "…"
