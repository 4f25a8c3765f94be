"""`views.*`: modals and App Home."""

from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.render import view_json
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import Json, View


@method("views.open")
def open_view(call: Request) -> Json:
    """A modal, for the person whose click gave the trigger id."""
    return _shown(call, _new_view(call, _exchange(call), previous=None))


@method("views.push")
def push(call: Request) -> Json:
    """One more modal on top of the open one; three at most."""
    user = _exchange(call)
    below = call.workspace.modal(user)
    if below is None:
        raise SlackError("not_found")
    if sum(v.root_id == below.root_id and v.is_open for v in call.workspace.views.values()) >= 3:
        raise SlackError("push_limit_reached")
    return _shown(call, _new_view(call, user, previous=below))


@method("views.update")
def update(call: Request) -> Json:
    """Replace the content of a modal by its id or external id; with a `hash`, only if nobody else did so."""
    view = _find(call)
    if call.text("hash") and call.text("hash") != view.hash:
        raise SlackError("hash_conflict")
    view.body = call.slack.accept_view(call.parsed("view", {}))
    view.hash = call.slack.stamps.ts()
    return _shown(call, view)


@method("views.publish")
def publish(call: Request) -> Json:
    """What a person's App Home shows."""
    user = call.workspace.user(call.need("user_id"))
    body = call.slack.accept_view(call.parsed("view", {}))
    if body["type"] != "home":
        raise SlackError("invalid_arguments", "must be of type home [json-pointer:/view/type]")
    before = call.workspace.home(user.id)
    if call.text("hash") and before is not None and call.text("hash") != before.hash:
        raise SlackError("hash_conflict")
    name = before.id if before is not None else call.slack.stamps.id("V")
    view = View(id=name, user=user.id, type="home", hash=call.slack.stamps.ts(), body=body, root_id=name)
    call.workspace.homes[user.id] = view
    return _shown(call, view)


def _exchange(call: Request) -> str:
    trigger = call.slack.triggers.get(call.need("trigger_id"))
    if trigger is None or trigger.workspace is not call.workspace:
        raise SlackError("invalid_trigger_id")
    if trigger.state != "fresh":
        raise SlackError(f"{trigger.state}_trigger_id")
    body = call.parsed("view", {})
    call.slack.accept_view(body)  # an unusable view leaves the trigger good
    trigger.state = "exchanged"
    return trigger.user


def _new_view(call: Request, user: str, previous: View | None) -> View:
    body = call.slack.accept_view(call.parsed("view", {}))
    if body["type"] != "modal":
        raise SlackError("invalid_arguments", "must be of type modal [json-pointer:/view/type]")
    name = call.slack.stamps.id("V")
    view = View(
        id=name,
        user=user,
        type="modal",
        hash=call.slack.stamps.ts(),
        body=body,
        root_id=previous.root_id if previous is not None else name,
        previous_id=previous.id if previous is not None else "",
    )
    call.workspace.views[name] = view
    return view


def _find(call: Request) -> View:
    for view in call.workspace.views.values():
        external = view.body.get("external_id")
        if view.is_open and (view.id == call.text("view_id") or (external and external == call.text("external_id"))):
            return view
    raise SlackError("not_found")


def _shown(call: Request, view: View) -> Json:
    return {"view": view_json(call.workspace, view)}
