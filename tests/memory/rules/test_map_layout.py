"""The layout of the map: equal meanings lie together, nothing covers anything, and equal goals have equal layouts."""

import itertools
import math

import numpy as np
import pytest

from memory.adapters.embedding import HashingEmbedder
from memory.model import Vector
from memory.rules.map_layout import HEIGHT, WIDTH, MapLayout, lay_out, name_of

KINDS = {
    "printer": "how do I fix the printer on floor {}?",
    "holiday": "how many holiday days are left in week {}?",
    "deploy": "who may deploy release {} to production servers?",
    "canteen": "what does the canteen cook today, menu {}?",
    "badge": "where do lost entrance badges of visitor {} go?",
}


def goals_of(each: int) -> list[str]:
    return [text.format(number) for text in KINDS.values() for number in range(each)]


def laid_out(goals: list[str]) -> MapLayout:
    return lay_out(goals, HashingEmbedder().embed(goals))


def test_each_kind_is_a_group_with_its_word() -> None:
    layout = laid_out(goals_of(8))
    assert len(layout.groups) == len(KINDS)
    for kind, first in zip(KINDS, range(0, 40, 8), strict=True):
        (group,) = [each for each in layout.groups if first in each.members]
        assert set(group.members) == set(range(first, first + 8))
        assert any(word.startswith(kind[:5]) for word in group.words), group.words
        for member in group.members:
            assert math.dist(layout.places[member], (group.x, group.y)) <= group.radius


def test_no_group_covers_another_and_all_is_on_the_plane() -> None:
    layout = laid_out(goals_of(8))
    for one, other in itertools.combinations(layout.groups, 2):
        assert math.dist((one.x, one.y), (other.x, other.y)) >= (one.radius + other.radius) * 0.95
    for group in layout.groups:
        assert group.radius <= group.x <= WIDTH - group.radius
        assert group.radius <= group.y <= HEIGHT - group.radius


def test_what_is_said_in_the_same_words_lies_apart_all_the_same() -> None:
    layout = laid_out(["where is the key?"] * 30)
    assert len(layout.groups) == 1
    nearest = [
        min(math.dist(here, there) for number, there in enumerate(layout.places) if number != place)
        for place, here in enumerate(layout.places)
    ]
    assert min(nearest) > layout.room


def test_the_same_goals_lie_the_same() -> None:
    assert laid_out(goals_of(5)) == laid_out(goals_of(5))


@pytest.mark.parametrize("goals", [[], ["alone?"], ["one?", "two?"], [""], ["?", "!"]])
def test_few_goals_and_none_have_a_plane(goals: list[str]) -> None:
    layout = laid_out(goals)
    assert len(layout.places) == len(goals)
    assert all(math.isfinite(number) for place in layout.places for number in place)


def test_vectors_without_direction_have_a_place() -> None:
    nothing: list[Vector] = [np.zeros(8, np.float32)] * 3
    layout = lay_out(["one?", "two?", "three?"], nothing)
    assert all(math.isfinite(number) for place in layout.places for number in place)


def test_a_name_takes_as_many_words_as_there_is_room_for() -> None:
    assert name_of(("key", "archive", "office")) == "key · archive · office"
    assert name_of(("a" * 20, "b" * 20, "key")) == f"{'a' * 20} · key"
    assert name_of(("x" * 60,)) == "x" * 26
    assert name_of(()) == ""
