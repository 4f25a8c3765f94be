"""Rules for tools: who may use them where, such as `github__* in C0123 for teachers`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from memory.model import Role, Scope, Visibility

DIRECT = "direct"
"""The name of direct messages in a rule's channels."""

_ROLES = {
    "admins": (Role.ADMIN,),
    "teachers": (Role.ADMIN, Role.TEACHER),
    "members": (Role.ADMIN, Role.TEACHER, Role.MEMBER),
    "nobody": (),
}
_RULE = re.compile(r"(?P<tools>[\w*?-]{1,64})(?: in (?P<channels>[^\s,]+(?:,\s?[^\s,]+)*+))?(?: for (?P<role>\w+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule:
    """Allows the tools of a pattern to a role in channels. Of several rules for a tool, one must allow it."""

    tools: str
    """A tool's name, or a pattern with `*` and `?`."""
    channels: frozenset[str] = frozenset()
    """Channel ids, optionally `WORKSPACE/CHANNEL`; empty for all channels."""
    roles: tuple[Role, ...] | None = None
    """The allowed roles; None for all."""

    def admits(self, scope: Scope, role: Role) -> bool:
        """Whether it allows its tools to a role in a place."""
        here = {scope.channel, f"{scope.workspace.partition(':')[2]}/{scope.channel}"}
        if scope.visibility is Visibility.DIRECT:
            here.add(DIRECT)
        return (not self.channels or bool(self.channels & here)) and (self.roles is None or role in self.roles)


def read_rule(text: str) -> ToolRule:
    """Parse a rule: `NAME [in CHANNEL, CHANNEL] [for ROLE]`. Raises `ValueError` with what is allowed."""
    found = _RULE.fullmatch(text.strip())
    role = found["role"] if found else None
    if found is None or (role is not None and role not in _ROLES):
        raise ValueError(
            f'must be "NAME in CHANNEL, CHANNEL for ROLE", where the channels or the role may be left out and the role '
            f'is {", ".join(_ROLES)}, for example "github__* in C0123 for teachers"; got {text[:60]!r}'
        )
    channels = frozenset(each.strip() for each in (found["channels"] or "").split(",") if each.strip())
    return ToolRule(tools=found["tools"], channels=channels, roles=None if role is None else _ROLES[role])


def is_allowed(name: str, rules: Sequence[ToolRule], scope: Scope, role: Role) -> bool:
    """Whether a person in a role may use a tool in a place. Everybody may use a tool without rules."""
    about = [rule for rule in rules if fnmatchcase(name, rule.tools)]
    return not about or any(rule.admits(scope, role) for rule in about)
