"""A hint to people whose message Discord withholds because it does not mention the bot.

Without the privileged intent Discord sends the content only of direct messages, mentions of the bot's user, and replies
with the ping left on (discord.com/developers, "You Might Not Need a Privileged Intent").
"""

from datetime import datetime, timedelta

import discord
from cachetools import TTLCache

from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.incoming.message_facts import replied_to

_MOST_PEOPLE = 5000
_HINT = (
    "I can read only what mentions me. Was that for me? Then write `@` and choose my name from the people, not from "
    "the roles; in a reply, leave the mention on."
)


class MissingIntentHint:
    """Tells each person, once a day, that the bot reads only messages that mention it."""

    def __init__(self, context: HandlerContext) -> None:
        self._context = context
        self._notified: TTLCache[int, bool, datetime] = TTLCache(_MOST_PEOPLE, timedelta(days=1), context.clock)

    def on_message(self, message: discord.Message) -> None:
        """Handle a person's message that does not address the bot, as far as Discord shows it."""
        person = message.author.id
        if not self._may_be_meant(message) or self._notified.get(person):
            return
        self._notified[person] = True

        async def tell() -> None:
            await self._context.posting.reply(message.channel.id, message.id, _HINT)

        self._context.tasks.start(message.channel.id, tell)

    def _may_be_meant(self, message: discord.Message) -> bool:
        if message.content or message.attachments or message.stickers:
            return False
        return replied_to(message, self._context) is not None or own_role_in(message) != 0


def own_role_in(message: discord.Message) -> int:
    """The id of the bot's own role if the message mentions it, as it has the bot's name; else 0."""
    own = message.guild.self_role if message.guild is not None and message.role_mentions else None
    return own.id if own is not None and own in message.role_mentions else 0
