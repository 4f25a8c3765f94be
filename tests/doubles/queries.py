"""What a messenger asks a conversation, answered without one."""

from collections.abc import Mapping

from bot.model import Address, Unaddressed
from bot.ports import ConversationQueries
from memory.model import Role, Scope


async def _any_reply(message: Unaddressed) -> bool:
    return message.address is Address.FOLLOW_UP


async def _nothing_set(_: str) -> Mapping[str, str]:
    return {}


async def _no_lesson(_: Scope, __: Role, ___: str) -> tuple[str, str] | None:
    return "", ""


QUERIES = ConversationQueries(
    has_meaning=lambda emoji: True,
    saves=lambda emoji: False,
    is_for_bot=_any_reply,
    set_in_chat=_nothing_set,
    form_for=_no_lesson,
)
"""Every emoji on an answer teaches, none saves; every message in a thread is for the bot; nothing is set or waits."""
