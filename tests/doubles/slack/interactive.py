"""Bodies of clicks, modals, shortcuts and slash commands, field for field as Slack sends them."""

from collections.abc import Mapping
from typing import Any

from tests.doubles.slack.errors import CannotDo
from tests.doubles.slack.events import VERIFICATION_TOKEN
from tests.doubles.slack.render import message_json, view_json
from tests.doubles.slack.state import Channel, Ephemeral, Json, Message, User, View
from tests.doubles.slack.workspace import Workspace

Answer = str | bool | list[str]
"""What a person enters: text, one option's value, several options' values, or a single checkbox on or off."""


def block_actions(
    workspace: Workspace, user: User, target: Message | Ephemeral | View, action: Json, trigger: str, base_url: str
) -> Json:
    """A click on a message, an ephemeral message, a modal or an App Home; without `response_url`."""
    body = _interaction("block_actions", workspace, user) | {
        "trigger_id": trigger,
        "enterprise": None,
        "is_enterprise_install": False,
        "actions": [action],
    }
    if isinstance(target, View):
        return body | {"container": {"type": "view", "view_id": target.id}, "view": view_json(workspace, target)}
    in_thread = {"thread_ts": target.thread_ts} if target.thread_ts else {}
    container = {
        "type": "message",
        "message_ts": target.ts,
        "channel_id": target.channel,
        "is_ephemeral": isinstance(target, Ephemeral),
        **in_thread,
    }
    body |= {"container": container, "channel": _place(workspace.channel(target.channel)), "state": {"values": {}}}
    if isinstance(target, Message):
        body["message"] = message_json(workspace, target, base_url)
    return body


def view_submission(workspace: Workspace, user: User, view: View, values: Json, trigger: str) -> Json:
    """A modal was submitted. `values` is the state: block id, action id, what was entered."""
    return _interaction("view_submission", workspace, user) | {
        "trigger_id": trigger,
        "view": view_json(workspace, view) | {"state": {"values": values}},
        "response_urls": [],
        "is_enterprise_install": False,
        "enterprise": None,
    }


def view_closed(workspace: Workspace, user: User, view: View, *, cleared: bool) -> Json:
    """A modal was cancelled. Sent only for views with `notify_on_close`."""
    return _interaction("view_closed", workspace, user) | {
        "view": view_json(workspace, view),
        "is_cleared": cleared,
        "is_enterprise_install": False,
        "enterprise": None,
    }


def message_action(
    workspace: Workspace, user: User, message: Message, callback_id: str, trigger: str, ts: str, base_url: str
) -> Json:
    """A message shortcut; without `response_url`."""
    body = _interaction("message_action", workspace, user)
    del body["api_app_id"], body["user"]["username"]
    return body | {
        "action_ts": ts,
        "callback_id": callback_id,
        "trigger_id": trigger,
        "message_ts": message.ts,
        "channel": _place(workspace.channel(message.channel)),
        "message": message_json(workspace, message, base_url),
        "is_enterprise_install": False,
        "enterprise": None,
    }


def slash_command(
    workspace: Workspace, user: User, channel: Channel, command: str, text: str, trigger: str, response_url: str
) -> Json:
    """A slash command: flat, and every value a string."""
    return {
        "token": VERIFICATION_TOKEN,
        "team_id": workspace.id,
        "team_domain": workspace.domain,
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.kind == "im" else channel.name,
        "user_id": user.id,
        "user_name": user.name,
        "command": command,
        "text": text,
        "api_app_id": workspace.app_id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger,
    }


def clicked(blocks: list[Json], action_id: str, value: str | None, ts: str) -> Json:
    """The action that a click on an element makes. `value` picks the button or the option where there are several.

    Raises `CannotDo`, naming what can be clicked, when there is no such element.
    """
    elements = [(block["block_id"], element) for block in blocks for element in interactive_elements(block)]
    for block_id, element in elements:
        if element.get("action_id") != action_id:
            continue
        outcome = _outcome(element, value)
        if outcome is not None:
            return {
                "type": element["type"],
                "action_id": action_id,
                "block_id": block_id,
                "action_ts": ts,
                **outcome,
            }
    there = [f"{e.get('action_id')} ({e['type']})" for _, e in elements]
    raise CannotDo(f"nothing to click with action_id {action_id!r} and value {value!r}; there is: {there}")


