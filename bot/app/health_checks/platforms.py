"""The checks of the chat platforms that have a token. Their libraries are imported for those only."""

import asyncio
import logging

from bot.adapters.check_result import CheckResult, fault, fine
from bot.app.build import open_store
from bot.app.slack_installations import installation_database
from bot.config import Settings
from memory.adapters.system import utc_now
from memory.errors import MemoryFault
from memory.rules.chat_settings import TEACHERS
from memory.services.chat_settings import named_anywhere

SLACK, DISCORD = "GB020", "GB030"


def _slack(settings: Settings) -> list[CheckResult]:
    slack = settings.slack
    secrets = (slack.bot_token, slack.app_token, slack.signing_secret)
    if not (slack.client_id or any(secret.get_secret_value() for secret in secrets)):
        return [fine(SLACK, "Slack is not configured (optional)")]
    try:
        from bot.adapters.slack.health_checks import SlackHealthChecks

        named = _teachers_in_chat(settings, "slack")
        several = slack.client_id and not slack.bot_token.get_secret_value()
        database = installation_database(settings.storage) if several else None
        checks = SlackHealthChecks(slack, clock=utc_now, named_in_chat=named, database=database)
        return asyncio.run(checks.results())
    except ImportError as error:
        return [_not_installed(SLACK, "slack", error)]


def _discord(settings: Settings) -> list[CheckResult]:
    if not settings.discord.token.get_secret_value():
        return [fine(DISCORD, "Discord is not configured (optional)")]
    try:
        from bot.adapters.discord.health_checks import DiscordHealthChecks
    except ImportError as error:
        return [_not_installed(DISCORD, "discord", error)]
    # A fault is one of the results; the library's own log line would appear between them.
    logging.getLogger("discord").addHandler(logging.NullHandler())
    named = _teachers_in_chat(settings, "discord")
    return asyncio.run(DiscordHealthChecks(settings.discord, clock=utc_now, named_in_chat=named).results())


def _teachers_in_chat(settings: Settings, platform: str) -> list[str]:
    """Whom people named as teachers in chat; nobody where that has no effect, or the database cannot be read."""
    if TEACHERS not in settings.teaching.chat_settings:
        return []
    try:
        with open_store(settings) as store:
            return named_anywhere(store, platform, TEACHERS)
    except (MemoryFault, OSError):
        return []  # The checks of the database say so.


def _not_installed(code: str, platform: str, error: ImportError) -> CheckResult:
    what = f"{platform} needs a library that is not installed ({error.name or error})"
    return fault(code, what, f"run pip install 'goodbot[{platform}]'")


CHECKS = (_slack, _discord)
