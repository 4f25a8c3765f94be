"""Builds the agent's tools from the settings."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from bot.adapters.tools.plugins import found_tools
from bot.agent.tools.registry import Tool, ToolContext, ToolRegistry
from bot.app.wiring.extras import needs_extra
from bot.config import Settings
from bot.conversation.executor import Executor
from bot.model import ToolSpec
from bot.ports import Messenger
from memory.model import Permission, Role, Scope
from memory.model.evidence import ActionText
from memory.services import Memory

if TYPE_CHECKING:
    from bot.adapters.tools.mcp_servers import McpServers
    from bot.agent.tools.similarity import Embed
    from bot.app.wiring.knowledge import Knowledge
    from bot.conversation.answers.people import People


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTools:
    """The agent's tools, and what they need while they run."""

    tools: ToolRegistry
    servers: "McpServers | None" = None
    knowledge: "Knowledge | None" = None
    messengers: dict[str, Messenger] = field(default_factory=dict[str, Messenger])
    """The messengers by platform, for tools that look up people."""

    async def close(self) -> None:
        """Disconnect from the tool servers."""
        if self.servers is not None:
            await self.servers.close()


def make_agent_tools(settings: Settings, memory: Memory, executor: Executor) -> AgentTools:
    """The configured tools; those of servers are added when the servers answer. Raises `ConfigError`."""
    from bot.agent.tools.about import about_tool
    from bot.agent.tools.clock import clock_tool
    from bot.app.wiring.knowledge import make_knowledge
    from bot.config.tool_rules import read_rule
    from bot.conversation.answers.people import People

    async def permit(tool: Tool, arguments: Mapping[str, object], context: ToolContext) -> Permission | None:
        return await executor(memory.approvals.permission, context.scope, context.goal, tool.name, arguments)

    messengers: dict[str, Messenger] = {}
    embed = executor.as_async(memory.embedder.embed)
    knowledge = make_knowledge(settings, embed)
    people = People(messengers, settings.tools.time_zone)
    built_in = [
        clock_tool(memory.clock, people.zone_of),
        *_own_tools(memory, executor, embed),
        *_tools_of_people(people, memory, executor),
    ]

    def tools_for(scope: Scope, role: Role) -> Sequence[ToolSpec]:
        return registry.within(scope, role).specs

    registry = ToolRegistry(
        [about_tool(tools_for), *built_in],
        timeout_s=settings.agent.tool_timeout_s,
        permit=permit,
        rules=[read_rule(text) for text in settings.tools.only],
    )
    registry.put("outside", [*([knowledge.tool] if knowledge else []), *found_tools(), *page_tools(settings)])
    servers = connect_servers(settings, registry)
    if knowledge is not None:
        knowledge.servers = servers
    return AgentTools(tools=registry, servers=servers, knowledge=knowledge, messengers=messengers)


def actions_in_chat(settings: Settings, memory: Memory, scope: Scope) -> Sequence[ActionText]:
    """The tools that members may use in a place, as actions; without those of servers, which are not connected."""
    executor = Executor()
    made = make_agent_tools(settings, memory, executor)
    asyncio.run(made.close())
    executor.close()
    return made.tools.within(scope, Role.MEMBER).actions


def _own_tools(memory: Memory, executor: Executor, embed: "Embed") -> list[Tool]:
    """The tools that need only the bot's memory."""
    from bot.agent.tools.calculator import calculator_tool
    from bot.agent.tools.conversation import conversation_tool
    from bot.agent.tools.notes import recall_tool, remember_tool
    from bot.agent.tools.topics import change_tool, look_up_tool

    return [
        calculator_tool(),
        remember_tool(memory.clock),
        recall_tool(),
        conversation_tool(executor.as_async(memory.exchanges.messages_of), embed),
        look_up_tool(executor.as_async(memory.facts.about), executor.as_async(memory.facts.attend)),
        change_tool(executor.as_async(memory.facts.change)),
    ]


def _tools_of_people(people: "People", memory: Memory, executor: Executor) -> list[Tool]:
    """The tools that need to look up people."""
    from bot.agent.tools.reminders import cancel_tool, list_tool, remind_tool
    from bot.agent.tools.who import who_tool
    from bot.conversation.notices.reminders import add_reminder

    reminders_of = executor.as_async(memory.reminders.of)
    return [
        who_tool(people.profile, people.zone_of, people.channel, memory.clock),
        remind_tool(executor.as_async(partial(add_reminder, memory)), people.zone_of, memory.clock),
        list_tool(reminders_of),
        cancel_tool(reminders_of, executor.as_async(memory.reminders.cancel)),
    ]


def page_tools(settings: Settings) -> list[Tool]:
    """The tools that read pages and search the web, if configured. Raises `ConfigError` without the extra."""
    pages = settings.pages
    if pages.fetch == "off" and not pages.search_url:
        return []
    with needs_extra("pages", "[pages]"):
        import pypdf  # noqa: F401 - only whether it is there
        import trafilatura  # noqa: F401 - only whether it is there

        from bot.adapters.tools.guarded_http import Fetcher
        from bot.adapters.tools.pages import KnownAddresses, fetch_tool, search_tool
    known = KnownAddresses()
    made: list[Tool] = []
    if pages.fetch == "on":
        limits = Fetcher(max_bytes=pages.max_bytes, timeout_s=pages.timeout_s, allows_private=pages.allow_private)
        made.append(fetch_tool(limits, known))
    if pages.search_url:
        made.append(search_tool(pages.search_url, Fetcher(timeout_s=pages.timeout_s, allows_private=True), known))
    return made


def connect_servers(settings: Settings, registry: ToolRegistry) -> "McpServers | None":
    """Add the configured servers' tools to the registry when they answer. Raises `ConfigError` without the extra."""
    if not settings.mcp.servers:
        return None
    with needs_extra("mcp", "[mcp] servers"):
        from bot.adapters.tools.mcp_servers import McpServers
    servers = McpServers(settings.mcp.servers, registry.put, environ=os.environ, timeout_s=settings.mcp.timeout_s)
    servers.start()
    return servers
