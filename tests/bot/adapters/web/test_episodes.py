"""Episodes over HTTP: lists, one with its history, decisions, other messengers' answers and reactions, people."""

import json
from typing import Any, NoReturn

import httpx2
import pytest

from bot.adapters.web.health import Check
from bot.errors import NotReady
from memory.adapters.sql import SqlStore
from memory.errors import StoreUnavailable
from memory.model.api_key import Right
from memory.services.reports.audit import Audit
from tests.doubles.memory_world import World, scope
from tests.doubles.web import SECRET, WebClient


@pytest.fixture
def world() -> World:
    return World(SqlStore.in_memory())


@pytest.fixture
def web(world: World) -> WebClient:
    return WebClient(world.memory)


def test_a_list_is_read_page_by_page(world: World, web: WebClient) -> None:
    asked = [world.ask(f"question {number}?", "answer").id for number in range(7)]
    found, after, pages = [], "", 0
    while True:
        page = web.get("/v1/episodes", limit=3, after=after)
        found += [each["id"] for each in page["episodes"]]
        pages += 1
        after = page["next"]
        if not after:
            break
    assert (found, pages) == (asked[::-1], 3)
    assert web.get("/v1/episodes", after="nobody")["episodes"] == []
    lines = web.call("GET", "/v1/episodes/export").text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == asked[::-1]


