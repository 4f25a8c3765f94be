"""What a command loads: heavy libraries only where they are used."""

import sys

import pytest

from tests.doubles.process import GOODBOT, Finished, Home

pytestmark = pytest.mark.process

MODELS = {"torch", "sentence_transformers", "transformers", "pydantic_ai", "openai", "httpx"}
REST = {"sqlalchemy", "numpy", "pydantic", "alembic", "rich", "prompt_toolkit", "jsonschema", "simpleeval"}
_WATCHED = (sys.executable, "-X", "importtime")
_LOOKING = """
import sys
from bot.cli.root import main

for command in ["episodes list", "stats", "rebuild --check --json"]:
    sys.argv = ["goodbot", *command.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code, command
"""


def packages(done: Finished) -> set[str]:
    """The top-level packages that a process imported."""
    assert done.code == 0
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.err.splitlines()}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """With an up-to-date database."""
    home = Home(tmp_path_factory.mktemp("imports"))
    assert home.run("migrate").code == 0
    return home


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_loads_almost_nothing(home: Home, option: str) -> None:
    loaded = packages(home.run(option, program=(*_WATCHED, *GOODBOT[1:])))
    assert "click" in loaded
    assert loaded.isdisjoint(MODELS | REST)


def test_looking_loads_no_model_and_no_migration(home: Home) -> None:
    """One command after the other in one process, as most of a start is the same."""
    loaded = packages(home.run("-c", _LOOKING, program=_WATCHED))
    assert "sqlalchemy" in loaded
    assert loaded.isdisjoint(MODELS | {"alembic", "prompt_toolkit", "jsonschema"})


def test_a_piped_chat_loads_no_embedding_model_and_no_prompt(home: Home) -> None:
    loaded = packages(home.run("chat", given="what is 2 + 2?", program=(*_WATCHED, *GOODBOT[1:])))
    assert "simpleeval" in loaded
    assert loaded.isdisjoint(MODELS | {"alembic", "prompt_toolkit", "requests", "urllib3"})
