"""Keys: rights, scopes, revocation, pace; a key of one workspace never reaches another."""

from typing import NoReturn

import pytest

from bot.adapters.web.metrics import Metrics
from memory.adapters.sql import SqlStore
from memory.errors import (
    Conflict,
    EmbeddingFailed,
    InvalidInput,
    JobFailed,
    MemoryFault,
    NotAdmitted,
    NotFound,
    StoreReadOnly,
    StoreUnavailable,
)
from memory.model import Visibility
from memory.model.api_key import Right
from tests.doubles.memory_world import World, scope
from tests.doubles.web import SECRET, WORKSPACE, WebClient

NEEDED = {
    ("POST", "/v1/query"): Right.QUERY,
    ("GET", "/v1/stats"): Right.QUERY,
    ("POST", "/v1/ingest"): Right.TEACH,
    ("POST", "/v1/answers"): Right.TEACH,
    ("POST", "/v1/reactions"): Right.TEACH,
    ("POST", "/v1/topics/t1/archive"): Right.TEACH,
    ("POST", "/v1/topics/t1/restore"): Right.TEACH,
    ("GET", "/v1/topics/t1/history"): Right.QUERY,
    ("POST", "/v1/topics/revise"): Right.ADMIN,
    ("GET", "/v1/episodes"): Right.ADMIN,
    ("GET", "/v1/episodes/export"): Right.ADMIN,
    ("POST", "/v1/episodes/import"): Right.ADMIN,
    ("GET", "/v1/episodes/e1"): Right.ADMIN,
    ("GET", "/v1/episodes/e1/feedback"): Right.ADMIN,
    ("DELETE", "/v1/episodes/e1"): Right.ADMIN,
    ("POST", "/v1/episodes/e1/grade"): Right.ADMIN,
    ("POST", "/v1/episodes/e1/correct"): Right.ADMIN,
    ("POST", "/v1/episodes/e1/promote"): Right.ADMIN,
    ("POST", "/v1/episodes/e1/archive"): Right.ADMIN,
    ("GET", "/v1/people/ana"): Right.ADMIN,
    ("GET", "/v1/people/ana/export"): Right.ADMIN,
    ("DELETE", "/v1/people/ana"): Right.ADMIN,
    ("POST", "/v1/people/ana/purge"): Right.ADMIN,
    ("GET", "/v1/jobs"): Right.ADMIN,
    ("GET", "/v1/gaps"): Right.ADMIN,
}


@pytest.fixture
def world() -> World:
    return World(SqlStore.in_memory())


@pytest.fixture
def web(world: World) -> WebClient:
    return WebClient(world.memory)


@pytest.mark.parametrize(("method", "path"), NEEDED)
@pytest.mark.parametrize("right", Right)
def test_each_route_needs_its_right(web: WebClient, method: str, path: str, right: Right) -> None:
    status = web.call(method, path, {}, key=web.key(right)).status_code
    assert (status == 403) is not right.includes(NEEDED[method, path])


@pytest.mark.parametrize(("method", "path"), NEEDED)
def test_no_route_works_without_a_key(web: WebClient, method: str, path: str) -> None:
    response = web.call(method, path, {}, key="")
    assert response.status_code == 401
    assert response.json() == {
        "detail": "Unauthorized",
        "code": "unauthorized",
        "request_id": response.headers["x-request-id"],
        "fields": [],
    }


def test_every_documented_route_is_checked_here(web: WebClient) -> None:
    """A route that is added without its right in `NEEDED` would not be checked by the tests above."""
    examples = {"episode_id": "e1", "topic_id": "t1", "person": "ana", "decision": "archive"}
    documented = {
        (method.upper(), f"/v1{path.format_map(examples)}")
        for path, methods in web.get("/openapi.json")["paths"].items()
        for method in methods
    }
    assert documented == set(NEEDED)


def test_clients_that_are_generated_have_plain_names(web: WebClient) -> None:
    names = [each["operationId"] for path in web.get("/openapi.json")["paths"].values() for each in path.values()]
    assert len(names) == len(set(names))
    assert {"topics_query", "episodes_list", "episodes_import", "messages_answer"} <= set(names)


