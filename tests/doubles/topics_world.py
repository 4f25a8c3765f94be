"""A world of topics for tests: nine topics with chosen embeddings, and cases in the shape of recorded HTTP calls.

`t1` (Deploy) to `t9` (Zero): t4 is archived, t5 has no embedding, t6 one of another dimension, t7 is at a right
angle to `deploy`, t8 opposite, t9 has length zero.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds
from memory.errors import EmbeddingFailed
from memory.model import Audience, Scope, Vector
from memory.ports import Store
from memory.services.topics import FieldInput, Ingest, Placement, Related, World, WorldPolicy
from tests.doubles.memory_world import FakeClock, scope

TEXTS: dict[str, Sequence[float]] = {"deploy": (1, 0, 0, 0), "orth": (0, 1, 0, 0), "nothing": (0, 0, 0, 0)}
EMBEDDINGS: dict[str, Sequence[float]] = {
    "t1": (1, 0, 0, 0),
    "t2": (0.9, 0.1, 0, 0),
    "t3": (1, 1, 0, 0),
    "t4": (1, 0, 0, 0),
    "t6": (1, 0),
    "t7": (0, 1, 0, 0),
    "t8": (-1, 0, 0, 0),
    "t9": (0, 0, 0, 0),
}
TOPICS: dict[str, dict[str, Any]] = {
    "t1": {"title": "Deploy", "summary": "how we deploy", "topic_kind": "note"},
    "t2": {"title": "Release", "summary": "release train"},
    "t3": {"title": "Incident", "summary": "pager", "salience": 2.5},
    "t4": {"title": "Old", "salience": 0.02},
    "t5": {"title": "NoEmb"},
    "t6": {"title": "WrongDim"},
    "t7": {"title": "Orth"},
    "t8": {"title": "Opp"},
    "t9": {"title": "Zero"},
}
FIELDS = [
    ("t1", "owner", "o1", "unassigned", "2026-02-01", "api", None, None),
    ("t1", "owner", "o2", "Priya", "2026-03-10", "llm", "rota", None),
    ("t1", "owner", "o3", "Aya", "2026-04-22", "ui", "handoff", "faster"),
    ("t1", "status", "s1", "green", "2026-04-01", "api", None, None),
    ("t3", "about", "a1", "Deploy", "2026-05-01", "api", None, None),
]


class TableEmbedder:
    """Known texts have their vectors, all others (0, 0, 0, 1); broken, it fails."""

    name = "table"
    dimension = 4

    def __init__(self) -> None:
        self.is_broken = False

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        if self.is_broken:
            raise EmbeddingFailed("the model is away")
        vectors: list[Vector] = [np.asarray(TEXTS.get(text, (0, 0, 0, 1)), np.float64) for text in texts]
        return vectors


class TopicWorld:
    """A world on doubles, with its clock and embedder at hand."""

    def __init__(self, store: Store | None = None, policy: WorldPolicy | None = None) -> None:
        self.clock = FakeClock()
        self.ids = TimeOrderedIds(self.clock, random.Random(7).getrandbits)
        self.store = store or SqlStore.in_memory()
        self.embedder = TableEmbedder()
        self.world = World(self.store, self.embedder, clock=self.clock, new_id=self.ids, policy=policy)
        self.scope = scope()

    def add(self, topic_id: str, title: str | None = None, *, of: Scope | None = None, **more: Any) -> None:
        """A topic without embedding unless one is given."""
        self.embedder.is_broken = "embedding" not in more
        audience = more.pop("audience", Audience.WORKSPACE)
        self.world.ingest(of or self.scope, Ingest(topic_id=topic_id, title=title, audience=audience, **more))
        self.embedder.is_broken = False

    def value(self, topic_id: str, name: str, value: object, *, of: Scope | None = None, **more: Any) -> None:
        field = FieldInput(name=name, value=value, **more)
        self.world.ingest(
            of or self.scope, Ingest(placement=Placement.VERSION_FIELD, topic_id=topic_id, fields=[field])
        )

    def extend(self, topic_id: str, *related: str, of: Scope | None = None, fields: Sequence[FieldInput] = ()) -> None:
        ingest = Ingest(
            placement=Placement.EXTEND_TOPIC,
            topic_id=topic_id,
            fields=fields,
            related=[Related(topic_id=each) for each in related],
        )
        self.world.ingest(of or self.scope, ingest)

    def query(self, of: Scope | None = None, **body: object) -> dict[str, Any]:
        response: dict[str, Any] = self.world.query(of or self.scope, {"q": "deploy"} | body).as_dict()
        return response

    def found(self, of: Scope | None = None, **body: object) -> list[str]:
        return [candidate["topic_id"] for candidate in self.query(of, **body)["candidates"]]

    def fields(self, topic_id: str, of: Scope | None = None) -> dict[str, list[object]]:
        """The values of each field of a topic, newest first; reading this reinforces nothing."""
        body = {"stages": ["temporal"], "explain": True, "topic_ids": [topic_id], "reinforce": False}
        candidates = self.query(of, **body)["candidates"]
        fields = candidates[0]["fields"] if candidates else []
        return {field["name"]: [value["value"] for value in field["history"]] for field in fields}

    def salience(self, topic_id: str) -> float:
        return self.world.topic(self.scope, topic_id).salience


Ask = Callable[[TopicWorld, Mapping[str, Any]], dict[str, Any]]


def recorded(setup: Mapping[str, Any], store: Store | None = None) -> TopicWorld:
    """The nine topics of the recorded calls."""
    here = TopicWorld(store)
    if setup.get("topics") == "[]":
        return here
    with_embeddings = setup.get("emb") != "False"
    for topic_id, values in TOPICS.items():
        known: dict[str, Any] = {}
        if with_embeddings and topic_id in EMBEDDINGS:
            known["embedding"] = EMBEDDINGS[topic_id]
        here.add(topic_id, **values, **known)
    here.extend("t3", fields=[FieldInput(name="about", ref_topic_id="t1")])
    here.extend("t1", "t2", "t3", fields=[FieldInput(name="refonly", ref_topic_id="t7")])
    for topic_id, name, revision_id, value, day, provenance, why, impact in FIELDS:
        here.value(
            topic_id,
            name,
            value,
            revision_id=revision_id,
            valid_from=datetime.fromisoformat(f"{day}T00:00:00+00:00"),
            provenance=provenance,
            why_changed=why,
            impact_expected=impact,
        )
    here.world.archive(here.scope, "t4")
    return here


def asked_directly(here: TopicWorld, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to the body of a request, without a server."""
    return dict(here.world.query(here.scope, request).as_dict())


