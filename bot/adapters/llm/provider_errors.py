"""Converts exceptions of pydantic-ai, which this module imports (import it late), to the bot's own."""

import httpx2
from pydantic_ai import exceptions as vendor

from bot.adapters.llm.providers import key_variable
from bot.errors import MalformedReply, ModelError, ModelRefused, ModelRejected, ModelUnavailable

_WRONG_SHAPE = (LookupError, AttributeError, TypeError, ValueError, RecursionError)
"""Exceptions of the library for a body that is JSON but no chat completion (no choices, a choice that is a number)."""

VENDOR_FAULTS = (vendor.AgentRunError, vendor.UserError, TimeoutError, *_WRONG_SHAPE)
"""The exceptions of a request."""

STREAM_FAULTS = (vendor.AgentRunError, vendor.UserError, httpx2.HTTPError, *_WRONG_SHAPE)
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


def may_succeed_unstreamed(exc: Exception) -> bool:
    """Whether a failed stream may succeed as a request without streaming."""
    return not isinstance(exc, vendor.ModelHTTPError) or exc.status_code in _NO_STREAMS


def as_model_error(exc: Exception, name: str, timeout_s: float, secret: str) -> ModelError:
    """The exception as a `ModelError`, which says what failed and what to do. The secret is removed."""
    kind, message = _judge(exc, name, timeout_s)
    return kind(f"{name}: {message.replace(secret, '***') if secret else message}")


def _judge(exc: Exception, name: str, timeout_s: float) -> tuple[type[ModelError], str]:
    match exc:
        case vendor.ModelRequestTimeout() | vendor.ModelTimeoutError() | TimeoutError():
            return ModelUnavailable, f"no reply within {timeout_s:g} s. Try again, or allow a reply more time."
        case vendor.ModelConnectionError():
            return ModelUnavailable, f"the server cannot be reached ({exc}). Check its address and that it runs."
        case vendor.ModelHTTPError():
            return _judge_status(exc, name)
        case vendor.ContentFilterError():
            return ModelRefused, f"the provider's content filter stopped it ({exc}). Ask in other words."
        case vendor.UserError():
            return ModelRejected, f"the request cannot be made ({_short(exc)}). Check the model's settings."
        case _:
            return MalformedReply, f"the reply cannot be understood ({_short(exc)}). Is it such a server?"


def _judge_status(exc: vendor.ModelHTTPError, name: str) -> tuple[type[ModelError], str]:
    description = f"HTTP {exc.status_code}: {_explanation(exc)}"
    match exc:
        case vendor.ModelQuotaExceededError():
            return (
                ModelRejected,
                f"the account's quota is used up ({description}). Look at the provider's billing page.",
            )
        case vendor.ModelRateLimitError():
            return ModelUnavailable, f"too many requests ({description}). Try again later."
        case vendor.ModelAuthenticationError():
            return ModelRejected, f"the key was refused ({description}). Check {key_variable(name)}."
        case vendor.ModelNotFoundError():
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


def _explanation(exc: vendor.ModelHTTPError) -> str:
    """The server's own message."""
    message = exc.body.get("message") if isinstance(exc.body, dict) else None
    return _clip(message if isinstance(message, str) else str(exc.body or "no explanation"))


def _short(exc: Exception) -> str:
    return _clip(str(exc) or type(exc).__name__)


def _clip(text: str) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= _BODY_CHARACTERS else folded[: _BODY_CHARACTERS - 1] + "…"
