"""What lists do with a number of items that cannot be: an error that says so, instead of all of them or a fault."""

from collections.abc import Callable
from typing import Any

import pytest

from memory import Memory
from memory.errors import InvalidInput
from memory.library.episodic import in_memory
from memory.ports import EpisodeFilter


@pytest.mark.parametrize("number", [-1, 1.5, True, "2", 2**70])
@pytest.mark.parametrize(
    "ask",
    [
        lambda memory, number: memory.audit.episodes("w", EpisodeFilter(limit=number)),
        lambda memory, number: memory.audit.episodes("w", EpisodeFilter(newest=number)),
        lambda memory, number: memory.privacy.people("w", limit=number),
        lambda memory, number: memory.ratings.of("w", "ana", limit=number),
        lambda memory, number: memory.ratings.of("w", "ana", skip=number),
        lambda memory, number: memory.gaps.find("w", limit=number),
        lambda memory, number: memory.audit.log("w", limit=number),
        lambda memory, number: memory.chat_settings.changes("w", limit=number),
        lambda memory, number: memory.facts.every("w", public_only=False, after=0, limit=number),
    ],
)
def test_a_number_of_items_that_cannot_be_is_refused(ask: Callable[[Memory, Any], object], number: object) -> None:
    with pytest.raises(InvalidInput, match=r"^(limit|newest|skip) must be a whole number"):
        ask(in_memory(), number)
