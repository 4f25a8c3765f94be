"""Which words are commands: alone in a message meant for the bot, or behind the slash command."""

import re
from dataclasses import dataclass

COMMANDS = ("help", "why", "memory", "undo", "forget", "export", "privacy", "stop")

CORRECT = "correct"

_ALONE = re.compile(
    r"(?P<name>help|why|memory|undo|privacy|stop)[.!?]*"
    r"|(?P<forget>forget)(?:\s+(?P<whom>(?:me\s+)?yes|me))?[.!]*"
    r"|(?P<export>export)(?:\s+(?P<format>json|csv|prompt))?[.!]*",
    re.IGNORECASE,
)
_CORRECTION = re.compile(r"correct:\s*(?P<text>\S.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Typed:
    """A command with what follows it. `correct` carries the right answer."""

    name: str
    argument: str = ""


def command_in(text: str) -> Typed | None:
    """The command a message consists of. One more word makes it a question: "why is the sky blue?" is for the agent."""
    if found := _CORRECTION.fullmatch(text.strip()):
        return Typed(CORRECT, found["text"].strip())
    found = _ALONE.fullmatch(text.strip())
    if found is None:
        return None
    name = found["name"] or found["forget"] or found["export"]
    argument = " ".join((found["whom"] or found["format"] or "").split())
    return Typed(name.lower(), argument.lower())


def slash_command(text: str) -> Typed:
    """The first word and the rest; without a word it is `help`."""
    name, _, argument = text.strip().partition(" ")
    return Typed(name.lower().rstrip(":") or "help", argument.strip())


def spelled(bot_name: str, command: str) -> str:
    """How a person types a command after a mention, which works everywhere, threads included."""
    return f"@{bot_name} {command}:" if command == CORRECT else f"@{bot_name} {command}"
