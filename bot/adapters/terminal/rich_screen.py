"""The screen of an interactive terminal: Markdown, colours, numbered answers."""

from collections.abc import Sequence
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.adapters import commonmark
from bot.adapters.terminal.prompt import LinePrompt
from bot.adapters.terminal.screen import choice_lines, one_line, visible
from bot.model import BotMessage


class RichScreen:
    """Prints above the prompt, also while somebody types."""

    def __init__(self, stdout: TextIO, prompt: LinePrompt, *, color: bool) -> None:
        self._prompt = prompt
        self._console = Console(
            file=stdout, force_terminal=True, no_color=not color, emoji=False, markup=False, highlight=False
        )

    async def answer(self, number: int, message: BotMessage) -> None:
        """Print an answer with its number in the margin and its lessons below."""
        self._prompt.partial_answer("")
        lessons = [Text(f"↳ used lesson: {one_line(lesson)}", style="magenta") for lesson in message.lessons]
        content = Group(_markdown(message.text), *lessons, "")
        await self._beside(Text(f"[{number}]", style="bold green"), content)

    async def notice(self, text: str) -> None:
        """Print a text with a dot in the margin."""
        await self._beside(Text(" · ", style="cyan"), _markdown(text))

    async def choices(self, offered: Sequence[tuple[str, str]]) -> None:
        """Print the choices dimmed and indented, a line each."""
        await self.remark("\n".join(choice_lines(offered)))

    async def remark(self, text: str) -> None:
        """Print a text dimmed and indented."""
        await self._show(Padding(Text(visible(text), style="dim"), (0, 0, 0, 4)))

    async def typed(self, who: str, text: str) -> None:
        """Do nothing, as the prompt shows it."""

    def working(self, text: str) -> None:
        """Show a progress line by the prompt."""
        self._prompt.working(text)

    def partial_answer(self, text: str) -> None:
        """Show a partial answer by the prompt."""
        self._prompt.partial_answer(text)

    async def _beside(self, margin: RenderableType, content: RenderableType) -> None:

        grid = Table.grid(padding=(0, 1), expand=True)
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1, overflow="fold")
        grid.add_row(margin, content)
        await self._show(grid)

    async def _show(self, renderable: RenderableType) -> None:
        await self._prompt.above(lambda: self._console.print(renderable))


def _markdown(text: str) -> Markdown:
    markdown = Markdown("")
    # Rich drops HTML, but an answer about <b> must show it: our parser treats HTML as text.
    markdown.parsed = commonmark.parser().parse(visible(text))
    return markdown
