"""The real `goodbot`, but for one thing: a question with the word "deadly" ends or freezes the process.

`python -m tests.deadly_bot chat`; the variable DEADLY says how.
"""

import ctypes
import faulthandler
import os
import signal
import time
from typing import Any

from bot.agent.tree import AgentTree
from bot.cli.root import main
from memory.services.recall.recall import Recalling

HOW = os.environ.get("DEADLY", "")
_run, _recall = AgentTree.run, Recalling.prepared


def strike() -> None:
    if HOW == "freeze":
        ctypes.PyDLL(None).pause()  # keeps the interpreter to itself
    elif HOW == "fault":
        faulthandler._sigsegv()  # type: ignore[attr-defined]  # the module's own way to test itself
    elif HOW == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


async def run(self: AgentTree, goal: str, *args: Any, **more: Any) -> Any:
    if "deadly" in goal:
        strike()
    return await _run(self, goal, *args, **more)


def recall(self: Recalling, scope: Any, goal: str, **more: Any) -> Any:
    while HOW == "stick" and "deadly" in goal:
        time.sleep(0.01)  # a thread that never returns and lets all others work
    return _recall(self, scope, goal, **more)


if __name__ == "__main__":
    AgentTree.run = run  # type: ignore[method-assign]  # the point of this program
    Recalling.prepared = recall  # type: ignore[method-assign]  # the same
    main()
