"""Every payload the stand-in makes uses only fields that recorded Slack payloads have, and the ones that count."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.doubles.slack import Enclosed, SlackServer
from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.state import Json, View

SAMPLES = Path(__file__).parent / "payloads"
FREE = {"blocks", "attachments", "values", "files", "root", "reactions", "user_profile", "icons", "metadata", "item"}
"""Fields whose inside is content, or has its own samples."""
ONLY_DOCUMENTED = {
    "context_team_id", "context_enterprise_id", "event.channel_type", "event.client_msg_id", "event.parent_user_id",
    "event.thread_ts", "event.item_user", "event.user_team", "event.source_team", "event.user_profile",
}  # fmt: skip
"""In the documentation of these events, but not in every recorded sample."""


def sample_fields(*names: str) -> set[str]:
    """The dotted fields of recorded payloads together."""
    return {field for name in names for field in fields(json.loads((SAMPLES / f"{name}.json").read_text()))}


def fields(body: Any, prefix: str = "") -> Iterable[str]:
    """Dotted names of all fields; lists count as their items."""
    for item in body if isinstance(body, list) else []:
        yield from fields(item, prefix)
    for name, value in body.items() if isinstance(body, dict) else []:
        yield prefix + name
        if name not in FREE:
            yield from fields(value, f"{prefix}{name}.")


def check(delivery: Delivery | None, *samples: str, extra: Iterable[str] = ()) -> Json:
    """Compare what was made with what was recorded; and return it."""
    assert delivery is not None
    unknown = set(fields(delivery.payload)) - sample_fields(*samples) - ONLY_DOCUMENTED - set(extra)
    assert unknown == set(), f"{delivery.event_type} has fields that Slack's has not"
    return delivery.payload


async def test_messages(server: SlackServer) -> None:
    ana, channel, waiting = server.person("ana"), server.channel("general"), server.deliveries.waiting
    sent: list[Delivery] = []

    def last(count: int = 1) -> list[Delivery]:
        sent.extend(waiting)
        waiting.clear()
        return sent[-count:]

    root = ana.says(channel, "hi")
    message, mention = last(2)
    check(message, "java-slack-sdk/MessagePayload", "bolt-python/message__message_body")
    check(mention, "java-slack-sdk/AppMentionPayload", "bolt-python/events__valid_event_body")
    ana.says(channel, "", mention=False, files=[Enclosed("a.txt", b"a")])
    check(last()[0], "java-slack-sdk/MessageFileSharePayload", "bolt-python/message_file_share__event_payload")
    ana.says(channel, "all hear this", mention=False, thread_ts=root.ts, broadcast=True)
    check(last()[0], "bolt-python/message_thread_broadcast__event_payload", extra=["event.blocks"])
    ana.edits(root, "ho")
    thread = ("reply_users", "subscribed", "source_team", "user_team")
    extra = [f"event.{part}.{name}" for part in ("message", "previous_message") for name in thread]
    check(last()[0], "java-slack-sdk/MessageChangedPayload", "bolt-python/message_changed__event_payload", extra=extra)
    ana.deletes(ana.says(channel, "oops", mention=False))
    check(last()[0], "java-slack-sdk/MessageDeletedPayload", "bolt-python/message_deleted__event_payload")
    server.other_bot("robo").says(channel, "beep", mention=False)
    check(last()[0], "java-slack-sdk/MessageBotPayload", "bolt-python/message_bot__bot_message_event_payload",
          extra=["event.app_id"])  # fmt: skip
    server.other_bot("robo").says(channel, "beep", mention=False, classic=True)
    check(last()[0], "bolt-python/message_bot__classic_bot_message_event_payload")


async def test_reactions_and_membership(server: SlackServer) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    message = ana.says(channel, "hi", mention=False)
    added = check(ana.reacts(message, "+1"), "java-slack-sdk/ReactionAddedPayload")
    assert added["event"]["item"].keys() == {"type", "channel", "ts"}
    check(ana.unreacts(message, "+1"), "java-slack-sdk/ReactionRemovedPayload")
    joined = ana.joins(channel, inviter=server.workspace.bot.id)
    check(joined, "java-slack-sdk/MemberJoinedChannelPayload")
    [note] = [d for d in server.deliveries.waiting if d.payload["event"].get("subtype") == "channel_join"]
    check(note, "java-slack-sdk/MessageChannelJoinPayload")
    check(ana.leaves(channel), "java-slack-sdk/MemberLeftChannelPayload")


async def test_home_and_installation(server: SlackServer) -> None:
    ana = server.person("ana")
    check(ana.opens_home(), "java-slack-sdk/AppHomeOpenedPayload")
    revoked, uninstalled = server.revoke_tokens(), server.uninstall()
    check(revoked, "java-slack-sdk/TokensRevokedPayload")
    check(uninstalled, "java-slack-sdk/AppUninstalledPayload")
    limited = server.rate_limit_events().payload
    inner = sample_fields("java-slack-sdk/AppRateLimitedPayload")
    assert {f"event.{name}" for name in limited} <= inner


async def test_interactions(server: SlackServer) -> None:
    ana = server.person("ana")
    button = {"type": "button", "action_id": "a", "value": "1", "text": {"type": "plain_text", "text": "A"}}
    message = ana.says(ana.dm, "hi")
    message.blocks = [{"type": "actions", "block_id": "b", "elements": [button]}]
    flags = ["is_enterprise_install", "state", "state.values", "message.client_msg_id", "message.blocks"]
    click = check(
        ana.clicks(message, "a"),
        "java-slack-sdk/BlockActionPayload",
        "bolt-python/block_actions__body",
        extra=flags,
    )
    assert click["actions"][0]["value"] == "1"
    check(ana.uses_shortcut(message, "teach"), "java-slack-sdk/MessageShortcutPayload", extra=[*flags, "action_ts"])
    command = check(ana.commands(ana.dm, "/goodbot", "help"), "java-slack-sdk/SlashCommandPayload")
    assert all(isinstance(value, str) for value in command.values())


async def test_views(server: SlackServer) -> None:
    ana = server.person("ana")
    body = server.slack.accept_view(
        {
            "type": "modal",
            "callback_id": "v",
            "notify_on_close": True,
            "title": {"type": "plain_text", "text": "T"},
            "blocks": [{"type": "divider"}],
        }
    )
    view = View(id="V1", user=ana.id, type="modal", hash="1.1", body=body, root_id="V1")
    server.workspace.views["V1"] = view
    samples = ("java-slack-sdk/ViewSubmissionPayload", "bolt-python/view_submission__body")
    check(ana.submits({}), *samples)
    check(ana.closes(), *samples)


def test_the_samples_come_with_their_licence_and_source() -> None:
    for folder in ("java-slack-sdk", "bolt-python"):
        assert "MIT licence" in (SAMPLES / folder / "SOURCE.txt").read_text()
        assert "MIT License" in (SAMPLES / folder / f"LICENSE.{folder}.txt").read_text()
