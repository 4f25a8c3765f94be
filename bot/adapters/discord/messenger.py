"""The messenger for Discord: stays logged in until it is closed, delivers events, posts messages."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

import discord

from bot.adapters.discord import menu
from bot.adapters.discord.client import Client, Handlers, HeldShards, use_api
from bot.adapters.discord.directory import PLATFORM, Channels, Roles, name_of
from bot.adapters.discord.files import compressed_if_large
from bot.adapters.discord.incoming import lookups
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.incoming.intake import Intake
from bot.adapters.discord.incoming.interactions import Interactions
from bot.adapters.discord.incoming.lookups import answered_question, teacher_ids, teacher_names
from bot.adapters.discord.incoming.reactions import Reactions
from bot.adapters.discord.incoming.servers import Servers
from bot.adapters.discord.mentions import Mentions
from bot.adapters.discord.menu import TEACH, WHY, add_commands
from bot.adapters.discord.outgoing.long_answers import MOST_MESSAGES, PACE_S
from bot.adapters.discord.outgoing.posting import Posting, in_parts
from bot.adapters.discord.outgoing.typing_indicator import StaleProgressLines, TypingIndicator
from bot.adapters.discord.rest import FAULTS, Rest, translated_errors
from bot.adapters.flow_control import Sleep, Tasks, connect_with_retries
from bot.adapters.naming import Names, plain_name
from bot.config import DiscordSettings
from bot.conversation.counts import count
from bot.errors import MessengerError, MessengerUnavailable
from bot.model import (
    Attachment,
    BotMessage,
    ChannelCard,
    MessageRef,
    PersonReaction,
    PersonVote,
    Profile,
    Remark,
)
from bot.ports import ConversationQueries, EventSink
from memory.model import Scope, Visibility
from memory.model.saved_messages import AnsweredQuestion
from memory.ports import Clock, NewId

log = logging.getLogger(__name__)

_LOGIN_TIMEOUT_S = 30.0
"""How long a message to post waits for a login."""
_AUTHENTICATION_FAILED, _SHARDING_REQUIRED = 4004, 4011


class DiscordMessenger:
    """One bot account, in every server it was invited to and in direct messages.

    `sleep` waits between tries. With `shares_shards` it receives the events of the shards that it is told to `hold`; it
    posts to every server and person all the same.
    """

    platform = PLATFORM
    pace_s = PACE_S

    def __init__(
        self,
        settings: DiscordSettings,
        *,
        clock: Clock,
        new_id: NewId,
        queries: ConversationQueries,
        sleep: Sleep = asyncio.sleep,
        shares_shards: bool = False,
    ) -> None:
        self._held_shards = HeldShards() if shares_shards else None
        self._settings = settings
        self._clock = clock
        self._new_id = new_id
        self._queries = queries
        self._sleep = sleep
        self._started_at = clock()
        self._context: HandlerContext | None = None
        self._logged_in = asyncio.Event()
        self._closed = asyncio.Event()

    @property
    def is_connected(self) -> bool:
        """Whether it is logged in, also while the library reconnects within a login."""
        return self._logged_in.is_set()

    @property
    def answers_everywhere(self) -> bool:
        """Whether it is logged in, and so may post in every server, whichever process receives its events."""
        return self.is_connected

    def hold(self, shards: frozenset[int], before_session: Callable[[int], Awaitable[None]]) -> None:
        """Receive the events of these shards only, where shards are shared."""
        if self._held_shards is not None:
            self._held_shards.before_session = before_session
            self._held_shards.hold(shards)

    async def run(self, sink: EventSink) -> None:
        """Stay logged in until `close`; within a login the library reconnects.

        Ends, with a line in the log, if the token is revoked. Raises `MessengerError` if Discord refuses the token or
        an intent, which only a person can correct.
        """
        use_api(self._settings.api_url)
        working = asyncio.ensure_future(
            connect_with_retries(partial(self._log_in, sink), self._sleep, "Discord", honours_retry_after=True)
        )
        closed = asyncio.create_task(self._closed.wait())
        try:
            await asyncio.wait({working, closed}, return_when=asyncio.FIRST_COMPLETED)
            if self._context is not None:
                await self._context.tasks.finished()
        finally:
            for task in (working, closed):
                task.cancel()
            await asyncio.gather(working, closed, return_exceptions=True)
        if not working.cancelled():
            working.result()

    async def _log_in(self, sink: EventSink) -> None:
        """One login from its beginning to its end. Raises `MessengerError`."""
        client = Client(self._settings, held_shards=self._held_shards)
        context = self._new_context(client, sink)
        interactions = Interactions(context)
        connection: Handlers = {
            "shard_ready": self._connected_now,
            "resumed": lambda _: log.info("connected to Discord again"),
            "disconnect": lambda _: log.info("disconnected from Discord; connecting again"),
        }
        intake = Intake(context)
        parts = (interactions, intake, Reactions(context), Servers(context, intake.late))
        client.handlers = (*(part.handlers for part in parts), connection)
        add_commands(
            client.tree,
            self._settings.command,
            interactions.command,
            {TEACH: interactions.teach, WHY: interactions.why},
        )
        try:
            async with client:
                await client.login(self._settings.token.get_secret_value())
                self._context = context
                self._logged_in.set()
                await client.connect()
        except discord.ConnectionClosed as exc:
            if exc.code == _SHARDING_REQUIRED and self._settings.shards > 1:
                # Each try would be one of the sessions of a day, after which Discord resets the token.
                raise MessengerError(
                    "a shard has more servers than Discord allows: stop every process and set GOODBOT_DISCORD_SHARDS "
                    "to the number that goodbot doctor tells"
                ) from exc
            if exc.code != _AUTHENTICATION_FAILED:
                raise MessengerUnavailable(f"the connection to Discord ended with code {exc.code}") from exc
            log.error("Discord no longer takes the token: set DISCORD_TOKEN to a new one and start again")
        except discord.PrivilegedIntentsRequired as exc:
            raise MessengerError(
                "Discord refuses the intent Message Content: switch it on in the developer portal, page Bot, or set "
                'discord.reads to "mentions"'
            ) from exc
        except FAULTS as exc:
            raise translated_errors(exc, "logging in to Discord") from exc
        finally:
            self._context = None
            self._logged_in.clear()
            await context.working.close()

    def _new_context(self, client: Client, sink: EventSink) -> HandlerContext:
        rest = Rest(self._sleep)
        names = Names(partial(name_of, client, rest), self._clock)
        return HandlerContext(
            client=client,
            rest=rest,
            sink=sink,
            channels=Channels(client, rest),
            roles=Roles(self._settings),
            mentions=Mentions(client, rest, names),
            posting=Posting(
                client=client,
                rest=rest,
                names=names,
                new_id=self._new_id,
                sleep=self._sleep,
                streams=self._settings.answers == "stream",
                long_answers=self._settings.long_answers,
            ),
            stale_progress_lines=StaleProgressLines(client, rest, self._clock, started_at=self._started_at),
            working=TypingIndicator(client, rest, new_id=self._new_id),
            queries=self._queries,
            clock=self._clock,
            command_name=self._settings.command,
            tasks=Tasks("Discord"),
        )

    def _connected_now(self, _: object) -> None:
        if (context := self._context) is not None:
            servers = count(len(context.client.guilds), "server")
            log.info("connected to Discord as %s, in %s", context.client.user, servers)

    # What the bot says ------------------------------------------------------------------------------------------

    def split(self, text: str) -> list[str]:
        """Parts of at most 2,000 characters each, as Discord shows them; a long text whole if it becomes a file."""
        parts = in_parts(text)
        return [text] if self._settings.long_answers == "file" and len(parts) > MOST_MESSAGES else parts

    def how_to_type(self, command: str) -> str:
        """How to type a command: as a slash command."""
        return menu.how_to_type(command, self._settings.command, self._context.name if self._context else "bot")

    async def post(self, message: BotMessage) -> MessageRef:
        """Post a message as a reply to what it answers. Raises `MessengerError`."""
        context = await self._wait_for_context(f"posting in channel {message.channel}")
        place = message.thread or message.channel
        if message.is_answer and place.isdecimal():
            context.tidy(int(place))
        return await context.posting.post(message)

    async def stream_partial(self, message: BotMessage) -> None:
        """Show a partial answer. Raises `MessengerError`."""
        await (await self._wait_for_context(f"posting in channel {message.channel}")).posting.stream_partial(message)

    async def drop_partial(self, message: BotMessage) -> None:
        """Remove a partial answer. Raises `MessengerError`."""
        await (await self._wait_for_context(f"posting in channel {message.channel}")).posting.drop_partial(message)

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        """Put the bot's own reaction on a message, or take it off. Raises `MessengerError`."""
        context = await self._wait_for_context(f"marking message {ref.message_id}")
        await context.posting.mark(ref, emoji, present)

    async def ask_correction(self, event: PersonReaction | PersonVote, ref: MessageRef, question: str) -> None:
        """Ask with a button after a reaction in direct messages; a reply to the question is the correction.

        The 👎 button opens a form by itself. After a reaction in a channel Discord has no private way to ask, but the
        answer has its ✏️ button.
        """
        if isinstance(event, PersonVote) or event.scope.visibility is not Visibility.DIRECT:
            return
        text = f"{question} Or reply to this message."
        message = BotMessage(workspace=ref.workspace, channel=ref.channel, text=text, reply_to=ref.message_id)
        context = await self._wait_for_context(f"asking about message {ref.message_id}")
        await context.posting.ask(message, ref.message_id)

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        """Show the typing indicator while there is a text, and later a line with the text and a stop button."""
        place = thread or channel
        if place.isdecimal() and self._context is not None:
            self._context.tidy(int(place))
            self._context.working.show(int(place), text)

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        """Send a file to one person privately. Raises `MessengerError`."""
        context = await self._wait_for_context(f"handing a file to {message.private_to}")
        await context.posting.hand_over(message, await compressed_if_large(attachment))

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        """What people wrote before a message in its channel. Raises `MessengerError`."""
        return await lookups.remarks(self._require_context(), scope, message_id, wanted, last)

    async def answered_question(self, scope: Scope, message_id: str) -> AnsweredQuestion | None:
        """A reply, or a message in a thread, with what it answers. Raises `MessengerError`."""
        return await answered_question(self._require_context(), scope, message_id)

    async def approvers(self, scope: Scope) -> list[str]:
        """The names of those who can approve lessons there."""
        guild = self._guild(scope.workspace)
        return await teacher_names(self._require_context(), guild) if guild is not None else []

    async def teachers(self, workspace: str) -> list[str]:
        """The ids of those who can approve lessons in the workspace."""
        guild = self._guild(workspace)
        return await teacher_ids(self._require_context(), guild) if guild is not None else []

    def _guild(self, workspace: str) -> discord.Guild | None:
        guild = workspace.partition(":")[2]
        is_known = self._context is not None and guild.isdecimal()
        return self._require_context().client.get_guild(int(guild)) if is_known else None

    async def name_of(self, workspace: str, person: str) -> str:
        """A person's display name as plain words."""
        return plain_name(await self._require_context().posting.names.of(person))

    async def profile(self, scope: Scope) -> Profile:
        """A person's display name; Discord tells no time zones. Raises `MessengerError`."""
        return Profile(name=await self.name_of(scope.workspace, scope.person))

    async def channel_card(self, scope: Scope) -> ChannelCard:
        """Name and topic of the scope's channel, if cached. Raises `MessengerUnavailable`."""
        channel = self._require_context().client.get_channel(int(scope.channel)) if scope.channel.isdecimal() else None
        return ChannelCard(name=scope.place, topic=str(getattr(channel, "topic", "") or ""))

    async def close(self) -> None:
        """Accept no more events, finish those under way, and log out; then `run` returns."""
        self._closed.set()
        if self._context is not None:
            self._context.client.handlers = ()

    def _require_context(self) -> HandlerContext:
        """The context of the present login. Raises `MessengerUnavailable` if there is none."""
        if self._context is None:
            raise MessengerUnavailable("the bot is not logged in to Discord")
        return self._context

    async def _wait_for_context(self, what: str) -> HandlerContext:
        """The context of the present login. Waits a while for one, for messages of an earlier process."""
        if self._context is None and not self._closed.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._logged_in.wait(), _LOGIN_TIMEOUT_S)
        if self._context is None:
            raise MessengerUnavailable(f"{what}: the bot is not logged in to Discord; try again later")
        return self._context
