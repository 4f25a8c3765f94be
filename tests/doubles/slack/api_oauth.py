"""Installing the app: Slack's consent page, `oauth.v2.access` and `auth.revoke`."""

from dataclasses import dataclass
from urllib.parse import urlencode

from aiohttp import web

from tests.doubles.slack.core import APP_ID, CLIENT_ID, CLIENT_SECRET, Slack
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import Json


@dataclass(frozen=True)
class ConsentPage:
    """`GET /oauth/v2/authorize`. Whoever comes agrees at once, for the workspace in `team`, unless they decline."""

    slack: Slack

    async def handle(self, request: web.Request) -> web.Response:
        """Send the person back with a code, or with the reason why there is none."""
        asked = request.query
        workspace = self.slack.workspaces.get(asked.get("team", "")) or next(iter(self.slack.workspaces.values()))
        if asked.get("client_id") != CLIENT_ID:
            return web.Response(status=400, text="invalid client_id")
        self.slack.scopes_asked_for = set(asked.get("scope", "").split(","))
        back = {"state": asked.get("state", "")}
        if self.slack.people_decline:
            back |= {"error": "access_denied"}
        else:
            back |= {"code": self.slack.stamps.id("code-")}
            self.slack.oauth_codes[back["code"]] = workspace
        target = asked.get("redirect_uri") or self.slack.redirect_url
        return web.Response(status=302, headers={"Location": f"{target}?{urlencode(back)}"})


@method("oauth.v2.access", token="none")
def oauth_access(call: Request) -> Json:
    """Exchange a code for the bot's token, once."""
    if call.text("client_id") != CLIENT_ID:
        raise SlackError("invalid_client_id")
    if call.text("client_secret") != CLIENT_SECRET:
        raise SlackError("bad_client_secret")
    workspace = call.slack.oauth_codes.pop(call.need("code"), None)
    if workspace is None:
        raise SlackError("invalid_code")
    if workspace.revoked:
        workspace.install_again()
    return {
        "app_id": APP_ID,
        "authed_user": {"id": next((u.id for u in workspace.users.values() if u.admin), "U000INSTALLER")},
        "scope": ",".join(sorted(workspace.scopes)),
        "token_type": "bot",
        "access_token": workspace.bot_token,
        "bot_user_id": workspace.bot.id,
        "team": {"id": workspace.id, "name": workspace.domain},
        "enterprise": None,
        "is_enterprise_install": False,
        **call.slack.installation_extras,
    }


@method("auth.revoke")
def auth_revoke(call: Request) -> Json:
    """The token gives itself up."""
    call.workspace.revoked = "token_revoked"
    return {"revoked": True}
