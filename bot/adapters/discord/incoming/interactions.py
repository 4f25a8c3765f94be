"""Handles interactions: buttons, forms, the slash command, the menu of messages.

A vote is stored first; the form is the answer to the same press. Discord voids a press that is not answered within
three seconds, so whatever takes longer is acknowledged and answered later.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import discord

from bot.adapters import forms
from bot.adapters.command_words import SETTINGS, ParsedCommand, command_event
from bot.adapters.discord import views
from bot.adapters.discord.directory import ChannelInfo
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.incoming.private_replies import InteractionReply
from bot.adapters.discord.outgoing.posting import without_small_print
from bot.adapters.discord.plain_text import without_mention
from bot.adapters.discord.rest import ALREADY_ACKNOWLEDGED, FAULTS, code_of, translated
from bot.adapters.discord.views import (
    CORRECTION,
    UNDO,
    UserInteraction,
    correction_form,
    entered,
    form_of,
    row,
    teaching_form,
)
from bot.adapters.private_reply import replying_to
from bot.errors import MessengerError
from bot.model import PersonEvent, PersonRetry, PersonVote
from memory.model import Role

log = logging.getLogger(__name__)

_SOON_S = 2.0
"""How long a press waits for its vote to be stored before it is acknowledged without."""
_VALUES = {views.UP: 1, views.DOWN: -1, UNDO: 0}
_SAVED = "Saved ✔"
_NO_TEXT = "There was no text, so I saved no correction. Your 👎 stays."
_OUT_OF_REACH = "You cannot use me there any more."
_NOT_LISTED = "You are not among the people I may work for here."


class Interactions:
    """Takes every interaction of one login."""

    def __init__(self, handlers: HandlerContext) -> None:
        self._context = handlers
        self.handlers: dict[str, Callable[[Any], object]] = {
            "press": lambda press: self._context.tasks.start(press[0].id, partial(self._pressed, *press)),
            "choice": lambda choice: self._context.tasks.start(choice[0].id, partial(self._chosen, *choice)),
            "interaction": self._form,
        }
        """By the library's name of an event, and those of our buttons."""

    def _form(self, use: UserInteraction) -> None:
        """A form was submitted, whichever process opened it."""
        if (form := form_of(use)) is not None:
            self._context.tasks.start(use.id, partial(self._submitted, use, *form))

    # Buttons --------------------------------------------------------------------------------------------------

    async def _pressed(self, use: UserInteraction, act: str, answer: str) -> None:
        """A button under an answer, or one that carries the answer's id."""
        if not await self._admitted(use):
            return
        place = await self._place(use)
        about = answer or (place.message_id(use.message.id) if use.message else "")
        if act in _VALUES:
            await self._vote(use, place, about, _VALUES[act])
        elif act == views.STOP:
            await self._on_stop(use, place)
        else:
            await self._open(use, correction_form(about))

    async def _vote(self, use: UserInteraction, place: ChannelInfo, answer: str, value: int) -> None:
        """Store the vote and answer the press: 👎 with the form, whether or not it is stored in time."""
        way = InteractionReply(use, self._context.rest)
        scope, role = place.scope(str(use.user.id)), self._context.roles.of(use.user)
        # The same clock as for reactions: the later one of a person counts, whichever way it came.
        at = self._context.clock()
        vote = PersonVote(event_id=str(use.id), scope=scope, message_id=answer, value=value, at=at, role=role)
        # With the reactions on the same message, in the order they came.
        key = (use.channel_id, int(answer.rpartition("-")[2] or 0))
        storing = self._context.tasks.start(key, lambda: self._deliver(vote, way))
        is_stored, _ = await asyncio.wait({storing}, timeout=_SOON_S)
        if value < 0:
            if not use.response.is_done():
                await self._open(use, correction_form(answer))
        elif not is_stored:
            await (way.wait() if value else self._try("acknowledging", use, use.response.defer()))
        await storing
        if value > 0 and not way.has_replied:
            await way.tell(_SAVED, view=row(UNDO, answer=answer))
        elif value == 0 and not way.has_replied:
            await self._rewrite(use, "Taken back.")

    async def _on_stop(self, use: UserInteraction, place: ChannelInfo) -> None:
        """Stop the work. A line that an earlier process left goes with its button."""
        way = InteractionReply(use, self._context.rest)
        if not await self._is_new(way):
            return
        is_left_behind = not self._context.working.is_on(use.channel_id or 0)
        await self._carry_out(use, way, place, ParsedCommand("stop"))
        if use.message is not None and is_left_behind:
            await self._context.rest(f"taking a line away in channel {place.id}", use.message.delete)

    async def _rewrite(self, use: UserInteraction, text: str) -> None:
        """Let the private message with the button say something else."""
        if use.response.is_done():
            await self._try("answering", use, use.edit_original_response(content=text, view=None))
        else:
            await self._try("answering", use, use.response.edit_message(content=text, view=None))

    # Forms ----------------------------------------------------------------------------------------------------

    async def _submitted(self, use: UserInteraction, form: str, answer: str) -> None:
        way = InteractionReply(use, self._context.rest)
        if not await self._is_new(way):
            return
        named = self._context.mentions.plain
        fields = {name: await named(text, use.user) for name, text in entered(use).items()}
        event_id, at = str(use.id), use.created_at
        if form == views.ANSWER:
            channel, _, question = answer.partition("-")
            await self._command_in(use, way, int(channel, 16), forms.answer_command(fields, question))
            return
        place = await self._place(use)
        scope, role = place.scope(str(use.user.id)), self._context.roles.of(use.user)
        events: list[PersonEvent] = []
        if form != CORRECTION:
            events.append(forms.teaching_event(fields, event_id=event_id, scope=scope, at=at, role=role))
        elif correction := forms.correction_event(
            fields, event_id=event_id, scope=scope, at=at, role=role, message_id=answer
        ):
            events.append(correction)
        if forms.AGAIN in fields:
            events.append(PersonRetry(event_id=f"{event_id}/retry", scope=scope, message_id=answer, at=at, role=role))
        for event in events:
            await self._deliver(event, way)
        if not events:
            await way.tell(_NO_TEXT)
        elif not way.has_replied:
            await way.tell(_SAVED)

    # Commands and menus ---------------------------------------------------------------------------------------

    async def command(self, use: UserInteraction, name: str, argument: str = "", message_id: str = "") -> None:
        """A slash command, or a menu entry that is one about a message."""
        if not await self._admitted(use):
            return
        way = InteractionReply(use, self._context.rest)
        await way.wait()
        place = await self._place(use)
        if name != SETTINGS:  # whose mentions are ids
            argument = await self._context.mentions.plain(argument, use.user)
        await self._carry_out(
            use, way, place, ParsedCommand(name, argument), about=place.message_id(message_id) if message_id else ""
        )

    async def _chosen(self, use: UserInteraction, channel: int, typed: ParsedCommand, label: str) -> None:
        """A command that the bot offered as a button: the presser's own, about the place that the button names."""
        if typed.name == forms.OPENS_A_FORM:
            if channel != 0 or await self._admitted(use):
                answer = await forms.prefilled(self._waiting(use, channel, typed.argument))
                await self._open(use, views.answer_form(channel, typed.argument, label, answer))
            return
        is_private = use.guild_id is None or (use.message is not None and use.message.flags.ephemeral)
        is_replaced = is_private and not typed.leaves_its_message
        way = InteractionReply(use, self._context.rest, replaces=is_replaced, is_optional=typed.is_choice)
        if channel == 0 and not await self._admitted(use):
            return
        if typed.refuses_all and use.message is not None:
            # A form can only be the first answer to a press.
            place = await self._place(use)
            try:
                await self._open(use, correction_form(place.message_id(use.message.id)))
            finally:
                await self._carry_out(use, way, place, typed)
            return
        await way.wait()
        await self._command_in(use, way, channel, typed)

    async def _waiting(self, use: UserInteraction, channel: int, ending: str) -> str:
        """What the lesson to be changed says."""
        if channel == 0:
            place, role = await self._place(use), self._context.roles.of(use.user)
        elif standing := await self._context.standing_in(channel, use.user.id):
            place, role = standing
        else:
            return ""
        return await self._context.queries.lesson_text(place.scope(str(use.user.id)), role, ending)

    async def _command_in(
        self, use: UserInteraction, way: InteractionReply, channel: int, typed: ParsedCommand
    ) -> None:
        """A command about this channel, or about the one the interaction came from for 0."""
        if channel == 0:
            await self._carry_out(use, way, await self._place(use), typed)
        elif standing := await self._context.standing_in(channel, use.user.id):
            place, role = standing
            await self._carry_out(use, way, place, typed, role=role)
        else:
            await way.tell(_OUT_OF_REACH)

    async def _carry_out(
        self,
        use: UserInteraction,
        way: InteractionReply,
        place: ChannelInfo,
        typed: ParsedCommand,
        *,
        role: Role | None = None,
        about: str = "",
    ) -> None:
        event = command_event(
            typed,
            event_id=str(use.id),
            scope=place.scope(str(use.user.id)),
            at=use.created_at,
            role=role or self._context.roles.of(use.user),
            message_id=about,
        )
        await self._context.tasks.start(event.event_id, lambda: self._deliver(event, way))
        if not way.has_replied and not typed.is_choice:
            await way.tell("Done.")

    async def why(self, use: UserInteraction, message: discord.Message) -> None:
        """Why a message of the bot's says what it says."""
        await self.command(use, "why", message_id=str(message.id))

    async def teach(self, use: UserInteraction, message: discord.Message) -> None:
        """The form for a lesson, filled in from the message and what it replies to."""
        if not await self._admitted(use):
            return
        replied = message.reference.resolved if message.reference else None
        if isinstance(replied, discord.Message):
            question, answer = await self._plain(use, replied), await self._plain(use, message)
        else:
            question, answer = await self._plain(use, message), ""
        await self._open(use, teaching_form(question, answer))

    async def _plain(self, use: UserInteraction, message: discord.Message) -> str:
        if message.author.id == self._context.client.me:
            return without_small_print(message.content)
        text = without_mention(message.content, self._context.client.me)
        return await self._context.mentions.plain(text, use.user, message.mentions)

    # Shared ---------------------------------------------------------------------------------------------------

    async def _deliver(self, event: PersonEvent, way: InteractionReply) -> None:
        with replying_to(event.scope.person, way.tell):
            await self._context.sink(event)

    async def _is_new(self, way: InteractionReply) -> bool:
        """Acknowledge it if possible. What a person wrote or stopped counts, also when nothing can be said to them.

        False for one that was acknowledged, and so taken in, when it came before.
        """
        try:
            await way.wait()
        except MessengerError as error:
            log.warning("handled an interaction without replying: %s", error)
            return code_of(error) != ALREADY_ACKNOWLEDGED
        return True

    async def _admitted(self, use: UserInteraction) -> bool:
        channels = (use.channel_id, getattr(use.channel, "parent_id", None))
        if await self._context.admits(use.user, channels, use.guild_id):
            return True
        await InteractionReply(use, self._context.rest).tell(_NOT_LISTED)
        return False

    async def _place(self, use: UserInteraction) -> ChannelInfo:
        return await self._context.channels.of(use.channel_id or 0, use.guild_id)

    async def _open(self, use: UserInteraction, form: discord.ui.Modal) -> None:
        await self._try("opening a form for", use, use.response.send_modal(form))

    async def _try(self, doing: str, use: UserInteraction, call: Coroutine[Any, Any, Any]) -> None:
        """A first answer, which cannot be repeated. Raises `MessengerError` kinds."""
        try:
            await call
        except FAULTS as exc:
            raise translated(exc, f"{doing} interaction {use.id}") from exc
