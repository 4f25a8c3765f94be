"""Items of one person's agent: JSON objects by path and key, stored until deleted or the person is forgotten.

They are short memories (`memory.model.ShortMemory`) for 100 years, so they are exported and forgotten with the person's
data. Items stored in a direct message or a private channel are found only there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from urllib.parse import quote

from memory.library.episodic import EpisodicMemory, keep_for_a_while
from memory.library.ledger import keys_here
from memory.library.visibility import may_be_shown, place_json
from memory.model import ShortMemory
from memory.model.validation import require_json, require_mapping, require_text, require_texts
from memory.ports import Transaction

KIND = "goodbot/item"
_KEPT = timedelta(days=36_500)

ItemKey = tuple[tuple[str, ...], str]
"""An item's path, and its key in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """A stored item."""

    path: tuple[str, ...]
    key: str
    value: Mapping[str, object]
    indexed: object = None
    """The caller's description of the parts to index for search by meaning."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """A new value of an item."""

    value: Mapping[str, object]
    indexed: object = None


class ItemMemory:
    """A person's items that may be shown in the scope of `episodic`. Blocking; each call is one transaction."""

    def __init__(self, episodic: EpisodicMemory) -> None:
        self._episodic = episodic

    def get(self, keys: Sequence[ItemKey]) -> dict[ItemKey, StoredItem]:
        """The existing items with these keys."""
        scope, now = self._episodic.scope, self._episodic.memory.clock()
        found: dict[ItemKey, StoredItem] = {}
        with self._episodic.memory.store.read() as tx:
            shown = self._shown_in(tx)
            for key in dict.fromkeys(keys):
                entries = (tx.short.get(scope.workspace, KIND, each, now) for each in keys_here(scope, _name(key)))
                items = (shown(entry) for entry in entries if entry is not None)
                nearest = next((item for item in items if item is not None), None)
                found |= {key: nearest} if nearest is not None else {}
        return found

    def every(self) -> list[StoredItem]:
        """All items that may be shown here, last changed first."""
        scope = self._episodic.scope
        with self._episodic.memory.store.read() as tx:
            shown = self._shown_in(tx)
            found: dict[ItemKey, StoredItem] = {}
            for entry in tx.short.of_person(scope.workspace, scope.person, KIND):
                item = shown(entry)
                if item is not None and self._is_nearest(entry, item, found):
                    found[item.path, item.key] = item
        latest = sorted(found.values(), key=lambda each: (each.path, each.key))
        return sorted(latest, key=lambda each: each.updated_at, reverse=True)

    def change(self, changes: Mapping[ItemKey, NewItem | None]) -> None:
        """Store items, and delete those with None, atomically.

        Secrets are redacted. Raises `InvalidInput` for a value that is no JSON object.
        """
        memory, scope = self._episodic.memory, self._episodic.scope
        for (path, key), wanted in changes.items():
            require_texts(path, "the path of an item")
            require_text(key, "the key of an item")
            if wanted is not None:
                require_json(require_mapping(wanted.value, "the value of an item"), "the value of an item")
                require_json(wanted.indexed, "what is indexed of an item")
        with memory.store.write() as tx:
            for (path, key), wanted in changes.items():
                if wanted is None:
                    self._delete(tx, (path, key))
                    continue
                kept = {
                    "path": list(path),
                    "key": key,
                    "value": memory.core.redactor.value(wanted.value),
                    "indexed": wanted.indexed,
                    "updated_at": memory.clock().isoformat(),
                }
                name = keys_here(scope, _name((path, key)))[0]
                placed = {"said_in": place_json(scope), "value": kept}
                keep_for_a_while(tx, self._episodic, KIND, name, placed, _KEPT)

    def _delete(self, tx: Transaction, key: ItemKey) -> None:
        scope, now = self._episodic.scope, self._episodic.memory.clock()
        for name in keys_here(scope, _name(key)):
            entry = tx.short.get(scope.workspace, KIND, name, now)
            if entry is not None and self._shown_in(tx)(entry) is not None:
                tx.short.delete(scope.workspace, KIND, name)

    def _is_nearest(self, entry: ShortMemory, item: StoredItem, found: Mapping[ItemKey, StoredItem]) -> bool:
        """Whether `get` would return this item: of equal keys, the present place's has priority."""
        names = keys_here(self._episodic.scope, _name((item.path, item.key)))
        return entry.key == names[0] or (entry.key in names and (item.path, item.key) not in found)

    def _shown_in(self, tx: Transaction) -> Callable[[ShortMemory], StoredItem | None]:
        """A function that reads an item from an entry, or None if it may not be shown here; it caches places."""

        @cache
        def is_shown(channel: str, visibility: str) -> bool:
            return may_be_shown(tx, self._episodic.scope, {"channel": channel, "visibility": visibility})

        def item(entry: ShortMemory) -> StoredItem | None:
            place = require_mapping(entry.value["said_in"], "the place of an item")
            return _item(entry) if is_shown(str(place["channel"]), str(place["visibility"])) else None

        return item


def _item(entry: ShortMemory) -> StoredItem:
    kept = require_mapping(entry.value["value"], "an item")
    return StoredItem(
        path=require_texts(kept["path"], "the path of an item"),
        key=str(kept["key"]),
        value={str(name): each for name, each in require_mapping(kept["value"], "the value of an item").items()},
        indexed=kept["indexed"],
        created_at=entry.created_at,
        updated_at=datetime.fromisoformat(str(kept["updated_at"])),
    )


def _name(key: ItemKey) -> str:
    """A path and a key as one unique text."""
    path, last = key
    return "/".join(quote(each, safe="") for each in (*path, last))
