"""Makes events of what a test person does: writing, reacting, choosing, correcting, asking why."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from bot.adapters import forms
from bot.adapters.command_words import CORRECT, ParsedCommand, command_event, command_in, slash_command
from bot.adapters.private_reply import replying_to
from bot.adapters.web.playground.channel_messages import Shown
from bot.adapters.web.playground.messenger import PlaygroundMessenger
from bot.adapters.web.playground.persona import Persona
from bot.model import Attachment, Choice, PersonMessage, PersonReaction
from memory.errors import InvalidInput, NotFound

MAX_CHARACTERS = 32_000
"""The longest message; longer ones are refused, not cut."""
_MAX_EMOJI = 80


class Intake:
    """The actions of a persona. Each returns when the bot has accepted the event."""

    def __init__(self, messenger: PlaygroundMessenger, persona: Persona) -> None:
        self._persona = persona
        self._messenger = messenger
        self._messages = messenger.messages

    async def write(self, text: str) -> None:
        """Write a message, or a command with or without a slash."""
        text = text.strip()
        if not text:
            return
        if len(text) > MAX_CHARACTERS:
            raise InvalidInput(f"the message has {len(text):,} characters, more than {MAX_CHARACTERS:,}")
        typed = slash_command(text[1:]) if text.startswith("/") else command_in(text)
        shown = Shown(
            id=self._messenger.new_id(),
            channel=self._persona.channel_id,
            author=self._persona.person,
            text=text,
            at=self._messenger.clock(),
            private_to=self._persona.person if typed is not None and typed.name != CORRECT else "",
        )
        self._messages.show(shown)
        if typed is not None:
            await self._command(typed)
            return
        event = PersonMessage(
            event_id=self._messenger.new_id(),
            scope=self._persona.scope,
            message_id=shown.id,
            text=text,
            at=shown.at,
            role=self._persona.role,
        )
        await self._messenger.deliver(event)

    async def react(self, message_id: str, emoji: str, *, added: bool) -> None:
        """Add or remove an emoji on a message of the bot. Does nothing if it is there, or gone, already."""
        shown = self._of_bot(message_id)
        if not emoji or len(emoji) > _MAX_EMOJI:
            raise InvalidInput(f"choose an emoji, of at most {_MAX_EMOJI} characters")
        people = shown.reactions.get(emoji, [])
        if (self._persona.person in people) is added:
            return
        people = [*people, self._persona.person] if added else [each for each in people if each != self._persona.person]
        shown.reactions[emoji] = people
        if not people:
            del shown.reactions[emoji]
        self._messages.show(shown)
        event = PersonReaction(
            event_id=self._messenger.new_id(),
            scope=self._persona.scope,
            message_id=shown.id,
            emoji=emoji,
            added=added,
            at=self._messenger.clock(),
            role=self._persona.role,
        )
        await self._messenger.deliver(event)

    async def choose(self, message_id: str, number: int, text: str = "") -> None:
        """Press the button with this index; `text` is the input of a form that it opens."""
        shown = self._of_bot(message_id)
        if not 0 <= number < len(shown.choices):
            raise NotFound("there is no such button any more")
        choice = shown.choices[number]
        typed = ParsedCommand(choice.command, choice.argument)
        if choice.command == forms.OPENS_A_FORM:
            typed = forms.answer_command({forms.ANSWER: text}, choice.argument)
        if shown.is_answer:
            await self._command(typed, shown.id)
            return
        with self._in_place_of(shown):
            await self._command(typed)

    async def correct(self, message_id: str, text: str, reason: str) -> None:
        """Correct an answer, with a reason."""
        shown = self._of_bot(message_id)
        event = forms.correction_event(
            {forms.BETTER: text.strip(), forms.REASON: reason if reason in forms.REASONS else ""},
            event_id=self._messenger.new_id(),
            scope=self._persona.scope,
            at=self._messenger.clock(),
            role=self._persona.role,
            message_id=shown.id,
        )
        if event is None:
            raise InvalidInput("write what would have been right")
        with self._beside(shown, corrects=True):
            await self._messenger.deliver(event)

    async def why(self, message_id: str) -> None:
        """Ask which lessons an answer used; the reply is shown next to it."""
        shown = self._of_bot(message_id)
        with self._beside(shown):
            await self._command(ParsedCommand("why"), shown.id)

    async def _command(self, typed: ParsedCommand, message_id: str = "") -> None:
        event = command_event(
            typed,
            event_id=self._messenger.new_id(),
            scope=self._persona.scope,
            at=self._messenger.clock(),
            role=self._persona.role,
            message_id=message_id,
        )
        await self._messenger.deliver(event)

    def _of_bot(self, message_id: str) -> Shown:
        """A message of the bot that this person sees. Raises `NotFound`."""
        shown = self._messages.find(self._persona.channel_id, message_id)
        if shown is None or shown.author or shown.private_to not in ("", self._persona.person):
            raise NotFound("this message is not shown any more: load the page again")
        return shown

    def _beside(self, shown: Shown, *, corrects: bool = False) -> AbstractContextManager[None]:
        """Inside the block, show private replies to the person next to the answer."""

        async def tell(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
            shown_id = self._messenger.say_beside(shown.channel, shown.id, self._persona.person, text, choices=choices)
            asked = self._messages.find(shown.channel, f"{shown.id}-correct-{self._persona.person}")
            if corrects and asked is not None:
                asked.text, asked.asks_correction = "", False
                self._messages.show(asked)
            return shown_id

        return replying_to(self._persona.person, tell)

    def _in_place_of(self, shown: Shown) -> AbstractContextManager[None]:
        """Inside the block, private replies to the person replace the message with the pressed button."""

        async def tell(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
            shown.text, shown.choices = text, tuple(choices)
            self._messages.show(shown)
            return shown.id

        return replying_to(self._persona.person, tell)
