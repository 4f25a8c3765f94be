"""`agents.sessions.*` and `assistant.threads.*`: what the agent shows while it works."""

from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.request import Request, method
from tests.doubles.slack.state import Json, Status

SESSION_STATES = ("active", "processing", "suspended", "closed")


@method("agents.sessions.setStatus", "chat:write")
def set_session_status(call: Request) -> Json:
    """The state of the session in a thread; `processing` shows the native stop button."""
    channel = call.channel("channel_id", to_write=True)
    thread_ts = call.need("thread_ts")
    if call.workspace.find(channel.id, thread_ts) is None:
        raise SlackError("invalid_thread_ts")
    status = set_session(call, channel.id, thread_ts, call.need("status"))
    body: Json = {"status": status.status, "agent_status": status.status, "title": status.title}
    subscribed = call.slack.subscriptions
    if subscribed is not None and "agent_session_stopped" not in subscribed:
        warning = "missing_agent_session_stopped_event_subscription"
        body |= {"warning": warning, "response_metadata": {"warnings": [warning]}}
    return body


@method("agents.sessions.rename", "chat:write")
def rename_session(call: Request) -> Json:
    """A new title for a session that exists."""
    channel = call.channel("channel_id", to_write=True)
    session = call.workspace.sessions.get((channel.id, call.need("thread_ts")))
    if session is None:
        raise SlackError("not_authorized")
    session.title = call.need("title")
    return {"title": session.title}


@method("assistant.threads.setStatus", "chat:write", "assistant:write")
def set_thread_status(call: Request) -> Json:
    """A free line under a thread; empty text clears it."""
    channel = call.channel("channel_id", to_write=True)
    thread_ts = call.need("thread_ts")
    if call.workspace.find(channel.id, thread_ts) is None:
        raise SlackError("invalid_thread_ts")
    if "status" not in call.args:
        raise SlackError("invalid_arguments", "missing required field: status")
    messages = call.parsed("loading_messages", [])
    if len(messages) > 10:
        raise SlackError("invalid_arguments", "no more than 10 items allowed [json-pointer:/loading_messages]")
    call.workspace.statuses.append(
        Status(
            method="assistant.threads.setStatus",
            channel=channel.id,
            thread_ts=thread_ts,
            status=call.text("status"),
            loading_messages=messages,
        )
    )
    return {}


@method("assistant.threads.setTitle", "assistant:write")
def set_title(call: Request) -> Json:
    """The title of a thread in the Messages tab."""
    call.channel("channel_id", to_write=True)
    call.need("thread_ts")
    call.need("title")
    return {}


@method("assistant.threads.setSuggestedPrompts", "assistant:write")
def set_suggested_prompts(call: Request) -> Json:
    """Up to four prompts a person may start from."""
    channel = call.channel("channel_id", to_write=True)
    prompts = call.parsed("prompts", [])
    if not 1 <= len(prompts) <= 4:
        raise SlackError("invalid_arguments", "between 1 and 4 items allowed [json-pointer:/prompts]")
    for number, prompt in enumerate(prompts):
        if not prompt.get("title") or not prompt.get("message"):
            raise SlackError("invalid_arguments", f"title and message are required [json-pointer:/prompts/{number}]")
    call.workspace.prompts[channel.id] = prompts
    return {}


def set_session(call: Request, channel: str, thread_ts: str, state: str) -> Status:
    """Create or change the session of a thread. Raises `invalid_arguments` for an unknown state."""
    if state not in SESSION_STATES:
        raise SlackError("invalid_arguments", f"must be one of {', '.join(SESSION_STATES)} [json-pointer:/status]")
    before = call.workspace.sessions.get((channel, thread_ts))
    title = before.title if before is not None else call.text("title")
    status = Status(method="agents.sessions.setStatus", channel=channel, thread_ts=thread_ts, status=state, title=title)
    call.workspace.sessions[channel, thread_ts] = status
    call.workspace.statuses.append(status)
    return status
