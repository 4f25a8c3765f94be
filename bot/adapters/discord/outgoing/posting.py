"""Posts messages in Discord's Markdown and within its limits, once, without pinging anybody."""

import io
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import discord
from discord import ui

from bot.adapters.commonmark import INVISIBLE, size, split
from bot.adapters.discord.client import Client
from bot.adapters.discord.directory import DIRECT_WORKSPACE, address
from bot.adapters.discord.outgoing.long_answers import AT_ONCE, LongAnswers, as_document, beginning, in_thread, stream
from bot.adapters.discord.outgoing.markdown import one_line, to_discord
from bot.adapters.discord.rest import (
    BLOCKED,
    NO_HISTORY,
    UNKNOWN_EMOJI,
    UNKNOWN_MESSAGE,
    Rest,
    code_of,
    nonce_for,
)
from bot.adapters.discord.views import DOWN, FIX, TELL, UP, choice_view, row
from bot.adapters.flow_control import Sleep
from bot.adapters.naming import Names, by_name
from bot.adapters.private_reply import reply_to
from bot.errors import ChannelNotFound, MessengerError, NotPermitted, TooLong
from bot.model import Attachment, BotMessage, MessageRef
from memory.ports import NewId

log = logging.getLogger(__name__)

LIMIT = 2000
"""Characters of one message, counted in UTF-16 units, which are never fewer than Discord counts."""

_STILL_WRITTEN = " …"
"""The end of a partial answer."""
_SMALLEST_PART = 100
_SMALL_PRINT, _LESSON = "-# ", "↳ used lesson: "
_LESSON_LENGTH = 200
_MOST_LESSONS = 5
_HELD_BACK = "What I wanted to say here was blocked by this server's rules for messages (AutoMod)."


