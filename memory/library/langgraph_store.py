"""Memory as a LangGraph store, where a graph stores items with its person's data, and reads lessons."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    validate_op_namespace,
)

from memory.errors import EmbeddingFailed
from memory.library.agent import AgentMemory
from memory.library.episodic import EpisodicMemory
from memory.library.items import ItemKey, ItemMemory, NewItem, StoredItem
from memory.model import Episode, Vector
from memory.model.validation import require_instance, require_texts
from memory.rules.retrieval.similarity import cosine

LESSONS = ("goodbot", "lessons")
"""The namespace of lessons: read-only, searched by meaning only, and not listed."""

T = TypeVar("T")
Scored = list[tuple[StoredItem, float | None]]


class LangGraphStore(BaseStore):
    """A `langgraph.store.base.BaseStore` on one person's memory, for `graph.compile(store=...)`.

    Items are stored with the person's data, and found where they may be shown; secrets are redacted. Queries rank by
    meaning with memory's embedder, by the whole item, or by `fields`, given here or with the item. A batch reads the
    state before it, then writes everything together. Items do not expire.
    """

    def __init__(self, memory: AgentMemory, *, fields: Sequence[str] = ("$",)) -> None:
        self._agent = require_instance(AgentMemory, memory, "the memory of a store")
        self._items = ItemMemory(EpisodicMemory(memory.memory, memory.scope))
        self._fields = list(require_texts(fields, "the fields of a store"))
        self._vectors: dict[str, Vector] = {}

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute all operations, reads first. Raises `InvalidNamespaceError` for a put below `goodbot`."""
        wanted = list(ops)
        for op in wanted:
            validate_op_namespace(op)
        changes = {(op.namespace, op.key): _new(op) for op in wanted if isinstance(op, PutOp)}
        keys = [(op.namespace, op.key) for op in wanted if isinstance(op, GetOp)]
        known = self._items.get(keys) if keys else {}
        every = self._items.every() if any(isinstance(op, SearchOp | ListNamespacesOp) for op in wanted) else []
        results = [self._read(op, known, every) for op in wanted]
        if changes:
            self._items.change(changes)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` on a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op, known: Mapping[ItemKey, StoredItem], every: Sequence[StoredItem]) -> Result:
        match op:
            case GetOp(namespace=namespace, key=key):
                return self._lesson(key) if namespace == LESSONS else _item(known.get((namespace, key)))
            case SearchOp():
                is_of_lessons = op.namespace_prefix[:1] == LESSONS[:1]
                return self._lessons(op) if is_of_lessons else self._found(op, every)
            case ListNamespacesOp():
                return _namespaces(op, every)
            case _:
                return None

    def _lesson(self, lesson_id: str) -> Item | None:
        known = self._agent.lesson(lesson_id)
        return _lesson_item(*known) if known is not None else None

    def _lessons(self, op: SearchOp) -> list[SearchItem]:
        if not op.query or not op.query.strip() or LESSONS[: len(op.namespace_prefix)] != op.namespace_prefix:
            return []
        found = [_lesson_item(*each) for each in self._agent.lessons(op.query)]
        return _page(op, [each for each in found if _matches(each.value, op.filter or {})])

    def _found(self, op: SearchOp, every: Sequence[StoredItem]) -> list[SearchItem]:
        prefix = op.namespace_prefix
        found = [each for each in every if each.path[: len(prefix)] == prefix]
        found = [each for each in found if _matches(each.value, op.filter or {})]
        scored = self._ranked(op.query, found, every) if op.query else [(each, None) for each in found]
        return [_search_item(*each) for each in _page(op, scored)]

    def _ranked(self, query: str, items: Sequence[StoredItem], every: Sequence[StoredItem]) -> Scored:
        """The items with scores by their most similar text, best first; then those without indexed texts, as None."""
        texts = {(each.path, each.key): self._texts(each) for each in items}
        try:
            vectors = self._embedded([query, *(text for of_item in texts.values() for text in of_item)], every)
        except EmbeddingFailed:
            return [(each, None) for each in items]
        asked = vectors[query]
        scores = {
            key: max(cosine(asked, vectors[text]) for text in of_item) for key, of_item in texts.items() if of_item
        }
        scored: Scored = [(each, scores.get((each.path, each.key))) for each in items]
        return sorted(scored, key=lambda pair: -2.0 if pair[1] is None else pair[1], reverse=True)

    def _texts(self, item: StoredItem) -> list[str]:
        if item.indexed is False:
            return []
        fields = item.indexed if isinstance(item.indexed, list) else self._fields
        return [text for field in fields for text in get_text_at_path(item.value, str(field)) if text.strip()]

    def _embedded(self, texts: Sequence[str], every: Sequence[StoredItem]) -> dict[str, Vector]:
        """The vectors of texts. Those of existing items are cached for the next search."""
        known = self._vectors
        new = [text for text in dict.fromkeys(texts) if text not in known]
        vectors = known | dict(zip(new, self._agent.memory.embedder.embed(new), strict=True))
        standing = {text for each in every for text in self._texts(each)}
        self._vectors = {text: vector for text, vector in vectors.items() if text in standing}
        return vectors


def _new(op: PutOp) -> NewItem | None:
    if op.namespace[:1] == LESSONS[:1]:
        raise InvalidNamespaceError(f"{op.namespace} is read only: people teach lessons, no graph puts them")
    return NewItem(value=op.value, indexed=op.index) if op.value is not None else None


def _item(stored: StoredItem | None) -> Item | None:
    if stored is None:
        return None
    return Item(
        value=dict(stored.value),
        key=stored.key,
        namespace=stored.path,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
    )


def _search_item(stored: StoredItem, score: float | None) -> SearchItem:
    return SearchItem(stored.path, stored.key, dict(stored.value), stored.created_at, stored.updated_at, score)


def _lesson_item(episode: Episode, lesson: dict[str, Any]) -> SearchItem:
    changed = episode.graded_at or episode.created_at
    return SearchItem(LESSONS, episode.id, lesson, episode.created_at, changed, lesson.get("similarity"))


def _page(op: SearchOp | ListNamespacesOp, found: Sequence[T]) -> list[T]:
    return list(found[op.offset : op.offset + op.limit])


def _namespaces(op: ListNamespacesOp, every: Sequence[StoredItem]) -> list[tuple[str, ...]]:
    paths = {each.path for each in every}
    found = [path for path in paths if all(_is_like(path, each) for each in op.match_conditions or ())]
    return _page(op, sorted({path[: op.max_depth] for path in found}))


def _is_like(path: tuple[str, ...], wanted: MatchCondition) -> bool:
    size = len(wanted.path)
    part = path[:size] if wanted.match_type == "prefix" else path[len(path) - size :]
    return len(path) >= size and all(word in ("*", label) for label, word in zip(part, wanted.path, strict=True))


def _matches(value: object, wanted: object) -> bool:
    """Whether a JSON value matches a filter of equal values, operators, and parts of objects."""
    if isinstance(wanted, Mapping) and any(str(each).startswith("$") for each in wanted):
        return all(_holds(value, str(name), operand) for name, operand in wanted.items())
    if isinstance(wanted, Mapping):
        of = value if isinstance(value, Mapping) else None
        return of is not None and all(_matches(of.get(name), part) for name, part in wanted.items())
    if isinstance(wanted, list | tuple):
        given = value if isinstance(value, list | tuple) else ()
        return value == given and len(given) == len(wanted) and all(map(_matches, given, wanted))
    return value == wanted


_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda value, operand: value > operand,
    "$gte": lambda value, operand: value >= operand,
    "$lt": lambda value, operand: value < operand,
    "$lte": lambda value, operand: value <= operand,
}


def _holds(value: object, operator: str, operand: object) -> bool:
    """Whether an operator holds. Only numbers, and only texts, are ordered. Raises `ValueError` if it is unknown."""
    if operator in ("$eq", "$ne"):
        return (value == operand) == (operator == "$eq")
    if operator not in _ORDERS:
        raise ValueError(f"{operator} is no operator; use $eq, $ne, {', '.join(_ORDERS)}")
    kinds: tuple[type[Any], ...] = (int, float) if isinstance(operand, int | float) else (str,)
    return isinstance(value, kinds) and isinstance(operand, kinds) and _ORDERS[operator](value, operand)
