"""The checks of `goodbot doctor`. The code of a check never changes.

GB00x and GB01x are about this machine (GB013: servers of tools), GB02x about Slack, GB03x about Discord.
"""

import logging
from collections.abc import Iterator

from bot.adapters.check_result import CheckResult as CheckResult, fault
from bot.app.health_checks import local, mcp_servers, platforms, stored
from bot.config import Settings

log = logging.getLogger(__name__)


def results(settings: Settings) -> Iterator[CheckResult]:
    """The result of every check, in order of code. Without tokens no platform is asked."""
    for number, check in enumerate(local.CHECKS, start=1):
        try:
            yield check(settings)
        except Exception as error:  # one check that fails must not keep the others from being told
            log.error("the check GB%03d failed: %s", number, error, exc_info=error)
            yield fault(f"GB{number:03}", f"could not look: {type(error).__name__}: {error}", "mend what else is wrong")
    for look in (*stored.CHECKS, *mcp_servers.CHECKS, *platforms.CHECKS):
        yield from look(settings)


def wrong_settings(reason: str) -> CheckResult:
    """What is found when the settings cannot be read, and nothing else can be looked at."""
    return fault("GB001", reason, "mend the settings named above")
