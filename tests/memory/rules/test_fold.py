"""An episode with changes, as `dataclasses.replace` makes it."""

from dataclasses import fields, replace
from datetime import datetime

import pytest

from memory.model import Episode, Step, StepKind
from memory.rules.fold import replaced
from tests.memory.adapters.store_samples import full_episode


def test_an_episode_with_changes_is_the_one_that_dataclasses_make() -> None:
    episode = full_episode()
    other = Episode(goal="another", trajectory=(Step(kind=StepKind.ACT, text="x"),))
    for field in fields(Episode):
        change = {field.name: getattr(other, field.name)}
        assert replaced(episode, **change) == replace(episode, **change)
    assert replaced(episode) == episode
    assert replaced(episode) is not episode


def test_a_change_is_checked_as_a_new_episode_is() -> None:
    with pytest.raises(ValueError, match="aware"):
        replaced(full_episode(), created_at=datetime(2026, 1, 1))  # noqa: DTZ001 - is refused
    with pytest.raises(KeyError, match="mood"):
        replaced(full_episode(), mood="good")  # type: ignore[call-arg]  # no field of it
