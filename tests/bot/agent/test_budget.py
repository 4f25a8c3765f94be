from dataclasses import replace
from typing import Any

import pytest

from bot.agent.run import Budget, Limits
from bot.errors import BudgetExceeded
from memory.model import Usage

WIDE = Limits(max_depth=3, max_decisions=1000, max_seconds=1000, max_tokens=10**9, max_cost_usd=1000)


class Seconds:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("name", ["max_depth", "max_decisions", "max_seconds", "max_tokens", "max_cost_usd"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_every_limit_must_be_positive(name: str, value: float) -> None:
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(ValueError, match=name):
        Limits(**wrong)


def test_decisions_run_out() -> None:
    budget = Budget(replace(WIDE, max_decisions=2), Seconds())
    budget.spend_decision()
    budget.spend_decision()
    with pytest.raises(BudgetExceeded, match="2 decisions") as caught:
        budget.spend_decision()
    assert caught.value.budget == "decisions"
    assert budget.decisions == 2


def test_time_runs_out() -> None:
    seconds = Seconds()
    budget = Budget(replace(WIDE, max_seconds=30), seconds)
    budget.check()
    assert budget.seconds_left == 30
    seconds.now += 30
    assert budget.seconds_left == 0
    with pytest.raises(BudgetExceeded, match="30 seconds") as caught:
        budget.spend_decision()
    assert caught.value.budget == "seconds"
    assert budget.decisions == 0


@pytest.mark.parametrize(
    ("limits", "usage", "name"),
    [
        (replace(WIDE, max_tokens=10), Usage(prompt_tokens=6, completion_tokens=4), "tokens"),
        (replace(WIDE, max_cost_usd=0.5), Usage(cost_usd=0.5), "cost"),
    ],
)
def test_what_a_reply_cost_is_found_by_the_next_decision(limits: Limits, usage: Usage, name: str) -> None:
    budget = Budget(limits, Seconds())
    budget.spend_decision()
    budget.spend(usage)
    assert budget.usage == usage
    with pytest.raises(BudgetExceeded) as caught:
        budget.spend_decision()
    assert caught.value.budget == name
