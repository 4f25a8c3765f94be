"""Signed HTTP requests from the stand-in to the real slack-bolt behind aiohttp."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

from tests.doubles.slack import SlackServer
from tests.doubles.slack.bolt_app import Recorder, new_app
from tests.doubles.slack.state import Json


@pytest.fixture
async def app(server: SlackServer) -> AsyncApp:
    return new_app(server)


@pytest.fixture
async def url(app: AsyncApp) -> AsyncIterator[str]:
    async def take(request: web.Request) -> web.Response:
        answer = await app.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(answer)

    site = web.Application()
    site.router.add_post("/slack/events", take)
    runner = web.AppRunner(site, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    await runner.cleanup()


async def test_everything_a_person_does_comes_as_signed_requests(server: SlackServer, app: AsyncApp, url: str) -> None:
    heard, commands, ana = Recorder(server), list[Json](), server.person("ana")
    heard.listen(app)

    @app.command("/goodbot")
    async def command(ack: Any, body: Json) -> None:
        commands.append(body)
        await ack("here you are")

    server.deliver_over_http(url)
    message = ana.says(ana.dm, "hello")
    ana.reacts(message, "+1")
    assert await ana.commands(ana.dm, "/goodbot", "help me & more").answered() in ({}, {"text": "here you are"})
    await server.wait_for(lambda: len(heard.bodies) == 2)
    await server.wait_for(lambda: not server.deliveries.unacked())
    assert {event["type"] for event in heard.events()} == {"message", "reaction_added"}
    assert commands[0]["text"] == "help me & more"


async def test_a_button_and_a_modal_over_http(server: SlackServer, app: AsyncApp, url: str) -> None:
    @app.action("go")
    async def go(ack: Any, body: Json, client: Any) -> None:
        await client.views_open(
            trigger_id=body["trigger_id"],
            view={
                "type": "modal",
                "callback_id": "v",
                "title": {"type": "plain_text", "text": "T"},
                "submit": {"type": "plain_text", "text": "Send"},
                "blocks": [
                    {
                        "type": "input",
                        "block_id": "i",
                        "label": {"type": "plain_text", "text": "L"},
                        "element": {"type": "plain_text_input", "action_id": "i"},
                    }
                ],
            },
        )
        await ack()

    @app.view("v")
    async def sent(ack: Any) -> None:
        await ack(response_action="errors", errors={"i": "no"})

    ana = server.person("ana")
    button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
    await app.client.chat_postMessage(channel=ana.dm, text="press", blocks=[{"type": "actions", "elements": [button]}])
    server.deliver_over_http(url)
    await ana.clicks(server.said_by_bot(ana.dm)[0], "go").answered()
    assert (await ana.submits({"i": "x"}).answered())["response_action"] == "errors"
    assert ana.modal().errors == {"i": "no"}


async def test_a_new_url_is_verified(server: SlackServer, url: str) -> None:
    assert await server.verify_url(url, "abc") == "abc"


@pytest.mark.parametrize("wrong", [{"wrong_signature": True}, {"age_s": 301.0}])
async def test_wrong_and_old_signatures_are_refused(
    server: SlackServer, app: AsyncApp, url: str, wrong: dict[str, Any]
) -> None:
    heard, ana = Recorder(server), server.person("ana")
    heard.listen(app)
    server.deliver_over_http(url, **wrong)
    ana.says(ana.dm, "let me in")
    await server.wait_for(lambda: [delivery.status for delivery in server.deliveries.sent if delivery.status])
    [delivery] = server.deliveries.sent
    assert (delivery.status, delivery.acked, heard.bodies) == (401, 0, [])


async def test_a_repeated_request_says_so(server: SlackServer, app: AsyncApp, url: str) -> None:
    heard, ana = Recorder(server), server.person("ana")
    heard.listen(app)
    server.deliver_over_http(url)
    ana.says(ana.dm, "again?")
    await server.wait_for(lambda: heard.bodies)
    server.deliveries.repeat(server.deliveries.sent[0], reason="http_timeout")
    await server.wait_for(lambda: len(heard.bodies) == 2)
    assert heard.retries == ["", "1"]
