"""A bot of the fewest lines, in a process of its own: answers every mention. Shows how discord.py is redirected."""

import asyncio
import os

import yarl

from tests.doubles.discord.library import DiscordWebSocket, Route, discord


class EchoBot(discord.AutoShardedClient):
    """Says what was said to it."""

    async def setup_hook(self) -> None:
        _, gateway, _ = await self.http.get_bot_gateway()
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway)

    async def on_message(self, message: discord.Message) -> None:
        if not message.author.bot:
            await message.reply(f"echo: {message.content}", nonce=str(message.id))


async def main() -> None:
    """Run until killed."""
    Route.BASE = os.environ["DISCORD_API_URL"]
    intents = discord.Intents(guilds=True, guild_messages=True, dm_messages=True)
    await EchoBot(intents=intents).start(os.environ["DISCORD_TOKEN"])


if __name__ == "__main__":
    asyncio.run(main())
