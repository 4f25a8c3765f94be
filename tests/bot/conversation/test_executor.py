"""The hand-over to memory's threads: how long calls run, and in which context."""

import asyncio
from contextvars import ContextVar
from threading import Event

from bot.conversation.executor import Executor


async def test_the_longest_running_call_is_known_while_it_runs() -> None:
    now = [100.0]
    executor = Executor(threads=2, monotonic=lambda: now[0])
    begun, end = [Event(), Event()], [Event(), Event()]

    def work(number: int) -> int:
        begun[number].set()
        end[number].wait()
        return number

    calls = []
    for number in range(2):
        calls.append(asyncio.create_task(executor(work, number)))
        await asyncio.to_thread(begun[number].wait)
        now[0] += 5
    assert executor.longest_s == 10
    end[0].set()
    assert await calls[0] == 0
    assert executor.longest_s == 5
    end[1].set()
    assert await calls[1] == 1
    assert executor.longest_s == 0
    executor.close()


async def test_a_call_sees_the_context_of_its_caller() -> None:
    variable: ContextVar[str] = ContextVar("variable", default="none")
    executor = Executor()
    variable.set("the caller's")
    assert await executor(variable.get) == "the caller's"
    executor.close()
