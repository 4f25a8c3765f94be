"""Private replies on Discord: to an interaction, by direct message, or as a plain reply."""

from collections.abc import Sequence
from contextlib import suppress

import discord

from bot.adapters.command_words import CHOOSE
from bot.adapters.discord.directory import ChannelInfo
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.menu import how_to_type
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
    """The reply to an interaction, which only the person who used it sees."""

    def __init__(
        self, interaction: UserInteraction, rest: Rest, *, replaces: bool = False, is_optional: bool = False
    ) -> None:
        self._interaction = interaction
        self._rest = rest
        self._replaces = replaces
        """Whether the first message replaces the one whose button was pressed."""
        self._is_optional = is_optional
        """Whether there may be no reply: then none is announced, and the message with the button stays."""
        self.has_replied = False
        self.place = 0
        """The channel that its buttons are about, as in `choice_view`."""
        self._is_acknowledged = False

    async def wait(self) -> None:
        """Acknowledge the interaction: without a reply or this, it is void after three seconds."""
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
                # In a later try: the first one succeeded, and only its response was lost.
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
        """Send a reply, in several messages if it is long, with buttons under the last."""
        await self.wait()
        sent, view = "", view or choice_view(choices, self.place)
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
    """The way to reply to a typed command: below it, or by direct message if others would read it."""
    posting, channel = context.posting, message.channel.id

    async def under_it(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        # Where others read it there are buttons only for the answers to a question, which nobody else can give.
        is_question = bool(choices) and all(each.command == CHOOSE for each in choices)
        view = choice_view(choices) if place.is_direct or is_question else None
        return place.message_id(await posting.reply(channel, message.id, text, file, view))

    async def directly(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        try:
            view = choice_view(choices, int(place.channel))
            sent = await posting.direct(str(message.author.id), text, file, view)
        except NotPermitted:
            instead = how_to_type(command, context.command_name, context.name)
            how = f"Use `{instead}`" if instead.startswith("/") else "Allow them in this server's privacy settings"
            hint = f"That is for you alone, and I cannot send you direct messages. {how}."
            return await posting.reply(channel, message.id, hint)
        await posting.reply(channel, message.id, "I sent it to you as a direct message.")
        return sent

    return under_it if place.is_direct or command in _FOR_ALL else directly


def by_direct_message(context: HandlerContext, person: str) -> PrivateReply:
    """A reply by direct message; nothing is sent to a person who accepts none."""

    async def tell(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        with suppress(NotPermitted):
            return await context.posting.direct(person, text, file)
        return ""

    return tell


def by_direct_message_or_below(context: HandlerContext, message: discord.Message) -> PrivateReply:
    """A reply by direct message, or below the message if the person accepts no direct messages."""
    posting = context.posting

    async def tell(text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        if message.guild is not None:
            with suppress(NotPermitted):
                return await posting.direct(str(message.author.id), text, file)
        return await posting.reply(message.channel.id, message.id, text, file)

    return tell
