"""The stand-in on 127.0.0.1: what the real client libraries connect to, and what tests drive and look at."""

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import count
from types import TracebackType
from typing import Self, TypeVar

from aiohttp import ClientError, ClientSession, web

from tests.doubles.slack import happenings, response_urls
from tests.doubles.slack.api_oauth import ConsentPage
from tests.doubles.slack.core import APP_TOKEN, SIGNING_SECRET, Slack
from tests.doubles.slack.delivery import Deliveries, Delivery
from tests.doubles.slack.faults import Faults
from tests.doubles.slack.people import OtherBot, Person
from tests.doubles.slack.signed_http import HttpAnswer, Signer
from tests.doubles.slack.socket_mode import Pump, SocketMode
from tests.doubles.slack.state import Call, Ephemeral, Json, Message
from tests.doubles.slack.web_api import WebApi
from tests.doubles.slack.workspace import Workspace

T = TypeVar("T")
_BEFORE_THE_NEXT_S = 0.1
LOGIN_PAGE = "<!DOCTYPE html><html><title>Sign in | Slack</title></html>"


class SlackServer:
    """`async with SlackServer() as server:` on the test's own loop; `SlackThread` is for tests without one.

    It begins with one workspace (`server.workspace`, team `T0001`) without channels or people. `subscriptions` are
    the events the app is subscribed to, None for all. `clock` gives seconds since the epoch.
    """

    def __init__(
        self, *, subscriptions: frozenset[str] | None = None, clock: Callable[[], float] = time.time, port: int = 0
    ) -> None:
        self.slack = Slack(clock, subscriptions)
        self.workspace = self.slack.add_workspace("T0001", "acme")
        self.socket_mode = SocketMode(self.slack)
        self.slack.socket_url = self.socket_mode.new_url
        self.signer = Signer(secret=SIGNING_SECRET, clock=clock)
        self._pump = Pump(self.slack, self.socket_mode)
        self._port = port
        self._posting: set[asyncio.Task[None]] = set()

    # Coming and going ------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        web_api = WebApi(self.slack)
        app.router.add_route("*", "/api/{method}", web_api.handle)
        app.router.add_get("/oauth/v2/authorize", ConsentPage(self.slack).handle)
        app.router.add_get("/link/", self.socket_mode.handle)
        app.router.add_post("/response/{name:.+}", self._take_response)
        app.router.add_post("/upload/{team}/{file}", self._take_upload)
        app.router.add_get("/files-pri/{key}/{rest:.+}", self._give_file)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        self.slack.base_url = f"http://127.0.0.1:{self._port}"
        self._session = ClientSession()
        self._pump.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.faults.clear()
        await self._pump.stop()
        for task in self._posting:
            task.cancel()
        await asyncio.gather(*self._posting, return_exceptions=True)
        await self._session.close()
        self.socket_mode.cut()
        await self._runner.cleanup()

    @property
    def api_url(self) -> str:
        """The base of the Web API, for `AsyncWebClient(base_url=...)`."""
        return f"{self.slack.base_url}/api/"

    def environment(self) -> dict[str, str]:
        """The variables that point a process at this server."""
        return {
            "SLACK_API_URL": self.api_url,
            "SLACK_BOT_TOKEN": self.workspace.bot_token,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_SIGNING_SECRET": SIGNING_SECRET,
        }

    # Who there is ----------------------------------------------------------------------------------------------

    def person(
        self,
        name: str,
        *,
        workspace: Workspace | None = None,
        user_id: str = "",
        admin: bool = False,
        guest: str = "",
        external_team: str = "",
    ) -> Person:
        """Somebody by name; they are there from the first time on."""
        place = workspace or self.workspace
        user = place.user_named(name) or place.add_user(
            name, user_id=user_id, admin=admin, guest=guest, external_team=external_team
        )
        return Person(self.slack, place, user)

    def other_bot(self, name: str, *, workspace: Workspace | None = None) -> OtherBot:
        """Another app's bot by name."""
        place = workspace or self.workspace
        user = place.user_named(name) or place.add_user(name, bot=True, app_id="A222")
        return OtherBot(self.slack, place, user)

    def channel(
        self, name: str, *, workspace: Workspace | None = None, private: bool = False, shared: bool = False
    ) -> str:
        """The id of a channel with the bot in it; it is there from the first time on."""
        place = workspace or self.workspace
        for channel in place.channels.values():
            if channel.name == name:
                return channel.id
        return place.add_channel(name, private=private, shared=shared).id

    def add_workspace(self, team_id: str, domain: str) -> Workspace:
        """One more workspace with the app in it. Its ids count from one like everywhere."""
        return self.slack.add_workspace(team_id, domain)

    def offer_code(self, workspace: Workspace | None = None) -> str:
        """A code that `oauth.v2.access` exchanges for the workspace's token."""
        code = self.slack.stamps.id("code-")
        self.slack.oauth_codes[code] = workspace or self.workspace
        return code

    # What is seen (of the first workspace; ask a `Workspace` for others) -------------------------------------------

    def messages(self, channel: str) -> list[Message]:
        """All messages of a channel and its threads, oldest first."""
        return self.workspace.messages(channel)

    def said_by_bot(self, channel: str, thread_ts: str | None = None) -> list[Message]:
        """The bot's messages, oldest first."""
        return self.workspace.said_by_bot(channel, thread_ts)

    def ephemerals(self, person: Person, channel: str = "") -> list[Ephemeral]:
        """What only this person sees."""
        return person.workspace.seen_by(person.id, channel)

    def calls(self, method: str | None = None) -> list[Call]:
        """Every Web API call so far, in order; of one method, if named."""
        return self.slack.calls if method is None else self.slack.called(method)

    @property
    def faults(self) -> Faults:
        """Calls that will fail."""
        return self.slack.faults

    @property
    def deliveries(self) -> Deliveries:
        """What was and will be sent to the app."""
        return self.slack.deliveries

    async def wait_for(self, predicate: Callable[[], T | None], timeout_s: float = 10.0) -> T:
        """The first truthy value of the predicate, which is asked again whenever something happens here."""
        return await self.slack.watch.until(predicate, timeout_s)

    async def settled(self) -> None:
        """Until everything that was sent to the app is acknowledged."""
        await self.wait_for(lambda: not self.deliveries.waiting and not self.deliveries.outstanding())

    def look_again(self) -> None:
        """Ask all predicates again: something outside of Slack changed that one of them looks at."""
        self.slack.watch.changed()

    async def connected(self, count: int = 1, timeout_s: float = 10.0) -> None:
        """Until the app holds that many Socket Mode connections."""
        await self.wait_for(lambda: len(self.socket_mode.connections) >= count, timeout_s)

    # What happens ----------------------------------------------------------------------------------------------

    def archive(self, channel: str, by: Person) -> Delivery | None:
        """A channel is archived."""
        return happenings.archive(self.slack, by.workspace, channel, by.id)

    def convert(self, channel: str, by: Person, *, private: bool) -> Delivery | None:
        """A channel is made private, or public again."""
        return happenings.convert(self.slack, by.workspace, channel, by.id, private=private)

    def rename(self, channel: str, by: Person, name: str) -> Delivery | None:
        """A channel gets another name."""
        return happenings.rename(self.slack, by.workspace, channel, by.id, name)

    def share(self, channel: str, *, shared: bool, other_team: str = "T0OTHER") -> Delivery | None:
        """Another organisation is let into a channel, or leaves it."""
        return happenings.share(self.slack, self.workspace, channel, other_team, shared=shared)

    def remove_bot(self, channel: str, workspace: Workspace | None = None) -> Delivery | None:
        """The bot is taken out of a channel."""
        return happenings.remove_bot(self.slack, workspace or self.workspace, channel)

    def invite_bot(self, channel: str, by: Person) -> Delivery | None:
        """The bot is invited into a channel."""
        return happenings.invite_bot(self.slack, by.workspace, channel, by.id)

    def revoke_tokens(self, workspace: Workspace | None = None) -> Delivery | None:
        """The token stops working."""
        return happenings.revoke_tokens(self.slack, workspace or self.workspace)

    def uninstall(self, workspace: Workspace | None = None) -> Delivery | None:
        """The app is removed."""
        return happenings.uninstall(self.slack, workspace or self.workspace)

    def rate_limit_events(self, workspace: Workspace | None = None) -> Delivery:
        """Slack announces that it drops events."""
        return happenings.rate_limit_events(self.slack, workspace or self.workspace)

    def expire_stream(self, message: Message, workspace: Workspace | None = None) -> None:
        """Slack ends a stream by itself, as it does after about five minutes."""
        happenings.expire_stream(self.slack, workspace or self.workspace, message.channel, message.ts)

    def expire_triggers(self) -> None:
        """Three seconds pass for every trigger id given so far."""
        self.slack.expire_triggers()

    # Signed HTTP -----------------------------------------------------------------------------------------------

    def deliver_over_http(self, url: str, *, wrong_signature: bool = False, age_s: float = 0.0) -> None:
        """From now on everything goes to this URL as signed requests instead of Socket Mode."""
        signature = "v0=" + "0" * 64 if wrong_signature else None

        def post(delivery: Delivery) -> None:
            task = asyncio.create_task(self._post(delivery, url, signature, age_s))
            self._posting.add(task)
            task.add_done_callback(self._posting.discard)

        self._pump.over_http = post
        self.deliveries.ready.set()

    def deliver_to_any(self, urls: Sequence[str]) -> None:
        """From now on each payload goes to the next URL, and until it is acknowledged to the one after that.

        So does a load balancer with several processes behind it, together with Slack's own repetitions.
        """
        turn = count()

        async def post_until_acked(delivery: Delivery) -> None:
            while not delivery.acked:
                await self._post(delivery, urls[next(turn) % len(urls)], None, 0.0)
                if not delivery.acked:
                    self.deliveries.sent.remove(delivery)
                    delivery.attempt, delivery.reason = delivery.attempt + 1, "http_error"
                    await asyncio.sleep(_BEFORE_THE_NEXT_S)

        def post(delivery: Delivery) -> None:
            task = asyncio.create_task(post_until_acked(delivery))
            self._posting.add(task)
            task.add_done_callback(self._posting.discard)

        self._pump.over_http = post
        self.deliveries.ready.set()

    def deliver_over_socket(self) -> None:
        """Back to Socket Mode."""
        self._pump.over_http = None
        self.deliveries.ready.set()

    async def verify_url(
        self, url: str, challenge: str = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"
    ) -> str:
        """Slack checks a new request URL; the app must answer with the challenge, which is returned."""
        payload = {"token": "verification-token", "type": "url_verification", "challenge": challenge}
        answer = await self.signer.post(self._session, url, payload)
        return str(answer.body.get("challenge", answer.text))

    async def post_signed(
        self,
        url: str,
        payload: Json,
        *,
        kind: str = "events_api",
        age_s: float = 0.0,
        signature: str | None = None,
        retry: tuple[int, str] | None = None,
    ) -> HttpAnswer:
        """POST any payload with a right (or wrong, or old) signature and return the app's answer."""
        return await self.signer.post(
            self._session, url, payload, kind=kind, age_s=age_s, signature=signature, retry=retry
        )

    async def _post(self, delivery: Delivery, url: str, signature: str | None, age_s: float) -> None:
        self.deliveries.now_sent(delivery, url)
        retry = (delivery.attempt, delivery.reason) if delivery.attempt else None
        try:
            answer = await self.post_signed(
                url, delivery.payload, kind=delivery.kind, age_s=age_s, signature=signature, retry=retry
            )
        except ClientError:
            self.slack.watch.changed()
            return
        delivery.status = answer.status
        if answer.status == 200:
            self.deliveries.now_acked(delivery.envelope_id, answer.body)
        self.slack.watch.changed()

    async def _take_response(self, request: web.Request) -> web.Response:
        """A post to a `response_url`."""
        return await response_urls.handle(self.slack, request)

    # Files -----------------------------------------------------------------------------------------------------

    async def _take_upload(self, request: web.Request) -> web.Response:
        """Step two of an upload: the bytes, plain or as a form's file."""
        workspace = self.slack.workspaces[request.match_info["team"]]
        file = workspace.files.get(request.match_info["file"])
        if file is None:
            return web.Response(status=404, text="unknown upload")
        if request.content_type == "multipart/form-data":
            parts = [part for part in (await request.post()).values() if isinstance(part, web.FileField)]
            content = parts[0].file.read()
        else:
            content = await request.read()
        if len(content) != file.announced_length:
            return web.Response(status=400, text=f"expected {file.announced_length} bytes")
        file.content = content
        self.slack.watch.changed()
        return web.Response(text=f"OK - {len(content)}")

    async def _give_file(self, request: web.Request) -> web.Response:
        """A download. Without the token Slack answers 200 with its login page, not an error."""
        team, _, file_id = request.match_info["key"].partition("-")
        workspace = self.slack.workspaces.get(team)
        file = workspace.files.get(file_id) if workspace is not None else None
        if workspace is None or file is None:
            return web.Response(status=404)
        allowed = not workspace.revoked and "files:read" in workspace.scopes
        if request.headers.get("Authorization") != f"Bearer {workspace.bot_token}" or not allowed:
            return web.Response(text=LOGIN_PAGE, content_type="text/html")
        return web.Response(body=file.content, content_type=file.mimetype)
