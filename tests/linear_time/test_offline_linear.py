"""Whatever people, tools and models write, the offline model, the agent and the conversation have read it soon."""

import subprocess
import sys
from types import ModuleType

import pytest

from tests import CHECKOUT
from tests.linear_time import offline_shapes, offline_targets, shapes

pytestmark = pytest.mark.slow

_MANY_CHARACTERS = 20_000
_SOME_CHARACTERS = 250
"""Enough to tell what never ends; there are tens of thousands of pairs."""


@pytest.mark.parametrize(
    ("shapes_module", "length"),
    [(offline_shapes, _MANY_CHARACTERS), (shapes, _SOME_CHARACTERS)],
    ids=["made against it", "of every kind"],
)
def test_every_text_is_read_to_its_end(shapes_module: ModuleType, length: int) -> None:
    command = [sys.executable, "-m", "tests.linear_time.every_pair", offline_targets.__name__, str(length)]
    done = subprocess.run([*command, shapes_module.__name__], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    begun = done.stdout.splitlines()
    assert done.returncode == 0, f"{begun[-1:]} after {len(begun) - 1} others:\n{done.stderr}"
    assert len(begun) == len(shapes_module.SHAPES) * len(offline_targets.TARGETS)
