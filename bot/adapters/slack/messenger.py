"""The messenger for one Slack workspace: delivers events, posts messages."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from bot.adapters import command_words, commonmark
from bot.adapters.flow_control import Sleep, connect_with_retries
from bot.adapters.naming import Names, by_name
from bot.adapters.private_reply import reply_to
from bot.adapters.slack.connection import Connections, check_tokens, make_connections
from bot.adapters.slack.directory import Channels, Roles, name_of
from bot.adapters.slack.events import Json, ends_installation
from bot.adapters.slack.files import Files
from bot.adapters.slack.incoming.acknowledgement import TimelyAcknowledgement
from bot.adapters.slack.incoming.context import HandlerContext, settings_in
from bot.adapters.slack.incoming.home import Home
from bot.adapters.slack.incoming.intake import Intake
from bot.adapters.slack.incoming.interactions import Interactions
from bot.adapters.slack.incoming.listeners import WorkspaceListeners, make_app
from bot.adapters.slack.lookups import Lookups, Teachers
from bot.adapters.slack.mentions import Mentions
from bot.adapters.slack.outgoing.blocks import (
    PART_LIMIT,
    AnswerReference,
    fallback_text,
    message_blocks,
)
from bot.adapters.slack.outgoing.posting import Poster, ask_privately
from bot.adapters.slack.outgoing.streaming import PACE_S, Streamer
from bot.adapters.slack.threads import Status, Threads
from bot.adapters.slack.web import Identity, Web, code_of, names_token, require_own
from bot.config import SlackSettings
from bot.conversation.executor import run_unless
from bot.errors import ChannelNotFound, MessengerError, NotPermitted
from bot.model import (
    Attachment,
    BotMessage,
    Choice,
    MessageRef,
    PersonReaction,
    PersonVote,
)
from bot.ports import ConversationQueries, EventSink
from memory.ports import Clock

log = logging.getLogger(__name__)

_EMOJI_NAMES = {
    "🧠": "brain",
    "👀": "eyes",
    "👍": "+1",
    "👎": "-1",
    "🛑": "octagonal_sign",
    "📝": "memo",
    "🤷": "shrug",
}
_SAME_ALREADY = frozenset({"already_reacted", "no_reaction"})
_OUT_OF_REACH = frozenset(
    {
        *("channel_not_found", "not_in_channel", "user_not_in_channel", "is_archived", "no_permission"),
        *("restricted_action", "restricted_action_thread_only_channel"),
    }
)
"""Refusals because of the channel: a message for one person then goes to their direct conversation."""
_REMEDY = "set it to the Bot User OAuth Token (xoxb-...) on the page Install App of your app on api.slack.com/apps"
_NAME_BEFORE_CONNECTED = "goodbot"


def _log_the_end(why: str) -> None:
    log.error("disconnected from Slack: %s. Install the app again and set SLACK_BOT_TOKEN to its new token.", why)


class SlackMessenger(Lookups):
    """One Slack workspace, by one bot token.

    `sleep` waits for rate limits, `started_at` is when the process started. `on_end` is called with the reason
    when the token no longer works. `installer` is the person who installed the app, if known.
    """

    platform = "slack"
    pace_s = PACE_S

    def __init__(
        self,
        settings: SlackSettings,
        *,
        clock: Clock,
        queries: ConversationQueries,
        sleep: Sleep = asyncio.sleep,
        started_at: datetime | None = None,
        on_end: Callable[[str], None] | None = None,
        installer: str = "",
    ) -> None:
        self._settings = settings
        self._installer = installer
        self._clock = clock
        self._queries = queries
        self._sleep = sleep
        self._ended = asyncio.Event()
        self._on_end = on_end or _log_the_end
        self._in_time = TimelyAcknowledgement()
        self._running: asyncio.Task[Any] | None = None
        self._connections = Connections()
        web = Web(
            token=settings.bot_token.get_secret_value(),
            api_url=settings.api_url,
            max_wait_s=settings.max_wait_s,
            sleep=sleep,
            gone=lambda code: self._end(f"Slack says {code}"),
        )
        super().__init__(web, Threads(web, clock), Names(partial(name_of, web), clock))
        self._status = Status(self._web)
        self._files = Files(self._web, api_url=settings.api_url)
        self._poster = Poster(self._web, self._threads, started_at=started_at or clock(), sleep=sleep)
        self._streamer = Streamer(self._web, self._threads)

    @property
    def is_connected(self) -> bool:
        """Whether payloads come in now."""
        return self._connections.are_up

    @property
    def workspaces(self) -> frozenset[str]:
        """The token's workspace; empty while no payloads come in."""
        return frozenset({self._identity.workspace} if self._identity and self.is_connected else ())

    # Taking in ------------------------------------------------------------------------------------------------------

    async def run(self, sink: EventSink) -> None:
        """Deliver events until the app is removed from the workspace or `close` is called.

        Waits for Slack while it cannot be reached. Raises `ConfigError` if a token is missing, `NotPermitted` if Slack
        refuses it from the start.
        """
        check_tokens(self._settings)
        self._running = asyncio.current_task()
        try:
            await self._join_when_reachable()
            if not self._ended.is_set():
                await self._deliver(sink)
        except NotPermitted:
            # A token that was revoked later has been logged; one that never worked is raised.
            if not self._ended.is_set():
                raise
        finally:
            self._running = None
            await self._web.close()

    async def _join_when_reachable(self) -> None:
        try:
            await run_unless(self._ended, connect_with_retries(self.join, self._sleep, "Slack"))
        except NotPermitted as error:
            raise names_token(error, "SLACK_BOT_TOKEN", _REMEDY) from error.__cause__

    async def close(self) -> None:
        """End `run` once it has finished its payloads. Messages posted afterwards open connections of their own."""
        self._ended.set()
        running = self._running
        if running is not None and running is not asyncio.current_task():
            await asyncio.wait({running})

    async def _deliver(self, sink: EventSink) -> None:
        listeners = self.listeners(sink)

        async def find(team: str) -> WorkspaceListeners:
            return listeners

        async def removed(team: str, body: Json) -> None:
            if why := ends_installation(body["event"], listeners.identity.user):
                self._end(why)

        app = make_app(
            self._web,
            signing_secret=self._settings.signing_secret.get_secret_value(),
            command=self._settings.command,
            find=find,
            removed=removed,
        )
        self._connections = make_connections(app, self._web, self._settings)
        try:
            await self._connections.keep_open(
                self._ended,
                self._sleep,
                on_open=f"connected to Slack as {listeners.identity.name} in {listeners.identity.workspace}",
            )
        finally:
            await self._in_time.finish()

    # One of several workspaces: `SlackWorkspaces` takes the payloads in -------------------------------------------

    async def join(self) -> Identity:
        """Open the web client and ask Slack whose token it is. Raises `MessengerError`."""
        await self._web.open()
        self._identity = await self._web.identity()
        return self._identity

    def listeners(self, sink: EventSink) -> WorkspaceListeners:
        """The handlers of the workspace's payloads. Needs `join` first."""
        if (identity := self._identity) is None:
            raise NotPermitted("not connected to Slack yet: nobody knows whose token this is")
        settings = settings_in(identity.team, self._settings)
        channels = Channels(self._web, self._clock, identity.workspace)
        mentions = Mentions(self._web, self._names, channels, self._clock, me=identity)
        self._labelled = mentions.labelled
        set_in_chat = partial(self._queries.set_in_chat, identity.workspace)
        team, installer = identity.team, self._installer
        roles = Roles(self._web, self._clock, channels, settings, set_in_chat, team=team, installer=installer)
        self._teachers = Teachers(settings, channels, roles, mentions, set_in_chat)
        context = HandlerContext(
            sink=sink,
            identity=identity,
            settings=settings,
            web=self._web,
            channels=channels,
            roles=roles,
            mentions=mentions,
            teachers=self._teachers,
            threads=self._threads,
            status=self._status,
            files=self._files,
            queries=self._queries,
            clock=self._clock,
        )
        return WorkspaceListeners(
            identity=identity,
            token=self._web.token,
            intake=Intake(context),
            interactions=Interactions(context, self._in_time),
            home=Home(context),
        )

    async def leave(self) -> None:
        """Finish the interactions under way and close connections."""
        await self._in_time.finish()
        await self._web.close()

    def _end(self, why: str) -> None:
        if not self._ended.is_set():
            self._on_end(why)
        self._ended.set()

    # Saying ---------------------------------------------------------------------------------------------------------

    @staticmethod
    def split(text: str) -> list[str]:
        """The text in parts of one message each."""
        return commonmark.split(text, PART_LIMIT)

    def how_to_type(self, command: str) -> str:
        """How to type a command: after a mention, as Slack delivers no slash command from a thread."""
        return command_words.after_mention(self._identity.name if self._identity else _NAME_BEFORE_CONNECTED, command)

    async def post(self, message: BotMessage) -> MessageRef:
        """Post to everybody in the thread, or to one person alone. A long notice takes several messages.

        Raises `MessengerError`.
        """
        require_own(self._identity, message.workspace)
        message = await by_name(message, self._names.of)
        if message.private_to and (tell := reply_to(message.private_to)):
            await tell(message.text, choices=message.choices)
            return MessageRef(workspace=message.workspace, channel=message.channel, message_id="")
        if not message.is_answer:
            *first, last = self.split(message.text)
            for part in first:
                await self._say(replace(message, text=part, choices=()))
            message = replace(message, text=last)
        ts = await self._say(message)
        return MessageRef(workspace=message.workspace, channel=message.channel, message_id=ts)

    async def _say(self, message: BotMessage) -> str:
        if not message.private_to:
            return await self._post(message)
        if message.is_direct:
            return await self._post_directly(message, message.choices)
        try:
            if message.channel.startswith("D"):
                return await self._post(message)
            return await self._post_ephemeral(message)
        except (ChannelNotFound, NotPermitted) as error:
            if code_of(error) not in _OUT_OF_REACH:
                raise
            log.info("telling %s directly, for %s is out of reach: %s", message.private_to, message.channel, error)
        return await self._post_directly(message)

    async def _post(self, message: BotMessage) -> str:
        ts = await self._poster.posted_before(message)
        streams, is_old = self._settings.answers == "stream", self._poster.may_be_posted(message)
        if not ts and message.is_answer and (streams or is_old):
            ts = await self._streamer.complete(message, may_be_begun=is_old)
        if not ts and message.is_answer and streams and self._identity:
            ts = await self._streamer.stream(message, self._identity.team)
        ts = ts or await self._poster.post(message)
        if message.is_answer:
            await self._tidy(message)
            if streams or is_old:
                self._streamer.posted(message)
            self._threads.answered(message.channel, message.thread, ts)
        return ts

    async def _tidy(self, message: BotMessage) -> None:
        """Remove the status, with its stop button, that a killed process left in the thread of this answer."""
        is_busy = self._status.is_busy(message.channel, message.thread)
        if message.thread and message.is_last and not is_busy and self._poster.may_be_posted(message):
            await self._status.tidy(message.channel, message.thread)

    async def _post_directly(self, message: BotMessage, choices: tuple[Choice, ...] = ()) -> str:
        """Post in the person's direct conversation, with those choices only that mean the same there."""
        direct = await self._web.direct_channel(message.private_to)
        return await self._poster.post(
            replace(message, channel=direct, thread="", choices=choices, is_direct=False, people=())
        )

    async def _post_ephemeral(self, message: BotMessage) -> str:
        answer = await self._web.call_once(
            self._web.client.chat_postEphemeral,
            channel=message.channel,
            user=message.private_to,
            text=fallback_text(message.text),
            blocks=message_blocks(message),
            thread_ts=message.thread or None,
        )
        return str(answer.get("message_ts") or "")

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        """Put the bot's own emoji on its message, or take it off."""
        require_own(self._identity, ref.workspace)
        client = self._web.client
        name = _EMOJI_NAMES.get(emoji, emoji.strip(":"))
        method = client.reactions_add if present else client.reactions_remove
        try:
            await self._web.call(method, channel=ref.channel, timestamp=ref.message_id, name=name)
        except MessengerError as error:
            if code_of(error) not in _SAME_ALREADY:
                raise

    async def ask_correction(self, event: PersonReaction | PersonVote, ref: MessageRef, question: str) -> None:
        """Ask by a private message with buttons after a reaction; after a vote button the modal is open already."""
        if isinstance(event, PersonVote):
            return
        thread = await self._threads.of(ref.channel, ref.message_id)
        answer = AnswerReference(channel=ref.channel, ts=ref.message_id, thread=thread)
        await ask_privately(self._web, event.scope.person, question, answer)

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        """Show the agent's status in the thread, with Slack's own stop button where there is one."""
        require_own(self._identity, workspace)
        if not thread:
            return
        if text:
            await self._status.show(channel, thread, text)
        else:
            await self._status.clear(channel, thread)

    async def stream_partial(self, message: BotMessage) -> None:
        """Show a partial answer, if answers are streamed."""
        if self._settings.answers == "stream" and self._identity:
            await self._streamer.stream_partial(message, self._identity.team)

    async def drop_partial(self, message: BotMessage) -> None:
        """Delete a partial answer that will not be completed."""
        await self._streamer.drop_partial(message)

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        """Upload the file into the person's direct conversation, and say so where they asked."""
        require_own(self._identity, message.workspace)
        direct = await self._web.direct_channel(message.private_to)
        await self._files.hand_over(message, attachment, direct)
        if direct != message.channel or reply_to(message.private_to):
            await self.post(replace(message, text="I sent it to you in a direct message."))
