"""The OpenAPI document and what the interface does: whatever is sent, the answer is one that the document names."""

import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from schemathesis.checks import CHECKS, load_all_checks

from memory.adapters.sql import SqlStore
from tests.doubles.memory_world import World, scope
from tests.doubles.web import SECRET, WebClient

load_all_checks()
schemathesis.serializer.alias("application/x-ndjson", "text/plain")
CHECKED = CHECKS.get_by_names(
    [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "unsupported_method",
    ]
)
EXAMPLES = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 5
OPERATIONS = [
    (method, path)
    for path, methods in WebClient(World(SqlStore.in_memory()).memory).get("/openapi.json")["paths"].items()
    for method in methods
]


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_whatever_is_sent_the_answer_is_one_of_those_documented(method: str, path: str) -> None:
    world = World(SqlStore.in_memory())
    taught = world.ask("where is the key?", "under the mat", of=scope("ana"))
    world.react(taught)
    schema = schemathesis.openapi.from_asgi("/openapi.json", WebClient(world.memory).http.app)
    known = {"episode_id": taught.id, "person": "ana", "topic_id": "t1"}

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=schema[path][method].as_strategy(), is_known=st.booleans())
    def sent(case: Any, is_known: bool) -> None:
        if is_known:
            case.path_parameters.update({name: known[name] for name in case.path_parameters if name in known})
        case.call_and_validate(headers={"X-API-Key": SECRET}, checks=CHECKED)

    sent()


def test_the_document_is_openapi_3_1_and_names_the_key() -> None:
    document = WebClient(World(SqlStore.in_memory()).memory).get("/openapi.json")
    assert document["openapi"].startswith("3.1")
    assert set(document["components"]["securitySchemes"]) == {"header", "bearer"}
