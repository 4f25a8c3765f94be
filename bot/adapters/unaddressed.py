"""Messages without a mention, for a messenger that nobody tells whom they are for."""

from bot.model import Address, Unaddressed


async def any_reply(message: Unaddressed) -> bool:
    """Every reply in a thread, and nothing else."""
    return message.address is Address.FOLLOW_UP
