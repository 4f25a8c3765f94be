"""Finds keys and tokens in vendors' formats with the library detect-secrets.

Only its detectors of formats are used: those that guess by entropy take digests and ids for secrets. The library's
check of a find with the vendor's server is never called, so nothing leaves the machine.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType

from memory.ports.runtime import Secret
from memory.rules.redaction import by_rare_character, cues_in

_DETECTORS = (
    ("artifactory", "ArtifactoryDetector"),
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("jwt", "JwtTokenDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("square_oauth", "SquareOAuthDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)
_CUES = {
    "Artifactory Credentials": ("AKC", "AP"),
    "AWS Access Key": ("A3T", "ABIA", "ACCA", "AKIA", "ASIA", "aws"),
    "Azure Storage Account access key": ("AccountKey=",),
    "GitHub Token": ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    "GitLab Token": (
        "glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "GR1348941", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-",
    ),
    "JSON Web Token": ("eyJ",),
    "Mailchimp Access Key": ("-us",),
    "PyPI Token": ("pypi-AgE",),
    "SendGrid API Key": ("SG.",),
    "Slack Token": ("xox", "hooks.slack.com"),
    "Square OAuth Secret": ("sq0csp-",),
    "Stripe Access Key": ("k_live_",),
    "Telegram Bot Token": (":",),
    "Twilio API Key": ("AC", "SK"),
}  # fmt: skip
"""By kind: cues of which each match has one, in this spelling or case-folded. Kinds without cues always run."""
_LONGEST_LINE = 2_000
"""Lines are searched in pieces of this length, in characters, so that no pattern takes long."""
_OVERLAP = 200
_SHORTEST = 11
"""Length of the shortest format, in characters. Shorter lines are skipped."""
_LONGEST_PREFIX = 16
"""A first group that is longer, in characters, is the whole secret; a shorter one is only a part of it."""
_REST = re.compile(r"[A-Za-z0-9_.+/=-]*")

Format = tuple[str, tuple["re.Pattern[str]", ...], Callable[[str], bool]]


@cache
def _detectors() -> tuple[Format, ...]:
    """The detectors: (kind, patterns, check). Imported with the first text, as that takes a tenth of a second."""
    with _without("requests"):
        modules = [import_module(f"detect_secrets.plugins.{module}") for module, _ in _DETECTORS]
    found: list[Format] = []
    for module, (_, name) in zip(modules, _DETECTORS, strict=True):
        detector = getattr(module, name)()
        is_one = getattr(detector, "is_formally_valid", lambda value: True)
        found.append((str(detector.secret_type), tuple(detector.denylist), is_one))
    return tuple(found)


@cache
def _by_cue() -> dict[str, list[int]]:
    """Indexes of the detectors by cue; those without cues are under the empty text."""
    found: dict[str, list[int]] = {"": []}
    for number, (kind, *_) in enumerate(_detectors()):
        for cue in _CUES.get(kind, ("",)):
            found.setdefault(cue, []).append(number)
    return found


_ALL = dict.fromkeys(cue for cues in _CUES.values() for cue in cues)
_AS_IS = by_rare_character(cue for cue in _ALL if cue != cue.casefold())
_IN_SMALL = by_rare_character(cue for cue in _ALL if cue == cue.casefold())
"""Cues that are looked for in the case-folded text."""


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Make imports in this context load the module `name` only when it is used.

    detect-secrets needs `requests` only for its checks with vendors, and it takes longer to import than all the rest.
    """
    if name in sys.modules:
        yield
        return
    stand_in = ModuleType(name)
    stand_in.__getattr__ = lambda attribute: getattr(import_module(name), attribute)  # type: ignore[method-assign]  # a module may have one
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]


class FormatFinder:
    """A `memory.ports.SecretFinder` that uses detect-secrets."""

    def find(self, text: str) -> list[Secret]:
        """The matches of all detectors, line by line."""
        found: list[Secret] = []
        run = 0
        for start, end in _pieces(text):
            for kind, first, last in _in_piece(text[start:end]):
                at = start + last
                if at == end and not text[end - 1].isspace():
                    # The secret may go on after the piece. Its end is searched once for all matches of one word.
                    at = run = run if run > end else _rest(text, end)
                found.append(Secret(start=start + first, end=at, kind=kind))
        return found


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        if len(line) >= _SHORTEST:
            for at in range(start, end, _LONGEST_LINE - _OVERLAP):
                yield at, min(at + _LONGEST_LINE, end)
        start = end


def _in_piece(piece: str) -> Iterator[tuple[str, int, int]]:
    detectors = _detectors()
    for number in _possible(piece):
        kind, patterns, is_one = detectors[number]
        for pattern in patterns:
            for found in pattern.finditer(piece):
                first, last = found.span(1 if pattern.groups and len(found[1] or "") > _LONGEST_PREFIX else 0)
                if is_one(found[0]):
                    yield kind, first, last


def _possible(piece: str) -> list[int]:
    """Indexes of the detectors that may find something in this piece."""
    cues = ("", *cues_in(piece, _AS_IS), *cues_in(piece.casefold(), _IN_SMALL))
    return sorted({number for cue in cues for number in _by_cue()[cue]})


def _rest(text: str, at: int) -> int:
    """The end of the run of key characters that starts at `at`."""
    found = _REST.match(text, at)
    return found.end() if found else at
