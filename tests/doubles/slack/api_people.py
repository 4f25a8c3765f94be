"""`auth.*`, `users.*`, `usergroups.*`, `bots.*`, `apps.*`: who is who."""

from tests.doubles.slack.api_conversations import paged
from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.render import user_json
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import Json


@method("auth.test")
def auth_test(call: Request) -> Json:
    """Whose token this is."""
    workspace = call.workspace
    return {
        "url": f"https://{workspace.domain}.slack.com/",
        "team": workspace.domain,
        "user": workspace.bot.name,
        "team_id": workspace.id,
        "user_id": workspace.bot.id,
        "bot_id": workspace.bot.bot_id,
        "is_enterprise_install": False,
    }


@method("apps.connections.open", token="app")
def connections_open(call: Request) -> Json:
    """Where to open a WebSocket, once."""
    return {"url": call.slack.socket_url()}


@method("users.info", "users:read")
def users_info(call: Request) -> Json:
    """One person or bot."""
    return {"user": user_json(call.workspace.user(call.need("user")))}


@method("users.list", "users:read")
def users_list(call: Request) -> Json:
    """Everybody, bots too."""
    page, more = paged(call, list(call.workspace.users.values()), 100)
    return {"members": [user_json(each) for each in page], **more}


@method("bots.info", "users:read")
def bots_info(call: Request) -> Json:
    """One bot by its bot id."""
    bot = call.workspace.bot_user(call.need("bot"))
    body = {"id": bot.bot_id, "deleted": False, "name": bot.name, "updated": 1_700_000_000, "user_id": bot.id}
    return {"bot": body | {"app_id": bot.app_id, "icons": {}}}


@method("usergroups.list", "usergroups:read")
def usergroups_list(call: Request) -> Json:
    """All user groups, with their members if asked."""
    groups = [
        {
            "id": group.id,
            "team_id": call.workspace.id,
            "is_usergroup": True,
            "name": group.handle,
            "handle": group.handle,
            "is_external": False,
            "date_delete": 0,
            "user_count": len(group.users),
            **({"users": list(group.users)} if call.flag("include_users") else {}),
        }
        for group in call.workspace.groups.values()
    ]
    return {"usergroups": groups}


@method("usergroups.users.list", "usergroups:read")
def usergroups_users_list(call: Request) -> Json:
    """The members of one user group."""
    group = call.workspace.groups.get(call.need("usergroup"))
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": list(group.users)}


@method("team.info", "team:read")
def team_info(call: Request) -> Json:
    """The workspace."""
    workspace = call.workspace
    return {"team": {"id": workspace.id, "name": workspace.domain, "domain": workspace.domain, "email_domain": ""}}
