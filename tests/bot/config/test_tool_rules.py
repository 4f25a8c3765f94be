import pytest

from bot.config.tool_rules import is_allowed, read_rule
from memory.model import Role, Scope, Visibility

HELP = Scope(workspace="slack:T1", channel="C1", person="U1")
DM = Scope(workspace="slack:T1", channel="D1", person="U1", visibility=Visibility.DIRECT)


@pytest.mark.parametrize(
    ("rule", "scope", "role", "is_admitted"),
    [
        ("gh__*", HELP, Role.GUEST, True),
        ("gh__* in C1", HELP, Role.MEMBER, True),
        ("gh__* in C2, C1", HELP, Role.MEMBER, True),
        ("gh__* in C2,T1/C1", HELP, Role.MEMBER, True),
        ("gh__* in T2/C1", HELP, Role.ADMIN, False),
        ("gh__* in C2", HELP, Role.ADMIN, False),
        ("gh__* in direct", HELP, Role.ADMIN, False),
        ("gh__* in direct", DM, Role.MEMBER, True),
        ("gh__* for teachers", HELP, Role.MEMBER, False),
        ("gh__* for teachers", HELP, Role.ADMIN, True),
        ("gh__* in C1 for admins", HELP, Role.TEACHER, False),
        ("gh__* for members", HELP, Role.GUEST, False),
        ("gh__* for nobody", HELP, Role.ADMIN, False),
    ],
)
def test_where_and_for_whom_a_tool_is(rule: str, scope: Scope, role: Role, is_admitted: bool) -> None:
    assert is_allowed("gh__close", [read_rule(rule)], scope, role) is is_admitted
    assert is_allowed("clock", [read_rule(rule)], scope, role)


def test_of_several_rules_one_is_enough() -> None:
    rules = [read_rule("* for admins"), read_rule("clock"), read_rule("gh__read? in C1")]
    assert is_allowed("clock", rules, HELP, Role.MEMBER)
    assert is_allowed("gh__read1", rules, HELP, Role.MEMBER)
    assert not is_allowed("gh__read1", rules, DM, Role.MEMBER)
    assert not is_allowed("gh__close", rules, HELP, Role.MEMBER)


@pytest.mark.parametrize("text", ["", "a b", "clock for everybody", "clock in", "clock in , for admins", "x" * 65])
def test_what_is_no_rule_says_what_one_is(text: str) -> None:
    with pytest.raises(ValueError, match='must be "NAME in CHANNEL'):
        read_rule(text)
