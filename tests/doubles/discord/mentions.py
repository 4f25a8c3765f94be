"""Whom a message notifies."""

import re
from collections.abc import Mapping
from typing import Any

_PERSON = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
_EVERYONE = re.compile(r"@(?:everyone|here)\b")


def pings(content: str, allowed: Mapping[str, Any] | None, replied_to: str = "") -> frozenset[str]:
    """Ids of people and roles, and `everyone`.

    `allowed` is the `allowed_mentions` object; None allows everything. Stricter than Discord in one point: `everyone`
    counts even where the author would lack the permission, so that a test notices the attempt.
    """
    rules: Mapping[str, Any] = allowed if allowed is not None else {"parse": ["users", "roles", "everyone"]}
    parse = set(rules.get("parse") or ())
    people = _allowed(set(_PERSON.findall(content)), "users", parse, rules)
    roles = _allowed(set(_ROLE.findall(content)), "roles", parse, rules)
    everyone = {"everyone"} if "everyone" in parse and _EVERYONE.search(content) else set()
    replied = {replied_to} if replied_to and (allowed is None or rules.get("replied_user")) else set()
    return frozenset(people | roles | everyone | replied)


def _allowed(found: set[str], kind: str, parse: set[str], rules: Mapping[str, Any]) -> set[str]:
    return found if kind in parse else found & {str(listed) for listed in rules.get(kind) or ()}
