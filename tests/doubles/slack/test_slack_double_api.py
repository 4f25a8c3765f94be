"""The stand-in's Web API as the real client sees it: answers, limits, refusals."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import ClientSession
from slack_sdk.web.async_client import AsyncWebClient

from tests.doubles.slack import SlackServer
from tests.doubles.slack.bolt_app import error_of, section, web_client
from tests.doubles.slack.state import Json

BUTTON: Json = {"type": "button", "action_id": "a", "text": {"type": "plain_text", "text": "A"}}
RATING: Json = {
    "type": "feedback_buttons",
    "action_id": "rate",
    "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "up"},
    "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "down"},
}
Post = Callable[..., Awaitable[Any]]


def _button(value: str) -> Json:
    return BUTTON | {"value": value}


@pytest.fixture
async def client(server: SlackServer) -> AsyncWebClient:
    return web_client(server)


@pytest.fixture
def post(server: SlackServer, client: AsyncWebClient) -> Post:
    channel = server.channel("general")
    return lambda **arguments: client.api_call("chat.postMessage", json={"channel": channel, **arguments})


async def test_auth_test_names_the_bot_and_its_scopes(server: SlackServer, client: AsyncWebClient) -> None:
    answer = await client.auth_test()
    assert (answer["team_id"], answer["user_id"]) == ("T0001", server.workspace.bot.id)
    assert answer["bot_id"] == server.workspace.bot.bot_id
    assert "chat:write" in answer.headers["X-OAuth-Scopes"].split(",")


async def test_forms_and_json_are_the_same(server: SlackServer) -> None:
    channel = server.channel("general")
    token = server.workspace.bot_token
    form = {"token": token, "channel": channel, "text": "form", "blocks": '[{"type":"divider"}]', "unfurl_links": "0"}
    async with ClientSession() as session:
        async with session.post(f"{server.api_url}chat.postMessage", data=form) as answer:
            assert (await answer.json())["ok"]
        headers = {"Authorization": f"Bearer {token}"}
        body = {"channel": channel, "text": "json", "blocks": [{"type": "divider"}]}
        async with session.post(f"{server.api_url}chat.postMessage", json=body, headers=headers) as answer:
            assert (await answer.json())["message"]["blocks"][0]["type"] == "divider"
    assert [message.text for message in server.messages(channel)] == ["form", "json"]
    assert server.calls()[0].token == token


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "no_text"),
        ({"text": "both", "markdown_text": "both"}, "markdown_text_conflict"),
        ({"markdown_text": "m" * 12_001}, "msg_too_long"),
        ({"text": "t", "blocks": [{"type": "divider"}] * 51}, "invalid_blocks"),
        ({"text": "t", "blocks": [{"type": "sparkles"}]}, "invalid_blocks"),
        ({"text": "t", "blocks": [section("s" * 3001)]}, "invalid_blocks"),
        ({"text": "t", "blocks": [section("s" * 3000)] * 5}, "msg_blocks_too_long"),
        ({"text": "t", "blocks": [{"type": "markdown", "text": "m" * 12_001}]}, "msg_too_long"),
        ({"text": "t", "blocks": [{"type": "actions", "elements": [RATING]}]}, "invalid_blocks"),
        ({"text": "t", "blocks": [{"type": "context_actions", "elements": [BUTTON]}]}, "invalid_blocks"),
        ({"text": "t", "blocks": [{"type": "context_actions", "elements": [
            RATING | {"positive_button": {"text": {"type": "plain_text", "text": "Good"}}}]}]}, "invalid_blocks"),
        ({"text": "t", "blocks": [{"type": "actions", "elements": [_button("v" * 2001)]}]}, "invalid_blocks"),
        ({"text": "t", "blocks": [{"type": "divider", "block_id": "x"}] * 2}, "invalid_blocks"),
        ({"text": "t", "thread_ts": "1.000001"}, "cannot_reply_to_message"),
    ],
)  # fmt: skip
async def test_what_slack_would_not_post(server: SlackServer, post: Post, arguments: Json, error: str) -> None:
    assert await error_of(post(**arguments)) == error
    assert server.messages(server.channel("general")) == []


async def test_what_slack_would_post(server: SlackServer, post: Post) -> None:
    answer = await post(text="t" * 40_001, unfurl_links=False)
    assert (len(answer["message"]["text"]), answer["warning"]) == (40_000, "message_truncated")
    await post(markdown_text="m" * 12_000)
    await post(text="rated", blocks=[{"type": "context_actions", "elements": [RATING]}])
    first, second, third = server.said_by_bot(server.channel("general"))
    assert first.sent["unfurl_links"] is False
    assert second.is_markdown
    assert third.blocks[0]["block_id"]


async def test_updates_and_deletions_are_for_own_messages_within_limits(
    server: SlackServer, client: AsyncWebClient, post: Post
) -> None:
    channel, ana = server.channel("general"), server.person("ana")
    mine, hers = (await post(text="mine"))["ts"], ana.says(channel, "hers", mention=False)
    assert await error_of(client.chat_update(channel=channel, ts=hers.ts, text="x")) == "cant_update_message"
    assert await error_of(client.chat_delete(channel=channel, ts=hers.ts)) == "cant_delete_message"
    assert await error_of(client.chat_update(channel=channel, ts=mine, text="x" * 4001)) == "msg_too_long"
    await client.chat_update(channel=channel, ts=mine, text="with a block", blocks=[section("a block")])
    await client.chat_update(channel=channel, ts=mine, text="the block stays")
    assert [block["type"] for block in server.workspace.message(channel, mine).blocks] == ["section"]
    await client.chat_update(channel=channel, ts=mine, text="and goes", blocks=[])
    assert server.workspace.message(channel, mine).edits == ["mine", "with a block", "the block stays"]
    assert server.workspace.message(channel, mine).blocks == []
    await client.chat_delete(channel=channel, ts=mine)
    assert await error_of(client.chat_update(channel=channel, ts=mine, text="x")) == "message_not_found"


async def test_an_ephemeral_id_is_no_address(server: SlackServer, client: AsyncWebClient) -> None:
    channel, ana = server.channel("general"), server.person("ana")
    assert await error_of(client.chat_postEphemeral(channel=channel, user=ana.id, text="psst")) == "user_not_in_channel"
    ana.says(channel, "hi", mention=False)
    ts = (await client.chat_postEphemeral(channel=channel, user=ana.id, text="psst"))["message_ts"]
    assert [e.text for e in server.ephemerals(ana)] == ["psst"]
    for refused in (
        client.chat_update(channel=channel, ts=ts, text="x"),
        client.chat_delete(channel=channel, ts=ts),
        client.reactions_add(channel=channel, timestamp=ts, name="eyes"),
    ):
        assert await error_of(refused) == "message_not_found"


async def test_reactions_are_once_each_and_by_name(server: SlackServer, client: AsyncWebClient, post: Post) -> None:
    channel, ts = server.channel("general"), (await post(text="hi"))["ts"]
    place = {"channel": channel, "timestamp": ts}
    await client.reactions_add(name="thumbsup", **place)
    assert await error_of(client.reactions_add(name="+1", **place)) == "already_reacted"
    assert await error_of(client.reactions_add(name="🧠", **place)) == "invalid_name"
    seen = (await client.reactions_get(**place))["message"]["reactions"]
    assert seen == [{"name": "+1", "users": [server.workspace.bot.id], "count": 1}]
    await client.reactions_remove(name="+1", **place)
    assert await error_of(client.reactions_remove(name="+1", **place)) == "no_reaction"
    server.workspace.scopes.discard("reactions:write")
    assert await error_of(client.reactions_add(name="+1", **place)) == "missing_scope"


async def test_a_stream_grows_in_a_thread_and_ends_with_blocks(server: SlackServer, client: AsyncWebClient) -> None:
    ana = server.person("ana")
    question = ana.says(ana.dm, "tell me")
    stream = await client.chat_stream(channel=ana.dm, thread_ts=question.ts, buffer_size=1)
    await stream.append(markdown_text="Once ")
    place: Json = {"channel": ana.dm, "ts": stream.ts}
    assert await error_of(client.chat_update(text="x", **place)) == "streaming_state_conflict"
    assert await error_of(client.chat_delete(**place)) == "cant_delete_message"
    assert await error_of(client.chat_appendStream(markdown_text="text", **place)) == "streaming_mode_mismatch"
    await stream.stop(markdown_text="upon", blocks=[{"type": "context_actions", "elements": [RATING]}])
    [message] = server.said_by_bot(ana.dm, question.ts)
    assert (message.text, message.blocks[0]["type"]) == ("Once upon", "context_actions")
    assert message.stream is not None
    assert message.stream.state == "stopped"
    assert await error_of(client.chat_appendStream(markdown_text="x", **place)) == "message_not_in_streaming_state"
    await client.chat_update(text="now it can be changed", **place)


async def test_the_limits_of_streams(server: SlackServer, client: AsyncWebClient) -> None:
    channel, ana = server.channel("general"), server.person("ana")
    root = ana.says(channel, "hi", mention=False).ts
    start: Json = {"channel": channel, "thread_ts": root, "recipient_user_id": ana.id, "recipient_team_id": "T0001"}
    assert await error_of(client.chat_startStream(**start | {"thread_ts": ""})) == "invalid_arguments"
    assert await error_of(client.chat_startStream(**start | {"recipient_user_id": None})) == "missing_recipient_user_id"
    assert await error_of(client.chat_startStream(**start | {"recipient_team_id": None})) == "missing_recipient_team_id"
    long = (await client.chat_startStream(markdown_text="a" * 11_999, **start))["ts"]
    await client.chat_appendStream(channel=channel, ts=long, markdown_text="b")
    assert await error_of(client.chat_appendStream(channel=channel, ts=long, markdown_text="c")) == "msg_too_long"
    old = (await client.chat_startStream(markdown_text="a", **start))["ts"]
    server.expire_stream(server.workspace.message(channel, old))
    refused = await error_of(client.chat_stopStream(channel=channel, ts=old))
    assert refused == "message_not_in_streaming_state"
    assert [message.ts for message in server.workspace.open_streams()] == [long]


async def test_statuses_sessions_and_prompts(server: SlackServer, client: AsyncWebClient) -> None:
    ana = server.person("ana")
    root = ana.says(ana.dm, "hi").ts
    thread: Json = {"channel_id": ana.dm, "thread_ts": root}
    await client.assistant_threads_setStatus(status="is thinking...", loading_messages=["reading"], **thread)
    assert server.workspace.status(ana.dm, root) == "is thinking..."
    await client.chat_postMessage(channel=ana.dm, thread_ts=root, text="done")
    assert server.workspace.status(ana.dm, root) == ""
    assert await error_of(client.agents_sessions_setStatus(status="is thinking...", **thread)) == "invalid_arguments"
    answer = await client.agents_sessions_setStatus(status="processing", title="Hi", **thread)
    assert (answer["agent_status"], server.workspace.status(ana.dm, root)) == ("processing", "processing")
    await client.agents_sessions_setStatus(status="active", **thread)
    assert server.workspace.status(ana.dm, root) == ""
    prompts = [{"title": "Joke", "message": "Tell me a joke"}]
    await client.assistant_threads_setSuggestedPrompts(channel_id=ana.dm, prompts=prompts)
    assert server.workspace.prompts[ana.dm] == prompts
    five = client.assistant_threads_setSuggestedPrompts(channel_id=ana.dm, prompts=prompts * 5)
    assert await error_of(five) == "invalid_arguments"


async def test_a_stop_button_needs_its_subscription() -> None:
    async with SlackServer(subscriptions=frozenset({"message.im"})) as server:
        ana, client = server.person("ana"), web_client(server)
        root = ana.says(ana.dm, "hi").ts
        answer = await client.agents_sessions_setStatus(channel_id=ana.dm, thread_ts=root, status="processing")
        assert answer["warning"] == "missing_agent_session_stopped_event_subscription"
        assert ana.opens_home() is None


async def test_conversations(server: SlackServer, client: AsyncWebClient, post: Post) -> None:
    channel, ana = server.channel("general"), server.person("ana")
    secret = server.workspace.add_channel("secret", private=True, with_bot=False).id
    root = [ana.says(channel, f"message {number}", mention=False) for number in range(5)][-1]
    await post(thread_ts=root.ts, text="a reply")
    assert await error_of(client.conversations_info(channel=secret)) == "channel_not_found"
    assert await error_of(client.chat_postMessage(channel="nowhere", text="x")) == "channel_not_found"
    assert (await client.conversations_info(channel=channel))["channel"]["is_member"]
    assert set((await client.conversations_members(channel=channel))["members"]) == {ana.id, server.workspace.bot.id}
    texts = [
        m["text"]
        async for page in await client.conversations_history(channel=channel, limit=2)
        for m in page["messages"]
    ]
    assert texts == [f"message {number}" for number in (4, 3, 2, 1, 0)]
    thread = (await client.conversations_replies(channel=channel, ts=root.ts))["messages"]
    assert [(m["text"], m.get("reply_count")) for m in thread] == [("message 4", 1), ("a reply", None)]
    opened = (await client.conversations_open(users=ana.id))["channel"]["id"]
    assert opened == ana.dm
    await client.chat_postMessage(channel=ana.id, text="to the person's id")
    assert len(server.said_by_bot(ana.dm)) == 1
    link = (await client.chat_getPermalink(channel=channel, message_ts=root.ts))["permalink"]
    assert link == f"https://acme.slack.com/archives/{channel}/p{root.ts.replace('.', '')}"


async def test_people_groups_and_bots(server: SlackServer, client: AsyncWebClient) -> None:
    guest, robo = server.person("gus", guest="single"), server.other_bot("robo")
    group = server.workspace.add_group("teachers", [guest.id])
    info = (await client.users_info(user=guest.id))["user"]
    assert (info["is_restricted"], info["is_ultra_restricted"], info["is_bot"]) == (True, True, False)
    assert (await client.users_info(user=robo.user.id))["user"]["is_bot"]
    assert await error_of(client.users_info(user="U404")) == "user_not_found"
    assert (await client.bots_info(bot=robo.user.bot_id))["bot"]["user_id"] == robo.user.id
    assert (await client.usergroups_users_list(usergroup=group.id))["users"] == [guest.id]
    groups = (await client.usergroups_list(include_users=True))["usergroups"]
    assert [(g["handle"], g["users"]) for g in groups] == [("teachers", [guest.id])]


async def test_a_file_is_uploaded_in_three_steps(server: SlackServer, client: AsyncWebClient) -> None:
    ana = server.person("ana")
    root = ana.says(ana.dm, "export").ts
    await client.files_upload_v2(
        channel=ana.dm, thread_ts=root, filename="export.json", content='{"a": 1}', initial_comment="Your data"
    )
    [message] = server.said_by_bot(ana.dm, root)
    [file] = message.files
    assert (message.subtype, message.text, file.name, file.content) == (
        "file_share", "Your data", "export.json", b'{"a": 1}',
    )  # fmt: skip
    unfinished = await client.files_getUploadURLExternal(filename="x", length=3)
    refused = client.files_completeUploadExternal(files=[{"id": unfinished["file_id"], "title": "x"}])
    assert await error_of(refused) == "file_not_found"


@pytest.mark.parametrize(
    "spoiled",
    [
        {"title": {"type": "plain_text", "text": "t" * 25}},
        {"submit": None},
        {"private_metadata": "p" * 3001},
        {"blocks": [{"type": "divider"}] * 101},
        {"type": "home"},
    ],
)
async def test_an_unusable_modal_is_refused_and_leaves_the_trigger_good(
    server: SlackServer, client: AsyncWebClient, post: Post, spoiled: Json
) -> None:
    ana = server.person("ana")
    await post(text="press", blocks=[{"type": "actions", "elements": [BUTTON]}])
    trigger = ana.clicks(server.said_by_bot(server.channel("general"))[0], "a").payload["trigger_id"]
    view: Json = {
        "type": "modal",
        "title": {"type": "plain_text", "text": "Title"},
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [
            {
                "type": "input",
                "label": {"type": "plain_text", "text": "L"},
                "element": {"type": "plain_text_input", "action_id": "i"},
            }
        ],
    }
    bad = {name: value for name, value in (view | spoiled).items() if value is not None}
    assert await error_of(client.views_open(trigger_id=trigger, view=bad)) == "invalid_arguments"
    opened = (await client.views_open(trigger_id=trigger, view=view))["view"]
    await client.views_update(view_id=opened["id"], hash=opened["hash"], view=view)
    stale = client.views_update(view_id=opened["id"], hash=opened["hash"], view=view)
    assert await error_of(stale) == "hash_conflict"
    ana.clicks(server.said_by_bot(server.channel("general"))[0], "a")
    server.expire_triggers()
    late = client.views_open(trigger_id=list(server.slack.triggers)[-1], view=view)
    assert await error_of(late) == "expired_trigger_id"
