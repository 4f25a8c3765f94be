"""Waiting that takes no time."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class Naps:
    """A `sleep` that writes down how long it was to take."""

    taken: list[float] = field(default_factory=list)

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0)
