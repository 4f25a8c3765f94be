"""Names of people on Discord."""

from bot.adapters.discord.client import Client
from bot.adapters.discord.rest import Rest


async def name_of(client: Client, rest: Rest, person: str) -> str:
    """Their display name; nothing for what is no id of Discord's. Raises `MessengerError` kinds."""
    if not person.isdecimal():
        return ""
    user = await rest(f"asking who {person} is", lambda: client.fetch_user(int(person)))
    return user.display_name
