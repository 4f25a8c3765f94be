"""Look-ups in a Discord server: earlier messages, what a message answers, who can approve lessons."""

from collections.abc import Sequence

import discord

from bot.adapters.discord.directory import address, workspace_of
from bot.adapters.discord.incoming.context import HandlerContext
from bot.adapters.discord.incoming.message_facts import is_by_person
from bot.adapters.discord.incoming.missing_intent_hint import own_role_in
from bot.adapters.discord.plain_text import plain_text, without_mention
from bot.adapters.naming import plain_name
from bot.errors import MessengerError
from bot.model import Remark
from memory.model import Scope
from memory.model.saved_messages import AnsweredQuestion
from memory.rules.chat_settings import TEACHERS, listed_ids


async def remarks(
    context: HandlerContext, scope: Scope, message_id: str, wanted: Sequence[str], last: int
) -> list[Remark]:
    """People's messages with these ids, and the last messages before this one; oldest first, without deleted ones.

    Without the intent Message Content, Discord sends only the text of messages to the bot.
    """
    asked = address(scope.channel, message_id)
    if asked is None:
        return []
    place, before = asked
    found: dict[int, discord.Message] = {}
    for each in (address(scope.channel, _in_thread(scope, message)) for message in wanted):
        message = await fetch_message(context, *each) if each else None
        if message is not None:
            found[message.id] = message
    if last:
        channel, end = _channel(context, place), discord.Object(before)
        earlier = await context.rest.all_of(f"reading channel {place}", lambda: channel.history(limit=last, before=end))
        found |= {each.id: each for each in earlier}
    return [
        Remark(
            message_id=str(each.id) if str(each.channel.id) == scope.channel else f"{scope.thread}-{each.id}",
            person=str(each.author.id),
            text=plain_text(each.content, _names(each)),
            at=each.created_at,
        )
        for each in sorted(found.values(), key=lambda each: each.id)
        if not each.author.bot and each.webhook_id is None and each.content and each.id != before
    ]


def _in_thread(scope: Scope, message_id: str) -> str:
    """The id of a message to fetch: a thread's first message has the thread's id, and is in the channel."""
    return message_id if message_id != scope.thread else f"{scope.channel}-{message_id}"


async def fetch_message(context: HandlerContext, place: int, message_id: int) -> discord.Message | None:
    """Fetch a message; None if it is gone or may not be read. Raises `MessengerError` if a later try may succeed."""
    channel = _channel(context, place)
    try:
        return await context.rest(f"reading message {message_id}", lambda: channel.fetch_message(message_id))
    except MessengerError as error:
        if error.retryable:
            raise
        return None


def _channel(context: HandlerContext, place: int) -> discord.abc.Messageable:
    """The cached channel or thread if there is one: only with it the library resolves mentions."""
    known = context.client.get_channel(place)
    return known if isinstance(known, discord.abc.Messageable) else context.client.get_partial_messageable(place)


def _names(message: discord.Message) -> dict[str, str]:
    """The names of what a message mentions, by id; of channels only if everybody in the server may view them."""
    open_to_all = [each for each in message.channel_mentions if _is_open(each)]
    named = (*message.role_mentions, *open_to_all)
    return {str(one.id): one.name for one in named} | {str(user.id): user.display_name for user in message.mentions}


def _is_open(channel: discord.abc.GuildChannel | discord.Thread) -> bool:
    place = channel.parent if isinstance(channel, discord.Thread) else channel
    return place is not None and place.permissions_for(place.guild.default_role).view_channel


async def answered_question(context: HandlerContext, scope: Scope, message_id: str) -> AnsweredQuestion | None:
    """A message with the one it replies to, or the one that began its thread; None for other messages, and for bots.

    Raises `MessengerError`.
    """
    place = address(scope.channel, message_id)
    answer = await fetch_message(context, *place) if place else None
    if answer is None or not is_by_person(answer):
        return None
    asked = await _question(context, scope, answer)
    if asked is None or not is_by_person(asked):
        return None
    return AnsweredQuestion(
        message_id=message_id,
        answer=await _text(context, answer),
        author=str(answer.author.id),
        question=await _text(context, asked),
        asker=str(asked.author.id),
        link=answer.jump_url,
        thread=scope.thread,
    )


async def _question(context: HandlerContext, scope: Scope, answer: discord.Message) -> discord.Message | None:
    replied = answer.reference
    if replied is not None and replied.message_id is not None:
        return await fetch_message(context, replied.channel_id, replied.message_id)
    thread = answer.channel.id
    if str(thread) == scope.channel or answer.id == thread:
        return None
    # A thread's first message has the thread's id. It is in the channel; in a forum, in the thread.
    return await fetch_message(context, int(scope.channel), thread) or await fetch_message(context, thread, thread)


async def _text(context: HandlerContext, message: discord.Message) -> str:
    text = without_mention(message.content, context.client.me, own_role_in(message))
    return plain_text(text, await context.mentions.names(text, message.author, message.mentions))


async def teacher_names(context: HandlerContext, guild: discord.Guild) -> list[str]:
    """The names of those who may approve for others, as far as Discord tells them."""
    named: list[str] = []
    for each in await _deciders(context, guild):
        role = guild.get_role(int(each)) if each.isdecimal() else None
        if role is not None:
            named.append(f"the role {plain_name(role.name)}")
        elif name := plain_name(await context.posting.names.of(each)) if each.isdecimal() else each:
            named.append(name)
    return named


async def _deciders(context: HandlerContext, guild: discord.Guild) -> list[str]:
    """Who may approve for others: ids of people and server roles, then other groups in words; each once."""
    in_chat = listed_ids(TEACHERS, await context.queries.set_in_chat(workspace_of(guild.id)))
    return list(dict.fromkeys([*in_chat, *context.roles.deciders]))


async def teacher_ids(context: HandlerContext, guild: discord.Guild) -> list[str]:
    """The ids of people named in the settings, or the server's owner. Discord does not tell bots a role's members."""
    roles = {str(role.id) for role in guild.roles}
    named = [each for each in await _deciders(context, guild) if each.isdecimal() and each not in roles]
    return named or ([str(guild.owner_id)] if guild.owner_id else [])
