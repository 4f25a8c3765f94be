"""The messenger of benchmarks, within the process, which keeps only the bot's last answer."""

import asyncio
from dataclasses import dataclass, field

from bot.model import Attachment, BotMessage, MessageRef, PersonReaction, PersonVote
from bot.ports import EventSink


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedAnswer:
    """A posted answer."""

    message_id: str
    text: str
    run_id: str


@dataclass(slots=True)
class BenchMessenger:
    """Implements `bot.ports.Messenger`. Events are passed to the sink directly."""

    platform: str = "bench"
    answer: PostedAnswer | None = None
    """The last answer."""
    notice: str = ""
    """The text of the last message that was no answer."""
    _posts: int = 0
    _closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, sink: EventSink) -> None:
        """Wait until `close`, as no events arrive by themselves."""
        await self._closed.wait()

    def split(self, text: str) -> list[str]:
        """The text as one part, as there is no limit."""
        return [text]

    def how_to_type(self, command: str) -> str:
        """The command itself."""
        return command

    async def post(self, message: BotMessage) -> MessageRef:
        """Keep it if it is an answer."""
        self._posts += 1
        ref = MessageRef(workspace=message.workspace, channel=message.channel, message_id=f"post-{self._posts}")
        if message.is_answer:
            self.answer = PostedAnswer(message_id=ref.message_id, text=message.text, run_id=message.run_id)
        else:
            self.notice = message.text
        return ref

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        """Do nothing: nobody looks at it."""

    async def ask_correction(self, event: PersonReaction | PersonVote, ref: MessageRef, question: str) -> None:
        """Do nothing: the people of a benchmark correct without being asked."""

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        """Do nothing: nobody looks at it."""

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        """Do nothing: nobody asks for files."""

    async def close(self) -> None:
        """End `run`."""
        self._closed.set()
