"""Limits of components in messages and forms (Discord's component reference)."""

from collections.abc import Iterator, Sequence

from tests.doubles.discord.errors import Problems
from tests.doubles.discord.model import Json

ROW, BUTTON, STRING_SELECT, TEXT_INPUT, TEXT_DISPLAY, LABEL = 1, 2, 3, 4, 10, 18
FILE_UPLOAD, RADIO_GROUP, CHECKBOX_GROUP, CHECKBOX = 19, 21, 22, 23
SELECTS = (3, 5, 6, 7, 8)
LINK, PREMIUM = 5, 6
"""Button styles that carry no custom id."""
CUSTOM_ID, BUTTON_LABEL, MOST_ROWS, MOST_IN_ROW = 100, 80, 5, 5
MOST_COMPONENTS_V2, TEXT_V2 = 40, 4000
FORM_TITLE, MOST_IN_FORM, FORM_LABEL, INPUT = 45, 5, 45, 4000
_OPTIONS = {STRING_SELECT: (25, 1), RADIO_GROUP: (10, 2), CHECKBOX_GROUP: (10, 1)}
_IN_LABEL = (*SELECTS, TEXT_INPUT, FILE_UPLOAD, RADIO_GROUP, CHECKBOX_GROUP, CHECKBOX)
_IN_MESSAGE_V1 = (BUTTON, *SELECTS)


def walk(components: Sequence[Json], path: str = "components") -> Iterator[tuple[str, Json]]:
    """Every component with its path, outer ones first."""
    for index, one in enumerate(components):
        at = f"{path}.{index}"
        yield at, one
        yield from walk(one.get("components") or (), f"{at}.components")
        for single in ("component", "accessory"):
            if one.get(single):
                yield f"{at}.{single}", one[single]


def check_components(problems: Problems, components: Sequence[Json], *, v2: bool) -> None:
    """The components of a message."""
    everything = list(walk(components))
    if v2:
        problems.count("components", len(everything), MOST_COMPONENTS_V2)
        if sum(len(one.get("content") or "") for _, one in everything if one["type"] == TEXT_DISPLAY) > TEXT_V2:
            problems.add("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", f"More than {TEXT_V2} characters")
    else:
        _check_rows(problems, components)
    _check_each(problems, everything)


def check_modal(form: Json) -> None:
    """A form. Raises 50035."""
    problems = Problems()
    components = form.get("components") or []
    problems.length("data.title", form.get("title"), FORM_TITLE, 1)
    problems.length("data.custom_id", form.get("custom_id"), CUSTOM_ID, 1)
    problems.count("data.components", len(components), MOST_IN_FORM, 1)
    for index, one in enumerate(components):
        _check_form_entry(problems, f"data.components.{index}", one)
    _check_each(problems, list(walk(components, "data.components")))
    problems.tell()


def _check_rows(problems: Problems, rows: Sequence[Json]) -> None:
    problems.count("components", len(rows), MOST_ROWS)
    for index, row in enumerate(rows):
        at = f"components.{index}"
        if row.get("type") != ROW:
            problems.add(f"{at}.type", "BASE_TYPE_CHOICES", "Value of field must be an action row")
            continue
        inner = row.get("components") or []
        has_select = any(one.get("type") in SELECTS for one in inner)
        problems.count(f"{at}.components", len(inner), 1 if has_select else MOST_IN_ROW, 1)
        for number, one in enumerate(inner):
            if one.get("type") not in _IN_MESSAGE_V1:
                problems.add(f"{at}.components.{number}.type", "BASE_TYPE_CHOICES", "Not possible in a message")


def _check_form_entry(problems: Problems, at: str, entry: Json) -> None:
    kind = entry.get("type")
    if kind == LABEL:
        problems.length(f"{at}.label", entry.get("label"), FORM_LABEL, 1)
        problems.length(f"{at}.description", entry.get("description"), 100)
        if (entry.get("component") or {}).get("type") not in _IN_LABEL:
            problems.add(f"{at}.component", "BASE_TYPE_CHOICES", "Not possible in a label")
    elif kind == ROW:
        inner = entry.get("components") or []
        problems.count(f"{at}.components", len(inner), 1, 1)
        for number, one in enumerate(inner):
            problems.length(f"{at}.components.{number}.label", one.get("label"), FORM_LABEL, 1)
    elif kind != TEXT_DISPLAY:
        problems.add(f"{at}.type", "BASE_TYPE_CHOICES", "Value of field must be one of (1, 10, 18)")


def _check_each(problems: Problems, everything: Sequence[tuple[str, Json]]) -> None:
    used: set[str] = set()
    for at, one in everything:
        custom_id = one.get("custom_id")
        if custom_id is not None:
            problems.length(f"{at}.custom_id", custom_id, CUSTOM_ID, 1)
            if custom_id in used:
                problems.add(f"{at}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id is duplicated")
            used.add(custom_id)
        if one.get("type") == BUTTON:
            _check_button(problems, at, one)
        elif one.get("type") == TEXT_INPUT:
            _check_input(problems, at, one)
        elif one.get("type") in _OPTIONS:
            _check_options(problems, at, one)


def _check_button(problems: Problems, at: str, button: Json) -> None:
    problems.length(f"{at}.label", button.get("label"), BUTTON_LABEL)
    style = button.get("style")
    if style == LINK and not button.get("url"):
        problems.add(at, "BUTTON_COMPONENT_URL_REQUIRED", "A url is required")
    if style not in (LINK, PREMIUM) and not button.get("custom_id"):
        problems.add(at, "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required")
    if style != PREMIUM and not button.get("label") and not button.get("emoji"):
        problems.add(at, "BUTTON_COMPONENT_INVALID_EMPTY", "A label or an emoji is required")


def _check_input(problems: Problems, at: str, one: Json) -> None:
    problems.length(f"{at}.placeholder", one.get("placeholder"), 100)
    problems.length(f"{at}.value", one.get("value"), INPUT)
    for name, least in (("min_length", 0), ("max_length", 1)):
        value = one.get(name)
        if value is not None and not least <= value <= INPUT:
            problems.add(f"{at}.{name}", "NUMBER_TYPE_MAX", f"int value should be between {least} and {INPUT}.")


def _check_options(problems: Problems, at: str, one: Json) -> None:
    options = one.get("options") or []
    problems.count(f"{at}.options", len(options), *_OPTIONS[one["type"]])
    problems.length(f"{at}.placeholder", one.get("placeholder"), 150)
    for number, option in enumerate(options):
        for name, least in (("label", 1), ("value", 1), ("description", 0)):
            problems.length(f"{at}.options.{number}.{name}", option.get(name), 100, least)