def test_an_export_that_cannot_be_begun_says_so(web: WebClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> NoReturn:
        raise StoreUnavailable("The database cannot be reached.")

    monkeypatch.setattr(Audit, "whole", away)
    assert web.call("GET", "/v1/episodes/export").status_code == 503


def test_lists_are_filtered(world: World, web: WebClient) -> None:
    liked = world.ask("where is the key?", "under the mat", of=scope("ana"))
    world.ask("where is the cat?", "on the mat", of=scope("bo", channel="c2"))
    world.react(liked, by="ana")
    for query in ({"text": "KEY"}, {"person": "ana"}, {"verdict": "success"}, {"channel": "c1"}):
        assert [each["id"] for each in web.get("/v1/episodes", **query)["episodes"]] == [liked.id]
    for wrong in ({"verdict": "lovely"}, {"persom": "ana"}):
        assert web.call("GET", "/v1/episodes", **wrong).status_code == 422
        assert web.call("GET", "/v1/episodes/export", **wrong).status_code == 422


def test_every_decision_of_an_administrator(world: World, web: WebClient) -> None:
    episode = world.ask("where is the key?", "under the mat", of=scope("ana"))
    at = f"/v1/episodes/{episode.id}"
    assert web.post(f"{at}/grade", {"verdict": "failure", "reason": "gone"})["verdicts"]["channel"] == "failure"
    lesson = web.post(f"{at}/correct", {"text": "in the blue pot", "event_id": "ev1"})
    assert (lesson["output"], lesson["author"]) == ("in the blue pot", "key:GOODBOT_API_KEY")
    assert web.post(f"{at}/correct", {"text": "in the blue pot", "event_id": "ev1"})["id"] == lesson["id"]
    for decision, body in (
        ("grade", {"verdict": "failure"}),
        ("correct", {"text": "no"}),
        ("promote", {"audience": "channel"}),
    ):
        assert web.call("POST", f"{at}/{decision}", {**body, "reson": "gone"}).status_code == 422
    promoted = web.post(f"/v1/episodes/{lesson['id']}/promote", {"audience": "workspace"})
    assert promoted["promoted"] == "workspace"
    assert web.post(f"{at}/archive")["archived_at"] is not None
    assert web.post(f"{at}/restore")["archived_at"] is None
    assert web.post(f"{at}/release")["id"] == episode.id
    assert web.call("POST", f"{at}/marry").status_code == 422
    shown = web.get(at)
    assert {"voted", "archived", "restored"} <= {each["kind"] for each in shown["events"]}
    assert {each["actor"] for each in shown["events"] if each["kind"] == "archived"} == {"key:GOODBOT_API_KEY"}
    assert web.call("DELETE", at).json()["erased"] >= 1
    assert web.call("GET", at).status_code == 404


def test_another_messenger_teaches(web: WebClient) -> None:
    place = {"person": "ana", "channel": "widget"}
    answer = {"message_id": "m1", "goal": "where is the key?", "output": "under the mat", "scope": place}
    key = web.key(Right.TEACH)
    for _ in range(2):
        assert web.post("/v1/answers", answer, key=key) == {"message_id": "m1"}
    assert len(web.get("/v1/episodes")["episodes"]) == 1
    reaction = {"event_id": "ev1", "message_id": "m1", "emoji": "👍", "scope": place}
    assert web.post("/v1/reactions", reaction, key=key) == {"is_known": True, "verdict": "success"}
    assert web.post("/v1/reactions", reaction, key=key) == {"is_known": True, "verdict": "success"}
    ahead = {**reaction, "event_id": "ev0", "emoji": "👎", "at": "9999-12-31T23:59:59+00:00"}
    assert "is in the future" in web.call("POST", "/v1/reactions", ahead, key=key).json()["detail"]
    asked = {"q": "where is the key?", "scope": place}
    assert web.post("/v1/query", asked, key=key)["candidates"][0]["summary"]
    other = web.call("POST", "/v1/answers", {**answer, "output": "Bianca has it"}, key=key)
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    back = web.post("/v1/reactions", {**reaction, "event_id": "ev2", "is_active": False}, key=key)
    assert back == {"is_known": True, "verdict": "pending"}
    assert web.post("/v1/query", asked, key=key)["candidates"] == []
    assert not web.post("/v1/reactions", {**reaction, "event_id": "ev3", "message_id": "m9"}, key=key)["is_known"]
    assert web.call("POST", "/v1/reactions", {**reaction, "emoji": "🥑"}, key=key).status_code == 422
    blank = web.call("POST", "/v1/answers", {**answer, "message_id": "m2", "goal": " "}, key=key)
    assert "the goal is blank" in blank.json()["detail"]


def test_a_reaction_that_comes_before_its_answer_counts_when_the_answer_is_stored(web: WebClient, world: World) -> None:
    place, key = {"person": "ana", "channel": "widget"}, web.key(Right.TEACH)
    reaction = {"event_id": "ev1", "message_id": "m1", "emoji": "👍", "scope": place}
    for _ in range(2):
        assert web.post("/v1/reactions", reaction, key=key) == {"is_known": False, "verdict": ""}
    objection = {**reaction, "event_id": "ev2", "emoji": "👎"}
    for each in objection, {**objection, "event_id": "ev3", "is_active": False}:
        assert not web.post("/v1/reactions", each, key=key)["is_known"]
    answer = {"message_id": "m1", "goal": "where is the key?", "output": "under the mat", "scope": place}
    web.post("/v1/answers", answer, key=key)
    assert web.post("/v1/reactions", reaction, key=key) == {"is_known": True, "verdict": "success"}
    assert world.memory.audit.check() == []
    back = web.post("/v1/reactions", {**reaction, "event_id": "ev4", "is_active": False}, key=key)
    assert back == {"is_known": True, "verdict": "pending"}


def test_a_person_is_shown_taken_back_and_forgotten(world: World, web: WebClient) -> None:
    episode = world.ask("where is the key?", "under the mat", of=scope("ana"))
    world.react(episode, by="ana")
    held = web.get("/v1/people/ana")
    assert held["episodes"]
    assert "under the mat" in json.dumps(web.get("/v1/people/ana/export"))
    planned = web.post("/v1/people/ana/purge")
    assert planned["votes"] == 1
    assert web.get("/v1/people/ana") == held
    assert web.post("/v1/people/ana/purge", dry_run=False)["votes"] == 1
    assert web.call("DELETE", "/v1/people/ana").status_code == 200
    assert not web.get("/v1/people/ana")["episodes"]


def test_a_person_and_a_topic_whose_ids_hold_slashes_are_reached(world: World, web: WebClient) -> None:
    world.react(world.ask("where is the key?", "under the mat", of=scope("a/../b")), by="a/../b")
    at = "/v1/people/a%2F..%2Fb"
    assert web.get(at)["episodes"] == 1
    assert web.get(f"{at}/export")["person"] == "a/../b"
    assert web.post(f"{at}/purge")["votes"] == 1
    assert web.call("DELETE", at).json()["episodes"] == 1
    assert web.get(at)["episodes"] == 0
    web.post("/v1/ingest", {"topic_id": "deploy/owner", "title": "the deploy", "audience": "workspace"})
    assert web.get("/v1/topics/deploy%2Fowner/history")[0]["kind"] == "created"
    for decision in ("archive", "restore"):
        assert web.call("POST", f"/v1/topics/deploy%2Fowner/{decision}").status_code == 204


def test_a_topic_is_archived_and_read_where_it_was_filed(web: WebClient) -> None:
    there = {"person": "ana", "channel": "c1"}
    topic = web.post("/v1/ingest", {"title": "the deploy", "audience": "channel", "scope": there})["topic_id"]
    for decision in ("archive", "restore"):
        assert web.call("POST", f"/v1/topics/{topic}/{decision}").status_code == 404
        assert web.call("POST", f"/v1/topics/{topic}/{decision}", **there).status_code == 204
    history = web.get(f"/v1/topics/{topic}/history", key=web.key(Right.QUERY), **there)
    assert [(each["kind"], each["actor"]) for each in history][-2:] == [("archived", "ana"), ("restored", "ana")]


def test_counts_jobs_and_gaps(world: World, web: WebClient) -> None:
    world.ask("where is the key?", "under the mat")
    assert web.get("/v1/stats")["counts"]["episodes"] == 1
    assert "sweep" in {each["name"] for each in web.get("/v1/jobs")}
    assert web.get("/v1/gaps") == []


def test_what_became_of_a_lesson_is_counted(world: World, web: WebClient) -> None:
    lesson = world.ask("where is the spare key?", "under the blue pot", of=scope("ana"))
    world.react(lesson, by="ana")
    world.ask("where is the spare key?", "It is under the blue pot.", of=scope("ana"))
    found = web.get(f"/v1/episodes/{lesson.id}/feedback")
    assert found["stats"] == {"used": 1, "ignored": 0, "unknown": 0, "contradicted": 0}
    assert [each["signal"] for each in found["history"]] == ["used"]
    assert web.get(f"/v1/episodes/{lesson.id}/feedback", limit=0) == {**found, "history": []}


def test_an_export_is_imported_once(world: World, web: WebClient) -> None:
    asked = [world.ask(f"question {number}?", f"answer {number}", of=scope("ana")) for number in range(230)]
    world.react(asked[0], by="ana")
    exported = web.call("GET", "/v1/episodes/export").content
    other = web.key(Right.ADMIN, workspace="terminal:v")
    lines = b'{"goal": 4}\n{nonsense\n\n' + exported + b'{"goal": 5}'

    def send() -> Any:
        headers = {"X-API-Key": other}
        return web.http.post("/v1/episodes/import?person=bo&channel=c9", content=lines, headers=headers).json()

    assert {**send(), "errors": []} == {"imported": 230, "skipped": 0, "refused": 3, "errors": []}
    again = send()
    assert (again["imported"], again["skipped"]) == (0, 230)
    assert [each["line"] for each in again["errors"]] == [1, 2, 234]
    found = web.get("/v1/episodes", key=other, verdict="success")["episodes"]
    assert [(each["goal"], each["person"], each["channel"]) for each in found] == [("question 0?", "bo", "c9")]


def test_an_import_may_be_longer_than_a_body_but_no_line_of_it(web: WebClient) -> None:
    def sent(line: bytes, count: int) -> httpx2.Response:
        chunks = (line for _ in range(count))
        return web.http.post("/v1/episodes/import", content=chunks, headers={"X-API-Key": SECRET})

    long = sent(b'"' + b"x" * 1_000_000 + b'"\n', 4)
    assert (long.status_code, long.json()["refused"]) == (200, 4)
    endless = sent(b"x" * 300_000, 40)
    assert (endless.status_code, endless.json()["code"]) == (422, "unprocessable_entity")
    assert "line 1 is longer than" in endless.json()["detail"]


def test_readiness_names_what_is_missing(world: World) -> None:
    def broken() -> str:
        raise OSError("no route to host")

    def absent() -> str:
        raise NotReady("no process is connected")

    checks = (Check("database", broken), Check("embedder", lambda: "ok"), Check("slack", absent, is_needed=False))
    response = WebClient(world.memory, checks=checks).call("GET", "/readyz", key="")
    assert response.status_code == 503
    assert response.json()["parts"] == {
        "database": {"ready": False, "needed": True, "state": "OSError"},
        "embedder": {"ready": True, "needed": True, "state": "ok"},
        "slack": {"ready": False, "needed": False, "state": "no process is connected"},
    }
    assert WebClient(world.memory, checks=checks[1:]).call("GET", "/readyz", key="").status_code == 200
    assert WebClient(world.memory).call("GET", "/healthz", key="").json() == {"status": "ok"}
