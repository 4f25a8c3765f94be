"""The checks of Discord for `goodbot doctor`: by REST alone, read-only, without a gateway session."""

import asyncio
import base64
from collections.abc import Awaitable, Sequence
from types import SimpleNamespace
from typing import TypeVar

import aiohttp
import discord

from bot.adapters.check_result import CheckResult, clock_result, failed, passed, request_failed, warning, who_decides
from bot.adapters.discord.client import intents, use_api
from bot.adapters.discord.menu import TEACH, WHY
from bot.adapters.discord.rest import FAULTS, translated_errors
from bot.config import DiscordSettings
from bot.conversation.counts import count
from bot.errors import ChannelNotFound, MessengerError, MessengerUnavailable
from memory.ports import Clock

T = TypeVar("T")

TOKEN, INTENTS, INVITE, SERVERS, CHANNELS, COMMANDS, SESSIONS, CLOCK, TEACHERS = (
    f"GB03{number}" for number in range(9)
)

PORTAL = "discord.com/developers/applications"
_MOST_SERVERS = 10
"""Servers whose rights are looked at when no channels are named; each costs two questions."""
_FEW_SESSIONS = 20
_NETWORK = "check the network, DISCORD_TOKEN and DISCORD_API_URL, and run goodbot doctor again"
_NEW_TOKEN = f'copy a token from {PORTAL}, page "Bot", button "Reset Token", into DISCORD_TOKEN'


RIGHTS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
    add_reactions=True,
    attach_files=True,
)

SCOPES = ("bot", "applications.commands")
"""Of the invitation: what the bot uses and no more."""
_WORDS = {"read_messages": "View Channel", "send_messages_in_threads": "Send Messages in Threads"}
"""The rights that Discord's own pages name otherwise than by the library's words."""