def wrong_in(case: Mapping[str, Any], store: Store | None = None, ask: Ask = asked_directly) -> list[str]:
    """Where our answer, or what it did to the topics, differs from a recorded call that the server accepted."""
    here = recorded(case["setup"], store)
    if case["name"] == "all_archived":
        for topic_id in case["after"]:
            here.world.archive(here.scope, topic_id)
    response: dict[str, Any] = {}
    for _ in range(case["repeat"]):
        response = ask(here, case["request"])
    wrong = [
        f"{name}: {got} for {wanted}"
        for name, got, wanted in (
            ("query", response["query"], case["response"]["query"]),
            ("summary", response["summary_text"], case["response"]["summary_text"]),
            ("topics", _ids(response), _ids(case["response"])),
        )
        if got != wanted
    ]
    for got, wanted in zip(response["candidates"], case["response"]["candidates"], strict=False):
        wrong += [f"{got['topic_id']}: {got} for {wanted}"] if _unordered(got) != _unordered(wanted) else []
    for topic_id, after in case["after"].items():
        topic, trail = here.world.topic(here.scope, topic_id), here.world.trail(here.scope, topic_id)
        audited = [event for event in trail if event.kind.value in ("created", "salience")]
        got = {
            "salience": topic.salience,
            "archived": topic.archived_at is not None,
            "history_kinds": [event.kind.value for event in audited],
            "last": {"kind": audited[-1].kind.value, "detail": dict(audited[-1].detail)},
        }
        wrong += [f"after {topic_id}: {got} for {after}"] if got != after else []
    return wrong


def _ids(response: Mapping[str, Any]) -> list[str]:
    return [candidate["topic_id"] for candidate in response["candidates"]]


def _unordered(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """The server's neighbours come in any order."""
    return {**candidate, "neighbors": sorted(candidate["neighbors"], key=lambda each: str(each["id"]))}
