"""What a request costs the database: as many statements whatever is stored."""

from dataclasses import dataclass

import pytest

from memory.adapters.sql import SqlStore
from memory.model import Episode
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import counted_statements
from tests.doubles.web import WebClient

FEW_AND_MANY = (10, 30)
"""Lessons."""
READS = (
    "/v1/episodes",
    "/v1/episodes?text=key&verdict=success&audience=channel",
    "/v1/episodes?undecided=true",
    "/v1/episodes/export",
    "/v1/episodes/{id}",
    "/v1/episodes/{id}/feedback",
    "/v1/people/ana",
    "/v1/stats",
    "/v1/gaps",
    "/v1/jobs",
)
WRITES = (
    ("/v1/query", {"q": "where is the key?", "scope": {"person": "ana", "channel": "c1"}}),
    ("/v1/episodes/{id}/grade", {"verdict": "failure"}),
    ("/v1/episodes/{id}/correct", {"text": "in the pot"}),
    ("/v1/episodes/{id}/promote", {"audience": "workspace"}),
    ("/v1/episodes/{id}/archive", None),
    ("/v1/answers", {"message_id": "m", "goal": "who?", "output": "bo", "scope": {"person": "bo", "channel": "c1"}}),
    (
        "/v1/reactions",
        {"event_id": "e", "message_id": "{message}", "emoji": "👍", "scope": {"person": "bo", "channel": "c1"}},
    ),
    ("/v1/people/cy/purge", None),
)


@dataclass(frozen=True)
class Stored:
    """A web of a memory with lessons."""

    store: SqlStore
    web: WebClient
    first: Episode


def made(lessons: int) -> Stored:
    """With so many lessons beside the first."""
    store = SqlStore.in_memory()
    world = World(store)
    first = world.ask("where is the key?", "under the mat", of=scope("ana"))
    world.react(first, by="ana")
    for number in range(lessons):
        other = world.ask(f"where is the key number {number}?", f"under mat {number}", of=scope("ana"))
        world.react(other, by="ana")
    return Stored(store, WebClient(world.memory), first)


@pytest.fixture(scope="module")
def read() -> list[Stored]:
    """What is only read."""
    return [made(lessons) for lessons in FEW_AND_MANY]


def cost(stored: Stored, path: str, body: object, *, method: str) -> int:
    """Statements of one request."""
    first = stored.first
    if isinstance(body, dict) and body.get("message_id") == "{message}":
        body = {**body, "message_id": f"m-{first.run_id}"}
    with counted_statements(stored.store) as found:
        response = stored.web.call(method, path.replace("{id}", first.id), body)
    assert response.is_success, response.text
    return len(found)


@pytest.mark.parametrize("path", READS)
def test_reading_costs_the_same_however_much_there_is(read: list[Stored], path: str) -> None:
    few, many = (cost(each, path, None, method="GET") for each in read)
    assert many <= few
    assert few < 25


@pytest.mark.slow
@pytest.mark.parametrize(("path", "body"), WRITES)
def test_writing_costs_the_same_however_much_there_is(path: str, body: object) -> None:
    few, many = (cost(made(lessons), path, body, method="POST") for lessons in FEW_AND_MANY)
    assert many <= few
    assert few < 70
