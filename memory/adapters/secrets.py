"""Vendors' formats of keys and tokens, as the library detect-secrets knows them.

Only its detectors that recognise a format are used: those that guess by entropy take digests and ids for secrets. The
library's own check of a find against the vendor's server is never called, so nothing leaves the machine.
"""

from collections.abc import Callable, Iterable
from functools import cache

from memory.ports.secrets import Secret

_DETECTORS = (
    ("artifactory", "ArtifactoryDetector"),
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("jwt", "JwtTokenDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("openai", "OpenAIDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("square_oauth", "SquareOAuthDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)
_LONGEST_LINE = 2_000
"""A line is looked at in pieces of this length, so that no pattern takes long."""
_OVERLAP = 200

Detector = tuple[str, Callable[[str], Iterable[str]]]


@cache
def _detectors() -> tuple[Detector, ...]:
    """(kind, the library's search). Imported when the first text is looked at: it takes a quarter of a second."""
    from importlib import import_module

    found: list[Detector] = []
    for module, name in _DETECTORS:
        detector = getattr(import_module(f"detect_secrets.plugins.{module}"), name)()
        found.append((str(detector.secret_type), detector.analyze_string))
    return tuple(found)


class FormatFinder:
    """`memory.ports.SecretFinder` by detect-secrets."""

    def find(self, text: str) -> list[Secret]:
        """Every find of every detector, line by line."""
        return [secret for start, line in _pieces(text) for secret in _in_line(start, line)]


def _pieces(text: str) -> Iterable[tuple[int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        for offset in range(0, len(line), _LONGEST_LINE - _OVERLAP):
            yield start + offset, line[offset : offset + _LONGEST_LINE]
        start += len(line)


def _in_line(start: int, line: str) -> Iterable[Secret]:
    for kind, analyze in _detectors():
        for value in analyze(line):
            at = line.find(value) if value else -1
            while at >= 0:
                yield Secret(start=start + at, end=start + at + len(value), kind=kind)
                at = line.find(value, at + len(value))
