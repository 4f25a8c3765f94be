"""Who was reminded of what waits for a teacher: each day once, and of each lesson once."""

from collections.abc import Collection
from dataclasses import dataclass

from memory.services.core import Core


@dataclass(frozen=True, slots=True)
class Digests:
    """Claims of a digest, taken before it is sent: after a crash rather not at all than twice."""

    _core: Core

    def claim(self, workspace: str, reader: str, lesson_ids: Collection[str]) -> list[str]:
        """Those of these lessons that are new to this reader; none where they had a digest today."""
        with self._core.store.write() as tx:
            now = self._core.clock()
            if not tx.log.claim(workspace, f"digest/{reader}/{now:%Y-%m-%d}", now):
                return []
            return [each for each in lesson_ids if tx.log.claim(workspace, _item(reader, each), now)]

    def not_sent(self, workspace: str, reader: str, news: Collection[str]) -> None:
        """Take the claims of these lessons back, so that the digest of another day has them."""
        with self._core.store.write() as tx:
            tx.log.give_back(workspace, [_item(reader, each) for each in news])


def _item(reader: str, lesson_id: str) -> str:
    return f"digest/{reader}/{lesson_id}"
