"""The hand-over to memory's threads: how long calls run, and in which context."""

import asyncio
from contextvars import ContextVar
from threading import Event, Semaphore

import pytest

from bot.conversation.executor import Executor, after_earlier_work


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


async def test_calls_of_earlier_work_go_first_and_those_of_none_before_all() -> None:
    executor, begun, may_end = Executor(threads=1), Event(), Semaphore(0)
    finished: asyncio.Queue[str] = asyncio.Queue()

    def work() -> None:
        begun.set()
        may_end.acquire()

    async def call(name: str) -> None:
        await executor(work)
        finished.put_nowait(name)

    async def earlier() -> None:
        with after_earlier_work():
            await call("a0")
            await call("a1")

    async def later() -> None:
        with after_earlier_work():
            await asyncio.gather(*(call(f"b{number}") for number in range(4)))

    calls = [asyncio.create_task(call(name)) for name in ("runs", "lies ready")]
    await asyncio.to_thread(begun.wait)
    calls += [asyncio.create_task(earlier()), asyncio.create_task(later())]
    for _ in range(2):  # until all of the later work's calls wait
        await asyncio.sleep(0)
    calls.append(asyncio.create_task(call("taken in")))
    await asyncio.sleep(0)
    order: list[str] = []
    while len(order) < 9:
        may_end.release()  # one call at a time: what follows from its end is done before the next one ends
        order.append(await finished.get())
    # When a1 was made, b0 lay ready, and b1 had the place of a0.
    assert order == ["runs", "lies ready", "taken in", "a0", "b0", "b1", "a1", "b2", "b3"]
    await asyncio.gather(*calls)
    executor.close()


@pytest.mark.parametrize("has_its_turn", [False, True])
async def test_a_call_that_is_cancelled_while_it_waits_takes_no_turn(has_its_turn: bool) -> None:
    executor, begun, end = Executor(threads=1), Event(), Event()
    done: list[str] = []

    def hold() -> None:
        begun.set()
        end.wait()

    held = [asyncio.create_task(executor(hold)) for _ in range(2)]
    await asyncio.to_thread(begun.wait)
    waiting = [asyncio.create_task(executor(done.append, name)) for name in ("first", "second")]
    await asyncio.sleep(0)
    if has_its_turn:
        end.set()
        await asyncio.wait(held, return_when=asyncio.FIRST_COMPLETED)
    waiting[0].cancel()
    end.set()
    await asyncio.gather(*held, *waiting, return_exceptions=True)
    assert "second" in done
    for number in range(3):
        await asyncio.wait_for(executor(done.append, str(number)), timeout=60)
    assert done[-3:] == ["0", "1", "2"]
    executor.close()
