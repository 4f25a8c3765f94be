"""What the README shows works as it stands there."""

import re
from pathlib import Path

import click
import pytest

from bot.adapters.discord import health_checks as discord_checkup
from bot.adapters.slack import health_checks as slack_checkup
from bot.adapters.slack.oauth import INSTALL_PATH, REDIRECT_PATH
from bot.adapters.slack.scopes import SCOPES
from bot.cli.root import goodbot
from bot.config.sources import SHORT_NAMES, known_names
from bot.conversation.messages import help_text
from memory.model import Role
from tests import CHECKOUT

README = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_the_library_example_runs_and_finds_what_it_stored() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(example, "README.md", "exec"), names)
    ana = names["ana"]
    found = ana.retrieve("how do I deploy the site?", k=3)  # type: ignore[attr-defined]  # made by the example
    assert (found[0].goal, found[0].output) == ("deploy the site", "ran make deploy")
    assert [episode.status.value for episode in ana.retrieve("restart the queue")][:1] == ["success"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("link", re.findall(r"\]\(((?!http)[^)#]+)\)", README))
def test_links_lead_somewhere(link: str) -> None:
    assert (CHECKOUT / link).exists()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:memory|bot|tests|config)/[\w/]+\.\w+)`", README))))
def test_files_it_names_exist(path: str) -> None:
    assert Path(CHECKOUT / path).is_file()


@pytest.mark.parametrize("module", sorted(set(re.findall(r"python -m (tests\.benchmarks\.\w+|tests\.\w+)", README))))
def test_benchmarks_it_names_exist(module: str) -> None:
    assert (CHECKOUT / Path(*module.split("."))).with_suffix(".py").is_file()


def test_variables_it_names_are_read() -> None:
    named = set(re.findall(r"\b(?:SLACK|DISCORD|GOODBOT|OPENAI|DATABASE)_[A-Z_]*[A-Z]\b", README))
    known = {*SHORT_NAMES, *(f"GOODBOT_{section}_{key}".upper() for section, key in known_names().values())}
    assert {"SLACK_APP_TOKEN", "SLACK_BOT_TOKEN", "DISCORD_TOKEN", "GOODBOT_SLACK_TOKEN_KEY"} <= named
    assert named - known == set()


def test_commands_it_names_exist() -> None:
    named = set(re.findall(r"(?:^|[/`]|\s)goodbot ([a-z]+)\b", re.sub(r"@goodbot \w+|`/goodbot \w+`", "", README)))
    assert {"run", "slack", "discord", "doctor", "chat"} <= named
    assert named - set(goodbot.list_commands(click.Context(goodbot))) == set()


def test_it_names_every_command_that_help_names() -> None:
    """In the table of what is typed to a chat platform, and in that of the terminal."""
    listed = set(re.findall(r"^- `(\w+)` - ", help_text(lambda name: name, Role.TEACHER), re.MULTILINE))
    assert {"why", "restate", "purge"} <= listed
    chat = README[README.index("Commands are words after a mention") :]
    table = " ".join(line for line in chat[: chat.index("- **One vote")].splitlines() if line.startswith("| `"))
    assert listed - set(re.findall(r"`(\w+)[` ]", table)) == set()
    terminal = README[README.index("## Chat in the terminal") : README.index("## Choosing a model")]
    assert listed - set(re.findall(r"`/(\w+)[` ]", terminal)) == set()


def test_the_findings_it_shows_are_doctor_s() -> None:
    assert f"`{discord_checkup.INVITE}`" in README
    assert f"{slack_checkup.ACCOUNT} ok   the bot is @goodbot in acme" in README
    scope = "reactions:read"
    assert f"{slack_checkup.GRANTED} FAIL missing scopes: {scope} ({SCOPES[scope]})" in README
    assert f"→ {slack_checkup.PASTE}" in README


def test_the_pages_for_installing_are_where_it_says() -> None:
    assert f"https://goodbot.example.org{INSTALL_PATH}`" in README
    assert f"https://goodbot.example.org{REDIRECT_PATH}`" in README
