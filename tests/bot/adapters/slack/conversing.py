"""People who say something to the whole bot in Slack, and wait until it has done what it can."""

from tests.doubles.slack import Person
from tests.doubles.slack.state import Message
from tests.doubles.whole_bot import SlackBot


async def say(
    bot: SlackBot, person: Person, channel: str, text: str, *, under: Message | None = None, mention: bool = True
) -> Message:
    """Say it, in a thread if it is under a message."""
    message = person.says(channel, text, thread_ts=under.ts if under else "", mention=mention)
    await bot.settled()
    return message
