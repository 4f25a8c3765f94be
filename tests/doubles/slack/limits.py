"""Slack's documented limits on texts, blocks and views, refused in Slack's own words."""

from collections.abc import Iterator
from typing import Any

from tests.doubles.slack.errors import SlackError

Json = dict[str, Any]

TEXT_LIMIT = 40_000
UPDATE_TEXT_LIMIT = 4_000
MARKDOWN_LIMIT = 12_000
ALL_BLOCKS_LIMIT = 13_200
MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100

_SINGLE_USE = {"context_actions"}
_MESSAGE_BLOCK_TYPES = {
    "actions", "alert", "card", "carousel", "context", "context_actions", "divider", "file", "header", "image", "input",
    "markdown", "plan", "rich_text", "section", "table", "task_card", "video",
}  # fmt: skip
_VIEW_BLOCK_TYPES = _MESSAGE_BLOCK_TYPES - {"file", "markdown", "plan", "task_card", "table", *_SINGLE_USE}
_ELEMENT_COUNT = {"actions": 25, "context": 10, "context_actions": 5}
_OPTION_COUNT = {"radio_buttons": 10, "checkboxes": 10, "overflow": 5, "static_select": 100, "multi_static_select": 100}


def visible_text(text: str) -> tuple[str, list[str]]:
    """The text as kept, and the warnings: above 40,000 characters it is cut."""
    if len(text) <= TEXT_LIMIT:
        return text, []
    return text[:TEXT_LIMIT], ["message_truncated"]


def check_blocks(blocks: list[Json], *, limit: int = MESSAGE_BLOCKS) -> None:
    """Refuses what Slack would refuse in a message: `invalid_blocks`, `msg_blocks_too_long`."""
    problems = list(_problems(blocks, _MESSAGE_BLOCK_TYPES, limit))
    if problems:
        raise SlackError("invalid_blocks", *problems)
    if sum(_text_length(block) for block in blocks) > ALL_BLOCKS_LIMIT:
        raise SlackError("msg_blocks_too_long")
    if sum(len(b["text"]) for b in blocks if b["type"] == "markdown") > MARKDOWN_LIMIT:
        raise SlackError("msg_too_long")


def check_view(view: Json) -> None:
    """Refuses what Slack would refuse in a modal or an App Home: `invalid_arguments`."""
    problems = list(_view_problems(view))
    problems += [f"{problem}" for problem in _problems(view.get("blocks", []), _VIEW_BLOCK_TYPES, VIEW_BLOCKS)]
    if problems:
        raise SlackError("invalid_arguments", *problems)


def _view_problems(view: Json) -> Iterator[str]:
    kind = view.get("type")
    if kind not in ("modal", "home"):
        yield f"unsupported type: {kind} [json-pointer:/view/type]"
    for name in ("title", "submit", "close"):
        if name in view:
            yield from _text_problems(view[name], 24, f"/view/{name}", kinds=("plain_text",))
    if kind == "modal" and "title" not in view:
        yield "missing required field: title [json-pointer:/view]"
    if kind == "home" and "title" in view:
        yield "unexpected field: title [json-pointer:/view]"
    has_input = any(block.get("type") == "input" for block in view.get("blocks", []))
    if kind == "modal" and has_input and "submit" not in view:
        yield "must define `submit` to use an `input` block in modals [json-pointer:/view]"
    if len(view.get("private_metadata", "")) > 3000:
        yield "must be less than 3001 characters [json-pointer:/view/private_metadata]"
    if len(view.get("callback_id", "")) > 255:
        yield "must be less than 256 characters [json-pointer:/view/callback_id]"


def _problems(blocks: list[Json], types: set[str], limit: int) -> Iterator[str]:
    if len(blocks) > limit:
        yield f"no more than {limit} items allowed [json-pointer:/blocks]"
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    for repeated in {i for i in ids if ids.count(i) > 1}:
        yield f"`block_id` already exists: {repeated} [json-pointer:/blocks]"
    for number, block in enumerate(blocks):
        yield from _block_problems(block, types, f"/blocks/{number}")


def _block_problems(block: Json, types: set[str], where: str) -> Iterator[str]:
    kind = block.get("type", "")
    if kind not in types:
        yield f"unsupported type: {kind} [json-pointer:{where}/type]"
        return
    if len(block.get("block_id", "")) > 255:
        yield f"must be less than 256 characters [json-pointer:{where}/block_id]"
    if kind == "section":
        yield from _section_problems(block, where)
    if kind == "header":
        yield from _text_problems(block.get("text"), 150, f"{where}/text", kinds=("plain_text",))
    if kind == "markdown" and not isinstance(block.get("text"), str):
        yield f"missing required field: text [json-pointer:{where}]"
    if kind == "input":
        yield from _text_problems(block.get("label"), 2000, f"{where}/label", kinds=("plain_text",))
        yield from _element_problems(block.get("element", {}), kind, f"{where}/element")
    if kind in _ELEMENT_COUNT:
        yield from _elements_problems(block, kind, where)


