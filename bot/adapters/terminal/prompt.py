"""The input line: editing, history, completion of commands, and the progress line above it."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prompt_toolkit import PromptSession
from prompt_toolkit.application import in_terminal
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style

from bot.adapters.terminal.commands import COMMAND_NAMES
from bot.adapters.terminal.lines import Line
from bot.adapters.terminal.screen import one_line, visible, writing
from bot.adapters.terminal.streams import Streams
from bot.errors import MessengerUnavailable

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS = 0.1
_PARTIAL_LINES = 12
_STYLE = {"prompt": "ansicyan bold", "status": "ansiyellow"}


class LinePrompt:
    """Reads lines while everything else is written above. `interrupted` is asked on Ctrl-C whether to leave."""

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
        """While it lasts, whatever a library prints appears above the prompt instead of across it."""
        try:
            with patch_stdout(raw=True):
                yield
        finally:
            self.working("")

    async def read(self, who: str) -> Line | None:
        """One line; None for Ctrl-D on an empty line, or Ctrl-C when there is nothing to interrupt."""
        try:
            text = await self._session.prompt_async(lambda: self._message(who))
        except (EOFError, KeyboardInterrupt):
            return None
        except OSError as exc:
            raise MessengerUnavailable(f"cannot read from the terminal: {exc}; the chat ends here") from exc
        return Line(text)

    async def above(self, write: Callable[[], object]) -> None:
        """Call `write` with the prompt out of the way. Calls follow one another, each whole."""
        async with in_terminal():
            writing(write)

    def working(self, text: str) -> None:
        """Show the text with a spinner above the prompt, or take it away."""
        self._status = one_line(text)
        if self._status and self._spinner is None:
            self._spinner = asyncio.get_running_loop().create_task(self._spin())
        elif not self._status and self._spinner is not None:
            self._spinner.cancel()
            self._spinner = None
        self._session.app.invalidate()

    def partial_answer(self, text: str) -> None:
        """Show the last lines of what there is of an answer above the prompt, or with an empty text take it away."""
        self._partial = "\n".join(visible(text).splitlines()[-_PARTIAL_LINES:])
        self._session.app.invalidate()

    async def _spin(self) -> None:
        while True:
            await asyncio.sleep(_FRAME_SECONDS)
            self._frame = next(self._frames)
            self._session.app.invalidate()

    def _message(self, who: str) -> StyleAndTextTuples:
        prompt = ("class:prompt", f"{one_line(who)} › ")
        # A line that was entered stays on the screen; the progress above it must not.
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
