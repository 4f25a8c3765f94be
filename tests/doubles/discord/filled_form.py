"""A form as it is sent after a person filled it in."""

from collections.abc import Mapping
from typing import Any

from tests.doubles.discord.component_limits import (
    CHECKBOX,
    CHECKBOX_GROUP,
    INPUT,
    LABEL,
    RADIO_GROUP,
    ROW,
    STRING_SELECT,
    TEXT_INPUT,
    walk,
)
from tests.doubles.discord.model import Json

Answer = str | bool | list[str]


def filled(modal: Json, answers: Mapping[str, Answer]) -> list[Json]:
    """The submitted components. Fails where the client would not let the person go on."""
    used: set[str] = set()
    sent = [_entry(entry, answers, used) for entry in modal["components"]]
    unused = set(answers) - used
    assert not unused, f"the form has no {unused}, only {sorted(_names(modal))}"
    return sent


def _names(modal: Json) -> set[str]:
    everything = [one for _, one in walk(modal["components"])]
    return {str(one[key]) for one in everything for key in ("label", "custom_id") if one.get(key)}


def _entry(entry: Json, answers: Mapping[str, Answer], used: set[str]) -> Json:
    if entry["type"] == LABEL:
        inner = _input(entry["component"], entry["label"], answers, used)
        return {"type": LABEL, "id": entry["id"], "component": inner}
    if entry["type"] == ROW:
        row = [_input(one, one.get("label") or "", answers, used) for one in entry["components"]]
        return {"type": ROW, "id": entry["id"], "components": row}
    return {"type": entry["type"], "id": entry["id"]}


def _input(one: Json, label: str, answers: Mapping[str, Answer], used: set[str]) -> Json:
    key = next((name for name in (one["custom_id"], label) if name in answers), None)
    if key is not None:
        used.add(key)
    given = None if key is None else answers[key]
    fill = {
        TEXT_INPUT: _text,
        RADIO_GROUP: _one_choice,
        CHECKBOX: _tick,
        CHECKBOX_GROUP: _choices,
        STRING_SELECT: _choices,
    }[one["type"]]
    return {"type": one["type"], "id": one["id"], "custom_id": one["custom_id"], **fill(one, label, given)}


def _text(one: Json, label: str, given: Any) -> Json:
    text = str(one.get("value") or "") if given is None else str(given)
    assert text or not one.get("required", True), f"{label!r} must be filled in"
    least, most = one.get("min_length") or 0, one.get("max_length") or INPUT
    assert not text or least <= len(text) <= most, f"{label!r} takes {least} to {most} characters, not {len(text)}"
    return {"value": text}


def _tick(one: Json, _: str, given: Any) -> Json:
    return {"value": bool(one.get("default")) if given is None else bool(given)}


def _one_choice(one: Json, label: str, given: Any) -> Json:
    chosen = _chosen(one, label, [] if given is None else [str(given)])
    return {"value": chosen[0] if chosen else None}


def _choices(one: Json, label: str, given: Any) -> Json:
    wanted = [given] if isinstance(given, str) else list(given or ())
    chosen = _chosen(one, label, wanted)
    most = one.get("max_values") or (len(one["options"]) if one["type"] == CHECKBOX_GROUP else 1)
    assert len(chosen) <= most, f"{label!r} takes at most {most}"
    return {"values": chosen}


def _chosen(one: Json, label: str, wanted: list[str]) -> list[str]:
    """Values of the options named by value or label; the defaults if none is named."""
    options = one["options"]
    by_name = {option[key]: option["value"] for option in options for key in ("label", "value")}
    unknown = [name for name in wanted if name not in by_name]
    assert not unknown, f"{label!r} offers {[option['label'] for option in options]}, not {unknown}"
    chosen = [by_name[name] for name in wanted] or [option["value"] for option in options if option.get("default")]
    assert chosen or not one.get("required", True), f"{label!r} must be chosen"
    return chosen
