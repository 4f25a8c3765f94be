"""The dialogue with a language model: turns, tools, requests and replies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bot.model.messages import ImageFile
from memory.model import Usage
from memory.model.evidence import ActionText, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it. `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, object]

    @property
    def as_action(self) -> ActionText:
        """The tool as an action that evidence is weighed for."""
        return ActionText(name=self.name, description=self.description)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call of the model. `arguments` is None if they were not a JSON object; `raw` is their text."""

    id: str
    name: str
    arguments: Mapping[str, object] | None
    raw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """The model's turn: text and tool calls."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTurn:
    """The result of a tool call."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """A text for the model, with pictures."""

    text: str
    images: tuple[ImageFile, ...] = ()


DialogueTurn = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request: all that the model may know."""

    system: str
    turns: tuple[DialogueTurn, ...]
    tools: tuple[ToolSpec, ...] = ()
    weigh: Callable[[str], Evidence] | None = field(default=None, compare=False, repr=False)
    """The evidence for a goal or a part of it, for models that choose by evidence. Blocking."""
    on_partial: Callable[[ModelTurn], None] | None = field(default=None, compare=False, repr=False)
    """Receives the part of the turn received so far, from models that stream; the complete turn may differ from it.

    Arguments that are incomplete have the values that can be decoded.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """A reply, and what it cost."""

    turn: ModelTurn
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    impossible: frozenset[str] = frozenset()
    """Tools that cannot be used for this goal, whatever people approved, as it lacks their arguments."""
