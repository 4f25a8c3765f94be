"""Fixtures that every test may use: a clock that stands still, ids that count."""

import gc
import os
import shutil
import signal
import tempfile
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from memory.ports import Clock, NewId
from tests import CHECKOUT
from tests.doubles.certificates_once import read_certificates_once
from tests.doubles.compiled_once import compile_once
from tests.doubles.packages_once import search_packages_once
from tests.doubles.tables_once import make_tables_once

# Few examples each time, others every time. `.ci/run` has the same each time, and more of them with what is slow;
# HYPOTHESIS_PROFILE=thorough has most.
settings.register_profile("goodbot", deadline=None, max_examples=6)
settings.register_profile("goodbot-ci", settings.get_profile("goodbot"), derandomize=True, database=None)
settings.register_profile("goodbot-ci-slow", settings.get_profile("goodbot-ci"), max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("goodbot-ci" if os.environ.get("CI") else "goodbot"))

# One process of tests for each core: more threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The embedder is exported for quick loading once, and not into the cache of whoever runs the tests.
os.environ["XDG_CACHE_HOME"] = str(CHECKOUT / ".pytest_cache" / "user")

compile_once()
read_certificates_once()
search_packages_once()
make_tables_once()
gc.disable()  # until all is imported: nothing of it is garbage

_IN_MEMORY, _ROOM = Path("/dev/shm"), 2 * 2**30


def pytest_configure() -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell that runs the tests in the background makes them deaf to ^C, and so every process that they start.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free > _ROOM:
        # No test can tell whether a commit waited for the disk, and there are tens of thousands.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_IN_MEMORY))
        tempfile.tempdir = str(_IN_MEMORY)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: no full collection looks through a million objects of libraries again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 50)  # as the product has it
    gc.enable()


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
