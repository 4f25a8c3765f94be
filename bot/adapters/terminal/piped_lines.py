"""Reads lines from a pipe or a file, one at a time."""

import asyncio
import queue
import threading
from contextlib import AbstractContextManager, nullcontext, suppress

from bot.adapters.terminal.commands import MAX_CHARACTERS
from bot.adapters.terminal.streams import ByteSource
from bot.errors import CommandRefused, MessengerUnavailable

_CHUNK_BYTES = 65_536
_MAX_BYTES = 4 * MAX_CHARACTERS
"""The most bytes of `MAX_CHARACTERS` in UTF-8."""


class PipedLines:
    """Lines of a byte stream. Each is decoded by itself, so that one that is not UTF-8 does not affect others."""

    def __init__(self, source: ByteSource) -> None:
        self._chunks = _Chunks(source)
        self._buffer = b""
        self._number = 0
        self._at_end = False

    def session(self) -> AbstractContextManager[None]:
        """An empty context: there is nothing to prepare."""
        return nullcontext()

    async def read(self, who: str) -> str | None:
        """The next line without its line break; None at the end. `who` is ignored.

        Raises `CommandRefused` for one that cannot be decoded, `MessengerUnavailable` if the input fails.
        """
        skipped = 0
        while (end := self._buffer.find(b"\n")) < 0 and not self._at_end:
            if len(self._buffer) > _MAX_BYTES:
                skipped += len(self._buffer)
                self._buffer = b""
            chunk = await self._chunks.next()
            self._buffer += chunk
            self._at_end = not chunk
        if self._at_end and end < 0 and not self._buffer and not skipped:
            return None
        raw, self._buffer = (self._buffer[:end], self._buffer[end + 1 :]) if end >= 0 else (self._buffer, b"")
        self._number += 1
        return self._decode(raw.removesuffix(b"\r"), skipped)

    def _decode(self, raw: bytes, skipped: int) -> str:
        if skipped + len(raw) > _MAX_BYTES:
            size = f"line {self._number} has {skipped + len(raw):,} bytes"
            raise CommandRefused(
                f"{size}, more than the {MAX_CHARACTERS:,} characters that are allowed; it was not sent"
            )
        if self._number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as exc:
            where = f"line {self._number} is not UTF-8 text (byte {exc.start + 1})"
            raise CommandRefused(f"{where}; it was not sent. Convert the input to UTF-8") from exc


class _Chunks:
    """Blocking reads in a daemon thread, which reads only on demand.

    A daemon, as a read from an idle pipe or keyboard cannot be interrupted and must not keep the process alive.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._wanted: queue.SimpleQueue[asyncio.Future[bytes]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="terminal-input", daemon=True)
        self._pending: asyncio.Future[bytes] | None = None

    async def next(self) -> bytes:
        """The next bytes; b"" at the end."""
        if not self._thread.is_alive():
            self._thread.start()
        if self._pending is None:
            self._pending = asyncio.get_running_loop().create_future()
            self._wanted.put(self._pending)
        # Shielded, as cancelling the wait must not lose what the thread reads.
        chunk = await asyncio.shield(self._pending)
        self._pending = None
        return chunk

    def _serve(self) -> None:
        while True:
            future = self._wanted.get()
            try:
                chunk = self._source.read(_CHUNK_BYTES) or b""
            except OSError as exc:
                failure = MessengerUnavailable(f"cannot read the input: {exc.strerror or exc}; check what is piped in")
                failure.__cause__ = exc
                self._hand_over(future, failure)
                return
            self._hand_over(future, chunk)
            if not chunk:
                return

    @staticmethod
    def _hand_over(future: "asyncio.Future[bytes]", outcome: bytes | MessengerUnavailable) -> None:
        def settle() -> None:
            if isinstance(outcome, bytes):
                future.set_result(outcome)
            else:
                future.set_exception(outcome)

        with suppress(RuntimeError):  # the loop ended while this thread waited for a key
            future.get_loop().call_soon_threadsafe(settle)
