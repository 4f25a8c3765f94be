"""The chat on a real terminal: Markdown, colour, and answers with their numbers in the margin."""

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
    """Writes above the prompt, so that answers may arrive while somebody types."""

    def __init__(self, stdout: TextIO, prompt: LinePrompt, *, color: bool) -> None:
        self._prompt = prompt
        self._console = Console(
            file=stdout, force_terminal=True, no_color=not color, emoji=False, markup=False, highlight=False
        )

    async def answer(self, number: int, message: BotMessage) -> None:
        """The number in the margin, the text, the lessons below it."""
        self._prompt.partial_answer("")
        lessons = [Text(f"↳ used lesson: {one_line(lesson)}", style="magenta") for lesson in message.lessons]
        content = Group(_markdown(message.text), *lessons, "")
        await self._beside(Text(f"[{number}]", style="bold green"), content)

    async def notice(self, text: str) -> None:
        """The text with a bar in the margin."""
        await self._beside(Text(" · ", style="cyan"), _markdown(text))

    async def choices(self, offered: Sequence[tuple[str, str]]) -> None:
        """Dimmed, set in, a line for each."""
        await self.remark("\n".join(choice_lines(offered)))

    async def remark(self, text: str) -> None:
        """Dimmed, set in."""
        await self._show(Padding(Text(visible(text), style="dim"), (0, 0, 0, 4)))

    async def typed(self, who: str, text: str) -> None:
        """Nothing: the prompt shows it already."""

    def working(self, text: str) -> None:
        """The progress line is the prompt's."""
        self._prompt.working(text)

    def partial_answer(self, text: str) -> None:
        """Above the progress line."""
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
    # Rich drops HTML without a word; an answer about <b> must show its <b>. So HTML is parsed as the text it is.
    markdown.parsed = commonmark.parser().parse(visible(text))
    return markdown