def interactive_elements(block: Json) -> list[Json]:
    """The elements of a block that a person can use."""
    found = [block[name] for name in ("accessory", "element") if name in block]
    found += [element for element in block.get("elements", []) if "action_id" in element]
    return found


def entered(view: View, answers: Mapping[str, Answer]) -> Json:
    """The `state.values` of a modal for answers by action id (or block id). What is not answered keeps its default.

    Raises `CannotDo` when Slack would not let the person submit: an unknown input, or a required one left empty.
    """
    values: Json = {}
    left = dict(answers)
    for block in view.body.get("blocks", []):
        if block["type"] == "input":
            inputs = [block["element"]]
        elif block["type"] in ("actions", "section"):
            inputs = [element for element in interactive_elements(block) if element["type"] != "button"]
        else:
            continue
        for element in inputs:
            key = next((k for k in (element["action_id"], block["block_id"]) if k in left), "")
            state = _input_state(element, left.pop(key) if key else None)
            if block["type"] == "input" and not block.get("optional") and not _is_filled(state):
                raise CannotDo(f"Slack would not submit: {block['label']['text']!r} is required and empty")
            values.setdefault(block["block_id"], {})[element["action_id"]] = state
    if left:
        raise CannotDo(f"the modal has no inputs {sorted(left)}; it has {values}")
    return values


def _outcome(element: Json, value: str | None) -> Json | None:
    kind = element["type"]
    if kind == "button":
        fits = value is None or element.get("value") == value
        given = {"value": element["value"]} if "value" in element else {}
        return {"text": element["text"], **given} if fits else None
    if kind == "feedback_buttons":
        buttons = [element["positive_button"], element["negative_button"]]
        chosen = next((button for button in buttons if button["value"] == value), None)
        return None if chosen is None else {"value": chosen["value"], "text": chosen["text"]}
    if kind == "icon_button":
        return {"value": element.get("value", "")} if value in (None, element.get("value")) else None
    if kind == "checkboxes":
        wanted = [] if value is None else value.split(",")
        return {"selected_options": [_option(element, name) for name in wanted]}
    return None if value is None else {"selected_option": _option(element, value)}


def _input_state(element: Json, answer: Answer | None) -> Json:
    kind = element["type"]
    if kind == "checkboxes" or kind.startswith("multi_"):
        if answer is None:
            chosen = element.get("initial_options", [])
        elif isinstance(answer, bool):
            chosen = element["options"][:1] if answer else []
        else:
            chosen = [_option(element, value) for value in ([answer] if isinstance(answer, str) else answer)]
        return {"type": kind, "selected_options": chosen}
    if "options" in element or kind.endswith("_select"):
        option = element.get("initial_option") if answer is None else _option(element, str(answer))
        return {"type": kind, "selected_option": option}
    text = element.get("initial_value") if answer is None else str(answer)
    longest = element.get("max_length", 3000)
    if text is not None and len(text) > longest:
        raise CannotDo(f"Slack would not submit: the text is above {longest} characters")
    return {"type": kind, "value": text or None}


def _is_filled(state: Json) -> bool:
    return any(state.get(name) for name in ("value", "selected_option", "selected_options"))


def _option(element: Json, value: str) -> Json:
    for option in element.get("options", []):
        if option["value"] == value:
            return dict(option)
    there = [option["value"] for option in element.get("options", [])]
    raise CannotDo(f"{element.get('action_id')} has no option {value!r}; it has {there}")


def _interaction(kind: str, workspace: Workspace, user: User) -> dict[str, Any]:
    return {
        "type": kind,
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team_id},
        "api_app_id": workspace.app_id,
        "token": VERIFICATION_TOKEN,
        "team": {"id": workspace.id, "domain": workspace.domain},
    }


def _place(channel: Channel) -> Json:
    return {"id": channel.id, "name": "directmessage" if channel.kind == "im" else channel.name or "privategroup"}
