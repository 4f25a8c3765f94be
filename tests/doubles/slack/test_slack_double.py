"""The stand-in as the real slack-bolt sees it through Socket Mode."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientSession
from slack_bolt.async_app import AsyncApp

from tests.doubles.slack import CannotDo, Enclosed, SlackServer, SlackThread
from tests.doubles.slack.bolt_app import Recorder, connected, error_of, section, web_client
from tests.doubles.slack.state import Json

FEEDBACK: Json = {
    "type": "context_actions",
    "elements": [
        {
            "type": "feedback_buttons",
            "action_id": "rate",
            "positive_button": {"text": {"type": "plain_text", "text": "Good"}, "value": "up"},
            "negative_button": {"text": {"type": "plain_text", "text": "Bad"}, "value": "down"},
        }
    ],
}
MODAL: Json = {
    "type": "modal",
    "callback_id": "correction",
    "private_metadata": "run-1",
    "notify_on_close": True,
    "title": {"type": "plain_text", "text": "What was wrong?"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "block_id": "reason",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {
                "type": "radio_buttons",
                "action_id": "reason",
                "options": [{"text": {"type": "plain_text", "text": "Wrong facts"}, "value": "facts"}],
            },
        },
        {
            "type": "input",
            "block_id": "better",
            "optional": True,
            "label": {"type": "plain_text", "text": "What would be right?"},
            "element": {"type": "plain_text_input", "action_id": "better", "multiline": True},
        },
    ],
}


async def test_the_app_says_hello_and_every_event_is_acknowledged_in_order(server: SlackServer) -> None:
    heard, ana, channel = Recorder(server), server.person("ana"), server.channel("general")
    async with connected(server, heard.listen):
        message = ana.says(channel, "what is the capital of France?")
        await server.wait_for(lambda: len(heard.bodies) == 2)
        await server.wait_for(lambda: not server.deliveries.unacked())

    bot = server.workspace.bot.id
    assert [event["type"] for event in heard.events()] == ["message", "app_mention"]
    assert {event["ts"] for event in heard.events()} == {message.ts}
    assert {event["text"] for event in heard.events()} == {f"<@{bot}> what is the capital of France?"}
    assert len({body["event_id"] for body in heard.bodies}) == 2
    assert all(delivery.acked > delivery.sent > 0 for delivery in server.deliveries.sent)
    assert [call.method for call in server.calls()][:1] == ["apps.connections.open"]
    assert server.slack.unknown_methods() == []


async def test_a_direct_message_makes_one_event(server: SlackServer) -> None:
    heard, ana = Recorder(server), server.person("ana")
    async with connected(server, heard.listen):
        ana.says(ana.dm, "hello")
        await server.wait_for(lambda: not server.deliveries.unacked() and heard.bodies)
    [event] = heard.events()
    assert (event["type"], event["channel_type"], event["user"]) == ("message", "im", ana.id)
    assert "bot_id" not in event


async def test_the_bot_hears_neither_itself_nor_channels_it_is_not_in(server: SlackServer) -> None:
    heard, ana, channel = Recorder(server), server.person("ana"), server.channel("general")
    elsewhere = server.workspace.add_channel("elsewhere", with_bot=False).id
    async with connected(server, heard.listen) as app:
        posted = await app.client.chat_postMessage(channel=channel, text="hi there")
        await app.client.reactions_add(channel=channel, timestamp=posted["ts"], name="brain")
        await app.client.chat_update(channel=channel, ts=posted["ts"], text="hi here")
        ana.says(elsewhere, "anybody?")
        ana.says(channel, "the last one", mention=False)
        await server.wait_for(lambda: heard.bodies)
        await server.wait_for(lambda: not server.deliveries.unacked())
    assert [event["text"] for event in heard.events()] == ["the last one"]
    assert [delivery.event_type for delivery in server.deliveries.sent] == [
        "message", "reaction_added", "message", "message",
    ]  # fmt: skip
    [message] = server.said_by_bot(channel)
    assert (message.text, message.edits, message.reactions) == (
        "hi here",
        ["hi there"],
        {"brain": [server.workspace.bot.id]},
    )


async def test_edits_deletions_and_threads(server: SlackServer) -> None:
    heard, ana, channel = Recorder(server), server.person("ana"), server.channel("general")
    async with connected(server, heard.listen) as app:
        question = ana.says(channel, "one", mention=False)
        ana.edits(question, "two", mentions_again=True)
        await app.client.chat_postMessage(channel=channel, thread_ts=question.ts, text="an answer")
        reply = ana.says(channel, "thanks", thread_ts=question.ts, mention=False)
        ana.deletes(reply)
        ana.deletes(question)
        await server.wait_for(lambda: len(heard.bodies) >= 6)

    events = heard.events()
    assert [event.get("subtype", event["type"]) for event in events] == [
        "message", "message_changed", "app_mention", "message", "message_deleted", "message_changed",
    ]  # fmt: skip
    assert events[1]["message"]["text"] == "two"
    assert events[1]["previous_message"]["text"] == "one"
    assert events[1]["message"]["edited"]["user"] == ana.id
    assert events[2]["edited"] == events[1]["message"]["edited"]
    assert events[3]["thread_ts"] == question.ts
    assert events[4]["deleted_ts"] == reply.ts
    assert events[5]["message"]["subtype"] == "tombstone"


async def test_reactions_are_added_and_removed_as_spelled(server: SlackServer) -> None:
    heard, ana, channel = Recorder(server), server.person("ana"), server.channel("general")
    async with connected(server, heard.listen) as app:
        await app.client.chat_postMessage(channel=channel, text="an answer")
        [answer] = server.said_by_bot(channel)
        ana.reacts(answer, "+1::skin-tone-3")
        with pytest.raises(CannotDo):
            ana.reacts(answer, "+1::skin-tone-3")
        ana.unreacts(answer, "+1::skin-tone-3")
        await server.wait_for(lambda: len(heard.bodies) == 2)
    added, removed = heard.events()
    assert (added["type"], removed["type"]) == ("reaction_added", "reaction_removed")
    assert added["reaction"] == removed["reaction"] == "+1::skin-tone-3"
    assert added["item"] == {"type": "message", "channel": channel, "ts": answer.ts}
    assert added["item_user"] == server.workspace.bot.id
    assert answer.reactions == {}


async def test_other_bots_and_people_of_other_workspaces_are_told_apart(server: SlackServer) -> None:
    heard, channel = Recorder(server), server.channel("partners", shared=True)
    robo, zoe = server.other_bot("robo"), server.person("zoe", external_team="T9999")
    async with connected(server, heard.listen) as app:
        robo.says(channel, "beep", mention=False)
        robo.says(channel, "classic beep", mention=False, classic=True)
        zoe.says(channel, "hello from outside", mention=False)
        await server.wait_for(lambda: len(heard.bodies) == 3)
        info = await app.client.users_info(user=zoe.id)
    modern, classic, foreign = heard.events()
    assert (modern["user"], modern["bot_id"]) == (robo.user.id, robo.user.bot_id)
    assert (classic["subtype"], classic.get("user")) == ("bot_message", None)
    assert foreign["user_team"] == "T9999"
    assert heard.bodies[2]["is_ext_shared_channel"]
    assert heard.bodies[2]["authorizations"][0]["team_id"] == server.workspace.id
    assert info["user"]["team_id"] == "T9999"
    assert info["user"]["is_stranger"]


async def test_feedback_button_opens_a_modal_whose_errors_and_values_come_through(server: SlackServer) -> None:
    submitted: list[Json] = []

    def listen(app: AsyncApp) -> None:
        @app.action("rate")
        async def rated(ack: Any, body: Json, client: Any) -> None:
            await ack()
            await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

        @app.view("correction")
        async def corrected(ack: Any, body: Json) -> None:
            submitted.append(body)
            if not body["view"]["state"]["values"]["better"]["better"]["value"]:
                await ack(response_action="errors", errors={"better": "Please say it"})
            else:
                await ack()

    ana = server.person("ana")
    async with connected(server, listen) as app:
        await app.client.chat_postMessage(channel=ana.dm, text="Lyon", blocks=[section("Lyon"), FEEDBACK])
        [answer] = server.said_by_bot(ana.dm)
        click = ana.rates(answer, good=False)
        assert await click.answered() == {}
        view = await server.wait_for(lambda: server.workspace.modal(ana.id))
        with pytest.raises(CannotDo, match="Reason"):
            ana.submits({})
        refused = await ana.submits({"reason": "facts"}).answered()
        assert refused["response_action"] == "errors"
        assert view.errors == {"better": "Please say it"}
        assert await ana.submits({"reason": "facts", "better": "Paris"}).answered() == {}

    assert (click.payload["actions"][0]["value"], click.payload["message"]["ts"]) == ("down", answer.ts)
    assert not view.is_open
    assert submitted[-1]["view"]["private_metadata"] == "run-1"
    assert submitted[-1]["view"]["state"]["values"]["reason"]["reason"]["selected_option"]["value"] == "facts"
    assert server.slack.complaints == []


async def test_a_cancelled_modal_is_told_and_a_trigger_opens_only_once(server: SlackServer) -> None:
    closed: list[Json] = []
    refused: list[str] = []

    def listen(app: AsyncApp) -> None:
        @app.shortcut("teach")
        async def teach(ack: Any, body: Json, client: Any) -> None:
            await ack()
            await client.views_open(trigger_id=body["trigger_id"], view=MODAL)
            refused.append(await error_of(client.views_open(trigger_id=body["trigger_id"], view=MODAL)))
            server.look_again()

        @app.view_closed("correction")
        async def cancelled(ack: Any, body: Json) -> None:
            await ack()
            closed.append(body)
            server.look_again()

    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server, listen):
        message = ana.says(channel, "Paris is the capital", mention=False)
        shortcut = ana.uses_shortcut(message, "teach")
        await shortcut.answered()
        await server.wait_for(lambda: refused)
        ana.closes()
        await server.wait_for(lambda: closed)
    assert shortcut.payload["message"]["text"] == "Paris is the capital"
    assert refused == ["exchanged_trigger_id"]
    assert closed[0]["view"]["callback_id"] == "correction"


async def test_slash_command_answers_through_its_response_url_five_times(server: SlackServer) -> None:
    statuses: list[int] = []

    def listen(app: AsyncApp) -> None:
        @app.command("/goodbot")
        async def command(ack: Any, respond: Any, command: Json) -> None:
            await ack(f"working on {command['text']}")
            for number in range(6):
                answer = await respond(text=f"part {number}", response_type="in_channel" if number else "ephemeral")
                statuses.append(answer.status_code)
                server.look_again()

    ana, channel = server.person("ana"), server.channel("general")
    async with connected(server, listen):
        assert await ana.commands(channel, "/goodbot", "memory").answered() == {"text": "working on memory"}
        await server.wait_for(lambda: len(statuses) == 6)
    assert statuses == [200] * 5 + [404]
    assert {e.text for e in server.ephemerals(ana, channel)} == {"working on memory", "part 0"}
    assert [m.text for m in server.said_by_bot(channel)] == [f"part {n}" for n in range(1, 5)]


async def test_a_click_on_an_ephemeral_message_replaces_and_deletes_it(server: SlackServer) -> None:
    def listen(app: AsyncApp) -> None:
        @app.action("tell")
        async def tell(ack: Any, respond: Any) -> None:
            await ack()
            await respond(text="Thank you", replace_original=True)
            await respond(delete_original=True)

    button = {"type": "button", "action_id": "tell", "text": {"type": "plain_text", "text": "Tell you"}, "value": "1"}
    ana, ben, channel = server.person("ana"), server.person("ben"), server.channel("general")
    async with connected(server, listen) as app:
        ana.says(channel, "hi")
        blocks = [section("What was wrong?"), {"type": "actions", "elements": [button]}]
        await app.client.chat_postEphemeral(channel=channel, user=ana.id, text="What was wrong?", blocks=blocks)
        [shown] = server.ephemerals(ana)
        with pytest.raises(CannotDo):
            ben.clicks(shown, "tell")
        click = ana.clicks(shown, "tell")
        await server.wait_for(lambda: shown.gone)
    assert click.payload["container"]["is_ephemeral"]
    assert "message" not in click.payload
    assert (shown.text, server.ephemerals(ana)) == ("Thank you", [])


async def test_home_opens_with_what_was_published(server: SlackServer) -> None:
    heard, ana = Recorder(server), server.person("ana")
    async with connected(server, heard.listen) as app:
        ana.opens_home()
        await server.wait_for(lambda: heard.bodies)
        await app.client.views_publish(user_id=ana.id, view={"type": "home", "blocks": [section("Your lessons")]})
        ana.opens_home()
        await server.wait_for(lambda: len(heard.bodies) == 2)
    first, second = heard.events("app_home_opened")
    assert "view" not in first
    assert second["view"]["blocks"][0]["text"]["text"] == "Your lessons"


async def test_the_native_stop_ends_streams_and_tells_the_app(server: SlackServer) -> None:
    heard, ana, channel = Recorder(server), server.person("ana"), server.channel("general")
    async with connected(server, heard.listen) as app:
        question = ana.says(channel, "a long one", mention=False)
        with pytest.raises(CannotDo, match="no stop button"):
            ana.stops(channel, question.ts)
        await app.client.agents_sessions_setStatus(channel_id=channel, thread_ts=question.ts, status="processing")
        assert server.workspace.status(channel, question.ts) == "processing"
        stream = await app.client.chat_stream(
            channel=channel, thread_ts=question.ts, recipient_team_id="T0001", recipient_user_id=ana.id, buffer_size=1
        )
        await stream.append(markdown_text="Once upon")
        ana.stops(channel, question.ts)
        await server.wait_for(lambda: heard.events("agent_session_stopped"))
        refused = await error_of(stream.append(markdown_text=" a time"))
    [event] = heard.events("agent_session_stopped")
    assert event["streaming_message_ts"] == [stream.ts]
    assert refused == "stopped_by_user"


async def test_a_file_comes_with_a_message_and_is_downloaded_with_the_token(server: SlackServer) -> None:
    heard, ana = Recorder(server), server.person("ana")
    async with connected(server, heard.listen) as app:
        ana.says(ana.dm, "read this", files=[Enclosed("notes.txt", b"Paris")])
        await server.wait_for(lambda: heard.bodies)
        [event] = heard.events()
        url = event["files"][0]["url_private_download"]
        assert await _get(url, app.client.token) == (200, "text/plain", b"Paris")
        assert (await _get(url, None))[:2] == (200, "text/html")
    assert event["subtype"] == "file_share"


async def test_leaving_archiving_and_uninstalling(server: SlackServer) -> None:
    heard, ana, channel = Recorder(server), server.person("ana"), server.channel("general")
    async with connected(server, heard.listen) as app:
        ana.joins(channel)
        ana.leaves(channel)
        server.archive(channel, by=ana)
        assert await error_of(app.client.chat_postMessage(channel=channel, text="hello?")) == "is_archived"
        other = server.channel("other")
        server.remove_bot(other)
        assert await error_of(app.client.chat_postMessage(channel=other, text="hello?")) == "not_in_channel"
        await server.wait_for(lambda: len(heard.bodies) == 5)
        limited = server.rate_limit_events()
        server.uninstall()
        await server.wait_for(lambda: len(heard.bodies) == 7)
        assert await error_of(app.client.auth_test()) == "account_inactive"
    assert [event["type"] for event in heard.events()] == [
        "message", "member_joined_channel", "member_left_channel", "channel_archive", "member_left_channel",
        "tokens_revoked", "app_uninstalled",
    ]  # fmt: skip
    assert limited.sent
    assert limited.event_type == "app_rate_limited"


async def test_two_workspaces_with_equal_ids_are_two_workspaces(server: SlackServer) -> None:
    heard, second = Recorder(server), server.add_workspace("T0002", "globex")
    here, there = server.person("ana"), server.person("ana", workspace=second)
    async with connected(server, heard.listen):
        here.says(here.dm, "here")
        there.says(there.dm, "there")
        await server.wait_for(lambda: len(heard.bodies) == 2)
        await web_client(server, second).chat_postMessage(channel=there.dm, text="only there")
    assert (here.id, here.dm) == (there.id, there.dm)
    assert [body["team_id"] for body in heard.bodies] == ["T0001", "T0002"]
    assert (server.said_by_bot(here.dm), len(second.said_by_bot(there.dm))) == ([], 1)


def test_a_test_without_a_loop_drives_it_from_another_thread() -> None:
    with SlackThread() as slack:
        ana = slack.do(slack.server.person, "ana")
        message = slack.do(ana.says, slack.do(lambda: ana.dm), "hello")

        async def answer() -> None:
            client = web_client(slack.server)
            await client.chat_postMessage(channel=message.channel, thread_ts=message.ts, text="hi")

        asyncio.run(answer())
        [reply] = slack.wait_for(lambda: slack.server.said_by_bot(message.channel, message.ts))
        with pytest.raises(TimeoutError, match=r"chat\.postMessage ok"):
            slack.wait_for(lambda: False, timeout_s=0.01)
    assert reply.text == "hi"


async def _get(url: str, token: str | None) -> tuple[int, str, bytes]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status, answer.content_type, await answer.read()
