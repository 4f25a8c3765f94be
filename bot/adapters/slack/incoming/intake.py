"""Handles Slack's events: each becomes an event of a person, delivered before it is acknowledged."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from cachetools import TTLCache

from bot.adapters.attachments import AttachedFiles
from bot.adapters.command_words import ParsedCommand, command_in, correction_in, unaddressed_command
from bot.adapters.flow_control import KeyedLock, RateLimiter
from bot.adapters.private_reply import no_reply, replying_to
from bot.adapters.slack.events import (
    SHARED,
    DeletedMessage,
    EditedMessage,
    Json,
    Location,
    MessageReaction,
    NewMessage,
    message_id_of,
    names_somebody,
    read_channel_change,
    read_message,
    read_reaction,
    time_of,
    with_time,
)
from bot.adapters.slack.incoming.context import HandlerContext
from bot.model import (
    UNADDRESSED,
    Address,
    BotInvited,
    ChannelChanged,
    PersonDeletion,
    PersonEdit,
    PersonMessage,
    PersonRateLimited,
    PersonReaction,
    PersonSave,
    ThreadSoFar,
    Unaddressed,
)
from memory.model.teaching import normalised_emoji

_STOP_SIGNS = frozenset({"octagonal_sign", "stop_sign", "🛑"})
_TTL = timedelta(hours=1)
"""Slack repeats an event for a few minutes at most."""


class Intake:
    """Handles messages, edits, deletions, reactions, the stop button, and changes of a channel.

    A handler that raises has not stored the event, and Slack sends it again.
    """

    def __init__(self, context: HandlerContext) -> None:
        self._context = context
        self._in_order = KeyedLock()
        self._rate_limit = RateLimiter(context.clock)
        self._accepted: TTLCache[tuple[str, str, Address], bool, datetime] = TTLCache(5000, _TTL, context.clock)
        self._overtaken: TTLCache[tuple[str, str], EditedMessage | DeletedMessage, datetime] = TTLCache(
            5000, _TTL, context.clock
        )
        """Edits and deletions by message: one that arrives before its message is applied to it."""

    async def message(self, body: Json) -> None:
        """A `message` or `app_mention` event."""
        if read_channel_change(body["event"], self._context.identity.user) is not None:
            await self.channel_changed(body)
            return
        event, bot = self._event(body), self._context.identity.user
        read = read_message(event, bot)
        if read is None or not await self._context.roles.admits(read.location):
            return
        async with self._in_order(("message", read.location.channel, read.location.user)):
            if names_somebody(event, bot):
                event = await self._context.mentions.in_event(event)
            match read_message(event, bot):
                case NewMessage() as new:
                    await self._on_message(new)
                case EditedMessage() as edited:
                    await self._edited(edited, str(body["event_id"]))
                case DeletedMessage() as deleted:
                    await self._deleted(deleted, str(body["event_id"]))

    async def reaction(self, body: Json) -> None:
        """A `reaction_added` or `reaction_removed` event. Most are ignored without a look-up."""
        read = read_reaction(self._event(body))
        if read is None or not await self._context.roles.admits(read.location):
            return
        if normalised_emoji(read.emoji) in _STOP_SIGNS:
            if read.added:
                await self._stop_sign(read, str(body["event_id"]))
            return
        is_own = read.author in ("", self._context.identity.user)
        takes = self._reacted if is_own and self._context.queries.has_meaning(read.emoji) else None
        if read.author != self._context.identity.user and self._context.queries.saves(read.emoji):
            takes = self._saved
        if takes is not None:
            async with self._in_order(("reaction", read.location.channel, read.location.user)):
                await takes(read, str(body["event_id"]))

    async def channel_changed(self, body: Json) -> None:
        """A channel's readers or name changed, so memory updates what was said in it."""
        event = self._event(body)
        location = read_channel_change(event, self._context.identity.user)
        if location is None:
            return
        self._context.channels.changed(location.channel)
        await self._context.sink(
            ChannelChanged(
                event_id=str(body["event_id"]),
                scope=await self._context.channels.scope(location),
                at=time_of(str(event["event_ts"])),
            )
        )

    async def joined(self, body: Json) -> None:
        """The bot joined a channel (`member_joined_channel`). Others who join are of no interest."""
        context, event, bot = self._context, body["event"], self._context.identity.user
        inviter = Location(channel=str(event["channel"]), user=str(event.get("inviter") or bot))
        if event.get("user") == bot and await context.roles.admits(inviter):
            context.channels.changed(inviter.channel)  # it may have been looked up from outside
            await context.sink(
                BotInvited(
                    event_id=str(body["event_id"]),
                    scope=await context.channels.scope(inviter),
                    at=context.clock(),
                    teachers=partial(context.teachers.names, inviter),
                )
            )

    async def session_stopped(self, body: Json) -> None:
        """Somebody pressed Slack's own stop button."""
        event = self._event(body)
        location = Location(channel=str(event["channel"]), user=str(event["user"]), thread=str(event["thread_ts"]))
        if not await self._context.roles.admits(location):
            return
        if self._context.status.is_busy(location.channel, location.thread):
            await self._context.stop(location, event_id=str(body["event_id"]), at=time_of(str(event["event_ts"])))
            return
        # Nothing runs there any more, perhaps since a restart: the button has to be removed.
        await self._context.status.tidy(location.channel, location.thread)

    def _event(self, body: Json) -> Json:
        event = with_time(body["event"], float(body.get("event_time") or self._context.clock().timestamp()))
        return {**event, SHARED: body.get(SHARED)}

    # Inside -------------------------------------------------------------------------------------------------------

    async def _on_message(self, message: NewMessage) -> None:
        key = (message.location.channel, message.ts, message.address)
        change = self._overtaken.get((message.location.channel, message.ts))
        if self._accepted.get(key) or isinstance(change, DeletedMessage):
            return
        text = change.text if change is not None else message.text
        typed = command_in(change.text if change is not None else message.typed)
        if message.address in UNADDRESSED:
            typed, is_for_bot = await unaddressed_command(
                typed,
                is_busy=self._context.status.is_busy(message.location.channel, message.location.thread),
                is_answered=message.address is not Address.OPEN,
                is_for_bot=partial(self._is_for_bot, message, text),
            )
            if not is_for_bot:
                return
        if typed is None and not text and not message.files and message.address is Address.MENTION:
            typed = ParsedCommand("help")
        if typed is not None and typed.name == "stop":
            await self._command(message, typed)
        else:
            await self._within_pace(message, typed, text)
        # The same message under its other name (`app_mention`) is not delivered again.
        self._accepted[key] = True

    async def _is_for_bot(self, message: NewMessage, text: str) -> bool:
        context, location = self._context, message.location

        async def read_thread() -> ThreadSoFar | None:
            return await context.threads.so_far(location.channel, location.thread, message.ts, context.identity)

        return await context.queries.is_for_bot(
            Unaddressed(
                scope=await context.channels.scope(location),
                text=text,
                address=message.address,
                read_thread=read_thread,
                is_for_others=message.is_for_others,
            )
        )

    async def _within_pace(self, message: NewMessage, typed: ParsedCommand | None, text: str) -> None:
        """Deliver it, unless its author is rate limited. Corrections count even then, without a reply."""
        location = message.location
        thread = location.thread if message.address is Address.FOLLOW_UP else ""
        refused = self._rate_limit.refused((location.channel, thread, location.user))
        if refused is None:
            await (self._command(message, typed) if typed is not None else self._question(message, text))
            return
        correction = correction_in(typed, text)
        if correction is not None:
            with replying_to(location.user, no_reply):
                await self._command(message, correction)
        if refused.is_first:
            await self._context.sink(
                PersonRateLimited(
                    event_id=f"{message_id_of(location.channel, message.ts)}/too fast",
                    scope=await self._context.channels.scope(self._replied_in(message)),
                    at=time_of(message.ts),
                    role=self._context.roles.cached(location),
                    rest=refused.rest,
                )
            )

    @staticmethod
    def _replied_in(message: NewMessage) -> Location:
        """Where a private reply is visible: not in a thread without replies."""
        if message.address is Address.DIRECT or message.is_in_thread:
            return message.location
        return replace(message.location, thread="")

    async def _question(self, message: NewMessage, text: str) -> None:
        context, location = self._context, message.location
        context.threads.asked(location.channel, location.thread, message.ts, location.user)
        attached = await context.files.read(message.files) if message.files else AttachedFiles()
        await context.sink(
            PersonMessage(
                event_id=message_id_of(location.channel, message.ts),
                scope=await context.channels.scope(location),
                message_id=message.ts,
                text=text,
                at=time_of(message.ts),
                role=context.roles.cached(location),
                address=message.address,
                files=attached.files,
                images=attached.images,
                find_role=partial(context.roles.of, location),
            )
        )

    async def _command(self, message: NewMessage, typed: ParsedCommand) -> None:
        """A typed command, answered privately."""
        location = self._replied_in(message)
        event_id = message_id_of(location.channel, message.ts)
        await self._context.command(
            typed, location, event_id=event_id, at=time_of(message.ts), address=message.address, typed_in=message.ts
        )

    async def _edited(self, edited: EditedMessage, event_id: str) -> None:
        self._overtaken[edited.location.channel, edited.ts] = edited
        context = self._context
        was_accepted = any(self._accepted.get((edited.location.channel, edited.ts, address)) for address in Address)
        attached = await context.files.read(edited.files if was_accepted else ())
        await context.sink(
            PersonEdit(
                event_id=event_id,
                scope=await context.channels.scope(edited.location),
                message_id=edited.ts,
                text=edited.text,
                at=edited.at,
                role=context.roles.cached(edited.location),
                files=attached.files,
                images=attached.images,
                address=edited.address,
                of_event=message_id_of(edited.location.channel, edited.ts),
                find_role=partial(context.roles.of, edited.location),
            )
        )

    async def _deleted(self, deleted: DeletedMessage, event_id: str) -> None:
        self._overtaken[deleted.location.channel, deleted.ts] = deleted
        context = self._context
        await context.sink(
            PersonDeletion(
                event_id=event_id,
                scope=await context.channels.scope(deleted.location),
                message_id=deleted.ts,
                at=deleted.at,
                role=context.roles.cached(deleted.location),
                of_event=message_id_of(deleted.location.channel, deleted.ts),
            )
        )

    async def _reacted(self, reacted: MessageReaction, event_id: str) -> None:
        context, location = self._context, reacted.location
        role, thread = await context.roles.of(location), context.threads.known(location.channel, reacted.ts)
        await context.sink(
            PersonReaction(
                event_id=event_id,
                scope=await context.channels.scope(location, thread=thread),
                message_id=reacted.ts,
                emoji=reacted.emoji,
                added=reacted.added,
                at=reacted.at,
                role=role,
                on_own_message=True,
            )
        )

    async def _saved(self, reacted: MessageReaction, event_id: str) -> None:
        context, location = self._context, reacted.location
        thread = context.threads.known(location.channel, reacted.ts)
        await context.sink(
            PersonSave(
                event_id=event_id,
                scope=await context.channels.scope(location, thread=thread),
                message_id=reacted.ts,
                added=reacted.added,
                at=reacted.at,
                role=await context.roles.of(location),
            )
        )

    async def _stop_sign(self, reacted: MessageReaction, event_id: str) -> None:
        """A 🛑 on any message of a busy thread: allowed to those who asked there, and to teachers.

        If several people asked, the sink checks whose question the bot is working on.
        """
        context, location = self._context, reacted.location
        busy = context.status.busy_threads(location.channel)
        if not busy:
            return
        thread = reacted.ts if reacted.ts in busy else await context.threads.of(location.channel, reacted.ts)
        askers = context.threads.askers(location.channel, thread)
        may_have_asked = not askers or location.user in askers
        if thread in busy and (may_have_asked or await context.roles.is_teacher(location)):
            await context.stop(replace(location, thread=thread), event_id=event_id, at=reacted.at)
