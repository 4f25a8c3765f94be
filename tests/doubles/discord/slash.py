"""A slash command as Discord hands it over: nested options with types, and what their ids stand for."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.doubles.discord import payloads
from tests.doubles.discord.model import Json, Person
from tests.doubles.discord.state import State

SUBCOMMAND, GROUP, STRING, INTEGER, BOOLEAN, USER, NUMBER = 1, 2, 3, 4, 5, 6, 10

_PLAIN: Mapping[int, type | tuple[type, ...]] = {STRING: str, INTEGER: int, BOOLEAN: bool, NUMBER: (int, float)}


def spoken(state: State, guild_id: str, command: Json, names: Sequence[str], given: Mapping[str, Any]) -> Json:
    """`options` and `resolved` of a command used with subcommand names and values. Fails as the client would."""
    if names:
        chosen = next(
            (o for o in command["options"] if o["name"] == names[0] and o["type"] in (SUBCOMMAND, GROUP)), None
        )
        assert chosen, f"{command['name']!r} has no subcommand {names[0]!r}"
        inner = spoken(state, guild_id, chosen, names[1:], given)
        option = {"name": chosen["name"], "type": chosen["type"], "options": inner["options"]}
        return {"options": [option], "resolved": inner["resolved"]}
    known = {option["name"]: option for option in command.get("options") or ()}
    nested = [name for name, option in known.items() if option["type"] in (SUBCOMMAND, GROUP)]
    assert not nested, f"choose one of {nested}"
    unknown = set(given) - set(known)
    assert not unknown, f"{command['name']!r} has no option {unknown}"
    missing = [name for name, option in known.items() if option.get("required") and name not in given]
    assert not missing, f"{missing} must be filled in"
    options = [
        {"name": name, "type": known[name]["type"], "value": _value(known[name], v)} for name, v in given.items()
    ]
    return {"options": options, "resolved": _resolved(state, guild_id, given)}


def _value(option: Json, value: Any) -> Any:
    if isinstance(value, Person):
        assert option["type"] == USER, f"{option['name']!r} takes no person"
        return value.id
    wanted: type | tuple[type, ...] = _PLAIN[option["type"]]
    assert isinstance(value, wanted), f"{option['name']!r} takes {wanted}, not {value!r}"
    choices = [choice["value"] for choice in option.get("choices") or ()]
    assert not choices or value in choices, f"{option['name']!r} offers {choices}"
    longest = option.get("max_length")
    assert longest is None or len(str(value)) <= longest, f"{option['name']!r} takes at most {longest} characters"
    return value


def _resolved(state: State, guild_id: str, given: Mapping[str, Any]) -> Json:
    people = [value for value in given.values() if isinstance(value, Person)]
    members = {
        one.id: payloads.member(state, state.members[guild_id, one.id], with_user=False)
        for one in people
        if (guild_id, one.id) in state.members
    }
    return {"users": {one.id: payloads.user(one) for one in people}, "members": members}
