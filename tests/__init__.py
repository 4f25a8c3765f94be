"""`memory` and `bot` mirror the packages, `end_to_end` starts real processes, `doubles` stand in for the world."""

from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
"""The folder with `pyproject.toml`."""

GOLD = Path(__file__).parent / "memory" / "gold"
"""Recorded cases of the systems the project was created from."""