@pytest.mark.parametrize(("path", "is_first"), [("/v1/stats", False), ("/v1/stats", True), ("/metrics", False)])
def test_while_the_database_is_away_everybody_is_told_to_try_later_and_not_where_it_is(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, path: str, is_first: bool
) -> None:
    web = WebClient(world.memory, metrics=Metrics(world.memory))
    key = SECRET if is_first else web.key(Right.ADMIN)

    def away(_: SqlStore) -> NoReturn:
        raise StoreUnavailable("The database x on db.internal cannot be reached.")

    monkeypatch.setattr(SqlStore, "read", away)
    response = web.call("GET", path, key=key)
    assert (response.status_code, response.json()["code"]) == (503, "service_unavailable")
    assert "db.internal" not in response.text
    [logged] = [record for record in caplog.records if record.name == "bot.adapters.web.envelope"]
    assert "db.internal" in logged.getMessage()
    assert response.json()["request_id"] in logged.getMessage()
    assert logged.exc_info is None


@pytest.mark.parametrize(
    ("fault", "status", "told"),
    [
        (StoreReadOnly, 503, "the memory cannot be used until an administrator mends it; the log says why"),
        (EmbeddingFailed, 503, "the embedder cannot be used at the moment, try again later; the log says why"),
        (JobFailed, 500, "this went wrong; the log says why"),
        (NotAdmitted, 403, "about x"),
    ],
)
def test_an_error_says_which_part_failed_and_whether_to_try_again(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: type[MemoryFault], status: int, told: str
) -> None:
    web = WebClient(world.memory)

    def failing(_: SqlStore) -> NoReturn:
        raise fault("about x")

    monkeypatch.setattr(SqlStore, "read", failing)
    response = web.call("GET", "/v1/stats", key=SECRET)
    assert (response.status_code, response.json()["detail"]) == (status, told)


def test_a_key_of_one_workspace_never_reaches_another(world: World, web: WebClient) -> None:
    secret = web.key(Right.ADMIN, workspace="terminal:v")
    episode = world.ask("where is the key?", "under the mat", of=scope("ana"))
    world.react(episode, by="ana")
    for path in (f"/v1/episodes/{episode.id}", f"/v1/episodes/{episode.id}/archive"):
        method = "POST" if path.endswith("archive") else "GET"
        assert web.call(method, path, key=secret).status_code == 404
    assert web.get("/v1/episodes", key=secret)["episodes"] == []
    asked = {"q": "where is the key?", "scope": {"person": "ana", "channel": "c1"}}
    assert web.post("/v1/query", asked, key=secret)["candidates"] == []
    assert len(web.post("/v1/query", asked)["candidates"]) == 1
    assert web.post("/v1/people/ana/purge", key=secret, dry_run=False)["lessons"] == 0
    assert web.get("/v1/stats", key=secret)["counts"]["episodes"] == 0
    assert web.get("/v1/stats")["counts"]["episodes"] == 1


def test_a_key_for_a_channel_names_no_other(world: World, web: WebClient) -> None:
    secret = web.key(Right.ADMIN, channel="c2")
    episode = world.ask("where is the key?", "under the mat", of=scope("ana"))
    assert web.call("GET", f"/v1/episodes/{episode.id}", key=secret).status_code == 404
    assert web.call("GET", "/v1/episodes", key=secret, channel="c1").status_code == 403
    assert web.get("/v1/episodes", key=secret)["episodes"] == []
    assert web.call("POST", "/v1/query", {"q": "x", "scope": {"channel": "c1"}}, key=secret).status_code == 403
    assert web.call("GET", "/v1/people/ana", key=secret).status_code == 403


