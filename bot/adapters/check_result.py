"""What a check found: a stable code, words for people and, where something is wrong, the remedy."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The outcome of one check. A finding that is ok and has a remedy is a warning: it works, but not for everybody."""

    code: str
    what: str
    ok: bool = True
    remedy: str = ""


def fine(code: str, what: str) -> CheckResult:
    """All is well."""
    return CheckResult(code=code, what=what)


def warning(code: str, what: str, remedy: str) -> CheckResult:
    """It works, and something should be looked at."""
    return CheckResult(code=code, what=what, remedy=remedy)


def fault(code: str, what: str, remedy: str) -> CheckResult:
    """It does not work before a person mends it."""
    return CheckResult(code=code, what=what, ok=False, remedy=remedy)
