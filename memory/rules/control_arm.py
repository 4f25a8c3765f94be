"""Runs that get no lessons, so that what lessons are worth can be told from the others. Pure."""

from collections.abc import Callable
from hashlib import blake2b

Chance = Callable[[str], float]
"""For a run's id a number from 0 to less than 1, the same whenever it is asked."""

_BYTES = 8


def hashed(run_id: str) -> float:
    """The chance by the id alone, so that every process and every node of a run says the same."""
    digest = blake2b(run_id.encode(), digest_size=_BYTES, person=b"control-arm").digest()
    return int.from_bytes(digest) / (1 << 8 * _BYTES)


def is_control(run_id: str, share: float, chance: Chance = hashed) -> bool:
    """Whether a run gets no lessons, where this share of the runs shall get none."""
    return share > 0 and chance(run_id) < share
