"""The default retriever, from the outside: cases as JSON, each with the memories, the call, and all that must come out.

A case names a session's memories (`env`, `emb`, `outcome`, the action as `type`, `text`, `value`, the time `t` and, if
it was graded later, `graded`), the present situation and a partial configuration; `expected` are the chosen memories in
order with their scores, `debug` the seven counters. `wrong_in` checks cases of the same shape from elsewhere.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from memory import DefaultRetriever, get_retriever, set_retriever
from memory.model import Verdict
from memory.rules.retrieval.adapter import GivenMemories, Remembered, RetrievalInput, RetrievalOutput, action_signature
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.similarity import cosine
from tests import GOLD
from tests.doubles.memory_world import START

CASES: list[dict[str, Any]] = json.loads((GOLD / "retrieval.json").read_text())["cases"]


def remembered(row: Mapping[str, Any]) -> Remembered[int]:
    outcome = row["outcome"]
    return Remembered(
        memory=row["id"],
        id=row["id"],
        session_id=row["session"],
        run_id=row["run"],
        elements=frozenset(row["env"]),
        embedding=row["emb"],
        verdict=Verdict(outcome) if outcome in ("success", "failure") else Verdict.PENDING,
        created_at=START + timedelta(minutes=row["t"]),
        graded_at=START + timedelta(minutes=row.get("graded", row["t"])),
        signature=action_signature(row["type"], element_text=row["text"], value=row["value"]),
    )


def retrieved(case: Mapping[str, Any]) -> RetrievalOutput[int]:
    retriever = DefaultRetriever(GivenMemories(map(remembered, case["memories"])))
    situation = RetrievalInput(
        current_env=frozenset(case["current_env"]), current_state_embedding=case["current_embedding"]
    )
    return retriever.retrieve("s", "now", situation, case["config"])


def wrong_in(case: Mapping[str, Any]) -> list[str]:
    """Where the outcome differs from what the case expects."""
    output = retrieved(case)
    found = [
        {
            "id": each.memory,
            "outcome": each.verdict.value,
            "env": each.env_score,
            "intent": each.int_score,
            "score": each.score,
        }
        for each in output.memories
    ]
    expected = [{**row} for row in case["expected"]]
    seed = output.as_seed()
    wrong = [f"memories {found} for {expected}"] if found != expected else []
    return wrong + ([f"counts {seed['debug']} for {case['debug']}"] if seed["debug"] != case["debug"] else [])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case_comes_out_exactly(case: dict[str, Any]) -> None:
    assert wrong_in(case) == []


def test_a_wrong_expectation_is_noticed() -> None:
    case = CASES[0]
    assert wrong_in({**case, "debug": {**case["debug"], "selected": 99}})
    assert wrong_in({**case, "expected": case["expected"][1:]})


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([3.0, 4.0], [4.0, 3.0], 0.96),
        ([1.0, 0.0], [-2.0, 0.0], -1.0),
        ([0.0, 0.0], [1.0, 0.0], 0.0),
        ([1.0], [1.0, 0.0], 0.0),
        ([], [], 0.0),
        (None, [1.0], 0.0),
        ([1.0], None, 0.0),
    ],
)
def test_cosine(left: list[float] | None, right: list[float] | None, expected: float) -> None:
    assert cosine(left, right) == expected


def test_the_elements_text_names_the_target_where_there_is_one() -> None:
    sign = action_signature
    assert sign("click", element_text=" Save ", target="17") == sign("click", element_text="save", target="18")
    assert sign("click", target="17") != sign("click", target="18")
    assert sign("fill", element_text="T", value="x ") != sign("fill", element_text="T", value="x")


def test_only_an_evaluation_has_a_baseline_run() -> None:
    memories = GivenMemories(map(remembered, CASES[0]["memories"]))
    situation = RetrievalInput(current_env=frozenset(CASES[0]["current_env"]), current_state_embedding=[1.0, 0.0])
    retriever = DefaultRetriever(memories)
    assert retriever.retrieve("s", "now", situation, {"rep": 1}) == RetrievalOutput()
    assert retriever.retrieve("s", "now", situation, RetrievalConfig(rep=2)).memories
    assert retriever.retrieve("s", "now", situation).memories


def test_another_retriever_can_take_its_place_and_its_errors_surface() -> None:
    class Broken:
        def retrieve(self, *_: object) -> RetrievalOutput[int]:
            raise ConnectionError("the other database is away")

    situation = RetrievalInput(current_env=frozenset(), current_state_embedding=None)
    assert isinstance(get_retriever(), DefaultRetriever)
    set_retriever(Broken())
    try:
        with pytest.raises(ConnectionError):
            get_retriever().retrieve("s", "now", situation)
    finally:
        set_retriever(None)
    assert get_retriever().retrieve("s", "now", situation) == RetrievalOutput()
