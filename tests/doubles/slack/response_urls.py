"""What an app posts to a `response_url`: new messages, replacements, deletions."""

from aiohttp import web

from tests.doubles.slack import events
from tests.doubles.slack.core import RESPONSE_URL_USES, ResponseUrl, Slack
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.limits import visible_text
from tests.doubles.slack.render import message_json
from tests.doubles.slack.state import Ephemeral, Json, Message


async def handle(slack: Slack, request: web.Request) -> web.Response:
    """One post. Each address takes five."""
    url = slack.response_urls.get(request.match_info["name"])
    if url is None or url.workspace.revoked:
        return web.json_response({"ok": False, "error": "no_team"}, status=404)
    if url.uses >= RESPONSE_URL_USES:
        return web.json_response({"ok": False, "error": "used_url"}, status=404)
    url.uses += 1
    try:
        _apply(slack, url, await request.json())
    except SlackError as exc:
        return web.json_response(exc.body, status=400)
    finally:
        slack.watch.changed()
    return web.json_response({"ok": True})


def _apply(slack: Slack, url: ResponseUrl, body: Json) -> None:
    if body.get("delete_original"):
        _delete(slack, url)
        return
    text, _ = visible_text(body.get("text", ""))
    blocks = slack.accept_blocks(body.get("blocks", []))
    if not text and not blocks:
        raise SlackError("no_text")
    if body.get("replace_original") and url.origin is not None:
        _replace(slack, url, url.origin, text, blocks)
        return
    thread_ts, ts, bot = body.get("thread_ts", url.thread_ts), slack.stamps.ts(), url.workspace.bot
    if body.get("response_type") != "in_channel":
        ephemeral = Ephemeral(channel=url.channel, user=url.user, ts=ts, text=text, blocks=blocks, thread_ts=thread_ts)
        url.workspace.ephemerals.append(ephemeral)
        return
    message = Message(
        channel=url.channel, ts=ts, user=bot.id, bot_id=bot.bot_id, text=text, blocks=blocks, thread_ts=thread_ts
    )
    url.workspace.keep(message)
    channel = url.workspace.channel(url.channel)
    slack.echo(url.workspace, events.posted(url.workspace, channel, message, slack.base_url), channel)


def _replace(slack: Slack, url: ResponseUrl, origin: Message | Ephemeral, text: str, blocks: list[Json]) -> None:
    if isinstance(origin, Ephemeral):
        origin.text, origin.blocks = text, blocks
        return
    before = message_json(url.workspace, origin, slack.base_url)
    origin.edits.append(origin.text)
    origin.text, origin.blocks = text, blocks
    channel = url.workspace.channel(url.channel)
    event = events.changed(url.workspace, channel, origin, before, slack.stamps.ts(), slack.base_url)
    slack.echo(url.workspace, event, channel)


def _delete(slack: Slack, url: ResponseUrl) -> None:
    if isinstance(url.origin, Ephemeral):
        url.origin.gone = True
    elif url.origin is not None:
        before = message_json(url.workspace, url.origin, slack.base_url)
        url.workspace.drop(url.origin)
        channel = url.workspace.channel(url.channel)
        slack.echo(url.workspace, events.deleted(channel, before, slack.stamps.ts()), channel)
