"""Leases that processes share out: held as long as they are renewed, and others' as soon as their process is dead."""

from memory.services.upkeep.leases import SHARE_FOR, SharedLeases
from tests.doubles.memory_world import World

BOT = "login/discord/x/3"


def leases(world: World) -> SharedLeases:
    return world.memory.shared_leases


def test_two_share_three_and_one_of_them_takes_over_when_the_other_is_not_heard_of() -> None:
    world = World()
    renew_and_take = leases(world).renew_and_take
    assert renew_and_take(BOT, 3, "a") == {0, 1, 2}
    assert renew_and_take(BOT, 3, "b") == frozenset(), "not before a gave up its third"
    assert renew_and_take(BOT, 3, "a", {0, 1, 2}) == {0, 1}
    leases(world).give_up(BOT, "a", {2})
    assert renew_and_take(BOT, 3, "b") == {2}
    assert leases(world).holders(BOT) == {0: "a", 1: "a", 2: "b"}
    world.clock.tick(seconds=SHARE_FOR.total_seconds() - 1)
    assert renew_and_take(BOT, 3, "b", {2}) == {2}
    world.clock.tick(seconds=1)
    assert renew_and_take(BOT, 3, "b", {2}) == {0, 1, 2}
    assert renew_and_take(BOT, 3, "a", {0, 1}) == frozenset(), "it lives again, and what it had is another's"


def test_what_ran_out_is_still_its_holders_if_nobody_took_it() -> None:
    world = World()
    renew_and_take = leases(world).renew_and_take
    assert renew_and_take(BOT, 2, "a") == {0, 1}
    world.clock.tick(hours=1)
    assert renew_and_take(BOT, 2, "a", {1}, takes=False) == {1}
    with world.memory.store.write() as tx:
        tx.conversation_leases.release_dead(world.clock())
        tx.upkeep.release_lease(f"{BOT}/share/1", "a")
    assert renew_and_take(BOT, 2, "a", {1}, takes=False) == {1}, "also where its lease was cleared away"


def test_who_leaves_is_followed_at_once_and_groups_are_apart() -> None:
    world = World()
    renew_and_take = leases(world).renew_and_take
    assert renew_and_take(BOT, 2, "a") == {0, 1}
    assert renew_and_take("login/discord/y/2", 2, "b") == {0, 1}
    leases(world).leave(BOT, "a")
    assert leases(world).holders(BOT) == {}
    assert renew_and_take(BOT, 2, "b") == {0, 1}
    assert leases(world).holders("login/discord/y/2") == {0: "b", 1: "b"}
