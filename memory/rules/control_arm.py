"""Random assignment of runs to the control arm, which gets no lessons, to measure the effect of lessons."""

from collections.abc import Callable
from hashlib import blake2b

Chance = Callable[[str], float]
"""A function from a run's id to a fixed number, from 0 to less than 1."""

_BYTES = 8


def hash_fraction(run_id: str) -> float:
    """The number as a hash of the id, so that all processes and all nodes of a run agree."""
    digest = blake2b(run_id.encode(), digest_size=_BYTES, person=b"control-arm").digest()
    return int.from_bytes(digest) / (1 << 8 * _BYTES)


def is_control(run_id: str, share: float, chance: Chance = hash_fraction) -> bool:
    """Whether a run is in the control arm; `share` of all runs is, 0..1."""
    return share > 0 and chance(run_id) < share
