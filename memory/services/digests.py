"""Who was reminded of what waits for a teacher: each day once, and of each lesson once."""

from collections.abc import Collection
from dataclasses import dataclass

from memory.services.core import Core


@dataclass(frozen=True, slots=True)
class Digests:
    """Claims of a digest, taken before it is sent: rather not at all than twice."""

    _core: Core

    def claim(self, workspace: str, reader: str, lesson_ids: Collection[str]) -> bool:
        """Whether this reader is to get a digest now: none today yet, and one of these lessons is new to them."""
        with self._core.store.write() as tx:
            now = self._core.clock()
            if not tx.log.claim(workspace, f"digest/{reader}/{now:%Y-%m-%d}", now):
                return False
            news = [each for each in lesson_ids if tx.log.claim(workspace, f"digest/{reader}/{each}", now)]
            return bool(news)
