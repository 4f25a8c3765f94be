"""Fixtures that every test may use: a clock that stands still, ids that count."""

import os
import signal
from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import settings

from memory.ports import Clock, NewId

# Few examples each time, others every time; HYPOTHESIS_PROFILE=thorough looks long.
settings.register_profile("goodbot", deadline=None, max_examples=25)
settings.register_profile("goodbot-ci", deadline=None, max_examples=25, derandomize=True, database=None)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("goodbot-ci" if os.environ.get("CI") else "goodbot"))


def pytest_configure() -> None:
    """A shell that runs the tests in the background makes them deaf to ^C, and so every process that they start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def now() -> datetime:
    return datetime(2025, 3, 14, 15, 9, 26, 535897, tzinfo=UTC)


@pytest.fixture
def clock(now: datetime) -> Clock:
    return lambda: now


@pytest.fixture
def new_id() -> NewId:
    numbers = count(1)
    return lambda: f"id-{next(numbers):06d}"
