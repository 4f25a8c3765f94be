"""Handles interactions: buttons, forms, the slash command, the menu of messages.

A vote is stored first; the form is the answer to the same press. Discord voids a press that is not answered within
three seconds, so whatever takes longer is acknowledged and answered later.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

import discord

from bot.adapters import forms
from bot.adapters.command_words import Typed, command_event
from bot.adapters.discord import views
from bot.adapters.discord.channel_access import ChannelAccess, standing_in
from bot.adapters.discord.channels import ChannelInfo
from bot.adapters.discord.context import HandlerContext
from bot.adapters.discord.plain import plain, without_mention
from bot.adapters.discord.posting import without_small_print
from bot.adapters.discord.private_replies import InteractionReply
from bot.adapters.discord.private_reply import private_replies
from bot.adapters.discord.rest import ALREADY_ACKNOWLEDGED, FAULTS, code_of, translated
from bot.adapters.discord.views import (
    CORRECTION,
    UNDO,
    Use,
    correction_form,
    entered,
    form_of,
    row,
    teaching_form,
)
from bot.errors import MessengerError
from bot.model import PersonCorrection, PersonEvent, PersonRetry, PersonTeaching, PersonVote
from memory.model import Audience, Role, Scope

log = logging.getLogger(__name__)

_SOON_S = 2.0
"""How long a press waits for its vote to be stored before it is acknowledged without."""

_SAVED = "Saved ✔"
_NO_TEXT = "There was no text, so I saved no correction. Your 👎 stays."
_OUT_OF_REACH = "You cannot use me there any more."
_NOT_LISTED = "You are not among the people I may work for here."


class Interactions:
    """Takes every interaction of one login."""

    def __init__(self, handlers: HandlerContext) -> None:
        self._context = handlers

    def on_event(self, name: str, payload: object) -> None:
        """Take in a submitted form, whichever process opened it."""
        if isinstance(payload, discord.Interaction) and (form := form_of(payload)) is not None:
            self._context.tasks.start(payload.id, lambda: self._submitted(payload, *form))

    # Buttons --------------------------------------------------------------------------------------------------

    async def pressed(self, use: Use, act: str, answer: str) -> None:
        """A button under an answer, or one that carries the answer's id."""
        if not await self._admitted(use):
            return
        place = await self._place(use)
        about = answer or (place.message_id(use.message.id) if use.message else "")
        match act:
            case views.UP:
                await self._on_up(use, place, about)
            case views.DOWN:
                await self._on_down(use, place, about)
            case views.UNDO:
                await self._on_undo(use, place, about)
            case views.STOP:
                await self._on_stop(use, place)
            case _:
                await self._open(use, correction_form(about))

    async def _on_up(self, use: Use, place: ChannelInfo, answer: str) -> None:
        way = InteractionReply(use, self._context.rest)
        storing = self._store_vote(use, place, answer, 1, way)
        if not await _is_soon_done(storing):
            await way.wait()
        await storing
        if not way.has_replied:
            await way.tell(_SAVED, view=row(UNDO, answer=answer))

    async def _on_down(self, use: Use, place: ChannelInfo, answer: str) -> None:
        """The form comes whether or not the vote is stored in time; cancelling it keeps the vote."""
        way = InteractionReply(use, self._context.rest)
        storing = self._store_vote(use, place, answer, -1, way)
        await _is_soon_done(storing)
        if not use.response.is_done():
            await self._open(use, correction_form(answer))
        await storing

    async def _on_undo(self, use: Use, place: ChannelInfo, answer: str) -> None:
        way = InteractionReply(use, self._context.rest)
        storing = self._store_vote(use, place, answer, 0, way)
        if not await _is_soon_done(storing):
            await self._try("acknowledging", use, use.response.defer())
        await storing
        if not way.has_replied:
            await self._rewrite(use, "Taken back.")

    async def _on_stop(self, use: Use, place: ChannelInfo) -> None:
        """Stop the work. A line that an earlier process left goes with its button."""
        way = InteractionReply(use, self._context.rest)
        if not await self._is_new(way):
            return
        is_left_behind = not self._context.working.is_on(use.channel_id or 0)
        standing = ChannelAccess(place=place, role=self._context.roles.of(use.user))
        await self._carry_out(use, way, standing, Typed("stop"))
        if use.message is not None and is_left_behind:
            await self._context.rest(f"taking a line away in channel {place.id}", use.message.delete)

    async def _rewrite(self, use: Use, text: str) -> None:
        """Let the private message with the button say something else."""
        if use.response.is_done():
            await self._try("answering", use, use.edit_original_response(content=text, view=None))
        else:
            await self._try("answering", use, use.response.edit_message(content=text, view=None))

    def _store_vote(
        self, use: Use, place: ChannelInfo, answer: str, value: int, way: InteractionReply
    ) -> "asyncio.Task[None]":
        scope, role = self._scope(use, place), self._context.roles.of(use.user)
        # The same clock as for reactions: the later one of a person counts, whichever way it came.
        at = self._context.clock()
        vote = PersonVote(event_id=str(use.id), scope=scope, message_id=answer, value=value, at=at, role=role)
        # With the reactions on the same message, in the order they came.
        key = (use.channel_id, int(answer.rpartition("-")[2] or 0))
        return self._context.tasks.start(key, lambda: self._deliver(vote, scope, way))

    # Forms ----------------------------------------------------------------------------------------------------

    async def _submitted(self, use: Use, form: str, answer: str) -> None:
        way = InteractionReply(use, self._context.rest)
        if not await self._is_new(way):
            return
        place = await self._place(use)
        scope, role = self._scope(use, place), self._context.roles.of(use.user)
        fields = entered(use)
        if form == CORRECTION:
            await self._on_correction(use, way, scope, role, answer, fields)
        else:
            await self._deliver(
                PersonTeaching(
                    event_id=str(use.id),
                    scope=scope,
                    question=fields.get(forms.QUESTION, ""),
                    answer=fields.get(forms.ANSWER, ""),
                    at=use.created_at,
                    audience=Audience(fields.get(forms.AUDIENCE, Audience.PERSONAL)),
                    role=role,
                ),
                scope,
                way,
            )
        if not way.has_replied:
            await way.tell(_SAVED)

    async def _on_correction(
        self, use: Use, way: InteractionReply, scope: Scope, role: Role, answer: str, fields: dict[str, str]
    ) -> None:
        if text := fields.get(forms.BETTER, ""):
            correction = PersonCorrection(
                event_id=str(use.id),
                scope=scope,
                text=text,
                at=use.created_at,
                role=role,
                message_id=answer,
                reason=fields.get(forms.REASON, ""),
            )
            await self._deliver(correction, scope, way)
        if forms.AGAIN in fields:
            retry = PersonRetry(
                event_id=f"{use.id}/retry", scope=scope, message_id=answer, at=use.created_at, role=role
            )
            await self._deliver(retry, scope, way)
        if not text and forms.AGAIN not in fields:
            await way.tell(_NO_TEXT)

    # Commands and menus ---------------------------------------------------------------------------------------

    async def command(self, use: Use, name: str, argument: str = "", message_id: str = "") -> None:
        """A slash command, or a menu entry that is one about a message."""
        if not await self._admitted(use):
            return
        way = InteractionReply(use, self._context.rest)
        await way.wait()
        place = await self._place(use)
        about = place.message_id(message_id) if message_id else ""
        await self._carry_out(
            use, way, ChannelAccess(place=place, role=self._context.roles.of(use.user)), Typed(name, argument), about
        )

    async def chosen(self, use: Use, channel: int, typed: Typed) -> None:
        """A command that the bot offered as a button: the presser's own, about the place that the button names."""
        is_private = use.guild_id is None or (use.message is not None and use.message.flags.ephemeral)
        way = InteractionReply(use, self._context.rest, replaces=is_private)
        if channel == 0:
            if not await self._admitted(use):
                return
            await way.wait()
            standing: ChannelAccess | None = ChannelAccess(
                place=await self._place(use), role=self._context.roles.of(use.user)
            )
        else:
            await way.wait()
            standing = await standing_in(self._context, channel, use.user.id)
        if standing is None:
            await way.tell(_OUT_OF_REACH)
            return
        await self._carry_out(use, way, standing, typed)

    async def _carry_out(
        self, use: Use, way: InteractionReply, standing: ChannelAccess, typed: Typed, about: str = ""
    ) -> None:
        place, event_id = standing.place, str(use.id)
        scope = self._scope(use, place)
        event = command_event(
            typed,
            event_id=event_id,
            scope=scope,
            at=use.created_at,
            role=standing.role,
            message_id=about or self._context.posting.last_answer(place.id),
        )
        await self._context.tasks.start(event_id, lambda: self._deliver(event, scope, way))
        if not way.has_replied:
            await way.tell("Done.")

    async def why(self, use: Use, message: discord.Message) -> None:
        """Why a message of the bot's says what it says."""
        await self.command(use, "why", message_id=str(message.id))

    async def teach(self, use: Use, message: discord.Message) -> None:
        """The form for a lesson, filled in from the message and what it replies to."""
        if not await self._admitted(use):
            return
        replied = message.reference.resolved if message.reference else None
        if isinstance(replied, discord.Message):
            question, answer = self._plain(replied), self._plain(message)
        else:
            question, answer = self._plain(message), ""
        await self._open(use, teaching_form(question, answer))

    def _plain(self, message: discord.Message) -> str:
        names = {str(user.id): user.display_name for user in message.mentions}
        if message.author.id == self._context.me:
            return without_small_print(message.content)
        return plain(without_mention(message.content, self._context.me), names)

    # Shared ---------------------------------------------------------------------------------------------------

    async def _deliver(self, event: PersonEvent, scope: Scope, way: InteractionReply) -> None:
        with private_replies.by(scope.person, way):
            await self._context.sink(event)

    async def _is_new(self, way: InteractionReply) -> bool:
        """Acknowledge it if possible. What a person wrote or stopped counts, also when nothing can be said to them.

        False for one that was acknowledged, and so taken in, when it came before.
        """
        try:
            await way.wait()
        except MessengerError as error:
            log.warning("a person's act is taken in without a word: %s", error)
            return code_of(error) != ALREADY_ACKNOWLEDGED
        return True

    async def _admitted(self, use: Use) -> bool:
        channels = (use.channel_id, getattr(use.channel, "parent_id", None))
        if self._context.roles.admit(use.user, channels, is_direct=use.guild_id is None):
            return True
        await InteractionReply(use, self._context.rest).tell(_NOT_LISTED)
        return False

    async def _place(self, use: Use) -> ChannelInfo:
        return await self._context.channels.of(use.channel_id or 0, use.guild_id)

    @staticmethod
    def _scope(use: Use, place: ChannelInfo) -> Scope:
        return place.scope(str(use.user.id))

    async def _open(self, use: Use, form: discord.ui.Modal) -> None:
        await self._try("opening a form for", use, use.response.send_modal(form))

    async def _try(self, doing: str, use: Use, call: Coroutine[Any, Any, Any]) -> None:
        """A first answer, which cannot be repeated. Raises `MessengerError` kinds."""
        try:
            await call
        except FAULTS as exc:
            raise translated(exc, f"{doing} interaction {use.id}") from exc


async def _is_soon_done(task: "asyncio.Task[None]") -> bool:
    done, _ = await asyncio.wait({task}, timeout=_SOON_S)
    return bool(done)