@dataclass(slots=True, kw_only=True)
class Posting:
    """Posts through one connected client."""

    client: Client
    rest: Rest
    names: Names
    new_id: NewId
    sleep: Sleep
    streams: bool = True
    """Whether a long answer is streamed instead of appearing as a whole."""
    long_answers: LongAnswers = "thread"
    _partials: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Partial answers, by run: the id of the message that shows the beginning, and its channel."""

    async def stream_partial(self, message: BotMessage) -> None:
        """Show a partial answer in one message, if answers are streamed. Raises `MessengerError`."""
        text = to_discord(message.text)
        if not self.streams or size(text) > LIMIT - size(_STILL_WRITTEN):
            return
        known = self._partials.get(message.run_id)
        if known is None:
            self._partials[message.run_id] = ("", message.channel)
            self._partials[message.run_id] = (
                await self._send(message, text + _STILL_WRITTEN, attempt="partial"),
                message.channel,
            )
        elif known[0]:
            await self._change(message, known[0], text + _STILL_WRITTEN, None, is_all=False)

    async def drop_partial(self, message: BotMessage) -> None:
        """Delete a partial answer that will not be completed. Raises `MessengerError`."""
        sent, channel = self._partials.pop(message.run_id, ("", ""))
        if sent:
            await self.rest(f"taking the beginning of answer {sent} away", self._message(channel, sent).delete)

    async def post(self, message: BotMessage) -> MessageRef:
        """Post a message, privately if the person's act allows a private reply. A long notice takes several messages.

        Raises `TooLong` for an answer above the limit, or another `MessengerError`.
        """
        message = await by_name(message, self.names.of)
        tell = reply_to(message.private_to) if message.private_to and not message.is_answer else None
        if tell is not None:
            return _ref(message, await tell(message.text, choices=message.choices))
        if message.is_answer:
            return _ref(message, await self._send_answer(message))
        asks_one_person = message.private_to and message.choices and not _has_buttons(message)
        if message.is_direct or asks_one_person:
            view = choice_view(message.choices, int(message.thread or message.channel))
            return _ref(message, await self.direct(message.private_to, message.text, view=view))
        try:
            return await self._notice(message)
        except (ChannelNotFound, NotPermitted):
            if not message.private_to or message.workspace == DIRECT_WORKSPACE:
                raise
        return _ref(message, await self.direct(message.private_to, message.text))

    async def _notice(self, message: BotMessage) -> MessageRef:
        # In a server everybody reads it; without a reply to its person's message it begins with their name.
        is_open = message.private_to and message.workspace != DIRECT_WORKSPACE and not message.reply_to
        name = f"<@{message.private_to}> " if is_open else ""
        first, *others = in_parts(message.text, LIMIT - size(name))
        *parts, last = (name + to_discord(first), *map(to_discord, others))
        for part in parts:
            await self._send(message, part)
        view = choice_view(message.choices) if _has_buttons(message) else None
        return _ref(message, await self._send(message, last, view=view))

    async def ask(self, message: BotMessage, answer: str) -> MessageRef:
        """Ask about an answer of the bot, with a button that opens the form."""
        return _ref(message, await self._send(message, to_discord(message.text), view=row(TELL, answer=answer)))

    async def reply(
        self, channel: int, to: int | None, text: str, file: Attachment | None = None, view: ui.View | None = None
    ) -> str:
        """Reply to a message, with a file in the first part and buttons under the last, whose id is returned."""
        sent, parts = "", in_parts(text)
        for number, part in enumerate(parts, start=1):
            attached, under = file if number == 1 else None, view if number == len(parts) else None
            sent = await self._to(channel, to_discord(part), reply_to=to, file=attached, view=under)
        return sent

    async def direct(self, person: str, text: str, file: Attachment | None = None, view: ui.View | None = None) -> str:
        """Send a direct message. Raises `NotPermitted` if the person accepts none."""
        user = discord.Object(int(person))
        channel = await self.rest(f"opening direct messages with {person}", lambda: self.client.create_dm(user))
        return await self.reply(channel.id, None, text, file, view)

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        """Send a file to one person: as a private reply to their act, else by direct message."""
        if tell := reply_to(message.private_to):
            await tell(message.text, attachment)
        else:
            await self.direct(message.private_to, message.text, attachment)

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        """Put the bot's reaction on its own message, or remove it; both may be repeated."""
        place = address(ref.channel, ref.message_id)
        if place is None:
            raise ChannelNotFound(f"cannot mark message {ref.message_id} in channel {ref.channel}: no ids of Discord's")
        channel, message_id = place
        message = self.client.get_partial_messageable(channel).get_partial_message(message_id)
        me = discord.Object(self.client.me)
        what = f"marking message {message_id} in channel {channel} with {emoji}"
        try:
            if present:
                await self.rest(what, lambda: message.add_reaction(emoji))
            else:
                await self.rest(what, lambda: message.remove_reaction(emoji, me))
        except MessengerError as error:
            if present or code_of(error) not in (UNKNOWN_EMOJI, UNKNOWN_MESSAGE):
                raise

    # one message ------------------------------------------------------------------------------------------------

    async def _send_answer(self, message: BotMessage) -> str:
        """Post a part of an answer. A long first part is streamed; with `file`, a longer answer comes as a file."""
        # The choices if it is a question, else the thumbs under the last part.
        view = choice_view(message.choices) or (row(UP, DOWN, FIX) if message.is_last else None)
        text = _answer(message)
        if size(text) > LIMIT and self.long_answers == "file":
            with suppress(MessengerError):
                await self.drop_partial(message)
            return await self._send(message, _opening(message.text), view=view, file=as_document(message))
        if self.long_answers == "thread":
            message = await in_thread(self.client, self.rest, message)
        shown = self._partials.pop(message.run_id, ("", ""))[0] if message.part == 1 else ""
        if shown:
            return await self._whole(message, shown, text, view)
        if not self.streams or message.part > 1 or not AT_ONCE < size(text) <= LIMIT:
            return await self._send(message, text, view=view)
        sent = await self._send(message, beginning(text))
        try:
            await stream(
                text, lambda content, is_all: self._change(message, sent, content, view, is_all=is_all), self.sleep
            )
        except MessengerError as error:
            return await self._post_whole(message, sent, text, view, error)
        return sent

    async def _whole(self, message: BotMessage, sent: str, text: str, view: ui.View | None) -> str:
        """Complete a partial answer."""
        try:
            await self._change(message, sent, text, view, is_all=True)
        except MessengerError as error:
            if code_of(error) == UNKNOWN_MESSAGE:
                return await self._send(message, text, view=view, attempt="whole")
            if error.retryable:
                self._partials[message.run_id] = (sent, message.channel)
            return await self._post_whole(message, sent, text, view, error)
        return sent

    async def _post_whole(
        self, message: BotMessage, sent: str, text: str, view: ui.View | None, error: MessengerError
    ) -> str:
        """Post the whole answer in place of its beginning; raise a retryable error, as that may still be completed."""
        if error.retryable:
            raise error
        # Retried later, the beginning would be posted again once Discord has forgotten the nonce.
        log.info("could not stream an answer, posting it whole: %s", error)
        with suppress(MessengerError):
            await self.rest(f"taking the beginning of answer {sent} away", self._message(message.channel, sent).delete)
        return await self._send(message, text, view=view, attempt="whole")

    async def _change(
        self, message: BotMessage, sent: str, content: str, view: ui.View | None, *, is_all: bool
    ) -> object:
        """Set the text of an answer's message; only the complete text has buttons."""
        partial, under = self._message(message.channel, sent), view if is_all else None
        return await self.rest(
            f"streaming the answer {sent} in channel {message.channel}",
            lambda: partial.edit(content=content, view=under, allowed_mentions=discord.AllowedMentions.none()),
            again=is_all,
        )

    def _message(self, channel: str, sent: str) -> discord.PartialMessage:
        place, message_id = address(channel, sent) or (0, 0)
        return self.client.get_partial_messageable(place).get_partial_message(message_id)

    async def _send(
        self,
        message: BotMessage,
        text: str,
        *,
        view: ui.View | None = None,
        attempt: str = "",
        file: Attachment | None = None,
    ) -> str:
        place = message.thread or message.channel
        if not place.isdecimal():
            raise ChannelNotFound(f"cannot post in channel {place!r} of {message.workspace}: no id of Discord's")
        answered = address(message.channel, message.reply_to) if message.part == 1 else None
        reply_to = answered[1] if answered is not None and answered[0] == int(place) else None
        of_answer = f"{message.run_id}/{message.part}{attempt}" if message.run_id and message.is_answer else ""
        sent = await self._to(int(place), text, of_answer, reply_to=reply_to, view=view, file=file)
        return f"{message.thread}-{sent}" if message.thread else sent

    async def _to(
        self,
        channel: int,
        text: str,
        once: str = "",
        *,
        reply_to: int | None = None,
        view: ui.View | None = None,
        file: Attachment | None = None,
    ) -> str:
        """Send one message; messages with the same `once` are posted once, even after a restart."""
        if size(text) > LIMIT:
            raise TooLong(f"posting {size(text)} characters in channel {channel}: split them", limit=LIMIT)
        where, nonce = self.client.get_partial_messageable(channel), nonce_for(once or self.new_id())

        async def send(reference: discord.MessageReference | None, content: str = text) -> discord.Message:
            options: dict[str, Any] = {"nonce": nonce, "reference": reference, "view": view, "file": as_file(file)}
            return await where.send(
                content or "…", suppress_embeds=True, allowed_mentions=discord.AllowedMentions.none(), **options
            )

        quoted = (
            discord.MessageReference(message_id=reply_to, channel_id=channel, fail_if_not_exists=False)
            if reply_to
            else None
        )
        what = f"posting in channel {channel}"
        try:
            # A second try with the same nonce returns the first message, if there is one.
            sent = await self.rest(what, lambda: send(quoted))
        except MessengerError as error:
            if code_of(error) == NO_HISTORY:
                sent = await self.rest(what, lambda: send(None))
            elif code_of(error) in BLOCKED:
                log.warning("%s", error)
                sent = await self.rest(what, lambda: send(quoted, _HELD_BACK))
            else:
                raise
        return str(sent.id)


