"""The result of one check of `goodbot doctor`: a stable code, a text and, where something is wrong, the remedy."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one check. One that is ok and has a remedy is a warning: it works, but not for everybody."""

    code: str
    what: str
    ok: bool = True
    remedy: str = ""


def fine(code: str, what: str) -> CheckResult:
    """A result that is ok."""
    return CheckResult(code=code, what=what)


def warning(code: str, what: str, remedy: str) -> CheckResult:
    """A result that is ok, with a remedy for what should be looked at."""
    return CheckResult(code=code, what=what, remedy=remedy)


def fault(code: str, what: str, remedy: str) -> CheckResult:
    """A result that is not ok, with the remedy."""
    return CheckResult(code=code, what=what, ok=False, remedy=remedy)
