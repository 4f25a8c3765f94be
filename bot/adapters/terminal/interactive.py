"""An interactive terminal: the prompt with editing, history and completion of commands, and the screen above it."""

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style
from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.adapters import commonmark
from bot.adapters.terminal.commands import COMMAND_NAMES
from bot.adapters.terminal.screen import choice_lines, one_line, without_control_characters, writing
from bot.adapters.terminal.streams import Streams
from bot.errors import MessengerUnavailable
from bot.model import BotMessage

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS = 0.1
_PARTIAL_LINES = 12
_STYLE = {"prompt": "ansicyan bold", "status": "ansiyellow"}


class LinePrompt:
    """Reads lines, with all output above the prompt. `interrupted` decides on Ctrl-C whether to quit."""

    def __init__(self, streams: Streams, *, interrupted: Callable[[], bool]) -> None:
        self._interrupted = interrupted
        self._status = ""
        self._partial = ""
        self._frames = itertools.cycle(_FRAMES)
        self._frame = next(self._frames)
        self._spinner: asyncio.Task[None] | None = None
        self._session = self._make_session(streams)

    @contextmanager
    def session(self) -> Iterator[None]:
        """Inside the block, output of libraries appears above the prompt."""
        try:
            with patch_stdout(raw=True):
                yield
        finally:
            self.working("")

    async def read(self, who: str) -> str | None:
        """A typed line; None for Ctrl-D on an empty line, or Ctrl-C if nothing runs."""
        try:
            return await self._session.prompt_async(lambda: self._message(who))
        except (EOFError, KeyboardInterrupt):
            return None
        except OSError as exc:
            raise MessengerUnavailable(f"cannot read from the terminal: {exc}; the chat ends here") from exc

    async def above(self, write: Callable[[], object]) -> None:
        """Call `write` while the prompt is hidden. Concurrent calls run one after another."""
        async with in_terminal():
            writing(write)

    def working(self, text: str) -> None:
        """Show a progress text with a spinner above the prompt; an empty text removes it."""
        self._status = one_line(text)
        if self._status and self._spinner is None:
            self._spinner = asyncio.get_running_loop().create_task(self._spin())
        elif not self._status and self._spinner is not None:
            self._spinner.cancel()
            self._spinner = None
        self._session.app.invalidate()

    def partial_answer(self, text: str) -> None:
        """Show the last lines of a partial answer above the prompt; an empty text removes it."""
        self._partial = "\n".join(without_control_characters(text).splitlines()[-_PARTIAL_LINES:])
        self._session.app.invalidate()

    async def _spin(self) -> None:
        while True:
            await asyncio.sleep(_FRAME_SECONDS)
            self._frame = next(self._frames)
            self._session.app.invalidate()

    def _message(self, who: str) -> StyleAndTextTuples:
        prompt = ("class:prompt", f"{one_line(who)} › ")
        # The entered line stays on the screen, without the progress above it.
        if self._session.app.is_done:
            return [prompt]
        above: StyleAndTextTuples = [("", f"{self._partial}\n")] if self._partial else []
        if self._status:
            above.append(("class:status", f"{self._frame} {self._status}\n"))
        return [*above, prompt]

    def _make_session(self, streams: Streams) -> PromptSession[str]:
        return PromptSession(
            completer=WordCompleter(list(COMMAND_NAMES), sentence=True),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            reserve_space_for_menu=0,
            key_bindings=self._keys(),
            style=Style.from_dict(_STYLE),
            color_depth=None if streams.color else ColorDepth.DEPTH_1_BIT,
            input=streams.keyboard,
            output=streams.cursor,
        )

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("c-c")
        @keys.add("<sigint>")
        def _(event: KeyPressEvent) -> None:
            buffer = event.app.current_buffer
            if buffer.text:
                buffer.reset()
            elif self._interrupted():
                event.app.exit(exception=KeyboardInterrupt(), style="class:aborting")

        return keys


class RichScreen:
    """Markdown, colours and numbered answers. Prints above the prompt, also while somebody types."""

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
        await self._show(Padding(Text(without_control_characters(text), style="dim"), (0, 0, 0, 4)))

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
    markdown.parsed = commonmark.parser().parse(without_control_characters(text))
    return markdown
