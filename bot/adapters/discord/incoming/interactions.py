"""Handles interactions: buttons, forms, the slash command, the menu of messages.

A vote is stored first; the form is the reply to the same press. Discord voids an interaction without a reply within
three seconds, so slow ones are acknowledged and replied to later.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import discord
from cachetools import TTLCache

from bot.adapters import forms
from bot.adapters.command_words import SETTINGS, ParsedCommand, command_event
from bot.adapters.discord import views
from bot.adapters.discord.directory import ChannelInfo
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.incoming.private_replies import InteractionReply
from bot.adapters.discord.outgoing.posting import without_small_print
from bot.adapters.discord.plain_text import without_mention
from bot.adapters.discord.rest import ALREADY_ACKNOWLEDGED, FAULTS, code_of, translated_errors
from bot.adapters.discord.views import (
    CORRECTION,
    UNDO,
    UserInteraction,
    correction_form,
    entered_values,
    form_of,
    row,
    teaching_form,
)
from bot.adapters.private_reply import replying_to
from bot.errors import MessengerError
from bot.model import PersonEvent, PersonRetry, PersonVote
from memory.model import Role
from memory.model.saved_messages import FilledFrom

log = logging.getLogger(__name__)

_SOON_S = 2.0
"""How long a press waits for its vote to be stored before it is acknowledged."""
_VALUES = {views.UP: 1, views.DOWN: -1, UNDO: 0}
_FORMS, _FORM_KEPT = 500, timedelta(hours=1)
"""How many filled-in forms are remembered until they are sent, and for how long."""
_SAVED = "Saved ✔"
_OUT_OF_REACH = "You cannot use me there any more."
_NOT_LISTED = "You are not among the people I may work for here."


class Interactions:
    """Handles every interaction of one login."""

    def __init__(self, context: HandlerContext) -> None:
        self._context = context
        self._filled_in: TTLCache[str, tuple[FilledFrom, FilledFrom], datetime] = TTLCache(
            _FORMS, _FORM_KEPT, context.clock
        )
        """What forms for lessons were filled in with, by the part of their id that names the messages."""
        self.handlers: dict[str, Callable[[Any], object]] = {
            "press": lambda press: self._context.tasks.start(press[0].id, partial(self._pressed, *press)),
            "choice": lambda choice: self._context.tasks.start(choice[0].id, partial(self._chosen, *choice)),
            "interaction": self._form,
        }
        """By the library's name of an event, or the names of our buttons' events."""

    def _form(self, interaction: UserInteraction) -> None:
        """A form was submitted, whichever process opened it."""
        if (form := form_of(interaction)) is not None:
            self._context.tasks.start(interaction.id, partial(self._submitted, interaction, *form))

    # Buttons --------------------------------------------------------------------------------------------------

    async def _pressed(self, interaction: UserInteraction, act: str, answer: str) -> None:
        """A button under an answer, or one that carries the answer's id."""
        if not await self._admitted(interaction):
            return
        place = await self._place(interaction)
        about = answer or (place.message_id(interaction.message.id) if interaction.message else "")
        if act in _VALUES:
            await self._vote(interaction, place, about, _VALUES[act])
        elif act == views.STOP:
            await self._on_stop(interaction, place)
        else:
            await self._open(interaction, correction_form(about))

    async def _vote(self, interaction: UserInteraction, place: ChannelInfo, answer: str, value: int) -> None:
        """Store the vote and reply to the press: for 👎 with the form, even if the vote is not stored yet."""
        reply = InteractionReply(interaction, self._context.rest)
        scope, role = place.scope(str(interaction.user.id)), self._context.roles.of(interaction.user)
        # The same clock as for reactions, so that a person's latest vote counts, whichever way it came.
        at = self._context.clock()
        vote = PersonVote(event_id=str(interaction.id), scope=scope, message_id=answer, value=value, at=at, role=role)
        # The same key as reactions on that message, so that all are handled in order.
        key = (interaction.channel_id, int(answer.rpartition("-")[2] or 0))
        storing = self._context.tasks.start(key, lambda: self._deliver(vote, reply))
        is_stored, _ = await asyncio.wait({storing}, timeout=_SOON_S)
        if value < 0:
            if not interaction.response.is_done():
                await self._open(interaction, correction_form(answer))
        elif not is_stored:
            await (reply.wait() if value else self._try("acknowledging", interaction, interaction.response.defer()))
        await storing
        if value > 0 and not reply.has_replied:
            await reply.tell(_SAVED, view=row(UNDO, answer=answer))
        elif value == 0 and not reply.has_replied:
            await self._rewrite(interaction, "Taken back.")

    async def _on_stop(self, interaction: UserInteraction, place: ChannelInfo) -> None:
        """Stop the work, and remove a progress line that an earlier process left."""
        reply = InteractionReply(interaction, self._context.rest)
        if not await self._is_new(reply):
            return
        is_left_behind = not self._context.working.is_on(interaction.channel_id or 0)
        await self._carry_out(interaction, reply, place, ParsedCommand("stop"))
        if interaction.message is not None and is_left_behind:
            await self._context.rest(f"taking a line away in channel {place.id}", interaction.message.delete)

    async def _rewrite(self, interaction: UserInteraction, text: str) -> None:
        """Replace the text of the private message with the button."""
        if interaction.response.is_done():
            await self._try("answering", interaction, interaction.edit_original_response(content=text, view=None))
        else:
            await self._try("answering", interaction, interaction.response.edit_message(content=text, view=None))

    # Forms ----------------------------------------------------------------------------------------------------

    async def _submitted(self, interaction: UserInteraction, form: str, answer: str) -> None:
        reply = InteractionReply(interaction, self._context.rest)
        if not await self._is_new(reply):
            return
        named = self._context.mentions.plain
        fields = {name: await named(text, interaction.user) for name, text in entered_values(interaction).items()}
        event_id, at = str(interaction.id), interaction.created_at
        if form == views.ANSWER:
            channel, _, question = answer.partition("-")
            await self._command_in(interaction, reply, int(channel, 16), forms.answer_command(fields, question))
            return
        place = await self._place(interaction)
        scope, role = place.scope(str(interaction.user.id)), self._context.roles.of(interaction.user)
        events: list[PersonEvent] = []
        if form != CORRECTION:
            known = self._filled_in.get(answer) or views.message_ids_of_form(answer)
            sources = [
                replace(each, message_id=each.message_id and place.message_id(each.message_id)) for each in known
            ]
            events.append(
                forms.teaching_event(fields, event_id=event_id, scope=scope, at=at, role=role, filled_from=sources)
            )
        elif correction := forms.correction_event(
            fields, event_id=event_id, scope=scope, at=at, role=role, message_id=answer
        ):
            events.append(correction)
        if forms.AGAIN in fields:
            events.append(PersonRetry(event_id=f"{event_id}/retry", scope=scope, message_id=answer, at=at, role=role))
        for event in events:
            await self._deliver(event, reply)
        if not events:
            await reply.tell(forms.NO_TEXT)
        elif not reply.has_replied:
            await reply.tell(_SAVED)

    # Commands and menus ---------------------------------------------------------------------------------------

    async def command(self, interaction: UserInteraction, name: str, argument: str = "", message_id: str = "") -> None:
        """A slash command, or a menu entry that is one about a message."""
        if not await self._admitted(interaction):
            return
        reply = InteractionReply(interaction, self._context.rest)
        await reply.wait()
        place = await self._place(interaction)
        if name != SETTINGS:  # whose mentions are ids
            argument = await self._context.mentions.plain(argument, interaction.user)
        await self._carry_out(
            interaction,
            reply,
            place,
            ParsedCommand(name, argument),
            about=place.message_id(message_id) if message_id else "",
        )

    async def _chosen(self, interaction: UserInteraction, channel: int, typed: ParsedCommand, label: str) -> None:
        """A command that the bot offered as a button, for the presser, about the channel that the button names."""
        if typed.name == forms.OPENS_A_FORM:
            if channel == 0 and not await self._admitted(interaction):
                return
            found = await forms.prefilled(self._waiting(interaction, channel, typed.argument), ("", ""))
            if found is not None:
                form = views.answer_form(channel, typed.argument, found[0] or label, found[1])
                await self._open(interaction, form)
                return
        is_private = interaction.guild_id is None or (
            interaction.message is not None and interaction.message.flags.ephemeral
        )
        is_replaced = is_private and not typed.keeps_message
        reply = InteractionReply(interaction, self._context.rest, replaces=is_replaced, is_optional=typed.is_choice)
        if channel == 0 and not await self._admitted(interaction):
            return
        if typed.refuses_all and interaction.message is not None:
            # A form can only be the first reply to a press.
            place = await self._place(interaction)
            try:
                await self._open(interaction, correction_form(place.message_id(interaction.message.id)))
            finally:
                await self._carry_out(interaction, reply, place, typed)
            return
        await reply.wait()
        await self._command_in(interaction, reply, channel, typed)

    async def _waiting(self, interaction: UserInteraction, channel: int, named: str) -> tuple[str, str] | None:
        """The question that the form is for, and the text of its lesson; None if it does not wait any more."""
        if channel == 0:
            place, role = await self._place(interaction), self._context.roles.of(interaction.user)
        elif place_and_role := await self._context.role_in(channel, interaction.user.id):
            place, role = place_and_role
        else:
            return None
        return await self._context.queries.form_for(place.scope(str(interaction.user.id)), role, named)

    async def _command_in(
        self, interaction: UserInteraction, reply: InteractionReply, channel: int, typed: ParsedCommand
    ) -> None:
        """Carry out a command about a channel; 0 means the interaction's own."""
        if channel == 0:
            await self._carry_out(interaction, reply, await self._place(interaction), typed)
        elif place_and_role := await self._context.role_in(channel, interaction.user.id):
            place, role = place_and_role
            reply.place = channel
            await self._carry_out(interaction, reply, place, typed, role=role)
        else:
            await reply.tell(_OUT_OF_REACH)

    async def _carry_out(
        self,
        interaction: UserInteraction,
        reply: InteractionReply,
        place: ChannelInfo,
        typed: ParsedCommand,
        *,
        role: Role | None = None,
        about: str = "",
    ) -> None:
        event = command_event(
            typed,
            event_id=str(interaction.id),
            scope=place.scope(str(interaction.user.id)),
            at=interaction.created_at,
            role=role or self._context.roles.of(interaction.user),
            message_id=about,
        )
        await self._context.tasks.start(event.event_id, lambda: self._deliver(event, reply))
        if not reply.has_replied and not typed.is_choice:
            await reply.tell("Done.")

    async def why(self, interaction: UserInteraction, message: discord.Message) -> None:
        """The menu entry that explains a message of the bot."""
        await self.command(interaction, "why", message_id=str(message.id))

    async def teach(self, interaction: UserInteraction, message: discord.Message) -> None:
        """The menu entry that opens the form for a lesson, filled in from the message and what it replies to.

        A message that replies to nothing is the question if it asks something, else the answer.
        """
        if not await self._admitted(interaction):
            return
        replied = message.reference.resolved if message.reference else None
        question, answer = FilledFrom(), await self._filled_from(interaction, message)
        if isinstance(replied, discord.Message):
            question = await self._filled_from(interaction, replied)
        elif forms.is_question(answer.text):
            question, answer = answer, FilledFrom()
        answer = replace(answer, is_answer=True)
        self._filled_in[views.packed(question, answer)] = question, answer
        await self._open(interaction, teaching_form(question, answer))

    async def _filled_from(self, interaction: UserInteraction, message: discord.Message) -> FilledFrom:
        author = "" if message.author.id == self._context.client.me else str(message.author.id)
        text = await self._plain(interaction, message)
        return FilledFrom(message_id=str(message.id), person=author, text=text)

    async def _plain(self, interaction: UserInteraction, message: discord.Message) -> str:
        if message.author.id == self._context.client.me:
            return without_small_print(message.content)
        text = without_mention(message.content, self._context.client.me)
        return await self._context.mentions.plain(text, interaction.user, message.mentions)

    # Shared ---------------------------------------------------------------------------------------------------

    async def _deliver(self, event: PersonEvent, reply: InteractionReply) -> None:
        with replying_to(event.scope.person, reply.tell):
            await self._context.sink(event)

    async def _is_new(self, reply: InteractionReply) -> bool:
        """Acknowledge an interaction if possible; it is handled even if no reply is possible.

        False if it was acknowledged, and so handled, before.
        """
        try:
            await reply.wait()
        except MessengerError as error:
            log.warning("handled an interaction without replying: %s", error)
            return code_of(error) != ALREADY_ACKNOWLEDGED
        return True

    async def _admitted(self, interaction: UserInteraction) -> bool:
        channels = (interaction.channel_id, getattr(interaction.channel, "parent_id", None))
        if await self._context.admits(interaction.user, channels, interaction.guild_id):
            return True
        await InteractionReply(interaction, self._context.rest).tell(_NOT_LISTED)
        return False

    async def _place(self, interaction: UserInteraction) -> ChannelInfo:
        return await self._context.channels.of(interaction.channel_id or 0, interaction.guild_id)

    async def _open(self, interaction: UserInteraction, form: discord.ui.Modal) -> None:
        await self._try("opening a form for", interaction, interaction.response.send_modal(form))

    async def _try(self, doing: str, interaction: UserInteraction, call: Coroutine[Any, Any, Any]) -> None:
        """Make the first reply, which cannot be repeated. Raises `MessengerError`."""
        try:
            await call
        except FAULTS as exc:
            raise translated_errors(exc, f"{doing} interaction {interaction.id}") from exc
