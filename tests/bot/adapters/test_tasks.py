"""The fair gate: however many events come at once, the loop has its turns in between."""

import asyncio

from bot.adapters.tasks import FairGate


async def test_one_passes_in_each_turn_of_the_loop_and_in_the_order_they_came() -> None:
    fair_gate, loop, turn = FairGate(), asyncio.get_running_loop(), 0
    passed: list[tuple[int, int]] = []

    def count() -> None:
        nonlocal turn
        turn += 1
        loop.call_soon(count)

    async def enter(number: int) -> None:
        await fair_gate.pass_through()
        passed.append((turn, number))

    loop.call_soon(count)
    await asyncio.gather(*(enter(number) for number in range(50)))
    assert [number for _, number in passed] == list(range(50))
    assert len({turn for turn, _ in passed}) == 50


async def test_one_that_gives_up_waiting_holds_nobody_up() -> None:
    fair_gate = FairGate()
    first, second, third = (asyncio.create_task(fair_gate.pass_through()) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(first, third)
    assert second.cancelled()
