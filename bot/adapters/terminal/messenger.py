"""The messenger for the terminal: makes events of typed lines, and prints messages."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bot.adapters.command_words import CORRECT, ParsedCommand
from bot.adapters.terminal.answer_list import AnswerList
from bot.adapters.terminal.commands import Act, Command, Export, React, Say, Unreact, help_text, parse
from bot.adapters.terminal.file_export import save
from bot.adapters.terminal.piped_lines import PipedLines
from bot.adapters.terminal.screen import PlainScreen, numbered_options
from bot.adapters.terminal.speaker import ROLES, CurrentSpeaker
from bot.adapters.terminal.streams import Streams
from bot.config import TerminalSettings
from bot.conversation.executor import run_unless
from bot.conversation.reply import BACK, item_reference
from bot.errors import ChannelNotFound, CommandRefused, NotPermitted
from bot.model import (
    Attachment,
    BotMessage,
    Choice,
    MessageRef,
    PersonEvent,
    PersonMessage,
    PersonReaction,
    PersonVote,
    Remark,
)
from bot.ports import EventSink
from memory.model import Scope
from memory.ports import Clock, NewId

if TYPE_CHECKING:
    from bot.adapters.terminal.interactive import LinePrompt, RichScreen

_LONG_ID = re.compile(r"\b[0-9a-f]{24}\b")
_HINT = "Ask away. 👍 or 👎 rates the last answer; /help lists the rest."
_NOT_HERE_YET = "the answer is not here yet; type that again when it is"
_TAKES_A_MOMENT = "that takes a moment; you may type on"
_FINISHING = "one moment: what you typed is still being taken in"
_PATIENCE_S = 1.0
"""How long the prompt waits until a line is taken in; then it comes back, and further lines wait behind that one."""


class TerminalMessenger:
    """A single channel with all people who speak at this terminal.

    `teacher` and `admin` set the role of the person who starts the chat; people named with `/as` are members. Exports
    are saved in `folder`. `wait_until_answered` returns when the bot has nothing left to say; piped input waits for it
    before the next line (without it: for the end of `progress`). `stop` stops the running answer; Ctrl-C calls it while
    one runs. `is_vote` says whether an emoji counts, so that the person can be told if theirs does not.
    """

    platform = "terminal"
    pace_s = 0.05

    def __init__(
        self,
        *,
        streams: Streams,
        settings: TerminalSettings,
        clock: Clock,
        new_id: NewId,
        folder: Path,
        teacher: bool = False,
        admin: bool = False,
        greeting: str = "",
        wait_until_answered: Callable[[], Awaitable[None]] | None = None,
        stop: Callable[[], Awaitable[None]] | None = None,
        is_vote: Callable[[str], bool] = lambda emoji: True,
    ) -> None:
        self._workspace = settings.workspace
        self._channel = settings.channel
        self._new_id = new_id
        self._folder = folder
        self._speaker = CurrentSpeaker(settings, clock=clock, new_id=new_id, teacher=teacher, admin=admin)
        self._greeting = greeting
        self._wait_until_answered = wait_until_answered
        self._stop = stop
        self._is_vote = is_vote
        self._answers = AnswerList()
        self._interactive = streams.interactive
        self._lines, self._screen = _open(streams, self._interrupted)
        self._closed = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._stopping: asyncio.Task[None] | None = None
        self._delivering: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()
        self._export_to = ""

    async def run(self, sink: EventSink) -> None:
        """Deliver typed lines until the input ends, somebody quits, or `close` is called."""
        with self._lines.session():
            for text in filter(None, (self._greeting, _HINT if self._interactive else "")):
                await self._screen.remark(text)
            while await self._next_line(sink):
                pass
            if self._delivering:
                await self._screen.remark(_FINISHING)
                await asyncio.gather(*self._delivering)
            if self._interactive and not self._closed.is_set():
                await self._screen.remark("Bye. What you taught is kept.")

    def split(self, text: str) -> list[str]:
        """A single part, as a terminal has no limit."""
        return [text]

    def how_to_type(self, command: str) -> str:
        """How to type a command: with a slash."""
        return f"/{command}"

    async def post(self, message: BotMessage) -> MessageRef:
        """Print a message; answers get the next number. Raises `ChannelNotFound`, `MessengerUnavailable`."""
        self._check_channel(message.workspace, message.channel)
        message_id = self._new_id()
        # Choices of an answer, or of a question about a message, are typed as numbers, and so are those with long ids.
        is_numbered = bool(message.run_id) or any(_LONG_ID.search(each.argument) for each in message.choices)
        text, shown = numbered_options(message.text, message.choices) if is_numbered else (message.text, 0)
        message = replace(message, text=text)
        if message.is_answer:
            await self._screen.answer(self._answers.add(message_id), message)
        else:
            other = message.private_to if message.private_to != self._speaker.person else ""
            await self._screen.notice(f"(to {other}) {text}" if other else text)
        if message.is_answer or is_numbered:
            self._answers.offer(message.choices)
        typed = [
            (str(number) if is_numbered else self._how_to_choose(choice), choice.label)
            for number, choice in enumerate(message.choices, start=1)
            if number > shown
        ]
        if typed:
            await self._screen.choices(typed)
        return MessageRef(workspace=message.workspace, channel=message.channel, message_id=message_id)

    async def mark(self, ref: MessageRef, emoji: str, present: bool) -> None:
        """Print a line about the bot's mark on an answer."""
        self._check_channel(ref.workspace, ref.channel)
        if not self._answers.mark(ref.message_id, emoji, present):
            return
        label = self._answers.label(ref.message_id)
        if emoji == "🧠":
            await self._screen.remark(f"🧠 {label} became a lesson" if present else f"{label} is no longer a lesson")
        else:
            await self._screen.remark(f"{emoji} on {label}" if present else f"{emoji} taken off {label}")

    async def ask_correction(self, event: PersonReaction | PersonVote, ref: MessageRef, question: str) -> None:
        """Print the question; `/correct` answers it."""
        await self._screen.notice(question)

    async def progress(self, workspace: str, channel: str, thread: str, text: str) -> None:
        """Show a progress line above the prompt; an empty text removes it and lets piped input continue."""
        self._check_channel(workspace, channel)
        self._screen.working(text)
        if text:
            self._at_rest.clear()
        else:
            self._at_rest.set()

    async def stream_partial(self, message: BotMessage) -> None:
        """Show a partial answer above the prompt."""
        self._check_channel(message.workspace, message.channel)
        self._screen.partial_answer(message.text)

    async def drop_partial(self, message: BotMessage) -> None:
        """Remove the partial answer."""
        self._screen.partial_answer("")

    async def hand_over(self, message: BotMessage, attachment: Attachment) -> None:
        """Save the file under the name given to `/export`, else its own, in the folder of exports, and print its path.

        A failure is printed at once, as the person can choose another place.
        """
        self._check_channel(message.workspace, message.channel)
        name = self._export_to or Path(attachment.name).name
        try:
            path = await asyncio.to_thread(save, self._folder, name, attachment.content)
        except NotPermitted as exc:
            await self._screen.remark(str(exc))
            return
        if message.text:
            await self._screen.notice(message.text)
        await self._screen.remark(f"saved to {path}")

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        """No messages: people here write only to the bot."""
        return []

    async def name_of(self, workspace: str, person: str) -> str:
        """The person's id, which is their name."""
        return person

    async def close(self) -> None:
        """End `run` after the line that is being handled."""
        self._closed.set()

    # What is typed --------------------------------------------------------------------------------------------------

    async def _next_line(self, sink: EventSink) -> bool:
        """Read and carry out a line; False at the end of the input, or if somebody quits."""
        try:
            text = await run_unless(self._closed, self._lines.read(self._speaker.person))
            act = parse(text or "")
            if text is None or (isinstance(act, Command) and act.name == "quit"):
                return False
            if act is not None:
                await self._screen.typed(self._speaker.person, text.strip())
                await self._carry_out(act, sink)
        except CommandRefused as refusal:
            await self._screen.remark(str(refusal))
        return True

    async def _carry_out(self, act: Act, sink: EventSink) -> None:
        match act:
            case Command("help"):
                await self._screen.remark(help_text(teacher=self._speaker.role.may_promote))
            case Command("as", name):
                await self._speak_as(name)
            case Command("correct", text):
                await self._deliver(self._speaker.command(ParsedCommand(CORRECT, text), self._answers.last()), sink)
            case Command(name, argument, number):
                target = self._answers.find(number) if number is not None else ""
                await self._deliver(self._speaker.command(ParsedCommand(name, argument), target), sink)
            case Export(file, kind):
                await self._deliver(self._speaker.command(ParsedCommand("export", kind)), sink, export_to=file)
            case Say(text):
                await self._say(text, sink)
            case React():
                await self._react(act, sink)
            case Unreact():
                await self._unreact(act, sink)

    async def _say(self, text: str, sink: EventSink) -> None:
        """Deliver a message, or the choice that it picks."""
        self._stopping = None
        if (choice := self._answers.chosen(text.strip())) is not None:
            await self._deliver(self._speaker.command(ParsedCommand(choice.command, choice.argument)), sink)
        else:
            self._answers.offer(())
            self._at_rest.clear()
            await self._deliver(self._speaker.message(text), sink)

    async def _speak_as(self, name: str) -> None:
        self._speaker.person = name or self._speaker.person
        await self._screen.remark(f"{self._speaker.introduced}, {ROLES[self._speaker.role]}")

    async def _react(self, typed: React, sink: EventSink) -> None:
        if not self._at_rest.is_set() and not self._answers.last():
            raise CommandRefused(_NOT_HERE_YET)
        message_id = self._answers.find(typed.number)
        for emoji in typed.emoji:
            # A repeated one is delivered too, as on every platform: the bot recognises it.
            state = "on" if self._answers.react(message_id, self._speaker.person, emoji) else "is already on"
            hint = "" if self._is_vote(emoji) else "; it teaches nothing, 👍 and 👎 do"
            noted = f"{emoji} {state} {self._answers.label(message_id)}{hint}"
            await self._deliver(self._speaker.reaction(message_id, emoji, added=True), sink, noted)

    async def _unreact(self, typed: Unreact, sink: EventSink) -> None:
        message_id = self._answers.find(typed.number)
        emoji = self._answers.unreact(message_id, self._speaker.person, typed.emoji)
        noted = f"{emoji} taken off {self._answers.label(message_id)}"
        await self._deliver(self._speaker.reaction(message_id, emoji, added=False), sink, noted)

    async def _deliver(self, event: PersonEvent, sink: EventSink, noted: str = "", *, export_to: str = "") -> None:
        """Deliver an event, and then print that it is `noted`. A person at the prompt may type on meanwhile."""
        delivering = asyncio.create_task(self._in_turn(event, sink, noted, export_to))
        if self._interactive:
            done, self._delivering = await asyncio.wait({*self._delivering, delivering}, timeout=_PATIENCE_S)
            for each in done:
                each.result()
            if delivering in self._delivering:
                await self._screen.remark(_TAKES_A_MOMENT)
            return
        await delivering
        if self._wait_until_answered is not None:
            await run_unless(self._closed, self._wait_until_answered())
        elif isinstance(event, PersonMessage):
            await run_unless(self._closed, self._at_rest.wait())

    async def _in_turn(self, event: PersonEvent, sink: EventSink, noted: str, export_to: str) -> None:
        async with self._one_at_a_time:
            self._export_to = export_to
            await sink(event)
            if noted:  # printed after it is stored, so that what is printed is never lost
                await self._screen.remark(noted)

    def _how_to_choose(self, choice: Choice) -> str:
        """The command to type, without the page of a list, which only a button needs."""
        found = item_reference(choice.argument)
        to = (found.id, found.audience, BACK if found.is_back else "") if found is not None else (choice.argument,)
        return self.how_to_type(" ".join([choice.command, *filter(None, to)]))

    # Small parts ----------------------------------------------------------------------------------------------------

    def _check_channel(self, workspace: str, channel: str) -> None:
        if (workspace, channel) != (self._workspace, self._channel):
            here = f"{self._workspace} #{self._channel}"
            raise ChannelNotFound(f"cannot reach {workspace} #{channel}: this terminal is {here}")

    def _interrupted(self) -> bool:
        """Handle Ctrl-C on an empty line: stop the running answer. True to quit if none runs or it is stopping."""
        if self._at_rest.is_set() or self._stop is None or self._stopping is not None:
            return True
        self._stopping = asyncio.ensure_future(self._give_up(self._stop))
        return False

    async def _give_up(self, stop: Callable[[], Awaitable[None]]) -> None:
        """Stop the answer, and print that, as it may take a moment."""
        await stop()
        await self._screen.remark("stopping; Ctrl-C again leaves")


def _open(
    streams: Streams, interrupted: Callable[[], bool]
) -> "tuple[PipedLines | LinePrompt, PlainScreen | RichScreen]":
    if not streams.interactive:
        return PipedLines(streams.stdin), PlainScreen(streams.stdout, echo=streams.echo)
    from bot.adapters.terminal.interactive import LinePrompt, RichScreen

    prompt = LinePrompt(streams, interrupted=interrupted)
    return prompt, RichScreen(streams.stdout, prompt, color=streams.color)
