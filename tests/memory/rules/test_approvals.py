"""When two actions are the same: kinds of arguments, of whatever a model can write."""

import json

import pytest

from memory.rules.approvals import argument_kinds, permission_key


@pytest.mark.parametrize("written", ["Infinity", "-Infinity", "NaN", "1e308", '"\\ud800"', '{"\\ud800": ["\\udfff"]}'])
def test_whatever_a_model_writes_has_a_kind(written: str) -> None:
    arguments = {"value": json.loads(written)}
    assert argument_kinds(arguments)
    assert permission_key("c1", "send", arguments) != permission_key("c1", "send", {"value": 1})
