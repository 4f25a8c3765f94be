"""What `goodbot doctor` looks at. A finding's code stays the same: GB00x, GB01x here, GB02x Slack, GB03x Discord."""

from collections.abc import Iterator

from bot.adapters.finding import Finding
from bot.app.diagnosis import local, platforms
from bot.config import Settings

__all__ = ["Finding", "findings", "wrong_settings"]


def findings(settings: Settings) -> Iterator[Finding]:
    """The outcome of every check, one after the other in order of code. Without tokens nobody is asked anything."""
    for check in local.CHECKS:
        yield check(settings)
    for ask in platforms.CHECKS:
        yield from ask(settings)


def wrong_settings(reason: str) -> Finding:
    """What is found when the settings cannot be read, and nothing else can be looked at."""
    return Finding(code="GB001", what=reason, ok=False, remedy="mend the settings named above")
