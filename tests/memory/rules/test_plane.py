"""The plane: what means the same lies together, nothing covers anything, and the same goals lie the same."""

import itertools
import math

import numpy as np
import pytest

from memory.adapters.embedding import HashingEmbedder
from memory.model import Vector
from memory.rules.plane import HEIGHT, WIDTH, Plane, lay_out, name_of

KINDS = {
    "printer": "how do I fix the printer on floor {}?",
    "holiday": "how many holiday days are left in week {}?",
    "deploy": "who may deploy release {} to production servers?",
    "canteen": "what does the canteen cook today, menu {}?",
    "badge": "where do lost entrance badges of visitor {} go?",
}


def goals_of(each: int) -> list[str]:
    return [text.format(number) for text in KINDS.values() for number in range(each)]


def laid_out(goals: list[str]) -> Plane:
    return lay_out(goals, HashingEmbedder().embed(goals))


def test_each_kind_is_a_group_with_its_word() -> None:
    plane = laid_out(goals_of(8))
    assert len(plane.groups) == len(KINDS)
    for kind, first in zip(KINDS, range(0, 40, 8), strict=True):
        (group,) = [each for each in plane.groups if first in each.members]
        assert set(group.members) == set(range(first, first + 8))
        assert any(word.startswith(kind[:5]) for word in group.words), group.words
        for member in group.members:
            assert math.dist(plane.places[member], (group.x, group.y)) <= group.radius


def test_no_group_covers_another_and_all_is_on_the_plane() -> None:
    plane = laid_out(goals_of(8))
    for one, other in itertools.combinations(plane.groups, 2):
        assert math.dist((one.x, one.y), (other.x, other.y)) >= (one.radius + other.radius) * 0.95
    for group in plane.groups:
        assert group.radius <= group.x <= WIDTH - group.radius
        assert group.radius <= group.y <= HEIGHT - group.radius


def test_what_is_said_in_the_same_words_lies_apart_all_the_same() -> None:
    plane = laid_out(["where is the key?"] * 30)
    assert len(plane.groups) == 1
    nearest = [
        min(math.dist(here, there) for number, there in enumerate(plane.places) if number != place)
        for place, here in enumerate(plane.places)
    ]
    assert min(nearest) > plane.room


def test_the_same_goals_lie_the_same() -> None:
    assert laid_out(goals_of(5)) == laid_out(goals_of(5))


@pytest.mark.parametrize("goals", [[], ["alone?"], ["one?", "two?"], [""], ["?", "!"]])
def test_few_goals_and_none_have_a_plane(goals: list[str]) -> None:
    plane = laid_out(goals)
    assert len(plane.places) == len(goals)
    assert all(math.isfinite(number) for place in plane.places for number in place)


def test_vectors_without_direction_have_a_place() -> None:
    nothing: list[Vector] = [np.zeros(8, np.float32)] * 3
    plane = lay_out(["one?", "two?", "three?"], nothing)
    assert all(math.isfinite(number) for place in plane.places for number in place)


def test_a_name_takes_as_many_words_as_there_is_room_for() -> None:
    assert name_of(("key", "archive", "office")) == "key · archive · office"
    assert name_of(("a" * 20, "b" * 20, "key")) == f"{'a' * 20} · key"
    assert name_of(("x" * 60,)) == "x" * 26
    assert name_of(()) == ""
