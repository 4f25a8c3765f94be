"""Builds the Model Context Protocol server: over standard streams for one person, over HTTP for API keys."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bot.app.wiring.extras import needs_extra
from bot.app.wiring.policies import emoji_map
from bot.app.wiring.startup import stop_event
from bot.config import Settings
from memory.model import Role, Scope
from memory.model.api_key import Right
from memory.model.teaching import EmojiMap
from memory.services import Memory

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context
    from starlette.middleware import Middleware

    from bot.adapters.mcp.explained_memory import ExplainedMemory
    from bot.adapters.mcp.server import OpenMemory

PERSON_HEADER, CHANNEL_HEADER = "x-goodbot-person", "x-goodbot-channel"
"""HTTP headers with the person and channel for which the agent works; by default the key itself, in its channel."""


async def serve_streams(settings: Settings, memory: Memory, scope: Scope, role: Role) -> None:
    """Serve over standard input and output, for one person, until the input ends. Raises `ConfigError`."""
    make_server, agent_memory = _adapter()
    opened = agent_memory(memory=memory, scope=scope, role=role, emoji=emoji_map(settings))
    await make_server(lambda _, __: opened).run_stdio_async()


async def serve_http(settings: Settings, memory: Memory, show: Callable[[str], object]) -> None:
    """Serve at `[web] host` and `port` until told to end; `show` is given the URL. Raises `ConfigError`."""
    make_server, _ = _adapter()
    web, middleware = settings.web, key_required(settings, memory)
    from bot.adapters.mcp.server import make_http_application, sessions
    from bot.adapters.web.server import serving

    server = make_server(memory_of_request(memory, emoji_map(settings)))
    application = make_http_application(server, web.host, middleware)
    stop = stop_event()
    async with sessions(server), serving(application, host=web.host, port=web.port) as url:
        show(f"{url}/mcp")
        await stop.wait()


def key_required(settings: Settings, memory: Memory) -> "list[Middleware]":
    """The middleware that lets only requests with an API key through, as in the HTTP interface."""
    with needs_extra("web", "this"):
        from starlette.middleware import Middleware

        from bot.adapters.web.application import RequestIds
        from bot.adapters.web.authentication import Keys, RequireKey
        from bot.adapters.web.token_buckets import TokenBuckets
    web = settings.web
    keys = Keys(memory, web.workspace, web.api_key.get_secret_value())
    pace = TokenBuckets(web.requests_per_minute)
    return [Middleware(RequestIds, new_id=memory.new_id), Middleware(RequireKey, keys=keys, pace=pace)]


def memory_of_request(memory: Memory, emoji: EmojiMap) -> "OpenMemory":
    """A function that opens the memory of a request's sender, by its key and headers."""
    from bot.adapters.mcp.explained_memory import ExplainedMemory
    from bot.adapters.web.authentication import Caller

    def open_memory(context: "Context[Any, Any]", right: Right) -> ExplainedMemory:
        request = context.request_context.request
        assert request is not None  # noqa: S101 - every call over HTTP comes with one
        caller: Caller = request.state.caller
        caller.require(right)
        scope = caller.place(request.headers.get(PERSON_HEADER, ""), request.headers.get(CHANNEL_HEADER, ""))
        return ExplainedMemory(memory=memory, scope=scope, role=Role.MEMBER, emoji=emoji)

    return open_memory


def _adapter() -> "tuple[Callable[..., Any], type[ExplainedMemory]]":
    with needs_extra("mcp", "this"):
        from bot.adapters.mcp.explained_memory import ExplainedMemory
        from bot.adapters.mcp.server import make_server
    return make_server, ExplainedMemory
