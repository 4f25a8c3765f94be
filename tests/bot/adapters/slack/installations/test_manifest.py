"""The manifest that a person pastes once asks for exactly what the messenger uses."""

import ast
import json
from collections.abc import Mapping
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.adapters.slack.incoming.listeners import ENDS, EVENTS
from bot.adapters.slack.installations import scopes
from bot.adapters.slack.outgoing import blocks
from bot.config import SlackSettings
from tests import CHECKOUT
from tests.doubles.slack.request import METHODS

MANIFEST: Any = json.loads((CHECKOUT / "config" / "slack-manifest.json").read_text(encoding="utf-8"))
SCOPES = set(MANIFEST["oauth_config"]["scopes"]["bot"])
_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")

SCOPES_OF: Mapping[str, tuple[str, ...]] = {
    "agents.sessions.setStatus": ("chat:write",),
    "apps.connections.open": (),  # the app's own token with connections:write
    "assistant.threads.setStatus": ("chat:write",),
    "auth.revoke": (),
    "auth.test": (),
    "bots.info": ("users:read",),
    "chat.appendStream": ("chat:write",),
    "chat.delete": ("chat:write",),
    "chat.getPermalink": (),
    "chat.postEphemeral": ("chat:write",),
    "chat.postMessage": ("chat:write",),
    "chat.startStream": ("chat:write",),
    "chat.stopStream": ("chat:write",),
    "chat.update": ("chat:write",),
    "conversations.history": _HISTORY,
    "conversations.info": _READ,
    "conversations.open": ("im:write",),
    "conversations.replies": _HISTORY,
    "files.completeUploadExternal": ("files:write",),
    "files.getUploadURLExternal": ("files:write",),
    "files.info": ("files:read",),
    "reactions.add": ("reactions:write",),
    "reactions.remove": ("reactions:write",),
    "usergroups.list": ("usergroups:read",),
    "usergroups.users.list": ("usergroups:read",),
    "users.list": ("users:read",),
    "users.info": ("users:read",),
    "views.open": (),
    "views.publish": (),
}
"""Every Web API method the bot calls -> its scopes, as on its page in docs.slack.dev/reference. Of the reading ones
each is for one kind of conversation."""


def called_methods() -> set[str]:
    """The Web API methods that the adapter names, by their names on the wire."""
    names: set[str] = set()
    for path in (CHECKOUT / "bot" / "adapters" / "slack").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("client"):
                names |= on_the_wire(node.attr)
    return names


def on_the_wire(name: str) -> set[str]:
    """The Web API methods behind one of slack-sdk's; none for what only looks like one."""
    if name == "files_upload_v2":
        return {"files.getUploadURLExternal", "files.completeUploadExternal"}
    return {name.replace("_", ".")} if "_" in name and hasattr(AsyncWebClient, name) else set()


def test_it_subscribes_to_every_event_that_is_listened_to() -> None:
    subscribed = set(MANIFEST["settings"]["event_subscriptions"]["bot_events"])
    assert {event.partition(".")[0] for event in subscribed} == {*EVENTS, *ENDS}
    assert {"message.im", "message.mpim", "message.channels", "message.groups"} <= subscribed


def test_its_scopes_allow_every_call() -> None:
    called = called_methods()
    assert {"chat.postMessage", "reactions.add", "views.open", "conversations.replies"} <= called
    known = {name: set(METHODS[name].scope) for name in called & set(METHODS)}
    refused = {name for name, needed in known.items() if needed and not SCOPES & needed}
    assert refused == set()


def test_the_table_of_methods_is_what_is_called() -> None:
    assert set(SCOPES_OF) == called_methods()


@pytest.mark.parametrize("method", sorted(SCOPES_OF))
def test_every_method_s_scopes_are_asked_for_and_needed(method: str) -> None:
    needed = SCOPES_OF[method]
    assert set(needed) <= SCOPES
    if method in METHODS and METHODS[method].token == "bot":
        assert bool(needed) == bool(METHODS[method].scope)
        assert set(needed) <= set(METHODS[method].scope)


def test_the_table_of_events_is_what_is_subscribed_to() -> None:
    assert set(scopes.EVENTS) == set(MANIFEST["settings"]["event_subscriptions"]["bot_events"])
    assert {scope for needed in scopes.EVENTS.values() for scope in needed} <= SCOPES


def test_no_scope_is_asked_for_in_vain() -> None:
    assert set(scopes.SCOPES) == SCOPES
    for_calls = {scope for needed in SCOPES_OF.values() for scope in needed}
    for_events = {scope for needed in scopes.EVENTS.values() for scope in needed}
    for_features = {"commands", "files:read"}  # shortcuts and the slash command; fetching attached files
    assert for_features <= SCOPES
    assert for_calls | for_events | for_features == SCOPES


def test_shortcuts_and_command_are_the_adapter_s() -> None:
    features = MANIFEST["features"]
    shortcuts = {shortcut["callback_id"] for shortcut in features["shortcuts"]}
    assert shortcuts == {blocks.TEACH_SHORTCUT, blocks.WHY_SHORTCUT}
    assert [command["command"] for command in features["slash_commands"]] == [SlackSettings().command]


def test_people_can_write_to_it_and_click() -> None:
    home = MANIFEST["features"]["app_home"]
    assert (home["home_tab_enabled"], home["messages_tab_enabled"]) == (True, True)
    assert home["messages_tab_read_only_enabled"] is False
    assert MANIFEST["settings"]["interactivity"]["is_enabled"]
    assert MANIFEST["settings"]["socket_mode_enabled"]


def test_it_is_installed_in_workspaces_and_not_in_a_whole_organisation() -> None:
    # A token of an organisation names no workspace, and everything the bot keeps is of one.
    assert MANIFEST["settings"]["org_deploy_enabled"] is False


def test_the_stop_button_is_subscribed_to_for_without_that_slack_shows_none() -> None:
    # docs.slack.dev/reference/events/agent_session_stopped
    assert "agent_session_stopped" in MANIFEST["settings"]["event_subscriptions"]["bot_events"]


def test_it_keeps_slack_s_limits() -> None:
    view = MANIFEST["features"]["agent_view"]
    assert len(view["agent_description"]) <= 300
    assert 1 <= len(view["suggested_prompts"]) <= 4
    assert 174 <= len(MANIFEST["display_information"]["long_description"]) <= 4000
    assert len(MANIFEST["display_information"]["description"]) <= 140