def _section_problems(block: Json, where: str) -> Iterator[str]:
    if "text" not in block and not block.get("fields"):
        yield f"missing required field: text [json-pointer:{where}]"
    if "text" in block:
        yield from _text_problems(block["text"], 3000, f"{where}/text")
    if len(block.get("fields", [])) > 10:
        yield f"no more than 10 items allowed [json-pointer:{where}/fields]"
    for number, text in enumerate(block.get("fields", [])):
        yield from _text_problems(text, 2000, f"{where}/fields/{number}")
    if "accessory" in block:
        yield from _element_problems(block["accessory"], "section", f"{where}/accessory")


def _elements_problems(block: Json, kind: str, where: str) -> Iterator[str]:
    elements = block.get("elements", [])
    if not elements:
        yield f"no fewer than 1 items allowed [json-pointer:{where}/elements]"
    if len(elements) > _ELEMENT_COUNT[kind]:
        yield f"no more than {_ELEMENT_COUNT[kind]} items allowed [json-pointer:{where}/elements]"
    actions = [element["action_id"] for element in elements if "action_id" in element]
    for repeated in {a for a in actions if actions.count(a) > 1}:
        yield f"`action_id` already exists: {repeated} [json-pointer:{where}/elements]"
    for number, element in enumerate(elements):
        yield from _element_problems(element, kind, f"{where}/elements/{number}")


def _element_problems(element: Json, parent: str, where: str) -> Iterator[str]:
    kind = element.get("type", "")
    at_home = {"feedback_buttons": "context_actions", "icon_button": "context_actions", "plain_text_input": "input"}
    if (kind in at_home and parent != at_home[kind]) or (parent == "context_actions" and kind not in at_home):
        yield f"unsupported type: {kind} [json-pointer:{where}/type]"
        return
    if len(element.get("action_id", "")) > 255:
        yield f"must be less than 256 characters [json-pointer:{where}/action_id]"
    if kind == "button":
        yield from _text_problems(element.get("text"), 75, f"{where}/text", kinds=("plain_text",))
        yield from _value_problems(element, where, required=False)
    if kind == "feedback_buttons":
        for name in ("positive_button", "negative_button"):
            button = element.get(name, {})
            yield from _text_problems(button.get("text"), 75, f"{where}/{name}/text", kinds=("plain_text",))
            yield from _value_problems(button, f"{where}/{name}", required=True)
    if kind == "plain_text_input" and element.get("max_length", 0) > 3000:
        yield f"must be less than 3001 [json-pointer:{where}/max_length]"
    if parent == "context" and kind in ("mrkdwn", "plain_text"):
        yield from _text_problems(element, 2000, where)
    if kind in _OPTION_COUNT and "options" in element:
        yield from _option_problems(element, kind, where)


def _option_problems(element: Json, kind: str, where: str) -> Iterator[str]:
    if not 1 <= len(element["options"]) <= _OPTION_COUNT[kind]:
        yield f"between 1 and {_OPTION_COUNT[kind]} items allowed [json-pointer:{where}/options]"
    for number, option in enumerate(element["options"]):
        yield from _text_problems(option.get("text"), 75, f"{where}/options/{number}/text")
        if not 1 <= len(option.get("value", "")) <= 150:
            yield f"must be between 1 and 150 characters [json-pointer:{where}/options/{number}/value]"


def _value_problems(button: Json, where: str, *, required: bool) -> Iterator[str]:
    if required and not button.get("value"):
        yield f"missing required field: value [json-pointer:{where}]"
    if len(button.get("value", "")) > 2000:
        yield f"must be less than 2001 characters [json-pointer:{where}/value]"


def _text_problems(
    text: Any, limit: int, where: str, kinds: tuple[str, ...] = ("mrkdwn", "plain_text")
) -> Iterator[str]:
    if not isinstance(text, dict) or text.get("type") not in kinds:
        yield f"must be a text object of type {' or '.join(kinds)} [json-pointer:{where}]"
    elif not text.get("text"):
        yield f"must be more than 0 characters [json-pointer:{where}/text]"
    elif len(text["text"]) > limit:
        yield f"must be less than {limit + 1} characters [json-pointer:{where}/text]"


def _text_length(part: Any) -> int:
    """Characters of all texts inside a block, however deep."""
    if isinstance(part, list):
        return sum(_text_length(item) for item in part)
    if not isinstance(part, dict):
        return 0
    own = len(part["text"]) if isinstance(part.get("text"), str) else 0
    return own + sum(_text_length(value) for value in part.values())
