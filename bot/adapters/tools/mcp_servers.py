"""Tools of Model Context Protocol servers, by the SDK's client.

The clients have their own thread and event loop, so that servers can neither block the bot's loop nor its end. A call
to a server that is gone, hangs or sends nonsense fails as one observation.
"""

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TextIO, TypeVar

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent, TextResourceContents, ToolListChangedNotification

from bot.adapters.tools.untrusted_schema import safe_schema, tool_name, untrusted_description
from bot.agent.tools.registry import Tool, ToolContext
from bot.config.mcp_settings import McpServer
from bot.errors import ToolFailed

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST_TOOLS = 64
"""The most tools of one server."""
RESULT_CHARACTERS = 20_000
"""Characters of a result that are kept; the model is shown fewer."""
_MOST_PAGES = 20
_RELIST_S = 300.0
"""Seconds between two lists of tools, for servers that do not announce changes."""
_LONGEST_PAUSE_S = 60.0
_END_S = 6.0
"""Seconds for the servers to end; the SDK's client kills a process after four."""

Put = Callable[[str, Sequence[Tool]], None]
"""Receives all tools of a server, by its name, whenever they change."""


class McpServers:
    """The connections to all servers. `start` returns at once; tools are put when servers answer."""

    def __init__(
        self,
        servers: Sequence[McpServer],
        put: Put,
        *,
        environ: Mapping[str, str],
        timeout_s: float,
        retry_s: float = 1.0,
    ) -> None:
        self._put = put
        self._loop = asyncio.new_event_loop()
        self._links = [_Link(each, self._publish, environ, timeout_s, retry_s) for each in servers]
        self._thread = threading.Thread(target=self._run, name="mcp", daemon=True)
        self._callers: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Start to connect. Must be called on the event loop that uses the tools."""
        self._callers = asyncio.get_running_loop()
        self._thread.start()

    async def wait_until_tried(self) -> None:
        """Wait until each server has given its tools or failed, for a limited time."""
        for link in self._links:
            await asyncio.to_thread(link.tried.wait, 2 * link.timeout_s)

    async def close(self) -> None:
        """Close all connections and end their processes; what takes too long is abandoned. May be called again."""
        if not self._thread.is_alive():
            self._loop.close()
            return
        with suppress(RuntimeError):  # the loop was closed meanwhile
            for link in self._links:
                self._loop.call_soon_threadsafe(link.stop)
        await asyncio.to_thread(self._thread.join, _END_S)

    async def resources(self) -> dict[str, str]:
        """The texts of the resources of all connected servers, by their URIs."""
        found: dict[str, str] = {}
        for texts in await asyncio.gather(*(self._on_loop(link.resources()) for link in self._links)):
            found.update(texts)
        return found

    def _run(self) -> None:
        async def all_links() -> None:
            await asyncio.gather(*(link.keep() for link in self._links))

        self._loop.run_until_complete(all_links())
        self._loop.close()

    def _publish(self, link: "_Link", tools: Sequence[Tool]) -> None:
        ready = [self._bridged(link, tool) for tool in tools]
        if self._callers is not None and not self._callers.is_closed():
            self._callers.call_soon_threadsafe(self._put, f"mcp/{link.name}", ready)

    def _bridged(self, link: "_Link", tool: Tool) -> Tool:
        """The tool for the bot's event loop."""

        async def run(arguments: Mapping[str, object], context: ToolContext) -> str:
            async def called() -> str:
                return await tool.run(arguments, context)

            return await self._on_loop(called())

        return replace(tool, run=run)

    async def _on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the clients' event loop. Raises `ToolFailed` if the thread has ended."""
        if not self._thread.is_alive():
            work.close()
            raise ToolFailed("The servers are not connected any more.")
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))


async def tool_names(server: McpServer, *, environ: Mapping[str, str], timeout_s: float) -> list[str]:
    """The names of a server's tools, by a new connection. Raises `ToolFailed` with the cause."""
    link = _Link(server, lambda *_: None, environ, timeout_s, timeout_s)
    try:
        async with link.connected() as client, asyncio.timeout(timeout_s):
            return [each.name for each in await link.tools(client)]
    except Exception as error:  # whatever a server or the client's libraries raise
        raise ToolFailed(f"the MCP server {server.name} does not answer: {_cause(error)}") from error


