"""Which shards a process holds, and when it lets others have them."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from bot.app.processes.shards import ShardKeeper, named
from tests.doubles.memory_world import World

BOT = "login/discord/x/2"


class Holder:
    """A messenger that writes down what it is to hold."""

    def __init__(self) -> None:
        self.is_connected = True
        self.shards = frozenset[int]()
        self.turn: Callable[[int], Awaitable[None]] | None = None

    def hold(self, shards: frozenset[int], before_session: Callable[[int], Awaitable[None]]) -> None:
        self.shards, self.turn = shards, before_session


def keeper(world: World, owner: str, holder: Holder, *, number: int = 2) -> ShardKeeper:
    async def sleep(seconds: float) -> None:
        world.clock.tick(seconds=seconds)
        await asyncio.sleep(0)

    return ShardKeeper(world.memory, holder, group=BOT, number=number, owner=owner, pause_s=5, sleep=sleep)


async def test_who_starts_first_lets_the_others_say_that_they_live() -> None:
    world, one, other = World(), Holder(), Holder()
    first, second = keeper(world, "a", one), keeper(world, "b", other)
    for each in (first, second):
        await each.poll()
    assert one.shards | other.shards == set()
    for each in (first, second):
        await each.poll()
    assert [one.shards, other.shards] == [frozenset({0}), frozenset({1})]


async def test_what_is_more_than_fair_is_for_who_joins_at_once() -> None:
    world, one, other = World(), Holder(), Holder()
    first, second = keeper(world, "a", one), keeper(world, "b", other)
    for each in (first, first, second, first, second):
        await each.poll()
    assert [one.shards, other.shards] == [frozenset({0}), frozenset({1})]


async def test_whoever_is_not_logged_in_holds_nothing() -> None:
    world, one, other = World(), Holder(), Holder()
    first, second = keeper(world, "a", one), keeper(world, "b", other)
    for _ in range(2):
        await first.poll()
    assert one.shards == {0, 1}
    one.is_connected = False
    await first.poll()
    assert one.shards == frozenset()
    world.clock.tick(seconds=5)
    for _ in range(2):
        await second.poll()
    assert other.shards == {0, 1}


async def test_a_database_out_of_reach_changes_nothing() -> None:
    world, one = World(), Holder()
    first = keeper(world, "a", one)
    for _ in range(2):
        await first.poll()
    world.memory.store.close()
    await first.poll()
    assert one.shards == first.held == {0, 1}


async def test_at_the_end_others_have_them_at_once() -> None:
    world, one = World(), Holder()
    held = asyncio.Event()

    class Told(Holder):
        def hold(self, shards: frozenset[int], before_session: Callable[[int], Awaitable[None]]) -> None:
            if shards:
                held.set()

    async with ShardKeeper(
        world.memory, Told(), group=BOT, number=2, owner="a", pause_s=0, sleep=lambda _: asyncio.sleep(0)
    ):
        await held.wait()
    second = keeper(world, "b", one)
    for _ in range(2):
        await second.poll()
    assert one.shards == {0, 1}


async def test_sessions_of_one_bucket_begin_apart_in_whichever_process() -> None:
    world, one, other = World(), Holder(), Holder()
    first, second = keeper(world, "a", one), keeper(world, "b", other)
    for each in (first, second):
        await each.poll()
    assert one.turn is not None
    assert other.turn is not None
    began = world.clock()
    await one.turn(0)
    await other.turn(1)
    assert world.clock() == began, "another bucket waits for nobody"
    await other.turn(0)
    assert world.clock() - began >= timedelta(seconds=5)
    await other.turn(0)
    assert world.clock() - began >= timedelta(seconds=10)


def test_shards_are_named() -> None:
    assert [named(frozenset(each)) for each in ((), (1,), (2, 0))] == ["no shard", "shard 1", "shards 0, 2"]
