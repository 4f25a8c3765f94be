"""What a command loads: heavy libraries only where they are used."""

import sys
from pathlib import Path

import pytest

from tests.process import GOODBOT, Home

pytestmark = pytest.mark.process

MODELS = {"torch", "sentence_transformers", "transformers", "pydantic_ai", "openai", "httpx"}
REST = {"sqlalchemy", "numpy", "pydantic", "alembic", "rich", "prompt_toolkit", "jsonschema", "simpleeval"}
_WATCHED = (sys.executable, "-X", "importtime", *GOODBOT[1:])


def loaded(home: Home, *words: str, given: str = "") -> set[str]:
    """The top-level packages that a command imports."""
    done = home.run(*words, given=given, program=_WATCHED)
    assert done.code == 0
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.err.splitlines()}


def test_help_loads_almost_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path)
    for words in (("--help",), ("--version",)):
        names = loaded(home, *words)
        assert "click" in names
        assert names.isdisjoint(MODELS | REST)


def test_looking_at_episodes_loads_no_model_and_no_migration(tmp_path: Path) -> None:
    home = Home(tmp_path, GOODBOT_EMBEDDER_NAME="packaged")
    assert home.run("migrate").code == 0
    for words in (("episodes", "list"), ("episodes", "list", "--json"), ("stats",), ("rebuild", "--check")):
        names = loaded(home, *words)
        assert "sqlalchemy" in names
        assert names.isdisjoint(MODELS | {"alembic", "prompt_toolkit", "jsonschema"})


def test_a_piped_offline_chat_loads_no_other_model_and_no_prompt(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.run("migrate").code == 0
    names = loaded(home, "chat", given="what is 2 + 2?")
    assert "pydantic_ai" in names
    assert names.isdisjoint({"torch", "sentence_transformers", "transformers", "alembic", "prompt_toolkit"})
