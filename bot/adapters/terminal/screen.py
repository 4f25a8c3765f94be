"""The plain screen for pipes and files, and what all screens do to texts."""

from collections.abc import Callable, Sequence
from typing import TextIO

from bot.errors import MessengerUnavailable
from bot.model import BotMessage, Choice

_COMPARED = 40
"""How many characters of an option are compared to find it in the question's text."""


def without_control_characters(text: str) -> str:
    """The text without control characters, except newline and tab, so that it cannot move the cursor."""
    return "".join(c for c in text if c in "\n\t" or not ("\x00" <= c < " " or "\x7f" <= c < "\xa0"))


def one_line(text: str) -> str:
    """The visible text on a single line."""
    return " ".join(without_control_characters(text).split())


def choice_lines(offered: Sequence[tuple[str, str]]) -> list[str]:
    """A line for each choice: `/archive 0a1b2c3d   Archive 1`."""
    width = max((len(one_line(command)) for command, _ in offered), default=0)
    return [f"{one_line(command):<{width}}  {one_line(label)}" for command, label in offered]


def numbered_options(text: str, choices: Sequence[Choice]) -> tuple[str, int]:
    """A question's text with the numbers of its options instead of bullets, and how many of the choices it shows."""
    lines, shown = text.split("\n"), 0
    for place, line in enumerate(lines):
        if shown < len(choices) and line.startswith("- ") and _is_option(line[2:], choices[shown]):
            shown += 1
            lines[place] = f"{shown}. {line[2:]}"
    return "\n".join(lines), shown


def _is_option(line: str, choice: Choice) -> bool:
    return line == choice.label or (choice.words != "" and line.startswith(f"“{one_line(choice.words)[:_COMPARED]}"))


def writing(write: Callable[[], object]) -> None:
    """Call `write`, and raise `MessengerUnavailable` if the terminal is closed."""
    try:
        write()
    except (OSError, ValueError) as exc:
        # A closed file raises ValueError.
        raise MessengerUnavailable(f"cannot write to the terminal: {exc}; the chat ends here") from exc


class PlainScreen:
    """Prints plain lines, without colours, cursor movements or progress.

    Raises `MessengerUnavailable` if the output is closed, as every screen does.
    """

    def __init__(self, stdout: TextIO, *, echo: bool) -> None:
        self._stdout = stdout
        self._echo = echo

    async def answer(self, number: int, message: BotMessage) -> None:
        """Print `[1] text`, then a line for each lesson."""
        lessons = [f"    used lesson: {one_line(lesson)}" for lesson in message.lessons]
        self._print("\n".join([f"[{number}] {without_control_characters(message.text).rstrip()}", *lessons]))

    async def notice(self, text: str) -> None:
        """Print another message of the bot, in CommonMark."""
        self._print(without_control_characters(text))

    async def choices(self, offered: Sequence[tuple[str, str]]) -> None:
        """Print an indented line for each choice: what to type, and its label."""
        self._print("\n".join(f"    {line}" for line in choice_lines(offered)))

    async def remark(self, text: str) -> None:
        """Print a message of the terminal itself after dashes."""
        self._print(f"-- {without_control_characters(text)}")

    async def typed(self, who: str, text: str) -> None:
        """Print `ana: text`, if `echo` is on."""
        if self._echo:
            self._print(f"{who}: {without_control_characters(text)}")

    def working(self, text: str) -> None:
        """Do nothing: a transcript shows no progress."""

    def partial_answer(self, text: str) -> None:
        """Do nothing: a transcript has only complete answers."""

    def _print(self, text: str) -> None:
        def write() -> None:
            self._stdout.write(f"{text}\n")
            self._stdout.flush()

        writing(write)
