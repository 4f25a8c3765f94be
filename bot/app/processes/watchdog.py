"""A watchdog that ends the process when its event loop is frozen.

Python's timers, threads and signal handlers need the interpreter lock. The timer thread of `faulthandler` does not: the
event loop resets it at every turn, and if it is not reset in time it writes all tracebacks and ends the process. The
process's supervisor restarts it, and the crash report says what it was answering (`bot.app.processes.crash_report`).
"""

import asyncio
import faulthandler
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass

from bot.app.processes.crash_report import abnormal_exits, open_report
from bot.app.wiring.build import Running
from bot.config import Settings
from bot.conversation import messages
from memory.adapters.private_files import make_folder
from memory.model import Incoming
from memory.services import Memory

log = logging.getLogger(__name__)

_BEAT_S = 1.0
_SLOW_WORK_FACTOR = 10
"""How many times the limit a call of memory may take, and a turn of the loop while libraries are loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """How parts of the process write to its crash report."""

    trace: int
    """The descriptor that a traceback is written to."""
    record_in_progress: Callable[[Incoming], AbstractContextManager[None]]
    """A context in which a message is answered."""


def count_abnormal_exits(settings: Settings, memory: Memory) -> None:
    """Count abnormal exits of other processes for the messages that they were answering. Raises `OSError`."""
    make_folder(settings.storage.beside.parent)  # a database server does not create it
    with abnormal_exits(settings.storage.beside) as died:
        for message in memory.recovering.count(died, messages.SET_ASIDE):
            log.error("message %s in %s is set aside: it ends the process", message.event_id, message.scope.place)


def count_inherited_exits(settings: Settings, memory: Memory) -> None:
    """Do the same before this process takes over another one's work. Never raises `OSError`."""
    try:
        count_abnormal_exits(settings, memory)
    except OSError as error:
        log.warning("it is not known what the other process left: %s", error)


@contextmanager
def reporting(settings: Settings, memory: Memory) -> Iterator[Reporting]:
    """Count the abnormal exits of earlier processes, and keep a report of this one until its orderly exit."""
    database = settings.storage.beside
    try:
        count_abnormal_exits(settings, memory)
        report = open_report(database, memory.new_id())
    except OSError as error:
        log.warning("crash reports are not available: %s", error)
        yield Reporting(
            trace=sys.__stderr__.fileno() if sys.__stderr__ else 2, record_in_progress=lambda message: nullcontext()
        )
        return
    try:
        yield Reporting(trace=report.trace, record_in_progress=report.record_in_progress)
    finally:
        report.close()


@asynccontextmanager
async def watching(running: Running, *, limit_s: float, trace: int) -> AsyncIterator[None]:
    """End the process if its event loop is blocked for `limit_s` seconds (0: never), and report fatal signals.

    A call of memory that takes ten times as long ends it too, because few threads serve all calls. A pause of the
    process from outside counts as blocked, except by Ctrl-Z.
    """
    faulthandler.enable(file=trace)
    beating = asyncio.create_task(_beat(running, limit_s, trace)) if limit_s else None
    can_pause = sys.platform != "win32" and signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL
    if can_pause:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, _pause)
    try:
        yield
    finally:
        if can_pause:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGTSTP)
        if beating is not None:
            beating.cancel()
            await asyncio.wait({beating})
        faulthandler.cancel_dump_traceback_later()
        faulthandler.disable()


async def _beat(running: Running, limit_s: float, trace: int) -> None:
    while True:
        is_loading = not running.warm_up.done()
        if is_loading or running.executor.longest_s < _SLOW_WORK_FACTOR * limit_s:
            within_s = _SLOW_WORK_FACTOR * limit_s if is_loading else limit_s
            faulthandler.dump_traceback_later(within_s, exit=True, file=trace)
        await asyncio.sleep(min(_BEAT_S, limit_s / 4))


def _pause() -> None:
    """Stop on Ctrl-Z without being taken for frozen. The next beat sets the timer again."""
    faulthandler.cancel_dump_traceback_later()
    os.kill(os.getpid(), signal.SIGSTOP)
