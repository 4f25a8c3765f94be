"""A watchdog that ends the process when its event loop is frozen.

Timers, threads and signals all wait for the interpreter. What does not is a timer thread of `faulthandler`: the event
loop sets it again at every turn, and where it is not set in time it writes where every thread was, and ends the
process. Whoever runs the process starts it again, and the next start knows what was in work
(`bot.app.processes.crash_report`).
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
_PATIENCE = 10
"""So many limits may a call of memory take, and a turn of the loop while libraries are loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """The report of this process, as its parts write to it."""

    trace: int
    """The descriptor that a traceback is written to."""
    in_work: Callable[[Incoming], AbstractContextManager[None]]
    """Surrounds the work on a message."""


def count_abnormal_exits(settings: Settings, memory: Memory) -> None:
    """Count the abnormal exits of other processes against the messages they had in work. Raises `OSError`."""
    make_folder(settings.storage.beside.parent)  # no database made it, where that is a server
    with abnormal_exits(settings.storage.beside) as died:
        for message in memory.recovering.count(died, messages.SET_ASIDE):
            log.error("message %s in %s is set aside: it ends the process", message.event_id, message.scope.place)


@contextmanager
def reporting(settings: Settings, memory: Memory) -> Iterator[Reporting]:
    """Count what earlier processes left, and keep a report of this one until its orderly end."""
    database = settings.storage.beside
    try:
        count_abnormal_exits(settings, memory)
        report = open_report(database, memory.new_id())
    except OSError as error:
        log.warning("crash reports are not available: %s", error)
        yield Reporting(trace=sys.__stderr__.fileno() if sys.__stderr__ else 2, in_work=lambda message: nullcontext())
        return
    try:
        yield Reporting(trace=report.trace, in_work=report.in_work)
    finally:
        report.close()


@asynccontextmanager
async def watching(running: Running, *, limit_s: float, trace: int) -> AsyncIterator[None]:
    """End the process if its event loop does not turn for so many seconds (0: never), and report fatal signals.

    A call of memory that takes ten times as long ends it, too: few threads serve all. A pause of the whole process
    from outside counts as long as it lasts, but for Ctrl-Z.
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
        if is_loading or running.executor.longest_s < _PATIENCE * limit_s:
            within_s = _PATIENCE * limit_s if is_loading else limit_s
            faulthandler.dump_traceback_later(within_s, exit=True, file=trace)
        await asyncio.sleep(min(_BEAT_S, limit_s / 4))


def _pause() -> None:
    """Ctrl-Z: stop without being taken for frozen. The next beat after that sets the timer again."""
    faulthandler.cancel_dump_traceback_later()
    os.kill(os.getpid(), signal.SIGSTOP)
