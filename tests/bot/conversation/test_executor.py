"""The hand-over to memory's threads: how long the oldest of the running calls has run."""

import asyncio
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
