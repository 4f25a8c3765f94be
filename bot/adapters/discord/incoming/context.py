"""The dependencies of the handlers of Discord's events, for one login."""

from collections.abc import Iterable
from dataclasses import dataclass

import discord

from bot.adapters.discord.client import Client
from bot.adapters.discord.directory import ChannelInfo, Channels, Roles, Somebody, workspace_of
from bot.adapters.discord.mentions import Mentions
from bot.adapters.discord.outgoing.posting import Posting
from bot.adapters.discord.outgoing.typing_indicator import StaleProgressLines, TypingIndicator
from bot.adapters.discord.rest import Rest
from bot.adapters.flow_control import Tasks
from bot.errors import ChannelNotFound, NotPermitted
from bot.ports import ConversationQueries, EventSink
from memory.model import Role
from memory.ports import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerContext:
    """The dependencies of handlers: one login of the bot, and the sink for events."""

    client: Client
    rest: Rest
    sink: EventSink
    channels: Channels
    roles: Roles
    mentions: Mentions
    posting: Posting
    working: TypingIndicator
    stale_progress_lines: StaleProgressLines
    queries: ConversationQueries
    clock: Clock
    command_name: str
    """The name of the slash command."""
    tasks: Tasks

    @property
    def name(self) -> str:
        """The bot's user name."""
        user = self.client.user
        return user.name if user is not None else "bot"

    async def admits(self, somebody: Somebody, channels: Iterable[int | None], guild: int | None) -> bool:
        """Whether this person may use the bot there, by the lists of the settings file.

        A list set in chat replaces the settings file's, and is checked by the sink.
        """
        refused_by = self.roles.refused_by(somebody, channels, is_direct=guild is None)
        if not refused_by:
            return True
        return refused_by <= (await self.queries.set_in_chat(workspace_of(guild))).keys()

    def tidy(self, channel: int) -> None:
        """Start removing progress lines that a killed process left in a channel or thread."""
        self.tasks.start(("left lines", channel), lambda: self.stale_progress_lines.remove(channel))

    async def role_in(self, channel_id: int, person: int) -> tuple[ChannelInfo, Role] | None:
        """A person's role in another channel or thread, with the channel; None if they may not view it or use the bot.

        Raises `MessengerUnavailable` or `RateLimited` if Discord cannot tell.
        """
        try:
            # An archived thread is fetched, as the gateway does not send those.
            channel: object = self.client.get_channel(channel_id) or await self.rest(
                f"looking up channel {channel_id}", lambda: self.client.fetch_channel(channel_id)
            )
            parent = channel.parent if isinstance(channel, discord.Thread) else channel
            if not isinstance(parent, discord.abc.GuildChannel):
                return None
            guild = parent.guild
            member = await self.rest(f"looking up member {person}", lambda: guild.fetch_member(person))
            if isinstance(channel, discord.Thread) and channel.is_private():
                thread = channel
                await self.rest(f"looking for {person} in thread {channel_id}", lambda: thread.fetch_member(person))
        except (NotPermitted, ChannelNotFound):
            return None
        may_look = parent.permissions_for(member).view_channel
        if not may_look or not await self.admits(member, (channel_id, parent.id), guild.id):
            return None
        return await self.channels.of(channel_id, guild.id), self.roles.of(member)
