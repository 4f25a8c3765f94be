"""What a test can see, and wait for."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tests.doubles.discord.backstage import Backstage
from tests.doubles.discord.interaction import Interaction
from tests.doubles.discord.model import Call, Channel, CommandSync, Json, Message, Person, Reaction
from tests.doubles.discord.stage import on_loop

T = TypeVar("T")

TIMEOUT_S = 10.0
"""Nothing is measured by it: whoever waits longer waits for what never comes."""
_BANNED_BY = (401, 403, 429)


class Watching(Backstage):
    """Everything returned is as it stood at that moment, but for `Interaction`, which stays current."""

    async def until(self, happened: Callable[[], T], timeout_s: float = TIMEOUT_S) -> T:
        """Wait, in the server's own loop or in another, until this is true; its value is returned.

        It is asked again after every call, event and frame, on the server's loop. Raises `AssertionError`.
        """
        if self.stage.is_here:
            return await self.journal.until(happened, timeout_s)
        there = asyncio.run_coroutine_threadsafe(self.journal.until(happened, timeout_s), self.stage.loop)
        return await asyncio.wrap_future(there)

    def wait_for(self, happened: Callable[[], T], timeout_s: float = TIMEOUT_S) -> T:
        """The same for a test without a loop, while the server runs in its own thread."""
        assert not self.stage.is_here, "on the server's own loop, await `until` instead"
        there = asyncio.run_coroutine_threadsafe(self.journal.until(happened, timeout_s), self.stage.loop)
        return there.result(timeout_s + TIMEOUT_S)

    @on_loop
    def messages(self, channel: Channel | str, author: Person | None = None) -> list[Message]:
        """What stands in a channel for everybody, oldest first; with `author`, only theirs."""
        there = self.state.messages_in(channel if isinstance(channel, str) else channel.id)
        return [message for message in there if author is None or message.author.id == author.id]

    @on_loop
    def said(self, channel: Channel | str) -> list[Message]:
        """What the bot has said in a channel for everybody."""
        return self.messages(channel, self.bot)

    @on_loop
    def current(self, message: Message | str) -> Message:
        """A message as it stands now. Raises `ApiError` 10008 when it was deleted."""
        return self._current(message)

    @on_loop
    def reactions(self, message: Message | str) -> list[Reaction]:
        """Who put what on a message, in order."""
        return list(self.state.reactions.get(message if isinstance(message, str) else message.id, ()))

    @on_loop
    def marks(self, message: Message | str) -> list[str]:
        """The bot's own emoji on a message."""
        return [one.emoji for one in self.reactions(message) if one.person_id == self.bot.id]

    @on_loop
    def threads(self, channel: Channel | str) -> list[Channel]:
        """The threads under a channel."""
        parent = channel if isinstance(channel, str) else channel.id
        return [one for one in self.state.channels.values() if one.is_thread and one.parent_id == parent]

    @on_loop
    def typing(self, channel: Channel | str) -> int:
        """How often the bot showed there that it was typing."""
        place = channel if isinstance(channel, str) else channel.id
        return sum(one.channel_id == place for one in self.state.typing)

    @on_loop
    def interactions(self) -> list[Interaction]:
        """Everything people used, in order."""
        return list(self.state.interactions.values())

    @on_loop
    def commands(self, guild_id: str = "") -> list[Json]:
        """The commands that the app has everywhere, or in one guild."""
        return list(self.state.commands.get(guild_id, ()))

    @on_loop
    def syncs(self) -> list[CommandSync]:
        """Each time that the app wrote its list of commands."""
        return list(self.state.syncs)

    @on_loop
    def calls(self, route: str = "*") -> list[Call]:
        """The app's requests to a route such as `POST /channels/*/messages` (see `journal.matches`)."""
        return self.journal.matching(route)

    @on_loop
    def invalid_calls(self) -> list[Call]:
        """Those that count towards Discord's ban of 10,000 refused requests in ten minutes."""
        return [call for call in self.journal.calls if call.status in _BANNED_BY]

    @on_loop
    def identifies(self) -> list[Json]:
        """Each accepted identify."""
        return list(self.gateway.identified)

    @on_loop
    def resumes(self) -> int:
        """How many resumes were accepted."""
        return len(self.gateway.resumed)

    @on_loop
    def is_connected(self, shards: int = 1) -> bool:
        """Whether so many shards are identified and connected: whatever happens from now on, they hear."""
        return len(self.gateway.live()) >= shards

    @on_loop
    def shards_heard(self) -> frozenset[int]:
        """The shards with a session that is connected."""
        return frozenset(session.shard[0] for session in self.gateway.live())
