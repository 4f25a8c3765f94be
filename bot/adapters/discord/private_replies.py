"""The kinds of private reply: an answer only one person sees, a direct message, or a plain reply."""

from collections.abc import Sequence

import discord

from bot.adapters.discord.channels import ChannelInfo
from bot.adapters.discord.choices import choice_view
from bot.adapters.discord.context import HandlerContext
from bot.adapters.discord.markdown import to_discord_quietly
from bot.adapters.discord.menu import spelled
from bot.adapters.discord.posting import Posting, as_file, in_parts
from bot.adapters.discord.rest import ALREADY_ACKNOWLEDGED, Rest
from bot.adapters.discord.views import Use
from bot.errors import NotPermitted
from bot.model import Attachment, Choice

_FOR_ALL = ("help", "privacy", "stop", "correct")
"""Commands whose answers tell nothing about a person."""


class InteractionReply:
    """Answers a button, form, command or menu, so that only the person who used it sees it."""

    def __init__(self, use: Use, rest: Rest, *, replaces: bool = False) -> None:
        self._use = use
        self._rest = rest
        self._replaces = replaces
        """Whether the first of it takes the place of the message whose button was pressed."""
        self.has_replied = False
        self._is_acknowledged = False

    async def wait(self) -> None:
        """Tell Discord that the answer will take a moment: without it a use is void after three seconds."""
        if self._is_acknowledged or self._use.response.is_done():
            return
        tries = 0

        async def defer() -> None:
            nonlocal tries
            tries += 1
            try:
                await self._use.response.defer(ephemeral=True, thinking=not self._replaces)
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
        """Say it. Parts after the first are messages of their own; buttons stand under the last."""
        await self.wait()
        sent, view = "", view or choice_view(choices)
        parts = in_parts(text, shown=to_discord_quietly)
        for number, part in enumerate(parts, start=1):
            under = view if number == len(parts) else None
            sent = await self._part(to_discord_quietly(part), file if number == 1 else None, under)
        return sent

    async def _part(self, text: str, file: Attachment | None, view: discord.ui.View | None) -> str:
        use, none = self._use, discord.AllowedMentions.none()
        if not self.has_replied:
            self.has_replied = True

            async def fill() -> discord.InteractionMessage:
                attached = as_file(file)
                files = [attached] if attached else []
                return await use.edit_original_response(
                    content=text, attachments=files, view=view, allowed_mentions=none
                )

            return str((await self._rest(self._what("answering"), fill)).id)

        async def follow() -> discord.WebhookMessage:
            under = view or discord.utils.MISSING
            return await use.followup.send(text, ephemeral=True, wait=True, allowed_mentions=none, view=under)

        return str((await self._rest(self._what("answering"), follow, again=False)).id)

    def _what(self, doing: str) -> str:
        return f"{doing} interaction {self._use.id}"


class DirectMessageReply:
    """Replies by direct message to a command that was typed in a channel."""

    def __init__(
        self, posting: Posting, person: int, place: ChannelInfo, message: tuple[int, int], instead: str
    ) -> None:
        self._channel = int(place.channel)
        self._posting = posting
        self._person = str(person)
        self._message = message
        self._instead = instead

    async def tell(self, text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        """Say it there, with buttons that mean the channel of the command.

        Where they take none, say in the channel how to see it.
        """
        channel, message_id = self._message
        try:
            sent = await self._posting.direct(self._person, text, file, choice_view(choices, self._channel))
        except NotPermitted:
            hint = f"That is for you alone, and I cannot send you direct messages. Use `{self._instead}`."
            return await self._posting.reply(channel, message_id, hint)
        await self._posting.reply(channel, message_id, "I sent it to you as a direct message.")
        return sent


class PublicReply:
    """A plain reply, for what everybody may read."""

    def __init__(self, posting: Posting, message: tuple[int, int], *, is_private: bool) -> None:
        self._posting = posting
        self._message = message
        self._is_private = is_private

    async def tell(self, text: str, file: Attachment | None = None, choices: Sequence[Choice] = ()) -> str:
        """Say it under the message. Where others read it there are no buttons."""
        channel, message_id = self._message
        view = choice_view(choices) if self._is_private else None
        return await self._posting.reply(channel, message_id, text, file, view)


def way_for(
    handlers: HandlerContext, command: str, place: ChannelInfo, message: discord.Message
) -> PublicReply | DirectMessageReply:
    """How to answer a command that was typed in a message."""
    where = (message.channel.id, message.id)
    if place.is_direct or command in _FOR_ALL:
        return PublicReply(handlers.posting, where, is_private=place.is_direct)
    group = handlers.command_name
    return DirectMessageReply(handlers.posting, message.author.id, place, where, spelled(command, group, handlers.name))
