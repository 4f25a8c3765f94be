"""What a command loads: heavy libraries only where they are used."""

import sys

import pytest

from tests.doubles.process import GOODBOT, Finished, Home

pytestmark = pytest.mark.process

MODELS = {"torch", "sentence_transformers", "transformers", "pydantic_ai", "openai", "httpx"}
REST = {"sqlalchemy", "numpy", "pydantic", "alembic", "rich", "prompt_toolkit", "jsonschema", "simpleeval"}
_WATCHED = (sys.executable, "-X", "importtime", *GOODBOT[1:])


def packages(done: Finished) -> set[str]:
    """The top-level packages that a process imported."""
    assert done.code == 0
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.err.splitlines()}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What each command imports on an up-to-date database."""
    home = Home(tmp_path_factory.mktemp("imports"))
    assert home.run("migrate").code == 0
    commands = {
        "help": ("--help",),
        "version": ("--version",),
        "list": ("episodes", "list"),
        "stats": ("stats",),
        "check": ("rebuild", "--check", "--json"),
    }
    done = home.run_all(commands, program=_WATCHED)
    chat = home.run("chat", given="what is 2 + 2?", program=_WATCHED)
    return {name: packages(each) for name, each in (done | {"chat": chat}).items()}


@pytest.mark.parametrize("name", ["help", "version"])
def test_help_loads_almost_nothing(loaded: dict[str, set[str]], name: str) -> None:
    assert "click" in loaded[name]
    assert loaded[name].isdisjoint(MODELS | REST)


@pytest.mark.parametrize("name", ["list", "stats", "check"])
def test_looking_loads_no_model_and_no_migration(loaded: dict[str, set[str]], name: str) -> None:
    assert "sqlalchemy" in loaded[name]
    assert loaded[name].isdisjoint(MODELS | {"alembic", "prompt_toolkit", "jsonschema"})


def test_a_piped_chat_loads_no_embedding_model_and_no_prompt(loaded: dict[str, set[str]]) -> None:
    assert "simpleeval" in loaded["chat"]
    assert loaded["chat"].isdisjoint(MODELS | {"alembic", "prompt_toolkit", "requests", "urllib3"})