class _Link:
    """A connection to a server, which is restored when it is lost. Used on the clients' event loop."""

    def __init__(
        self,
        server: McpServer,
        publish: "Callable[[_Link, Sequence[Tool]], None]",
        environ: Mapping[str, str],
        timeout_s: float,
        retry_s: float,
    ) -> None:
        self.name = server.name
        self._server = server
        self._publish = publish
        self._environ = environ
        self.timeout_s = timeout_s
        self._retry_s = retry_s
        self._client: Client | None = None
        self._is_over = self._is_lost = False
        self.tried = threading.Event()
        """Set after its tools were listed, or that failed, for the first time."""
        self._wake = asyncio.Event()

    def stop(self) -> None:
        """End `keep`."""
        self._is_over = True
        self._wake.set()

    async def keep(self) -> None:
        """Stay connected until `stop`."""
        pause = self._retry_s
        while not self._is_over:
            self._wake.clear()
            try:
                async with self.connected() as client:
                    pause = self._retry_s
                    await self._serve(client)
            except Exception as error:  # noqa: BLE001 - whatever a server or the client's libraries raise ends one try
                log.warning("the MCP server %s is not connected: %s", self.name, _cause(error))
            self.tried.set()
            self._client = None
            if not self._is_over:
                self._wake.clear()
                await self._woken(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Client]:
        """A new connection for the duration of the block."""
        server = self._server
        async with AsyncExitStack() as stack:
            if server.command:
                command, *rest = server.command
                where = StdioServerParameters(command=command, args=rest, env=server.environment(self._environ))
                transport = stdio_client(where, errlog=stack.enter_context(_null_file()))
            else:
                token = server.token.get_secret_value()
                headers = {"Authorization": f"Bearer {token}"} if token else {}
                http = httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(self.timeout_s, read=None))
                transport = streamable_http_client(server.url, http_client=await stack.enter_async_context(http))
            client = Client(
                transport, read_timeout_seconds=self.timeout_s, message_handler=self._on_message, cache=None
            )
            async with asyncio.timeout(self.timeout_s):
                await stack.enter_async_context(client)
            yield client

    async def _serve(self, client: Client) -> None:
        """Publish the tools, and again on changes, until the connection is lost."""
        self._is_lost = False
        listening = asyncio.create_task(self._listen(client))
        try:
            while not self._is_over and not self._is_lost:
                self._wake.clear()
                async with asyncio.timeout(self.timeout_s):
                    tools = await self.tools(client)
                self._client = client
                self._publish(self, tools)
                self.tried.set()
                await self._woken(_RELIST_S)
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _woken(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _on_message(self, message: object) -> None:
        """Handle a notification of changed tools, as servers before 2026 send."""
        if isinstance(message, ToolListChangedNotification):
            self._wake.set()

    async def _listen(self, client: Client) -> None:
        """Listen for changed tools, as later servers announce."""
        try:
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._wake.set()
        except (RuntimeError, MCPError, TimeoutError) as error:
            log.debug("the MCP server %s does not announce changes: %s", self.name, error)

    async def tools(self, client: Client) -> list[Tool]:
        """The server's present tools, as tools of the bot."""
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += [
                made for each in page.tools if (made := self._tool(each.name, each.description, each.input_schema))
            ]
            cursor = page.next_cursor
            if not cursor or len(found) >= MOST_TOOLS:
                break
        if cursor or len(found) > MOST_TOOLS:
            log.warning("the MCP server %s has more than %d tools: the rest is left out", self.name, MOST_TOOLS)
        return found[:MOST_TOOLS]

    def _tool(self, name: str, description: str | None, schema: object) -> Tool | None:
        """A tool; None if it is not allowed or its schema is invalid. The server's hints on effects are ignored."""
        if not any(fnmatchcase(name, allowed) for allowed in self._server.tools):
            return None
        parameters = safe_schema(schema)
        if parameters is None:
            log.warning("the tool %.64r of the MCP server %s is left out: its schema is invalid", name, self.name)
            return None

        async def run(arguments: Mapping[str, object], _: ToolContext) -> str:
            return await self._call(name, dict(arguments))

        return Tool(
            name=tool_name(self.name, name),
            description=untrusted_description(self.name, description or name),
            parameters=parameters,
            run=run,
            has_side_effects=not any(fnmatchcase(name, reads) for reads in self._server.reads),
            is_outside=True,
        )

    async def _call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool. Raises only `ToolFailed`."""
        client = self._client
        if client is None:
            raise ToolFailed(f"The server {self.name} is not connected at the moment.")
        try:
            async with asyncio.timeout(self.timeout_s):
                result = await client.call_tool(name, arguments)
        except TimeoutError as error:
            self._wake.set()  # Lists the tools, which reconnects if the server does not answer.
            raise ToolFailed(f"The server {self.name} took longer than {self.timeout_s:g} seconds.") from error
        except Exception as error:  # whatever its reply made the client raise
            is_refusal = isinstance(error, MCPError) and error.code not in (-32000, -32001)
            if not is_refusal:
                self._is_lost = True
                self._wake.set()
            raise ToolFailed(f"The server {self.name} failed: {_cause(error)[:300]}") from error
        text = _text_of(result)
        if result.is_error:
            raise ToolFailed(text or f"The server {self.name} says that it failed.")
        return text or "Done."

    async def resources(self) -> dict[str, str]:
        """The texts of the server's resources by URI; empty if it has none or does not answer."""
        client, found = self._client, dict[str, str]()
        if client is None or client.server_capabilities.resources is None:
            return found
        try:
            async with asyncio.timeout(self.timeout_s):
                listed = await client.list_resources()
                for each in listed.resources[:MOST_TOOLS]:
                    read = await client.read_resource(each.uri)
                    texts = [part.text for part in read.contents if isinstance(part, TextResourceContents)]
                    found[str(each.uri)] = "\n\n".join(texts)[:RESULT_CHARACTERS]
        except Exception as error:  # noqa: BLE001 - as for a call: it costs what was not read
            log.warning("resources of the MCP server %s are not read: %s", self.name, _cause(error))
        return found


def _text_of(result: CallToolResult) -> str:
    parts = [
        part.text if isinstance(part, TextContent) else f"({part.type}, which cannot be shown)"
        for part in result.content
    ]
    text = "\n".join(parts).strip()
    left_out = len(text) - RESULT_CHARACTERS
    return text if left_out <= 0 else f"{text[:RESULT_CHARACTERS]}… ({left_out} more characters)"


def _null_file() -> TextIO:
    """A file that discards the log of a server's process."""
    return Path(os.devnull).open("w", encoding="utf-8")


def _cause(error: BaseException) -> str:
    """The cause of an error in one line; of a group the first exception."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())
