"""Episodes with their vectors, index entries and links in SQL."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import blake2b
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BindParameter,
    Boolean,
    Integer,
    Select,
    and_,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    update,
)

from memory.adapters.row_validation import chunks, half, halves, require_all_storable, require_storable
from memory.adapters.sql.queries import missing_vectors
from memory.adapters.sql.queries.episode_columns import (
    CHANGING,
    NARROW,
    OUTLINE,
    SAME,
    STORED,
    USAGE,
    VERDICT_COLUMNS,
    VERDICTS,
    WHOLE,
)
from memory.adapters.sql.queries.episode_filter import filtered
from memory.adapters.sql.recall import index
from memory.adapters.sql.recall.nearest import RecallIndex
from memory.adapters.sql.tables.columns import READ_AS
from memory.adapters.sql.tables.dialect import insert as upsert
from memory.adapters.sql.tables.episodes import (
    borrowed_words,
    episode_vectors,
    episodes,
    events,
    links,
    quarantines,
    retrieval_items,
)
from memory.adapters.sql.transaction.session import (
    ID_LIMIT,
    Session,
    SqlTable,
    add_statement,
    among,
    matching,
    put_statement,
    row_of,
)
from memory.errors import Conflict
from memory.model import Episode, Link, LinkKind, Origin, Usage, Verdict, Verdicts
from memory.model.normal_form import comparable
from memory.ports import EpisodeFilter, IndexEntry, Neighbourhood, WeighingInput

if TYPE_CHECKING:
    from memory.model import Vector

_t = episodes.c
_CLEAR_QUARANTINE = delete(quarantines).where(matching(quarantines, "episode_id"))
_IN_VERDICTS = [f"verdicts.{name}" for name in VERDICTS]
_STORED_OF = attrgetter(*SAME, *_IN_VERDICTS, *(f"usage.{name}" for name in USAGE), "verdict")
_CHANGED = tuple(f"new_{name}" for name in (*CHANGING, *VERDICT_COLUMNS, "verdict"))
_CHANGED_OF = attrgetter(*CHANGING, *_IN_VERDICTS, "verdict")
_UPDATE = (
    update(episodes)
    .where(_t.workspace == bindparam("w"), _t.id == bindparam("e"))
    .values({name: bindparam(f"new_{name}") for name in (*CHANGING, "verdict", *VERDICT_COLUMNS)})
)
_GET = WHOLE.where(matching(episodes, "id"))
_GET_MANY = WHOLE.where(among(episodes, "id"))
_OF_RUNS = WHOLE.where(among(episodes, "run_id")).order_by(_t.run_id, _t.step_number, _t.id)
_ATTEMPTS = select(func.coalesce(func.max(_t.rep), 0)).where(
    _t.workspace == bindparam("w"),
    _t.person == bindparam("asker"),
    _t.channel == bindparam("here"),
    _t.goal_digest == bindparam("digest"),
    _t.parent_id == "",
    _t.origin == Origin.RUN,
)
_REP = case(
    (bindparam("is_attempt", type_=Boolean), _ATTEMPTS.scalar_subquery() + 1), else_=bindparam("number", type_=Integer)
)
_ADD = upsert(episodes).values(rep=_REP).on_conflict_do_nothing()
_VECTORS = select(episode_vectors).where(among(episode_vectors, "episode_id"))
_DROP_VECTOR = delete(episode_vectors).where(matching(episode_vectors, "episode_id"))
_b = borrowed_words.c
_RENAME = (
    update(episodes)
    .where(_t.workspace == bindparam("w"), _t.channel == bindparam("c"), _t.place.not_in(["", bindparam("name")]))
    .values(place=bindparam("name"))
)
_CLEAR_WORDS = delete(borrowed_words).where(matching(borrowed_words, "episode_id"))
_WORDS = select(borrowed_words).where(among(borrowed_words, "episode_id")).order_by(_b.episode_id, _b.person)
_WITH_WORDS = select(_b.episode_id).where(matching(borrowed_words, "person")).order_by(_b.episode_id)
_some: BindParameter[Any] = bindparam("ids", expanding=True)
_LINKS = select(links).where(matching(links), or_(links.c.from_id.in_(_some), links.c.to_id.in_(_some)))
_LINKS_OF_KIND = _LINKS.where(links.c.kind == bindparam("kind"))
_REMOVE_LINK = delete(links).where(matching(links, "from_id", "to_id", "kind"))


class SqlEpisodeTable(SqlTable):
    """`memory.ports.EpisodeTable` in SQL."""

    def __init__(self, session: Session, recall: RecallIndex) -> None:
        super().__init__(session)
        self._recall = recall

    def put(self, *new: Episode) -> None:
        last = {(each.workspace, each.id): each for each in new}
        self._session.run(put_statement(episodes), _rows(list(last.values())))
        self._hold_back(last.values())
        free = [{"workspace": each.workspace, "episode_id": each.id} for each in last.values() if not each.quarantine]
        self._session.run(_CLEAR_QUARANTINE, free)

    def add(self, *nodes: Episode) -> None:
        if self._session.run(_ADD, list(map(_node_row, nodes, _rows(nodes)))) < len(nodes):
            raise Conflict("an episode with the id of a new one is stored already; give each a new id")
        self._hold_back(nodes)

    def _hold_back(self, given: Iterable[Episode]) -> None:
        rows = [
            {"workspace": each.workspace, "episode_id": each.id, "reasons": each.quarantine}
            for each in given
            if each.quarantine
        ]
        self._session.run(put_statement(quarantines), rows)

    def update(self, *changed: Episode) -> None:
        self._session.run(_UPDATE, [_changes(each) for each in changed])

    def get(self, workspace: str, episode_id: str) -> Episode | None:
        row = self._session.row(_GET, {"workspace": workspace, "id": episode_id})
        return None if row is None else _whole(row)

    def get_many(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, Episode]:
        found = map(_whole, self._session.each(_GET_MANY, workspace, episode_ids))
        return {episode.id: episode for episode in found}

    def weighing_input(self, workspace: str, channel: str, episode_ids: Iterable[str]) -> WeighingInput:
        ids = list(dict.fromkeys(episode_ids))
        return self._recall.lessons.weighing_input(self._session, workspace, channel, ids)

    def find_prefix(self, prefix: str, limit: int = 2) -> list[Episode]:
        size = len(prefix)
        start = func.substr(_t.id, 1, size) == prefix
        end = and_(func.length(_t.id) >= size, func.substr(_t.id, func.length(_t.id) - size + 1) == prefix)
        return self._session.all(episode_of, WHOLE.where(or_(start, end)).order_by(_t.workspace, _t.id).limit(limit))

    def of_run(self, workspace: str, run_id: str) -> list[Episode]:
        return self.of_runs(workspace, [run_id]).get(run_id, [])

    def of_runs(self, workspace: str, run_ids: Iterable[str]) -> dict[str, list[Episode]]:
        found: dict[str, list[Episode]] = {}
        for row in self._session.each(_OF_RUNS, workspace, run_ids):
            found.setdefault(row.run_id, []).append(_whole(row))
        return found

    def search(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        return self._listed(NARROW, workspace, wanted)

    def outlines(self, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        return self._listed(OUTLINE, workspace, wanted)

    def _listed(self, columns: Select[Any], workspace: str, wanted: EpisodeFilter) -> list[Episode]:
        statement = filtered(columns, workspace, wanted)
        order = (_t.created_at.desc(), _t.id.desc()) if wanted.newest_first else (_t.created_at, _t.id)
        return self._session.all(episode_of, statement.order_by(*order).limit(wanted.limit))

    def delete(self, workspace: str, episode_ids: Iterable[str]) -> int:
        self._session.require_writing()
        count = 0
        for ids in chunks(set(episode_ids), ID_LIMIT):
            known = self._session.rows(select(_t.id).where(_t.workspace == workspace, _t.id.in_(ids)))
            gone = [row.id for row in known]
            count += len(gone)
            index.remove(self._session, workspace, gone)
            # Vectors and links are deleted by their foreign keys.
            for table, column in ((events, "episode_id"), (retrieval_items, "episode_id"), (episodes, "id")):
                here = and_(table.c.workspace == workspace, table.c[column].in_(gone))
                self._session.run(delete(table).where(here))
        return count

    def put_vector(self, workspace: str, episode_id: str, model: str, vector: "Vector") -> None:
        require_storable(model)
        row = {"workspace": workspace, "episode_id": episode_id, "model": model, "vector": half(vector)}
        with self._session.needing(f"episode {episode_id} in {workspace}; store it"):
            if self._session.run(add_statement(episode_vectors), row):  # it was not findable without a vector
                return
            self._session.run(put_statement(episode_vectors), row)
        index.rebuild(self._session, workspace, episode_id)

    def add_vectors(self, workspace: str, model: str, vectors: "Mapping[str, Vector]") -> None:
        rows = [
            {"workspace": workspace, "episode_id": name, "model": model, "vector": vector}
            for name, vector in zip(vectors, halves(list(vectors.values())), strict=True)
        ]
        require_storable(model)
        with self._session.needing(f"episode {' or '.join(vectors)} in {workspace}; store it"):
            is_new = self._session.run(add_statement(episode_vectors), rows) == len(rows)
        for name, vector in vectors.items() if not is_new else ():
            self.put_vector(workspace, name, model, vector)

    def vectors(self, workspace: str, episode_ids: Iterable[str]) -> "dict[str, tuple[str, Vector]]":
        rows = self._session.each(_VECTORS, workspace, episode_ids)
        return {row.episode_id: (row.model, row.vector) for row in rows}

    def without_vector(self, workspace: str, model: str, *, after: str, limit: int) -> list[tuple[str, str]]:
        where = {"w": workspace, "m": model, "after": after, "count": limit}
        return [(row.id, row.goal) for row in self._session.rows(missing_vectors.GOALS, where)]

    def count_without_vector(self, workspace: str, model: str) -> int:
        return int(self._session.rows(missing_vectors.EPISODE_COUNT, {"w": workspace, "m": model})[0][0])

    def models(self, workspace: str) -> list[str]:
        return [row.model for row in self._session.rows(missing_vectors.MODELS, {"w": workspace})]

    def delete_vector(self, workspace: str, episode_id: str) -> None:
        index.remove(self._session, workspace, [episode_id])
        self._session.run(_DROP_VECTOR, {"workspace": workspace, "episode_id": episode_id})

    def note_words(self, workspace: str, words: Mapping[str, Collection[str]]) -> None:
        rows = [
            {"workspace": workspace, "episode_id": name, "person": person}
            for name, people in words.items()
            for person in require_storable(tuple(people))
        ]
        if rows:
            with self._session.needing(f"episode {' or '.join(words)} in {workspace}; store it"):
                self._session.run(add_statement(borrowed_words), rows)

    def rename_place(self, workspace: str, channel: str, place: str) -> None:
        self._session.run(_RENAME, {"w": workspace, "c": channel, "name": require_storable(place)})

    def clear_words(self, workspace: str, episode_id: str) -> None:
        self._session.run(_CLEAR_WORDS, {"workspace": workspace, "episode_id": episode_id})

    def words_of_others(self, workspace: str, episode_ids: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for row in self._session.each(_WORDS, workspace, episode_ids):
            found.setdefault(row.episode_id, []).append(row.person)
        return found

    def with_words_of(self, workspace: str, person: str) -> list[str]:
        return [row.episode_id for row in self._session.rows(_WITH_WORDS, {"workspace": workspace, "person": person})]

    def set_index(self, workspace: str, episode_id: str, entries: Sequence[IndexEntry]) -> None:
        index.add(self._session, workspace, episode_id, require_storable(tuple(entries)))

    def set_indexes(self, workspace: str, entries: Mapping[str, Sequence[IndexEntry]]) -> None:
        checked = {name: require_storable(tuple(every)) for name, every in entries.items()}
        index.set_many(self._session, workspace, checked)

    def change_index(
        self, workspace: str, *, put: Sequence[tuple[str, IndexEntry]], remove: Sequence[tuple[str, IndexEntry]]
    ) -> None:
        index.change(self._session, workspace, put=require_storable(tuple(put)), remove=require_storable(tuple(remove)))

    def index_new(self, model: str, new: "Sequence[tuple[Episode, Vector, IndexEntry]]") -> None:
        index.index_new(self._session, model, new)

    def nearest(
        self,
        workspace: str,
        partitions: Sequence[str],
        model: str,
        vector: "Vector",
        k: int,
        min_cosine: float,
        *,
        proposals: Sequence[str] = (),
        actions: Sequence[str] = (),
        include_gave_up: bool = True,
    ) -> Neighbourhood:
        return self._recall.nearest(
            self._session,
            workspace,
            partitions,
            model,
            vector,
            k,
            min_cosine,
            proposals,
            actions,
            include_gave_up=include_gave_up,
        )

    def first_indexed(self, workspace: str, partitions: Sequence[str], limit: int) -> list[str]:
        return index.first_episodes(self._session, workspace, partitions, limit)

    def index_of(self, workspace: str, episode_id: str) -> list[IndexEntry]:
        return index.entries_of(self._session, workspace, episode_id)

    def add_link(self, *new: Link) -> None:
        edges = ", ".join(f"{link.from_id} or {link.to_id} in {link.workspace}" for link in new)
        with self._session.needing(f"episode {edges}; store both"):
            self._session.run(add_statement(links), [row_of(links, link) for link in new])

    def remove_link(self, link: Link) -> None:
        self._session.run(_REMOVE_LINK, row_of(links, link))

    def links(self, workspace: str, episode_ids: Iterable[str], kind: LinkKind | None = None) -> list[Link]:
        wanted = _LINKS if kind is None else _LINKS_OF_KIND
        found: set[Link] = set()
        for ids in chunks(set(episode_ids), ID_LIMIT):
            rows = self._session.rows(wanted, {"workspace": workspace, "ids": ids, "kind": kind})
            found.update(Link(**row._mapping) for row in rows)
        return sorted(found, key=lambda link: (link.from_id, link.to_id, link.kind.value))


def _rows(given: Sequence[Episode]) -> list[dict[str, Any]]:
    if not all(each.workspace and each.id for each in require_all_storable(given)):
        raise ValueError("an episode is stored under its workspace and id, one of them is empty")
    return [dict(zip(STORED, (*_STORED_OF(each), _digest(each.goal)), strict=True)) for each in given]


def _changes(episode: Episode) -> dict[str, Any]:
    row = dict(zip(_CHANGED, require_storable(_CHANGED_OF(episode)), strict=True))
    return {"w": episode.workspace, "e": episode.id} | row


def _node_row(node: Episode, row: dict[str, Any]) -> dict[str, Any]:
    row |= _attempt(node, row["goal_digest"])
    row |= {"is_attempt": _is_attempt(node), "number": row.pop("rep")}
    return row


def _is_attempt(node: Episode) -> bool:
    return node.is_root and node.origin is Origin.RUN


def _attempt(node: Episode, digest: str) -> dict[str, str]:
    return {"w": node.workspace, "asker": node.person, "here": node.channel, "digest": digest}


def _columns(*names: str) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    places = [column.name for column in WHOLE.selected_columns]
    return itemgetter(*(places.index(name) for name in names))


_FIELDS = [name for name in SAME if name not in ("verdicts", "usage")] + ["quarantine", "channel_visibility"]
_OWN, _OF_VERDICTS, _OF_USAGE = _columns(*_FIELDS), _columns(*VERDICT_COLUMNS), _columns(*USAGE)


def _whole(row: Sequence[Any]) -> Episode:
    """`episode_of` for a row of `WHOLE`, by position, which halves the time."""
    verdicts = Verdicts(**dict(zip(VERDICTS, _OF_VERDICTS(row), strict=True)))
    usage = Usage(**dict(zip(USAGE, _OF_USAGE(row), strict=True)))
    return Episode(**dict(zip(_FIELDS, _OWN(row), strict=True)), verdicts=verdicts, usage=usage)


def episode_of(**values: Any) -> Episode:  # noqa: ANN401 - columns
    """An episode from a row's columns."""
    verdicts = Verdicts(**{name: values.pop(f"verdict_{name}") for name in VERDICTS})
    usage = Usage(**{name: values.pop(name) for name in USAGE})
    return Episode(**values, verdicts=verdicts, usage=usage)


def _with_scope(verdict: Verdict, goal_digest: str, **columns: Any) -> object:  # noqa: ANN401 - columns
    """An episode from all columns of its row, and its scope. Two columns are derived from others."""
    episode = episode_of(**columns)
    return episode, episode.scope


episodes.info[READ_AS] = _with_scope
episode_vectors.info[READ_AS] = lambda vector, **_: half(vector).size


def _digest(goal: str) -> str:
    # Keeps index entries short; 128 bits do not collide.
    return blake2b(comparable(goal).encode(errors="surrogatepass"), digest_size=16).hexdigest()
