"""Items of one person's agent: JSON objects by path and key, kept until they are deleted or their person is forgotten.

They are short memories (`memory.model.ShortMemory`) without an end, so they are exported and forgotten with the rest.
What was kept in a direct message or in a private channel is found only there.
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
from memory.model.validation import json_value, mapping, text, texts
from memory.ports import Transaction

KIND = "goodbot/item"
_KEPT = timedelta(days=36_500)

ItemKey = tuple[tuple[str, ...], str]
"""An item's path, and its key there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """One item as it is kept."""

    path: tuple[str, ...]
    key: str
    value: Mapping[str, object]
    indexed: object = None
    """What of it is searched by meaning, in the words of whoever kept it."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewItem:
    """What an item is to be."""

    value: Mapping[str, object]
    indexed: object = None


class ItemMemory:
    """A person's items, as far as they may be shown where `episodic` is. Blocking; each call is one transaction."""

    def __init__(self, episodic: EpisodicMemory) -> None:
        self._episodic = episodic

    def get(self, keys: Sequence[ItemKey]) -> dict[ItemKey, StoredItem]:
        """The items with these keys, of those there are."""
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
        """All items that may be shown here, the latest change first."""
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
        """Keep items, and delete those that are to be nothing; all of it or none.

        Secrets are taken out. Raises `InvalidInput` for what is no JSON object.
        """
        memory, scope = self._episodic.memory, self._episodic.scope
        for (path, key), wanted in changes.items():
            texts(path, "the path of an item")
            text(key, "the key of an item")
            if wanted is not None:
                json_value(mapping(wanted.value, "the value of an item"), "the value of an item")
                json_value(wanted.indexed, "what is indexed of an item")
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
        """Whether `get` would find this one: of equal keys, that of the present place; others are not read here."""
        names = keys_here(self._episodic.scope, _name((item.path, item.key)))
        return entry.key == names[0] or (entry.key in names and (item.path, item.key) not in found)

    def _shown_in(self, tx: Transaction) -> Callable[[ShortMemory], StoredItem | None]:
        """What makes an item of an entry, if it may be shown here; each place is looked up once."""

        @cache
        def is_shown(channel: str, visibility: str) -> bool:
            return may_be_shown(tx, self._episodic.scope, {"channel": channel, "visibility": visibility})

        def item(entry: ShortMemory) -> StoredItem | None:
            place = mapping(entry.value["said_in"], "the place of an item")
            return _item(entry) if is_shown(str(place["channel"]), str(place["visibility"])) else None

        return item


def _item(entry: ShortMemory) -> StoredItem:
    kept = mapping(entry.value["value"], "an item")
    return StoredItem(
        path=texts(kept["path"], "the path of an item"),
        key=str(kept["key"]),
        value={str(name): each for name, each in mapping(kept["value"], "the value of an item").items()},
        indexed=kept["indexed"],
        created_at=entry.created_at,
        updated_at=datetime.fromisoformat(str(kept["updated_at"])),
    )


def _name(key: ItemKey) -> str:
    """A path and a key as one text; no two have the same."""
    path, last = key
    return "/".join(quote(each, safe="") for each in (*path, last))
