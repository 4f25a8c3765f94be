"""What a list costs the store: as many statements for many lessons as for few."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.conversation.commands.lesson_access import LessonAccess
from bot.conversation.reply import PAGE_SIZE
from memory.adapters.sql import SqlStore
from memory.model import Role, Scope
from tests.bot.conversation.test_message_statements import Count
from tests.doubles.memory_world import World, scope

ANA, TEA = scope("ana"), scope("tea")
IN_THREAD = replace(ANA, thread="t2")

READS: dict[str, tuple[Callable[[World, Scope], object], int]] = {
    "memory": (lambda world, here: LessonAccess(world.memory).believed(here, 1), 2),
    "review": (lambda world, here: LessonAccess(world.memory).waiting(here, 1), 2),
    "newest": (lambda world, here: world.memory.answers.newest(here), 2),
    "newest in a thread": (lambda world, here: world.memory.answers.newest(IN_THREAD), 2),
    "to be graded": (lambda world, here: world.memory.model_grades.waiting(timedelta(0), 10), 9),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}")) as store:
        yield store


def filled(world: World, start: int, end: int) -> None:
    """Answers that people approved of, and some that nobody judged."""
    for number in range(start, end):
        approved = world.ask(f"where is key {number}?", "under the mat")
        world.react(approved, by="ana")
        world.ask(f"who has key {number}?", "the porter", of=IN_THREAD)


@pytest.mark.parametrize("what", READS)
def test_a_list_takes_as_many_statements_for_many_as_for_few(store: SqlStore, what: str) -> None:
    world = World(store)
    read, most = READS[what]
    counts: list[list[str]] = []
    for start, end in ((0, 3), (3, 4 * PAGE_SIZE)):
        filled(world, start, end)
        world.clock.tick(hours=1)
        read(world, ANA)  # what is read once and kept
        count = Count(store)
        read(world, ANA)
        counts.append(count.statements)
    assert len(counts[0]) == len(counts[1]) <= most, counts[1]


def test_a_page_has_the_whole_lessons_and_the_length_of_the_list(store: SqlStore) -> None:
    world = World(store)
    filled(world, 0, PAGE_SIZE + 2)
    lessons = LessonAccess(world.memory)
    listed, to_review = lessons.believed(ANA, 2), lessons.waiting(TEA, 9)
    for page in (listed, to_review):
        assert (page.number, page.last, page.first, page.total) == (2, 2, PAGE_SIZE + 1, PAGE_SIZE + 2)
    assert [each.episode.goal for each in listed.items] == ["where is key 1?", "where is key 0?"]
    assert [each.output for each in to_review.items] == ["under the mat"] * 2
    world.react(to_review.items[0], by="tea", role=Role.TEACHER)
    assert lessons.waiting(TEA, 1).total == PAGE_SIZE + 2  # it may still be for the whole workspace
