"""Which tools may be used where and by whom: rules such as `github__* in C0123 for teachers`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from memory.model import Role, Scope, Visibility

DIRECT = "direct"
"""Stands for direct messages where a rule names channels."""

_ROLES = {
    "admins": (Role.ADMIN,),
    "teachers": (Role.ADMIN, Role.TEACHER),
    "members": (Role.ADMIN, Role.TEACHER, Role.MEMBER),
    "nobody": (),
}
_RULE = re.compile(r"(?P<tools>[\w*?-]{1,64})(?: in (?P<channels>[^\s,]+(?:,\s?[^\s,]+)*+))?(?: for (?P<role>\w+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRule:
    """Where and for whom the tools of a pattern are. Of several rules about one tool, one is enough."""

    tools: str
    """A name, or a pattern with `*` and `?`."""
    channels: frozenset[str] = frozenset()
    """Ids, with the workspace before a slash where it matters; none for all."""
    roles: tuple[Role, ...] | None = None
    """None for everybody."""

    def admits(self, scope: Scope, role: Role) -> bool:
        """Whether it lets somebody use its tools somewhere."""
        here = {scope.channel, f"{scope.workspace.partition(':')[2]}/{scope.channel}"}
        if scope.visibility is Visibility.DIRECT:
            here.add(DIRECT)
        return (not self.channels or bool(self.channels & here)) and (self.roles is None or role in self.roles)


def read_rule(text: str) -> ToolRule:
    """`NAME [in CHANNEL, CHANNEL] [for ROLE]`. Raises `ValueError` with what is allowed."""
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
    """Whether somebody may use a tool somewhere. One that no rule is about, everybody may."""
    about = [rule for rule in rules if fnmatchcase(name, rule.tools)]
    return not about or any(rule.admits(scope, role) for rule in about)
