"""The kinds of private reply: an answer only one person sees, a direct message, or a plain reply."""

from collections.abc import Sequence
from contextlib import suppress

import discord

from bot.adapters.discord.directory import ChannelInfo
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.menu import spelled
from bot.adapters.discord.outgoing.markdown import to_discord_quietly
from bot.adapters.discord.outgoing.posting import as_file, in_parts
from bot.adapters.discord.rest import ALREADY_ACKNOWLEDGED, Rest
from bot.adapters.discord.views import UserInteraction, choice_view
from bot.adapters.private_reply import PrivateReply
from bot.errors import NotPermitted
from bot.model import Attachment, Choice

_FOR_ALL = ("help", "privacy", "stop", "correct")
"""Commands whose answers tell nothing about a person."""


class InteractionReply:
    """Answers a button, form, command or menu, so that only the person who used it sees it."""

    def __init__(
        self, interaction: UserInteraction, rest: Rest, *, replaces: bool = False, is_optional: bool = False
    ) -> None:
        self._interaction = interaction
        self._rest = rest
        self._replaces = replaces
        """Whether the first of it takes the place of the message whose button was pressed."""
        self._is_optional = is_optional
        """Whether nothing need be said: the message whose button was pressed stays, and no reply is announced."""
        self.has_replied = False
        self._is_acknowledged = False

    async def wait(self) -> None:
        """Tell Discord that the answer will take a moment: without it a use is void after three seconds."""
        if self._is_acknowledged or self._interaction.response.is_done():
            return
        tries = 0

        async def defer() -> None:
            nonlocal tries
            tries += 1
            try:
                await self._interaction.response.defer(
                    ephemeral=True, thinking=not (self._replaces or self._is_optional)
                )
            except discord.HTTPException as exc:
                # The first try did it, and only its answer was lost. At the first one, somebody else had done it.
                if tries == 1 or exc.code != ALREADY_ACKNOWLEDGED:
                    raise

        await self._rest(self._what("acknowledging"), defer)
        self._is_acknowledged = True

    async def tell(
        self,
        text: str,
        file: Attachment | None = None,
        choices: Sequence[Choice] = (),
        *,
        view: discord.ui.View | None = None,
    ) -> str:
        """Send the reply. Each further part is a message of its own; buttons are under the last."""
        await self.wait()
        sent, view = "", view or choice_view(choices)
        parts = in_parts(text, shown=to_discord_quietly)
        for number, part in enumerate(parts, start=1):
            under = view if number == len(parts) else None
            sent = await self._part(to_discord_quietly(part), file if number == 1 else None, under)
        return sent

    async def _part(self, text: str, file: Attachment | None, view: discord.ui.View | None) -> str:
        interaction, none = self._interaction, discord.AllowedMentions.none()
        if not self.has_replied and not self._is_optional:
            self.has_replied = True

            async def fill() -> discord.InteractionMessage:
                attached = as_file(file)
                files = [attached] if attached else []
                return await interaction.edit_original_response(
                    content=text, attachments=files, view=view, allowed_mentions=none
                )

            return str((await self._rest(self._what("answering"), fill)).id)

        async def follow() -> discord.WebhookMessage:
            under = view or discord.utils.MISSING
            return await interaction.followup.send(text, ephemeral=True, wait=True, allowed_mentions=none, view=under)

        return str((await self._rest(self._what("answering"), follow, again=False)).id)

    def _what(self, doing: str) -> str:
        return f"{doing} interaction {self._interaction.id}"


def private_reply_for(
    context: HandlerContext, command: str, place: ChannelInfo, message: discord.Message
) -> PrivateReply:
    """How to reply to a typed command: below it, or by direct message where others would read it."""
    posting, channel = context.posting, message.channel.id

    async def under_it(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        # Where others read it there are no buttons.
        view = choice_view(choices) if place.is_direct else None
        return await posting.reply(channel, message.id, text, file, view)

    async def directly(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        try:
            view = choice_view(choices, int(place.channel))
            sent = await posting.direct(str(message.author.id), text, file, view)
        except NotPermitted:
            instead = spelled(command, context.command_name, context.name)
            hint = f"That is for you alone, and I cannot send you direct messages. Use `{instead}`."
            return await posting.reply(channel, message.id, hint)
        await posting.reply(channel, message.id, "I sent it to you as a direct message.")
        return sent

    return under_it if place.is_direct or command in _FOR_ALL else directly


def directly(context: HandlerContext, person: str) -> PrivateReply:
    """A direct message about something that others need not see; nothing to somebody who takes none."""

    async def tell(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        with suppress(NotPermitted):
            return await context.posting.direct(person, text, file)
        return ""

    return tell


def alone(context: HandlerContext, message: discord.Message) -> PrivateReply:
    """A direct message, where the message is not one anyway; a reply only to somebody who takes none."""
    posting = context.posting

    async def tell(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        if message.guild is not None:
            with suppress(NotPermitted):
                return await posting.direct(str(message.author.id), text, file)
        return await posting.reply(message.channel.id, message.id, text, file)

    return tell
