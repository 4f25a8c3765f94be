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
        """The tool as evidence is weighed for it."""
        return ActionText(name=self.name, description=self.description)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model wants a tool run. `arguments` is None when what it sent was not a JSON object (`raw` has it)."""

    id: str
    name: str
    arguments: Mapping[str, object] | None
    raw: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTurn:
    """What the model said."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTurn:
    """What one tool call returned."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """Text put to the model, with the pictures it is about."""

    text: str
    images: tuple[ImageFile, ...] = ()


DialogueTurn = UserTurn | ModelTurn | ToolTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialReply:
    """What has come of a reply so far. Of arguments that are still being written it has what is there, decoded."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One request: everything the model may know."""

    system: str
    turns: tuple[DialogueTurn, ...]
    tools: tuple[ToolSpec, ...] = ()
    weigh: Callable[[str], Evidence] | None = field(default=None, compare=False, repr=False)
    """What people's verdicts say about a goal or a part of it. Blocking; for models that choose by evidence."""
    on_partial: Callable[[PartialReply], None] | None = field(default=None, compare=False, repr=False)
    """Is told of the reply while it comes, by models that can; what it was told may be taken back by the reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """One reply and what it cost."""

    turn: ModelTurn
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    impossible: frozenset[str] = frozenset()
    """Tools that cannot be used for this goal, whatever people approved of: what they need is not in it."""
