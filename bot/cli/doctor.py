"""`goodbot doctor`: each check has a stable code, a finding and, where something is wrong, the remedy."""

import sys
from collections.abc import Iterable

import click

from bot.app.health_checks import CheckResult, findings, wrong_settings
from bot.app.log_file import note_failures
from bot.cli.session import json_option, print_json, say, settings_of
from bot.errors import ConfigError


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check settings, memory, model, and the chat platforms that have tokens. Exit code 1 if anything is wrong."""
    found = []
    for finding in _findings():
        found.append(finding)
        if not as_json:
            _print(finding)
    if as_json:
        print_json(found)
    if not all(finding.ok for finding in found):
        sys.exit(1)


def _findings() -> Iterable[CheckResult]:
    try:
        settings = settings_of()
    except ConfigError as error:
        return [wrong_settings(str(error))]
    note_failures(settings)
    return findings(settings)


def _print(finding: CheckResult) -> None:
    outcome = "FAIL" if not finding.ok else "warn" if finding.remedy else "ok"
    say(f"{finding.code} {outcome:4} {finding.what}")
    if finding.remedy:
        say(f"           → {finding.remedy}")
