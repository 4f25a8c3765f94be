"""discord.py's client with raw events only, no caches of messages or people, and commands synced on change."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.adapters.discord.menu import same_commands
from bot.adapters.discord.rest import FAULTS, translated_errors
from bot.adapters.discord.views import ChosenButton, FixedButton
from bot.adapters.flow_control import KeyedLock
from bot.config import DiscordSettings


class Sessions(Protocol):
    """A client with one gateway session for each shard."""

    @property
    def open_shards(self) -> frozenset[int]:
        """The shards with a session now."""

    async def begin_shard(self, shard: int) -> None:
        """Begin a shard's session. May take long."""

    async def end_shard(self, shard: int) -> None:
        """End a shard's session."""


class HeldShards:
    """The shards that this process holds. Makes the client that is logged in begin and end sessions accordingly."""

    def __init__(self) -> None:
        self.shards = frozenset[int]()
        self.before_session: Callable[[int], Awaitable[None]] = _at_once
        """Awaited before a session begins, with the number of its bucket."""
        self._client: Sessions | None = None
        self._beginning: dict[int, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def hold(self, shards: frozenset[int]) -> None:
        """Hold these shards from now on. To be repeated: it also ends sessions that the library resumed too late."""
        self.shards = shards
        if (client := self._client) is None:
            return
        for shard in self._beginning.keys() - shards:
            self._beginning.pop(shard).cancel()
        for shard in client.open_shards - shards:
            task = asyncio.create_task(client.end_shard(shard))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        for shard in sorted(shards - self._beginning.keys()):
            self._beginning[shard] = asyncio.create_task(client.begin_shard(shard))

    def open(self, client: Sessions) -> None:
        """Use this client, which is logged in now."""
        self._client = client
        self._beginning.clear()
        self.hold(self.shards)

    def close(self) -> None:
        """Forget the client, which logs out and so ends its sessions."""
        self._client = None
        for task in self._beginning.values():
            task.cancel()
        self._beginning.clear()


async def _at_once(bucket: int) -> None:
    """Do not wait: the default without other processes."""


log = logging.getLogger(__name__)

Handlers = Mapping[str, Callable[[Any], object]]
"""Functions that take an event's payload, by the library's name of the event (`raw_reaction_add`).

Our own buttons are the events `press` and `choice`. Events without a payload (`resumed`, `disconnect`) pass None.
"""


def intents(settings: DiscordSettings) -> discord.Intents:
    """The gateway intents: 13825, none of them privileged; with `reads = "everything"` message content too."""
    wanted = discord.Intents(
        guilds=True, guild_messages=True, dm_messages=True, guild_reactions=True, dm_reactions=True
    )
    wanted.message_content = settings.reads == "everything"
    return wanted


class Client(discord.AutoShardedClient):
    """One login. Its `handlers` are called with every event before the next one is read.

    It receives the events of all shards, or with `held_shards` those of the shards held at the time.
    """

    def __init__(self, settings: DiscordSettings, *, held_shards: HeldShards | None = None) -> None:
        # The library would warn at each start that its packages for voice are missing; the bot has no voice.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=intents(settings),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=0,
            heartbeat_timeout=settings.heartbeat_timeout_s,
            max_ratelimit_timeout=settings.max_wait_s,
            allowed_mentions=discord.AllowedMentions.none(),
            # None lets Discord choose the number.
            shard_count=settings.shards if settings.shards > 1 else None,
        )
        self._held_shards = held_shards
        self._max_concurrency = 1
        self._in_order = KeyedLock()
        self._identify_pause_s = settings.identify_pause_s
        self._api_url = settings.api_url
        self.handlers: Sequence[Handlers] = ()
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(self)

    async def setup_hook(self) -> None:
        """Prepare the gateway after the login: buttons of earlier processes, commands, the gateway's address."""
        self.add_dynamic_items(FixedButton, ChosenButton)
        if self._api_url or self._held_shards is not None:
            # After an invalid session the library goes to its own address, not to the one that the API named.
            _, gateway, limits = await self.http.get_bot_gateway()
            DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)
            self._max_concurrency = max(1, limits["max_concurrency"])
        await self._sync()

    async def _sync(self) -> None:
        """Register the commands if they differ from Discord's. A failure is only logged."""
        wanted = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        try:
            present = await self.http.get_global_commands(self.application_id or self.me)
            if not same_commands(wanted, present):
                await self.tree.sync()
        except FAULTS as error:
            log.warning("%s", translated_errors(error, "writing the slash commands and menus"))

    async def launch_shards(self) -> None:
        """Open the gateway for every shard, or for the held ones."""
        if self._held_shards is None:
            await super().launch_shards()
        else:
            self._held_shards.open(self)

    async def close(self) -> None:
        """Log out."""
        if self._held_shards is not None:
            self._held_shards.close()
        await super().close()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait between two sessions, as Discord requires, also between those of processes that share shards."""
        if self._held_shards is not None:
            await self._held_shards.before_session((shard_id or 0) % self._max_concurrency)
        elif not initial:
            await asyncio.sleep(self._identify_pause_s)

    async def begin_shard(self, shard: int) -> None:
        """Begin a shard's session, one at a time in its bucket. Retries until it succeeds."""
        async with self._in_order(shard % self._max_concurrency):
            await self.launch_shard(DiscordWebSocket.DEFAULT_GATEWAY, shard)

    async def end_shard(self, shard: int) -> None:
        """End a shard's session, and forget its servers, as their changes are no longer received."""
        if (session := self.get_shard(shard)) is not None:
            await session.disconnect()
        for guild in tuple(self.guilds):
            if guild.shard_id == shard:
                self._connection._remove_guild(guild)

    def dispatch(self, event: str, /, *args: object, **kwargs: object) -> None:
        """Pass the event on at once: the library's own handlers run later, at another position in the stream."""
        super().dispatch(event, *args, **kwargs)
        self.on_event(event, args[0] if args else None)

    def on_event(self, name: str, payload: object) -> None:
        """Call the handlers of an event, in the order of the gateway."""
        for handlers in self.handlers:
            if name in handlers:
                handlers[name](payload)

    @property
    def open_shards(self) -> frozenset[int]:
        """The shards with a session now."""
        return frozenset(number for number, session in self.shards.items() if not session.is_closed())

    @property
    def me(self) -> int:
        """The bot's own id; 0 before the login."""
        return self.user.id if self.user is not None else 0

    def position(self, guild_id: int | None) -> str:
        """The position in the event stream: an event that is sent again after a resume has the same position."""
        socket = self._get_websocket(guild_id or 0)  # Direct messages come by the first shard.
        return f"{socket.session_id}/{socket.sequence}"


def use_api(url: str) -> None:
    """Set the library's global API address; an empty one changes nothing."""
    if url:
        Route.BASE = url
