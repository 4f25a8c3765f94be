"""The messenger of the playground: delivers events of test people, shows the bot's messages."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from bot.adapters import commonmark
from bot.adapters.flow_control import Sleep
from bot.adapters.private_reply import reply_to
from bot.adapters.web.playground.channel_messages import ChannelMessages, Shown
from bot.adapters.web.playground.persona import PLATFORM, WORKSPACE, is_channel
from bot.errors import ChannelNotFound, MessengerUnavailable
from bot.model import Attachment, BotMessage, Choice, MessageRef, PersonEvent, PersonReaction, PersonVote, Remark
from bot.ports import EventSink
from memory.model import Scope
from memory.ports import Clock, NewId

PART_LIMIT = 8_000
"""The longest message, in UTF-16 units."""
_START_TIMEOUT_S = 10.0
"""How long, in seconds, an event waits for the bot to start."""
_STEP, _PACE_S = 160, 0.04
"""An answer is shown in steps of so many characters, so many seconds apart."""
_WORD = re.compile(r"\s")


class PlaygroundMessenger:
    """The test channels of this process. `sleep` waits between the steps in which an answer is shown."""

    platform = PLATFORM

    def __init__(self, *, clock: Clock, new_id: NewId, sleep: Sleep = asyncio.sleep) -> None:
        self.messages = ChannelMessages(new_id())
        self.clock, self.new_id = clock, new_id
        self._sleep = sleep
        self._sink: EventSink | None = None
        self._begun, self._closed = asyncio.Event(), asyncio.Event()
        self._under_way = 0
        self._at_rest = asyncio.Event()
        self._at_rest.set()

    async def run(self, sink: EventSink) -> None:
        """Deliver events until the web server ends or `close` is called, and finish those under way."""
        self._sink = sink
        self._begun.set()
        await self._closed.wait()
        await self._at_rest.wait()

    async def deliver(self, event: PersonEvent) -> None:
        """Deliver an event. Raises `MessengerUnavailable` if the bot has not started or has ended."""
        try:
            await asyncio.wait_for(self._begun.wait(), _START_TIMEOUT_S)
        except TimeoutError:
            raise MessengerUnavailable("the bot has not begun yet") from None
        if self._closed.is_set() or self._sink is None:
            raise MessengerUnavailable("the playground is closed")
        self._under_way += 1
        self._at_rest.clear()
        try:
            await self._sink(event)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._at_rest.set()

    def split(self, text: str) -> list[str]:
        """Split a text into parts of at most `PART_LIMIT`."""
        return commonmark.split(text, PART_LIMIT)

    def how_to_type(self, command: str) -> str:
        """How to type a command: with a slash."""
        return f"/{command}"

    async def post(self, message: BotMessage) -> MessageRef:
        """Show a message; a long answer in steps. Raises `ChannelNotFound`."""
        _check(message.workspace, message.channel)
        if message.private_to and (tell := reply_to(message.private_to)):
            shown_id = await tell(message.text, choices=message.choices)
        else:
            shown_id = await self._show(message)
        return MessageRef(workspace=message.workspace, channel=message.channel, message_id=shown_id)

    async def _show(self, message: BotMessage, file: Attachment | None = None) -> str:
        asked = self.messages.find(message.channel, message.reply_to)
        shown = Shown(
            id=self.new_id(),
            channel=message.channel,
            author="",
            text=message.text,
            at=self.clock(),
            is_answer=message.is_answer,
            private_to=message.private_to,
            is_for=asked.author if asked is not None else "",
            note=message.note,
            lessons=message.lessons,
            choices=message.choices,
            file=file,
        )
        for end in range(_STEP, len(message.text) if message.is_answer else 0, _STEP):
            found = _WORD.search(message.text, end)
            shown.text, shown.is_growing = message.text[: found.start() if found else end], True
            self.messages.show(shown)
            await self._sleep(_PACE_S)
        shown.text, shown.is_growing = message.text, False
        self.messages.show(shown)
        return shown.id

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        """Show or hide the bot's own emoji on a message; does nothing if the message is no longer shown."""
        _check(ref.workspace, ref.channel)
        shown = self.messages.find(ref.channel, ref.message_id)
        if shown is not None and (emoji in shown.marks) is not present:
            shown.marks = [*shown.marks, emoji] if present else [each for each in shown.marks if each != emoji]
            self.messages.show(shown)

    async def ask_correction(self, event: PersonReaction | PersonVote, ref: MessageRef, question: str) -> None:
        """Show a form next to the answer, to this person only."""
        self.say_beside(ref.channel, ref.message_id, event.scope.person, question, asks_correction=True)

    def say_beside(
        self,
        channel: str,
        answer_id: str,
        person: str,
        text: str,
        *,
        choices: Sequence[Choice] = (),
        asks_correction: bool = False,
    ) -> str:
        """Show a text next to an answer to one person, in place of an earlier one."""
        shown = Shown(
            id=f"{answer_id}-{'correct' if asks_correction else 'beside'}-{person}",
            channel=channel,
            author="",
            text=text,
            at=self.clock(),
            private_to=person,
            beside=answer_id,
            choices=tuple(choices),
            asks_correction=asks_correction,
        )
        self.messages.show(shown)
        return shown.id

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        """Show the progress text below the messages."""
        _check(workspace, channel)
        self.messages.progress(channel, text)

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        """Show a file to this person only. Raises `ChannelNotFound`."""
        _check(message.workspace, message.channel)
        await self._show(replace(message, text=message.text or attachment.name, is_answer=False), attachment)

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        """No messages: people here write only to the bot."""
        return []

    async def name_of(self, workspace: str, person: str) -> str:
        """The person's id, which is their name."""
        return person

    async def close(self) -> None:
        """End `run` after the events under way, and all connections of browsers."""
        self.end()

    def end(self) -> None:
        """End the playground when the web server ends."""
        self._closed.set()
        self.messages.close()


def _check(workspace: str, channel: str) -> None:
    if workspace != WORKSPACE or not is_channel(channel):
        raise ChannelNotFound(f"cannot reach {workspace} #{channel}: it is no channel of the playground")
