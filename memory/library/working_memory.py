"""Working memory: what the nodes of one run noticed, on one board they all share.

A node starts with a fresh context and knows nothing of what another node saw. It sees the board's keys in its prompt
and reads a value when it needs one (ReAcTree, arXiv 2511.02424; the seed's `WorkingMemory`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from memory.model.validation import text
from memory.rules.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One value on the board and where it came from."""

    key: str
    value: str
    node: str = ""
    """Path of the node that stored it (`0.1`); empty when it came from outside the tree."""
    at: datetime | None = None


class WorkingMemory:
    """A key-value board for one run. Safe to share between threads; the last write to a key wins.

    What looks like a password, token or key is not kept: `clean` takes it out of every value.
    """

    def __init__(self, clean: Callable[[str], str] | None = None) -> None:
        self._clean = clean or Redactor().text
        self._entries: dict[str, Observation] = {}
        self._lock = Lock()

    def store(self, key: str, value: str, *, node: str = "", at: datetime | None = None) -> None:
        """Save a value; an earlier one under this key is overwritten. Raises `InvalidInput` for what is no text."""
        text(key, "the key of an observation")
        kept = self._clean(text(value, f"the value of {key}"))
        with self._lock:
            self._entries[key] = Observation(key=key, value=kept, node=node, at=at)

    def recall(self, key: str) -> str | None:
        """The value, or None."""
        entry = self.recall_entry(key)
        return None if entry is None else entry.value

    def recall_entry(self, key: str) -> Observation | None:
        """The value with the node and time it came from, or None."""
        with self._lock:
            return self._entries.get(key)

    def keys(self) -> list[str]:
        """Every key, sorted: the same whatever order concurrent nodes wrote in."""
        with self._lock:
            return sorted(self._entries)

    def entries(self) -> list[Observation]:
        """Every observation, sorted by key."""
        with self._lock:
            return [self._entries[key] for key in sorted(self._entries)]

    def snapshot(self) -> dict[str, str]:
        """A copy of keys and values, sorted by key."""
        return {entry.key: entry.value for entry in self.entries()}

    def clear(self) -> None:
        """Remove everything."""
        with self._lock:
            self._entries.clear()
