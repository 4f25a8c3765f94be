"""The check of the Model Context Protocol servers whose tools the bot is to have: whether they answer, with what."""

import asyncio
import os
from collections.abc import Iterator

from bot.adapters.check_result import CheckResult, fault, fine, warning
from bot.config import Settings
from bot.config.mcp_settings import McpServer
from bot.conversation.counts import count
from bot.errors import ToolFailed

_MCP = "GB013"
_SHOWN = 5
"""Tools that are named."""


def servers(settings: Settings) -> Iterator[CheckResult]:
    """A result for each server; nothing where none is configured."""
    if not settings.mcp.servers:
        return
    try:
        from bot.adapters.tools.mcp_servers import tool_names
    except ImportError as error:
        what = f"[mcp] servers needs a library that is not installed ({error.name or error})"
        yield fault(_MCP, what, "run pip install 'goodbot[mcp]'")
        return
    for server in settings.mcp.servers:
        try:
            names = asyncio.run(tool_names(server, environ=os.environ, timeout_s=settings.mcp.timeout_s))
        except ToolFailed as error:
            yield fault(_MCP, str(error), _remedy(server))
            continue
        if not names:
            yield warning(_MCP, f"the MCP server {server.name} offers no tool", "see its own settings")
            continue
        more = ", ..." if len(names) > _SHOWN else ""
        yield fine(
            _MCP, f"the MCP server {server.name} offers {count(len(names), 'tool')}: {', '.join(names[:_SHOWN])}{more}"
        )


def _remedy(server: McpServer) -> str:
    if server.command:
        return "run its command by hand; variables that it needs are named in its `env`"
    return "check its url and token, and that it runs"


CHECKS = (servers,)
