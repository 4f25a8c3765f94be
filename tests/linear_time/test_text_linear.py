"""No text freezes the process: whatever reads people's text in the memory and at the bot's edges comes back."""

import pytest

from tests.linear_time import text_shapes
from tests.linear_time.runner import all_shapes, targets_of, worker

pytestmark = pytest.mark.slow

_TARGETS = "tests.linear_time.text_targets"
_CHARACTERS = 10_000
_HANGS_SECONDS = 10
"""A call that takes longer will hardly end; nothing is measured by it."""
_ALSO = (
    "password: 'the password is', ' ', 'X'",
    "letter with accents out of order",
    "U+002E again and again",
    "quote: '\"', 'a and '",
    "'![' again and again",
    "'[x](' again and again",
    "'``' again and again",
    "'> ' again and again",
    "'a. ' again and again",
    "words, then spaces",
    "distinct emoji names",
    "prose",
)


@pytest.mark.process
def test_every_reader_comes_back_from_every_text() -> None:
    shapes = [*(shape.name for shape in text_shapes.SHAPES), *_ALSO]
    assert set(shapes) <= set(all_shapes())
    with worker(_TARGETS) as child:
        hung = {
            target: shape
            for target in targets_of(_TARGETS)
            for shape in shapes
            if child.seconds(target, shape, _CHARACTERS, at_most=_HANGS_SECONDS) is None
        }
    assert hung == {}