class DiscordHealthChecks:
    """Runs the checks. `timeout_s` is the time limit of one request."""

    def __init__(
        self, settings: DiscordSettings, *, clock: Clock, timeout_s: float = 10.0, named_in_chat: Sequence[str] = ()
    ) -> None:
        self._settings = settings
        self._named_in_chat = named_in_chat
        self._clock = clock
        self._timeout_s = timeout_s
        self._date = ""

    async def results(self) -> list[CheckResult]:
        """Every result, in order of code. Never raises: a failed request is a result too."""
        use_api(self._settings.api_url)
        token = self._settings.token.get_secret_value()
        client = discord.Client(
            intents=intents(self._settings), http_trace=self._watching(), max_ratelimit_timeout=30.0, max_messages=None
        )
        async with client:
            try:
                await self._ask("logging in to Discord", client.login(token))
            except MessengerError as error:
                link = invite_link(token)
                known = [passed(INVITE, f"invite it with {link}")] if link else []
                return [failed(TOKEN, str(error), _NETWORK if error.retryable else _NEW_TOKEN), *known]
            return await self._of(client)

    async def _of(self, client: discord.Client) -> list[CheckResult]:
        application = client.application
        if application is None or client.user is None:
            raise AssertionError("a login without an application: the library promises both")
        found = [self._application(application), self._intents(application), _invite(application)]
        found += await self._servers(client)
        found.append(await self._commands(client, application.id))
        found.append(await self._sessions(client))
        found.append(clock_result(CLOCK, "Discord", self._date, self._clock()))
        found.append(self._teachers())
        return found

    def _teachers(self) -> CheckResult:
        """Who teaches, by the settings file and the settings in chat."""
        settings = self._settings
        groups = {
            "whoever may manage the server": settings.managers,
            "whoever may manage messages": settings.moderators,
        }
        remedy = "set GOODBOT_DISCORD_TEACHERS, or discord.managers or discord.moderators"
        return who_decides(TEACHERS, settings, groups, self._named_in_chat, remedy)

    async def _ask(self, what: str, call: Awaitable[T]) -> T:
        """The answer. Raises `MessengerError`."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await call
        except TimeoutError as exc:
            raise translated_errors(TimeoutError(f"no answer within {self._timeout_s:g} s"), what) from exc
        except FAULTS as exc:
            raise translated_errors(exc, what) from exc
        except (KeyError, TypeError, ValueError) as exc:
            # The library parses every answer as Discord's; aiohttp raises `ValueError` for an impossible token.
            raise MessengerUnavailable(f"{what}: what answers is not Discord, or the token is none") from exc

    def _watching(self) -> aiohttp.TraceConfig:
        """A trace that reads the date of each response, as discord.py does not return headers."""
        trace = aiohttp.TraceConfig()

        async def note(
            session: aiohttp.ClientSession, context: SimpleNamespace, ended: aiohttp.TraceRequestEndParams
        ) -> None:
            self._date = ended.response.headers.get("Date", self._date)

        trace.on_request_end.append(note)
        return trace

    # The app --------------------------------------------------------------------------------------------------------

    def _application(self, application: discord.AppInfo) -> CheckResult:
        if application.interactions_endpoint_url:
            what = f"the token of {application.name} works, but its buttons and commands go to another address"
            return failed(TOKEN, what, f'empty "Interactions Endpoint URL" on {PORTAL}, page "General Information"')
        return passed(TOKEN, f"the token works; the bot is {application.name} (app {application.id})")

    def _intents(self, application: discord.AppInfo) -> CheckResult:
        flags = application.flags
        granted = flags.gateway_message_content or flags.gateway_message_content_limited
        wants = self._settings.reads == "everything"
        used = ", ".join(name for name, is_set in intents(self._settings) if is_set)
        if wants and not granted:
            return failed(
                INTENTS,
                'discord.reads is "everything", and the app may not use the privileged intent Message Content',
                f'switch "Message Content Intent" on: {PORTAL}, page "Bot"; or set GOODBOT_DISCORD_READS=mentions',
            )
        if granted and not wants:
            return passed(INTENTS, f"uses {used}; Message Content is switched on in the portal and is not needed")
        return passed(INTENTS, f"uses {used}" + ("" if wants else "; no privileged intent is needed"))

    # Where it is ----------------------------------------------------------------------------------------------------

    async def _servers(self, client: discord.Client) -> list[CheckResult]:
        async def all_of_them() -> list[discord.Guild]:
            return [guild async for guild in client.fetch_guilds(limit=None, with_counts=False)]

        try:
            guilds = await self._ask("listing the servers", all_of_them())
        except MessengerError as error:
            return [request_failed(SERVERS, error, _NETWORK)]
        if not guilds:
            link = invite_link_of(client.application_id or 0)
            return [failed(SERVERS, "the bot is in no server, and so nobody can write to it", f"open {link}")]
        names = ", ".join(guild.name for guild in guilds[:_MOST_SERVERS])
        more = f" and {len(guilds) - _MOST_SERVERS} more" if len(guilds) > _MOST_SERVERS else ""
        found = passed(SERVERS, f"in {len(guilds)} server{'' if len(guilds) == 1 else 's'}: {names}{more}")
        return [found, *await self._rights(client, guilds)]

    async def _rights(self, client: discord.Client, guilds: list[discord.Guild]) -> list[CheckResult]:
        """The bot's rights in the named channels; if none is named, those of its roles in each server."""
        named = self._settings.allowed_channels
        looked_at = guilds[:_MOST_SERVERS]
        results = (
            [await self._in_channel(client, int(channel)) for channel in named]
            if named
            else [await self._in_server(client, guild.id) for guild in looked_at]
        )
        good = [result for result in results if isinstance(result, str)]
        found = [passed(CHANNELS, f"has all rights it uses in {', '.join(good)}")] if good else []
        return [*found, *(result for result in results if isinstance(result, CheckResult))]

    async def _in_server(self, client: discord.Client, guild_id: int) -> CheckResult | str:
        try:
            guild, me = await self._member(client, guild_id)
        except MessengerError as error:
            return request_failed(CHANNELS, error, _NETWORK)
        remedy = f'"Server Settings", "Roles": give the role {me.display_name} these rights'
        return _judged(guild.name, me.guild_permissions, remedy)

    async def _in_channel(self, client: discord.Client, channel_id: int) -> CheckResult | str:
        try:
            channel = await self._ask(f"looking at channel {channel_id}", client.fetch_channel(channel_id))
            if isinstance(channel, discord.abc.PrivateChannel):
                return failed(CHANNELS, f"{channel_id} in discord.allowed_channels is a direct message", "take it out")
            guild, me = await self._member(client, channel.guild.id)
            home = channel.parent_id if isinstance(channel, discord.Thread) else channel.id
            # A channel that is fetched alone lacks its server's roles.
            there = await self._ask(f"listing the channels of {guild.name}", guild.fetch_channels())
        except ChannelNotFound:
            what = f"{channel_id} in discord.allowed_channels does not exist, or the bot may not view it"
            return failed(CHANNELS, what, "compare the id, or let the bot's role view the channel")
        except MessengerError as error:
            return request_failed(CHANNELS, error, _NETWORK)
        rights = next((one.permissions_for(me) for one in there if one.id == home), discord.Permissions.none())
        remedy = '"Edit Channel", "Permissions": give the bot\'s role these rights'
        return _judged(f"#{channel.name} of {guild.name}", rights, remedy)

    async def _member(self, client: discord.Client, guild_id: int) -> tuple[discord.Guild, discord.Member]:
        """A server with its roles, and the bot in it."""
        guild = await self._ask(f"looking at server {guild_id}", client.fetch_guild(guild_id, with_counts=False))
        me = client.user.id if client.user else 0
        return guild, await self._ask(f"looking at the bot in {guild.name}", guild.fetch_member(me))

    # What it offers -------------------------------------------------------------------------------------------------

    async def _commands(self, client: discord.Client, application: int) -> CheckResult:
        try:
            present = await self._ask("reading the commands", client.http.get_global_commands(application))
        except MessengerError as error:
            return request_failed(COMMANDS, error, _NETWORK)
        names = {command["name"] for command in present}
        wanted = [self._settings.command, TEACH, WHY]
        missing = [name for name in wanted if name not in names]
        if missing:
            what = f"not registered with Discord yet: {', '.join(missing)}"
            return warning(COMMANDS, what, "start goodbot run once: it registers them")
        return passed(COMMANDS, f"/{wanted[0]} and the menu entries “{TEACH}” and “{WHY}” are registered")

    async def _sessions(self, client: discord.Client) -> CheckResult:
        """How many sessions are left today: Discord resets the token of a bot that begins too many."""
        try:
            shards, _, limit = await self._ask("asking for the gateway", client.http.get_bot_gateway())
        except MessengerError as error:
            return request_failed(SESSIONS, error, _NETWORK)
        left, total = limit["remaining"], limit["total"]
        many = count(shards, "recommended shard")
        what = f"the gateway can be opened: {left} of {total} sessions are left today, {many}"
        used = self._settings.shards
        if 1 < used < shards:
            return warning(SESSIONS, what, f"stop every process and set GOODBOT_DISCORD_SHARDS={shards}; it is {used}")
        if left < _FEW_SESSIONS:
            return warning(SESSIONS, what, "find out why the bot starts so often before Discord resets its token")
        return passed(SESSIONS, what)


