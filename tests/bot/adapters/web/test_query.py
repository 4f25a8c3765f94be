"""`POST /v1/query`: recorded calls come out exactly, and nothing runs without a key."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from memory.adapters.sql import SqlStore
from memory.ports import Store
from memory.services import Memory
from tests import GOLD
from tests.doubles.topics_world import TableEmbedder, TopicWorld, recorded, wrong_in
from tests.doubles.web import SECRET, WebClient

RECORDED = json.loads((GOLD / "world.json").read_text())["cases"]


@pytest.fixture
def store() -> Iterator[Store]:
    store = SqlStore.in_memory()
    yield store
    store.close()


def over(here: TopicWorld) -> WebClient:
    memory = Memory(here.store, TableEmbedder(), clock=here.clock, new_id=here.ids)
    return WebClient(memory, workspace=here.scope.workspace)


def by_http(here: TopicWorld, request: Mapping[str, Any]) -> dict[str, Any]:
    place = {"person": here.scope.person, "channel": here.scope.channel}
    body: dict[str, Any] = over(here).post("/v1/query", {**request, "scope": place})
    return body


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_a_recorded_call_comes_out_exactly(case: dict[str, Any], store: Store) -> None:
    assert wrong_in(case, store, by_http) == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"X-API-Key": "x"}, 401),
        ({"X-API-Key": SECRET}, 200),
        ({"Authorization": f"Bearer {SECRET}"}, 200),
        ({"Authorization": f"bearer {SECRET}"}, 401),
        ({"Authorization": f"Bearer   {SECRET}  "}, 200),
        ({"X-API-Key": "x", "Authorization": f"Bearer {SECRET}"}, 200),
        ({"X-API-Key": "gb..", "Authorization": "Bearer gb.🙈.x".encode()}, 401),
    ],
)
def test_a_key_is_needed_and_without_one_nothing_happens(headers: dict[str, Any], status: int, store: Store) -> None:
    here = recorded({}, store)
    response = over(here).http.post("/v1/query", json={"q": "deploy", "top_k": 1}, headers=headers)
    assert response.status_code == status
    assert here.salience("t1") == (1.1 if status == 200 else 1.0)
    if status == 401:
        assert response.json()["detail"] == "Unauthorized"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{bad", 422),
        (b"[]", 422),
        (b"{}", 422),
        (b'{"q": 5}', 422),
        (b'{"q": "x", "stages": ["Semantic"]}', 422),
        (b'{"q": "x", "stages": "semantic"}', 422),
        (b'{"q": "x", "top_k": 2.5}', 422),
        (b'{"q": "x", "top_k": -1}', 422),
        (b'{"q": "x", "top_k": "2", "explain": "true", "unknown": 1}', 200),
        (b'{"q": ""}', 200),
        (b'{"q": "\\ud800"}', 422),
        (b'{"q": "\\ud83d\\ude00"}', 200),
        (b'{"q": "x", "top_k": 1e400}', 422),
        (b'{"q": "\xff"}', 422),
        (b'["\\ud800"', 422),
        (b"x" * 1_100_000, 413),
    ],
)
def test_what_cannot_be_understood_reinforces_nothing(content: bytes, status: int, store: Store) -> None:
    here = recorded({}, store)
    web = over(here)
    assert web.http.post("/v1/query", content=content).status_code == 401
    response = web.http.post("/v1/query", content=content, headers={"X-API-Key": SECRET})
    assert response.status_code == status
    if status != 200:
        assert {here.salience(each) for each in ("t1", "t2")} == {1.0}
        assert set(response.json()) == {"detail", "code", "request_id", "fields"}


def test_a_body_without_end_is_not_read_to_its_end(store: Store) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(40):
            yield b"x" * 100_000

    response = over(recorded({}, store)).http.post("/v1/query", content=endless(), headers={"X-API-Key": SECRET})
    assert response.status_code == 413


@pytest.mark.parametrize("length", ["9" * 5000, "-1", "many"])
def test_a_body_of_no_known_length_is_refused(length: str, store: Store) -> None:
    headers = {"X-API-Key": SECRET, "Content-Length": length}
    assert over(recorded({}, store)).http.post("/v1/query", content=b"{}", headers=headers).status_code == 413


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "no/such"])
def test_a_body_is_json_whatever_it_is_called(kind: str, store: Store) -> None:
    headers = {"X-API-Key": SECRET, "Content-Type": kind}
    response = over(recorded({}, store)).http.post("/v1/query", content=b'{"q": "deploy"}', headers=headers)
    assert len(response.json()["candidates"]) > 1


def test_what_nobody_foresaw_is_told_in_the_same_shape(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("a secret path")

    monkeypatch.setattr("memory.services.topics.World.query", fails)
    response = over(recorded({}, store)).call("POST", "/v1/query", {"q": "x"})
    assert response.status_code == 500
    assert response.json() == {
        "detail": "this went wrong; the log says why",
        "code": "internal_server_error",
        "request_id": response.headers["x-request-id"],
        "fields": [],
    }


def test_only_post_is_there(store: Store) -> None:
    response = over(recorded({}, store)).call("GET", "/v1/query")
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")


def test_a_request_has_an_id_that_its_caller_may_choose(store: Store) -> None:
    web = over(recorded({}, store))
    ours = web.http.get("/healthz").headers["x-request-id"]
    theirs = web.http.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"]
    hostile = web.http.get("/healthz", headers={"X-Request-Id": "a b"}).headers["x-request-id"]
    assert (theirs, len({ours, hostile, "a b"})) == ("abc-1", 3)
