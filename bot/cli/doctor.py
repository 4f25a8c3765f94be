"""`goodbot doctor`: runs the health checks, each with a stable code, a result and, if it failed, a remedy."""

import sys
from collections.abc import Iterable

import click

from bot.adapters.check_result import CheckResult
from bot.app.health_checks import results, wrong_settings
from bot.cli.session import json_option, logged_settings, print_json, say
from bot.errors import ConfigError


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check settings, memory, model, and the chat platforms that have tokens. Exit code 1 if anything is wrong."""
    found = []
    for result in _results():
        found.append(result)
        if not as_json:
            _print(result)
    if as_json:
        print_json(found)
    if not all(result.ok for result in found):
        sys.exit(1)


def _results() -> Iterable[CheckResult]:
    try:
        settings = logged_settings()
    except ConfigError as error:
        return [wrong_settings(str(error))]
    return results(settings)


def _print(result: CheckResult) -> None:
    outcome = "FAIL" if not result.ok else "warn" if result.remedy else "ok"
    say(f"{result.code} {outcome:4} {result.what}")
    if result.remedy:
        say(f"           → {result.remedy}")