def _invite(application: discord.AppInfo) -> CheckResult:
    link = invite_link_of(application.id)
    if application.bot_require_code_grant:
        remedy = f'switch "Requires OAuth2 Code Grant" off: {PORTAL}, page "Bot"'
        return failed(INVITE, f"the app asks for a code grant, and so its invitation {link} fails", remedy)
    who = "anybody who manages a server" if application.bot_public else "only the app's owner"
    rights = ", ".join(permission_names(RIGHTS))
    return passed(INVITE, f"{who} can invite it: {link} (scopes {' and '.join(SCOPES)}; {rights})")


def _judged(where: str, rights: discord.Permissions, remedy: str) -> CheckResult | str:
    """The name of the channel or server if all rights are there, else the fault."""
    missing = discord.Permissions(RIGHTS.value & ~rights.value)
    if not missing.value:
        return where
    return failed(CHANNELS, f"in {where} the bot may not: {', '.join(permission_names(missing))}", remedy)


def invite_link(token: str) -> str:
    """The invite link of the token's app, whose id the token contains; empty for an invalid token."""
    first = token.strip().partition(".")[0]
    try:
        written = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
    except ValueError:
        return ""
    return invite_link_of(int(written)) if written.isdecimal() else ""


def invite_link_of(application: int) -> str:
    """The invite link of an app by its id."""
    return discord.utils.oauth_url(application, permissions=RIGHTS, scopes=SCOPES)


def permission_names(rights: discord.Permissions) -> list[str]:
    """The names of these rights as on Discord's own pages."""
    return [_WORDS.get(name, name.replace("_", " ").title()) for name, is_set in rights if is_set]
