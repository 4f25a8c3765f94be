"""The interactive prompt: editing, history, completion of commands, and the progress line above it."""

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
from bot.adapters.terminal.screen import one_line, visible, writing
from bot.adapters.terminal.streams import Streams
from bot.errors import MessengerUnavailable

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
        self._partial = "\n".join(visible(text).splitlines()[-_PARTIAL_LINES:])
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
