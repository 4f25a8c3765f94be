"""What is measured: one function that reads somebody's text."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """One function under its name. What it returns does not matter."""

    name: str
    run: Callable[[str], object]
