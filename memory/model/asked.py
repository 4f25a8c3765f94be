"""Questions back to the person ("Did you mean ...?"): what was offered, and the tap that chose one of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memory.model.episode import Episode, Step, StepKind
from memory.model.permission import Permission
from memory.model.teaching import Role

ASK = "ask_person"
"""The action of an episode that ended with a question and offered something."""

TAP = "tap"
"""Source of the vote that choosing an option is."""

MOST_OPTIONS = 3
"""Fewer than people need to read twice; behind them stands "none of these"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that was offered: an answer to give, or a tool to run."""

    action: str
    """A tool's name, or `answer`."""
    label: str
    """What it is, in people's words, on one line."""
    text: str = ""
    """The answer, whole."""
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    """The tool's."""
    lessons: tuple[str, ...] = ()
    """Ids of the lessons that an answer comes from: it holds their authors' words."""
    is_approval: bool = False
    """Choosing it lets a tool with effects run, just so: the person was shown exactly what happens."""
    permission: Permission | None = None
    """Who let it run; set when it is carried out, never stored with it."""

    @property
    def candidate(self) -> tuple[str, str]:
        """What evidence knows it by: the action, and the answer."""
        return (self.action, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One option of one run, with the node that asked."""

    node: Episode
    option: Option


@dataclass(frozen=True, slots=True, kw_only=True)
class Tap:
    """Says that a message is the choice of an option, and of which."""

    run_id: str
    """The run that asked."""
    number: int
    """From 1, over all options of that run."""
    role: Role = Role.MEMBER
    """That of who chose."""


def asked_step(question: str, options: Sequence[Option]) -> Step:
    """The step of a trajectory that keeps what was offered."""
    stored = [
        {
            "action": each.action,
            "label": each.label,
            "text": each.text,
            "arguments": dict(each.arguments),
            "lessons": list(each.lessons),
            **({"approval": True} if each.is_approval else {}),
        }
        for each in options
    ]
    return Step(kind=StepKind.ACT, tool=ASK, text=question, arguments={"options": stored})


def options_of(trajectory: Sequence[Step]) -> tuple[Option, ...]:
    """What a node offered; nothing for most."""
    return tuple(option for step in trajectory if step.tool == ASK for option in _stored(step.arguments.get("options")))


def asks_in_words(trajectory: Sequence[Step]) -> bool:
    """Whether a node ended with a question that is answered in words."""
    last = trajectory[-1] if trajectory else None
    return last is not None and last.kind is StepKind.ACT and last.tool == ASK and not options_of((last,))


def offers_of(nodes: Sequence[Episode]) -> list[Offer]:
    """Everything that a run offered, in the order in which it is numbered."""
    return [Offer(node=node, option=option) for node in nodes for option in options_of(node.trajectory)]


def _stored(options: object) -> Iterator[Option]:
    for each in options if isinstance(options, list | tuple) else ():
        if isinstance(each, Mapping) and each.get("action"):
            arguments, lessons = each.get("arguments"), each.get("lessons")
            yield Option(
                action=str(each["action"]),
                label=str(each.get("label", "")),
                text=str(each.get("text", "")),
                arguments=dict(arguments) if isinstance(arguments, Mapping) else {},
                lessons=tuple(map(str, lessons)) if isinstance(lessons, list | tuple) else (),
                is_approval=each.get("approval") is True,
            )
