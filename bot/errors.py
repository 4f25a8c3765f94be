"""Every error the bot raises on purpose.

    BotError
    ├─ ConfigError            a setting is unknown or wrong; says which and the remedy
    ├─ MessengerError         the chat platform refused or failed
    │  ├─ RateLimited *       try again after `retry_after_s`
    │  ├─ MessengerUnavailable *
    │  ├─ ChannelNotFound
    │  ├─ NotPermitted
    │  └─ TooLong             above `limit` characters
    ├─ ModelError             the language model gave no usable reply
    │  ├─ ModelUnavailable *  unreachable, timed out, 5xx, 429
    │  ├─ ModelRejected       the provider refuses the request: wrong key, unknown model, bad request
    │  ├─ ModelRefused        the model declined to answer
    │  └─ MalformedReply      the reply cannot be understood
    ├─ AccessDenied           the key of a request lacks the right or the scope
    ├─ NotReady               a part is not ready; says why in words that everybody may read
    ├─ CommandRefused         a command is not carried out; the text is for the person
    ├─ BudgetExceeded         the run used up its depth, decisions, seconds, tokens or cost
    └─ ToolError
       ├─ ToolFailed          told to the model as an observation
       └─ ToolRetry           the model may try again with other arguments

`*` = worth trying again later (`retryable`). People in chat never see these texts, only a friendly one with a short id.
"""

from typing import ClassVar


class BotError(Exception):
    """Root of the package's errors."""

    retryable: ClassVar[bool] = False


class ConfigError(BotError):
    """A setting is unknown or wrong."""


class MessengerError(BotError):
    """The chat platform refused or failed."""


class RateLimited(MessengerError):
    """The platform asks to wait."""

    retryable = True

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class MessengerUnavailable(MessengerError):
    """The platform cannot be reached."""

    retryable = True


class ChannelNotFound(MessengerError):
    """No such channel, or the bot is not in it."""


class NotPermitted(MessengerError):
    """The bot lacks a permission there."""


class TooLong(MessengerError):
    """The text is above the platform's limit."""

    def __init__(self, message: str, *, limit: int) -> None:
        super().__init__(message)
        self.limit = limit


class ModelError(BotError):
    """The language model gave no usable reply."""


class ModelUnavailable(ModelError):
    """The model cannot be reached, timed out, is overloaded or limits the rate."""

    retryable = True


class ModelRejected(ModelError):
    """The provider refuses the request: wrong key, unknown model, bad request."""


class ModelRefused(ModelError):
    """The model declined to answer."""


class MalformedReply(ModelError):
    """The model's reply cannot be understood."""


class AccessDenied(BotError):
    """The key of a request lacks the right or the scope for it; says which."""


class NotReady(BotError):
    """A part of the bot is not ready; the text names no file and no address."""


class CommandRefused(BotError):
    """A command is not carried out; the text tells the person why."""


class BudgetExceeded(BotError):
    """A run used up one of its budgets; `budget` names it."""

    def __init__(self, message: str, *, budget: str) -> None:
        super().__init__(message)
        self.budget = budget


class ToolError(BotError):
    """A tool gave no result."""


class ToolFailed(ToolError):
    """The tool could not do it; the model is told why."""


class ToolRetry(ToolError):
    """The arguments were wrong; the model is told why and may try again."""
