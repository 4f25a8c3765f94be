"""`/metrics`: what is counted, who may read it, and that it names nobody."""

import asyncio
import json
import logging
import re
from pathlib import Path

import pytest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import Message

from bot.adapters.web.metrics import FRESH_S, Metrics
from bot.app.wiring.metering import Metering
from bot.errors import ModelUnavailable
from bot.model import ModelReply, ModelRequest, ModelTurn, PersonEvent, PersonMessage, PersonReaction
from memory.adapters.sql import SqlStore
from memory.model import Role, Usage
from memory.model.api_key import Right
from tests import CHECKOUT
from tests.doubles.memory_world import World, scope
from tests.doubles.model import ReadyModel
from tests.doubles.pages import counted_statements
from tests.doubles.web import SECRET, WebClient

DASHBOARD = CHECKOUT / "config" / "grafana-dashboard.json"
NAMES = re.compile(r"\b(?:goodbot|process|python)_\w+")


class Clock:
    """Seconds that pass when they are told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def world() -> World:
    return World(SqlStore.in_memory())


def told(text: str) -> dict[str, float]:
    """Every sample that is not nothing, as `name{label="value"}`."""
    return {
        f"{sample.name}{json.dumps(sample.labels) if sample.labels else ''}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.value
    }


def test_what_people_decided_and_what_lessons_did_is_counted(world: World) -> None:
    old = world.ask("before the process began", of=scope("ana"))
    clock = Clock()
    web = WebClient(world.memory, metrics=Metrics(world.memory, clock))

    def read() -> dict[str, float]:
        return told(web.call("GET", "/metrics").text)

    assert 'goodbot_memory_events_total{"kind": "created"}' not in read()
    taught = world.ask("where is the key?", "under the mat", of=scope("ana"))
    world.react(taught, by="tess", role=Role.TEACHER)
    world.ask("where is the key?", "under the mat", of=scope("ben"))
    assert 'goodbot_memory_events_total{"kind": "created"}' not in read(), "what was read is told for a while"
    clock.now += FRESH_S
    found = read()
    assert found['goodbot_memory_events_total{"kind": "created"}'] == 2
    assert found['goodbot_memory_events_total{"kind": "voted"}'] == 1
    assert found['goodbot_memory_events_total{"kind": "injected"}'] == 1
    assert found['goodbot_memory_events_total{"kind": "used"}'] == 1
    assert found['goodbot_episodes{"audience": "channel", "verdict": "success"}'] == 1
    assert found['goodbot_episodes{"audience": "channel", "verdict": "pending"}'] == 2
    assert found["goodbot_database_up"] == 1
    world.react(old, "👎", by="ana")
    clock.now += FRESH_S
    assert read()['goodbot_memory_events_total{"kind": "voted"}'] == 2
    world.memory.privacy.forget("terminal:w", "tess", actor="admin")
    clock.now += FRESH_S
    assert read()['goodbot_memory_events_total{"kind": "voted"}'] == 2, "a count never falls"


def test_jobs_tell_how_they_went(world: World) -> None:
    world.memory.upkeep.run("sweep")
    found = told(WebClient(world.memory, metrics=Metrics(world.memory)).call("GET", "/metrics").text)
    assert found['goodbot_job_last_end_timestamp_seconds{"name": "sweep"}'] == world.clock().timestamp()
    assert 'goodbot_job_failed{"name": "sweep"}' not in found
    assert found['goodbot_job_due_timestamp_seconds{"name": "sweep"}'] == world.clock().timestamp() + 3600


def test_without_its_database_it_says_so_and_tells_the_rest(world: World) -> None:
    metrics = Metrics(world.memory)
    metrics.queue.set(3)
    world.memory.store.close()
    found = told(metrics.text().decode())
    assert "goodbot_database_up" not in found
    assert found["goodbot_queue_depth"] == 3


class Model(ReadyModel):
    """Replies once, and is out of reach from then on."""

    name = "openai:some"
    has_replied = False

    async def reply(self, request: ModelRequest) -> ModelReply:
        if self.has_replied:
            raise ModelUnavailable("gone")
        self.has_replied = True
        usage = Usage(prompt_tokens=10, completion_tokens=2, cost_usd=0.25)
        return ModelReply(turn=ModelTurn(text="yes"), usage=usage)


async def test_what_the_model_costs_is_counted(world: World) -> None:
    metrics = Metrics(world.memory)
    model = Metering(metrics).model(Model())
    await model.reply(ModelRequest(system="", turns=()))
    with pytest.raises(ModelUnavailable):
        await model.reply(ModelRequest(system="", turns=()))
    found = told(metrics.text().decode())
    assert found['goodbot_model_tokens_total{"kind": "prompt"}'] == 10
    assert found['goodbot_model_tokens_total{"kind": "completion"}'] == 2
    assert found["goodbot_model_cost_usd_total"] == 0.25
    assert found['goodbot_model_errors_total{"error": "ModelUnavailable"}'] == 1
    assert found['goodbot_model_seconds_count{"model": "openai:some"}'] == 1


async def test_what_people_do_is_counted_by_kind_alone(world: World) -> None:
    metrics, taken = Metrics(world.memory), list[PersonEvent]()

    async def sink(event: PersonEvent) -> None:
        taken.append(event)

    take = Metering(metrics).sink(sink, "slack")
    at = world.clock()
    await take(PersonMessage(event_id="1", scope=scope("ana"), at=at, message_id="m", text="who?"))
    for number, added in enumerate((True, False)):
        await take(
            PersonReaction(event_id=f"r{number}", scope=scope("ana"), at=at, message_id="m", emoji="👍", added=added)
        )
    found = {name: value for name, value in told(metrics.text().decode()).items() if "goodbot_events_total" in name}
    assert found == {
        f'goodbot_events_total{{"kind": "{kind}", "platform": "slack"}}': 1
        for kind in ("message", "reaction", "reaction_removed")
    }
    assert len(taken) == 3


def test_errors_in_the_log_are_counted_by_part(world: World) -> None:
    metrics = Metrics(world.memory)
    with Metering(metrics).errors():
        logging.getLogger("bot.conversation.goodbot").error("event %s failed", "x")
        logging.getLogger("somebody.else").error("oh")
        logging.getLogger("bot.conversation.goodbot").warning("no error")
    logging.getLogger("bot.conversation.goodbot").error("later")
    found = {name: value for name, value in told(metrics.text().decode()).items() if "goodbot_errors_total" in name}
    assert found == {
        'goodbot_errors_total{"part": "bot.conversation.goodbot"}': 1,
        'goodbot_errors_total{"part": "library"}': 1,
    }


def test_it_is_read_from_this_machine_or_with_an_administrators_key(world: World) -> None:
    metrics = Metrics(world.memory)
    elsewhere = WebClient(world.memory, metrics=metrics)
    assert elsewhere.call("GET", "/metrics", key="").status_code == 401
    assert elsewhere.http.get("/metrics", headers={"Host": "localhost"}).status_code == 401
    assert elsewhere.call("GET", "/metrics", key=elsewhere.key(Right.TEACH)).status_code == 401
    assert elsewhere.call("GET", "/metrics", key=SECRET).status_code == 200
    here = WebClient(world.memory, metrics=metrics, address="127.0.0.1").http
    assert here.get("/metrics", headers={"Host": "localhost:8080"}).status_code == 200
    passed_on = {"Host": "localhost:8080", "X-Forwarded-For": "192.0.2.7"}
    assert here.get("/metrics", headers=passed_on).status_code == 401
    assert here.get("/metrics", headers={"Host": "goodbot.example.org"}).status_code == 401


def test_a_request_for_the_whole_server_is_timed_as_any_other(world: World) -> None:
    metrics = Metrics(world.memory)
    web = WebClient(world.memory, metrics=metrics)

    async def answered() -> Message:
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request"}

        async def send(message: Message) -> None:
            sent.append(message)

        asked = {"type": "http", "method": "OPTIONS", "path": "*", "root_path": "", "headers": [], "query_string": b""}
        await web.http.app(asked, receive, send)
        return sent[0]

    assert asyncio.run(answered())["status"] == 404
    assert told(metrics.text().decode())['goodbot_http_seconds_count{"area": "other", "status": "4xx"}'] == 1


def test_no_label_names_anybody_or_anything_said(world: World) -> None:
    metrics = Metrics(world.memory)
    web = WebClient(world.memory, metrics=metrics)
    asked = world.ask("a secret question", "a secret answer", of=scope("somebody", channel="hideout"))
    world.react(asked, by="somebody")
    web.post("/v1/query", {"q": "a secret question", "scope": {"person": "somebody", "channel": "hideout"}})
    web.call("GET", "/v1/people/somebody")
    text = web.call("GET", "/metrics").text
    assert not [word for word in ("somebody", "hideout", "secret", "terminal:w", asked.id) if word in text]
    assert told(text)['goodbot_http_seconds_count{"area": "api", "status": "2xx"}'] == 2


def test_reading_costs_the_same_however_much_there_is() -> None:
    def cost(questions: int) -> int:
        store = SqlStore.in_memory()
        world = World(store)
        metrics = Metrics(world.memory)
        for number in range(questions):
            world.react(world.ask(f"question {number}", of=scope(f"p{number}")))
        with counted_statements(store) as found:
            metrics.text()
        return len(found)

    assert cost(30) == cost(3) < 12


def test_every_label_of_the_dashboard_is_one_of_its_metric_and_none_is_prometheus_own(world: World) -> None:
    world.memory.upkeep.run("sweep")
    world.react(world.ask("where is the key?", "here"), "👍", by="ana")
    web = WebClient(world.memory, metrics=Metrics(world.memory), address="127.0.0.1")
    metrics = Metrics(world.memory)
    labels = {
        each._name: set(each._labelnames) for each in vars(metrics).values() if isinstance(each, MetricWrapperBase)
    }
    for family in text_string_to_metric_families(web.http.get("/metrics", headers={"Host": "localhost"}).text):
        labels.setdefault(family.name, set()).update(*(sample.labels for sample in family.samples))
    ours = {name: found for name, found in labels.items() if name.startswith("goodbot_")}
    assert [name for name, found in ours.items() if found & {"job", "instance"}] == []
    dashboard = json.loads(Path(DASHBOARD).read_text())
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    checked = 0
    for target in targets:
        query, legend = target["expr"], target.get("legendFormat", "")
        (name, *_) = [each for each in NAMES.findall(query) if each.startswith("goodbot_")] or [""]
        if not name:
            continue
        known = ours[next(each for each in (name, re.sub(r"_(total|bucket|count)$", "", name)) if each in ours)]
        groups = [each.strip() for part in re.findall(r"by \(([^)]*)\)", query) for each in part.split(",")]
        wanted = {*groups, *re.findall(r"[{,](\w+)=", query), *re.findall(r"{{(\w+)}}", legend)} - {"le"}
        assert wanted <= known, (query, legend, known)
        checked += len(wanted)
    assert checked >= 15


def test_every_query_of_the_dashboard_names_a_metric_that_there_is(world: World) -> None:
    world.memory.upkeep.run("sweep")
    metrics = Metrics(world.memory)
    known = {"process_resident_memory_bytes", "process_cpu_seconds_total"}
    for family in metrics.registry.collect():
        ends = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}.get(family.type, [""])
        known |= {family.name + end for end in ends}
    dashboard = json.loads(Path(DASHBOARD).read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    assert len(queries) >= 15
    for query in queries:
        names = NAMES.findall(query)
        assert names, query
        assert set(names) <= known, query
    shown = {name for query in queries for name in NAMES.findall(query)}
    ours = {name for name in known if name.startswith("goodbot_") and not name.endswith(("_sum", "_count"))}
    assert ours - shown == set(), "what is measured is shown"