def test_a_key_for_a_channel_decides_nothing_for_the_workspace(world: World, web: WebClient) -> None:
    secret, path = web.key(Right.ADMIN, channel="c1"), world.ask("where is the key?", "under the mat").id
    topic = {"title": "key", "fields": [{"name": "place", "value": "mat"}]}
    for wanted, status in (("channel", 200), ("workspace", 403)):
        for address, body in ((f"/v1/episodes/{path}/promote", {}), ("/v1/ingest", topic)):
            answer = web.call("POST", address, {"audience": wanted, **body}, key=secret)
            assert answer.status_code == status, answer.text
    shared = web.post("/v1/ingest", {"audience": "workspace", "title": "the deploy"})["topic_id"]
    more = {"placement": "extend_topic", "topic_id": shared, "fields": [{"name": "owner", "value": "bo"}]}
    changes = [("/v1/ingest", more), (f"/v1/topics/{shared}/archive", None), (f"/v1/topics/{shared}/restore", None)]
    assert [web.call("POST", *each, key=secret).status_code for each in changes] == [403, 403, 403]
    assert [web.call("POST", *each).status_code for each in changes] == [200, 204, 204]
    assert web.call("POST", "/v1/topics/revise", key=secret).status_code == 403
    assert web.call("POST", "/v1/topics/revise").status_code == 200


@pytest.mark.parametrize(
    ("right", "channel", "status"),
    [
        *((right, "c1", 403) for right in Right),
        *((right, "", 403 if right is Right.QUERY else 200) for right in Right),
    ],
)
def test_direct_messages_are_for_keys_that_speak_for_people_everywhere(
    world: World, web: WebClient, right: Right, channel: str, status: int
) -> None:
    secret = web.key(right, channel=channel)
    told = world.ask("where is the key?", "in my drawer", of=scope("ana", channel="D1", visibility=Visibility.DIRECT))
    world.react(told, by="ana")
    asked = {"q": "where is the key?", "scope": {"person": "ana", "visibility": "direct"}}
    answer = web.call("POST", "/v1/query", asked, key=secret)
    assert (answer.status_code, "in my drawer" in answer.text) == (status, status == 200)
    asked["scope"] = {"person": "ana"}
    assert "in my drawer" not in web.call("POST", "/v1/query", asked, key=secret).text


def test_a_revoked_key_lets_nobody_in(web: WebClient) -> None:
    secret = web.key(Right.QUERY, name="widget")
    assert web.post("/v1/query", {"q": "x"}, key=secret)["candidates"] == []
    revoked = web.memory.api_keys.revoke(WORKSPACE, "widget", by="bo")
    assert revoked.revoked_by == "bo"
    assert web.memory.api_keys.revoke(WORKSPACE, "widget", by="cy") == revoked
    assert web.call("POST", "/v1/query", {"q": "x"}, key=secret).status_code == 401
    with pytest.raises(NotFound, match="goodbot keys list"):
        web.memory.api_keys.revoke(WORKSPACE, "other", by="bo")


def test_a_name_is_taken_once_and_a_secret_never_stored(web: WebClient) -> None:
    secret = web.key(Right.QUERY, name="widget")
    with pytest.raises(Conflict, match="another name"):
        web.key(Right.ADMIN, name="widget")
    with pytest.raises(InvalidInput, match="printable name"):
        web.key(Right.QUERY, name="a\nb")
    (key,) = web.memory.api_keys.within(WORKSPACE)
    assert secret.rpartition(".")[2] not in str(key)
    web.memory.privacy.forget(WORKSPACE, "ana")
    assert web.memory.api_keys.within(WORKSPACE)[0].made_by == ""


def test_a_key_that_asks_too_often_is_told_when_to_come_back(world: World) -> None:
    now = [0.0]
    web = WebClient(world.memory, per_minute=2, monotonic=lambda: now[0])
    other = web.key(Right.QUERY)
    assert [web.call("POST", "/v1/query", {"q": "x"}).status_code for _ in range(3)] == [200, 200, 429]
    assert web.call("POST", "/v1/query", {"q": "x"}, key=other).status_code == 200
    refused = web.call("POST", "/v1/query", {"q": "x"})
    assert int(refused.headers["retry-after"]) == 31
    now[0] = 31.0
    assert web.call("POST", "/v1/query", {"q": "x"}).status_code == 200
