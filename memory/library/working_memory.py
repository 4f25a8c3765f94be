"""Working memory: a key-value board that the nodes of one run share.

A node starts with a new context, without other nodes' observations. Its prompt has the board's keys, and it reads
values as needed (ReAcTree, arXiv 2511.02424; the seed's `WorkingMemory`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from memory.model.validation import require_text
from memory.rules.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A value on the board with its origin."""

    key: str
    value: str
    node: str = ""
    """The path of the node that stored it (`0.1`); empty if it was stored from outside the tree."""
    at: datetime | None = None


class WorkingMemory:
    """A key-value board for one run. Safe to share between threads; the last write to a key wins.

    `clean` removes passwords, tokens and keys from all values (by default `Redactor.text`).
    """

    def __init__(self, clean: Callable[[str], str] | None = None) -> None:
        self._clean = clean or Redactor().text
        self._entries: dict[str, Observation] = {}
        self._lock = Lock()

    def store(self, key: str, value: str, *, node: str = "", at: datetime | None = None) -> None:
        """Store a value, replacing one with the same key. Raises `InvalidInput` if key or value is no text."""
        require_text(key, "the key of an observation")
        kept = self._clean(require_text(value, f"the value of {key}"))
        with self._lock:
            self._entries[key] = Observation(key=key, value=kept, node=node, at=at)

    def recall(self, key: str) -> str | None:
        """The value, or None."""
        entry = self.recall_entry(key)
        return None if entry is None else entry.value

    def recall_entry(self, key: str) -> Observation | None:
        """The value with its node and time, or None."""
        with self._lock:
            return self._entries.get(key)

    def keys(self) -> list[str]:
        """All keys, sorted, so that the order does not depend on concurrent nodes."""
        with self._lock:
            return sorted(self._entries)

    def entries(self) -> list[Observation]:
        """All observations, sorted by key."""
        with self._lock:
            return [self._entries[key] for key in sorted(self._entries)]

    def snapshot(self) -> dict[str, str]:
        """A copy of keys and values, sorted by key."""
        return {entry.key: entry.value for entry in self.entries()}

    def clear(self) -> None:
        """Remove everything."""
        with self._lock:
            self._entries.clear()
