"""The whole stand-in without its network side: workspaces, what is sent to the app, what the app called."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.doubles.slack import events
from tests.doubles.slack.delivery import Deliveries, Delivery
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.faults import Faults
from tests.doubles.slack.limits import check_blocks, check_view
from tests.doubles.slack.stamps import Stamps
from tests.doubles.slack.state import Call, Channel, Ephemeral, Json, Message
from tests.doubles.slack.watch import Watch
from tests.doubles.slack.workspace import Workspace

APP_ID = "A111"
APP_TOKEN = "xapp-1-A111-1"
CLIENT_ID = "111.222"
CLIENT_SECRET = "fedcba9876543210fedcba9876543210"
SIGNING_SECRET = "0123456789abcdef0123456789abcdef"
RESPONSE_URL_USES = 5


@dataclass
class Trigger:
    """The right to open one modal, given with a click. `state`: fresh, exchanged or expired."""

    workspace: Workspace
    user: str
    state: str = "fresh"


@dataclass
class ResponseUrl:
    """Where an app may answer one interaction, five times at most."""

    workspace: Workspace
    channel: str
    user: str
    thread_ts: str = ""
    origin: Message | Ephemeral | None = None
    uses: int = 0


class Slack:
    """One app, installed in one or several workspaces. Used on one event loop only."""

    def __init__(self, clock: Callable[[], float], subscriptions: frozenset[str] | None = None) -> None:
        self.stamps = Stamps(clock)
        self.watch = Watch(self.describe)
        self.deliveries = Deliveries(self.stamps, self.watch)
        self.faults = Faults()
        self.calls: list[Call] = []
        self.workspaces: dict[str, Workspace] = {}
        self.triggers: dict[str, Trigger] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.oauth_codes: dict[str, Workspace] = {}
        self.redirect_url = ""
        """Where people are sent after their consent when the app names no place; part of the app's pages."""
        self.people_decline = False
        """Whether people press "Cancel" on the consent page."""
        self.scopes_asked_for: set[str] = set()
        self.installation_extras: Json = {}
        """What else `oauth.v2.access` answers: `refresh_token` with token rotation, `is_enterprise_install`, ..."""
        self.subscriptions = subscriptions
        """Event types the app subscribed to; None for all of them."""
        self.echoes_own = True
        """Whether the app hears of its own messages and reactions, as it does in life."""
        self.complaints: list[str] = []
        """What Slack would show a person as the app's fault, for example an unusable modal; should be empty."""
        self.base_url = ""
        self.socket_url: Callable[[], str] = lambda: ""

    def add_workspace(self, team_id: str, domain: str) -> Workspace:
        """Install the app in one more workspace."""
        workspace = Workspace(team_id, domain, self.stamps, app_id=APP_ID)
        self.workspaces[team_id] = workspace
        return workspace

    # To the app ------------------------------------------------------------------------------------------------

    def emit(self, workspace: Workspace, event: Json, channel: Channel | None = None) -> Delivery | None:
        """Send an event if the app gets to hear of it: subscribed to it and, in a channel, a member of it."""
        name = event["type"]
        if name == "message" and channel is not None:
            name = {"channel": "message.channels", "group": "message.groups"}.get(
                channel.kind, f"message.{channel.kind}"
            )
        if self.subscriptions is not None and name not in self.subscriptions:
            return None
        if channel is not None and workspace.bot.id not in channel.members:
            return None
        body = events.callback(workspace, event, self.stamps, channel)
        return self.deliveries.send(workspace, "events_api", body, None)

    def echo(self, workspace: Workspace, event: Json, channel: Channel) -> None:
        """Tell the app of something it did itself."""
        if self.echoes_own:
            self.emit(workspace, event, channel)

    def interact(
        self, workspace: Workspace, kind: str, payload: Json, on_answer: Callable[[Json], None] | None = None
    ) -> Delivery:
        """Send an interactive payload or a slash command."""
        return self.deliveries.send(workspace, kind, payload, on_answer)

    def new_trigger(self, workspace: Workspace, user: str) -> str:
        """A trigger id, good for one `views.open`."""
        name = f"{self.stamps.number('trigger')}.{workspace.id}.{user}"
        self.triggers[name] = Trigger(workspace, user)
        return name

    def expire_triggers(self) -> None:
        """Three seconds pass: no trigger id given so far opens a modal any more."""
        for trigger in self.triggers.values():
            if trigger.state == "fresh":
                trigger.state = "expired"

    def new_response_url(self, url: ResponseUrl) -> str:
        """A `response_url`."""
        name = f"{url.workspace.id}/{self.stamps.number('response')}/{self.stamps.id('hook')}"
        self.response_urls[name] = url
        return f"{self.base_url}/response/{name}"

    def accept_blocks(self, blocks: list[Json]) -> list[Json]:
        """A message's blocks as Slack keeps them: checked, each with a block id."""
        check_blocks(blocks)
        return self._with_ids(blocks)

    def accept_view(self, view: Json) -> Json:
        """A modal or App Home as Slack keeps it: checked, each block with a block id."""
        check_view(view)
        return view | {"blocks": self._with_ids(view.get("blocks", []))}

    def _with_ids(self, blocks: list[Json]) -> list[Json]:
        return [{"block_id": self.stamps.id("b"), **block} for block in blocks]

    # From the app ----------------------------------------------------------------------------------------------

    def by_token(self, token: str) -> Workspace:
        """The workspace of a bot token. Raises what Slack says to a missing, unknown or revoked one."""
        if not token:
            raise SlackError("not_authed")
        for workspace in self.workspaces.values():
            if workspace.bot_token == token:
                if workspace.revoked:
                    raise SlackError(workspace.revoked)
                return workspace
        raise SlackError("invalid_auth")

    def called(self, method: str) -> list[Call]:
        """The calls of one method so far, in order."""
        return [call for call in self.calls if call.method == method]

    def unknown_methods(self) -> list[str]:
        """Names the app called that this stand-in has no method for; should be empty."""
        return [call.method for call in self.calls if call.error == "unknown_method"]

    def describe(self) -> str:
        """The last things that crossed the wire, for a failing test to show."""
        lines = [(c.order, f"<- {c.method} {c.error or c.fault or 'ok'}") for c in self.calls[-15:]]
        lines += [(d.sent, f"-> {d.event_type} {d.envelope_id}") for d in self.deliveries.sent[-15:]]
        lines += [(d.acked, f"<- ack {d.envelope_id}") for d in self.deliveries.sent[-15:] if d.acked]
        waiting = [f"waiting: {d.event_type}" for d in self.deliveries.waiting]
        return "\n".join([text for _, text in sorted(lines)] + waiting) or "nothing"
