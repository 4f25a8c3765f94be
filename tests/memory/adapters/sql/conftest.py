"""What tests of the SQL store have in common."""

from pathlib import Path

import pytest


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a database that is not there yet."""
    return tmp_path / "goodbot.db"