def in_parts(text: str, room: int = LIMIT, *, shown: Callable[[str], str] = to_discord) -> list[str]:
    """CommonMark in parts that each fit into a message in Discord's dialect, which can be longer."""
    parts: list[str] = []
    for part in split(text, room):
        if size(shown(part)) <= LIMIT or room <= _SMALLEST_PART:
            parts.append(part)
        else:
            parts.extend(in_parts(part, max(room * 3 // 4, _SMALLEST_PART), shown=shown))
    return parts


def as_file(attachment: Attachment | None) -> discord.File | None:
    """A file to send; each try needs a new object."""
    if attachment is None:
        return None
    return discord.File(io.BytesIO(attachment.content), filename=attachment.name)


def _answer(message: BotMessage) -> str:
    """The text of an answer, with its note and used lessons in small print, as far as they fit."""
    text = to_discord(message.text)
    below = [f"{_LESSON}{one_line(lesson, _LESSON_LENGTH)}" for lesson in message.lessons[:_MOST_LESSONS]]
    for small in (*([message.note] if message.note else []), *below):
        line = f"\n{_SMALL_PRINT}{small}"
        if size(text) + size(line) <= LIMIT:
            text += line
    return text


def _opening(text: str) -> str:
    """The beginning of an answer that is attached as a file."""
    note = f"\n{_SMALL_PRINT}the whole answer is in the file"
    return to_discord(in_parts(text, LIMIT - size(note))[0])[: LIMIT - size(note)] + note


def _has_buttons(message: BotMessage) -> bool:
    """Whether a notice has its buttons where it is posted: in a server only a run's question, or a notice for all."""
    return bool(message.workspace == DIRECT_WORKSPACE or message.run_id or message.is_for_all)


def without_small_print(shown: str) -> str:
    """The text of a posted answer without small print and invisible characters."""
    lines = shown.replace(INVISIBLE, "").split("\n")
    while lines and lines[-1].startswith(_SMALL_PRINT):
        lines.pop()
    return "\n".join(lines)


def _ref(message: BotMessage, message_id: str) -> MessageRef:
    return MessageRef(workspace=message.workspace, channel=message.channel, message_id=message_id)
