"""The screen: the port, and the plain implementation for pipes and files."""

from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from bot.errors import MessengerUnavailable
from bot.model import BotMessage


class Screen(Protocol):
    """Shows the conversation. Raises `MessengerUnavailable` when the output is gone."""

    async def answer(self, number: int, message: BotMessage) -> None:
        """An answer people may react to, and the lessons it used."""
        ...

    async def notice(self, text: str) -> None:
        """Something else the bot says, in CommonMark."""
        ...

    async def choices(self, offered: Sequence[tuple[str, str]]) -> None:
        """What may be typed next, below what was just said: (command, what it does), discreetly."""
        ...

    async def remark(self, text: str) -> None:
        """The terminal's own words, discreetly, as they are."""
        ...

    async def typed(self, who: str, text: str) -> None:
        """What a person typed, where nothing else shows it."""
        ...

    def working(self, text: str) -> None:
        """Show that work goes on, or with an empty text that it ended."""
        ...

    def partial_answer(self, text: str) -> None:
        """Show what there is of an answer, until the whole of it or another text takes its place."""
        ...


def visible(text: str) -> str:
    """Text without control characters but newline and tab: no text may move the cursor or change the title."""
    return "".join(c for c in text if c in "\n\t" or not ("\x00" <= c < " " or "\x7f" <= c < "\xa0"))


def one_line(text: str) -> str:
    """Visible text on a single line."""
    return " ".join(visible(text).split())


def choice_lines(offered: Sequence[tuple[str, str]]) -> list[str]:
    """`/archive 0a1b2c3d   Archive 1`, one below the other."""
    width = max((len(one_line(command)) for command, _ in offered), default=0)
    return [f"{one_line(command):<{width}}  {one_line(label)}" for command, label in offered]


def writing(write: Callable[[], object]) -> None:
    """Call `write`; a terminal that is gone becomes the port's error."""
    try:
        write()
    except (OSError, ValueError) as exc:
        # ValueError is what a closed file raises.
        raise MessengerUnavailable(f"cannot write to the terminal: {exc}; the chat ends here") from exc


class PlainScreen:
    """Raw text line by line: no colours, no cursor movements, no progress."""

    def __init__(self, stdout: TextIO, *, echo: bool) -> None:
        self._stdout = stdout
        self._echo = echo

    async def answer(self, number: int, message: BotMessage) -> None:
        """`[1] text`, then a line for each lesson."""
        lessons = [f"    used lesson: {one_line(lesson)}" for lesson in message.lessons]
        self._print("\n".join([f"[{number}] {visible(message.text).rstrip()}", *lessons]))

    async def notice(self, text: str) -> None:
        """The text as it is."""
        self._print(visible(text))

    async def choices(self, offered: Sequence[tuple[str, str]]) -> None:
        """A line for each, set in."""
        self._print("\n".join(f"    {line}" for line in choice_lines(offered)))

    async def remark(self, text: str) -> None:
        """Set off by dashes from what the bot says."""
        self._print(f"-- {visible(text)}")

    async def typed(self, who: str, text: str) -> None:
        """`ana: text`."""
        if self._echo:
            self._print(f"{who}: {visible(text)}")

    def working(self, text: str) -> None:
        """Nothing: a transcript shows no progress."""

    def partial_answer(self, text: str) -> None:
        """Nothing: a transcript has whole answers."""

    def _print(self, text: str) -> None:
        def write() -> None:
            self._stdout.write(f"{text}\n")
            self._stdout.flush()

        writing(write)
