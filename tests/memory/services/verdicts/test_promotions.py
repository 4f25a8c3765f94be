"""A promotion that is undone leaves what others decided, whoever of them is purged or forgotten later."""

from collections.abc import Callable

import pytest

from memory.model import Audience, Episode, Reaction, Role, TeachingPolicy
from tests.doubles.memory_world import World

W, TEACHER = "terminal:w", Role.TEACHER


class Teachers:
    """Teachers who promote one member's answer."""

    def __init__(self, policy: TeachingPolicy | None = None) -> None:
        self.world = World(policy=policy)
        self.lesson = self.world.ask("lunch?", "at three")
        self.world.react(self.lesson)

    def promote(self, teacher: str, audience: Audience) -> None:
        world, lesson = self.world, self.lesson
        world.memory.curation.promote(W, lesson.id, audience, actor=teacher, role=TEACHER)
        vote = Reaction.on_run(self.now, teacher, "review", 1, world.clock.tick(), role=TEACHER)
        world.memory.teaching.vote(vote)

    def undo(self, teacher: str) -> None:
        assert self.world.memory.teaching.undo(W, teacher, at=self.world.clock.tick())

    @property
    def now(self) -> Episode:
        return self.world.episode(self.lesson)


def purge(world: World, person: str) -> None:
    world.memory.purging.purge(W, person, actor="admin", at=world.clock.tick())


def forget(world: World, person: str) -> None:
    world.memory.privacy.forget(W, person)


@pytest.mark.parametrize("remove", [purge, forget])
def test_a_promotion_does_not_outlive_whoever_gave_it_because_another_undid_theirs(
    remove: Callable[[World, str], None],
) -> None:
    teachers = Teachers()
    teachers.promote("tea", Audience.WORKSPACE)
    teachers.promote("ted", Audience.CHANNEL)
    teachers.undo("ted")
    assert teachers.now.promoted is Audience.WORKSPACE
    remove(teachers.world, "tea")
    assert teachers.now.promoted is None
    assert not teachers.now.verdicts.channel.is_validated
    assert teachers.world.memory.audit.check() == []


@pytest.mark.parametrize("remove", [purge, forget])
def test_a_promotion_stays_when_whoever_undid_theirs_is_gone(remove: Callable[[World, str], None]) -> None:
    teachers = Teachers()
    teachers.promote("tea", Audience.WORKSPACE)
    teachers.promote("ted", Audience.CHANNEL)
    teachers.undo("ted")
    remove(teachers.world, "ted")
    assert teachers.now.promoted is Audience.WORKSPACE
    assert teachers.world.memory.audit.check() == []


def test_undoing_promotions_uses_up_no_limit() -> None:
    teachers = Teachers(TeachingPolicy(promotions_per_window=2))
    teachers.promote("tea", Audience.WORKSPACE)
    teachers.undo("tea")
    teachers.promote("tea", Audience.CHANNEL)
    assert teachers.now.promoted is Audience.CHANNEL
