"""A person at each chat platform, with one way to act on both: for tests of the whole bot, in a process of its own."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from bot.adapters.forms import BETTER
from tests.doubles import discord as discord_side, slack as slack_side
from tests.doubles.discord import Callback, DiscordServer, Guild
from tests.doubles.slack import SlackServer
from tests.doubles.slack.in_thread import SlackThread
from tests.doubles.slack.state import Message as SlackMessage

TIMEOUT_S = 60.0
"""Nothing is measured by it: a process under load may take long to start."""


class PlatformRunner(Protocol):
    """Somebody in a channel with the bot. Every method waits for its effect."""

    platform: str

    def until_connected(self) -> None:
        """Until the bot hears what happens."""
        ...

    def says(self, text: str) -> str:
        """Mention the bot; returns the question's id."""
        ...

    def answers_to(self, question: str) -> list[str]:
        """What the bot has answered to a question by now."""
        ...

    def until_answered(self, question: str) -> None:
        """Until there is a whole answer to a question."""
        ...

    def asks(self, text: str) -> str:
        """Mention the bot and wait for the answer."""
        ...

    def votes(self, emoji: str, *, on: str, lesson: bool) -> None:
        """React to the newest answer with this text; then it is, or is not, a lesson."""
        ...

    def unvotes(self, emoji: str, *, on: str) -> None:
        """Take it back; the answer is no lesson any more."""
        ...

    def corrects(self, answer: str, text: str) -> None:
        """Press 👎 under an answer and say what would have been right."""
        ...

    def complaints(self) -> list[object]:
        """What the platform objects to in the bot's calls."""
        ...

    def hangs_posting(self) -> None:
        """From now on posts take effect, but only after `lets_go`, and nobody is told."""
        ...

    def is_posting(self) -> bool:
        """Whether a post hangs."""
        ...

    def lets_go(self) -> None:
        """All is well again; what hung takes effect."""
        ...

    def revokes(self) -> None:
        """The bot's token is taken away."""
        ...


@dataclass
class AtSlack:
    """Ana in #general of the local Slack. Her id may be given."""

    slack: SlackThread
    user_id: str = ""
    platform: str = "slack"
    _hang: slack_side.Hang = field(init=False)

    def __post_init__(self) -> None:
        self.ana = self.slack.do(self.server.person, "ana", user_id=self.user_id)
        self.general = self.slack.do(self.server.channel, "general")

    @property
    def server(self) -> SlackServer:
        return self.slack.server

    def until_connected(self) -> None:
        self.slack.run(self.server.connected(1, TIMEOUT_S))

    def says(self, text: str) -> str:
        return self.slack.do(self.ana.says, self.general, text).ts

    def _said(self, question: str) -> list[SlackMessage]:
        return [
            message
            for message in self.server.said_by_bot(self.general, question)
            if not message.stream or message.stream.state != "open"
        ]

    def answers_to(self, question: str) -> list[str]:
        return [message.text for message in self.slack.do(self.server.said_by_bot, self.general, question)]

    def until_answered(self, question: str) -> None:
        self.slack.wait_for(lambda: self._said(question), TIMEOUT_S)

    def asks(self, text: str) -> str:
        question = self.says(text)
        self.until_answered(question)
        return self._said(question)[-1].text

    def _message(self, text: str) -> SlackMessage:
        return next(message for message in reversed(self.server.said_by_bot(self.general)) if message.text == text)

    def votes(self, emoji: str, *, on: str, lesson: bool) -> None:
        message = self._message(on)
        self.slack.do(self.ana.reacts, message, {"👍": "+1", "👎": "-1", "👍🏽": "+1::skin-tone-4"}[emoji])
        self.slack.wait_for(lambda: ("brain" in message.reactions) is lesson)

    def unvotes(self, emoji: str, *, on: str) -> None:
        message = self._message(on)
        self.slack.do(self.ana.unreacts, message, {"👍": "+1", "👎": "-1", "👍🏽": "+1::skin-tone-4"}[emoji])
        self.slack.wait_for(lambda: "brain" not in message.reactions)

    def corrects(self, answer: str, text: str) -> None:
        message = self._message(answer)
        self.slack.do(lambda: self.ana.rates(message, good=False))
        self.slack.wait_for(lambda: self.ana.workspace.modal(self.ana.id))
        self.slack.do(self.ana.submits, {BETTER: text})
        saved = "Saved as your lesson"
        self.slack.wait_for(lambda: [one for one in self.server.ephemerals(self.ana) if saved in one.text])

    def complaints(self) -> list[object]:
        return [*self.server.slack.unknown_methods(), *self.server.slack.complaints]

    def hangs_posting(self) -> None:
        self._hang = self.slack.do(slack_side.Hang)
        for method in ("chat.postMessage", "chat.stopStream"):
            self.slack.do(self.server.faults.next, method, self._hang, times=None)

    def is_posting(self) -> bool:
        return bool(self.slack.wait_for(lambda: self._hang.is_met, TIMEOUT_S))

    def lets_go(self) -> None:
        self.slack.do(self.server.faults.clear)

    def revokes(self) -> None:
        self.slack.do(self.server.revoke_tokens)


class AtDiscord:
    """Ana in #general of a guild of the local Discord."""

    platform = "discord"

    def __init__(self, server: DiscordServer, guild: Guild | None = None) -> None:
        self.server = server
        guild = guild or server.guild("Home")
        self.general, self.ana = server.channel(guild, "general"), server.person("ana", guild)

    def until_connected(self) -> None:
        self.server.wait_for(self.server.is_connected, TIMEOUT_S)

    def says(self, text: str) -> str:
        return self.server.says(self.ana, self.general, f"{self.server.bot.mention} {text}").id

    def _said(self, question: str) -> list[discord_side.Message]:
        return [message for message in self.server.said(self.general) if message.reply_to == question]

    def answers_to(self, question: str) -> list[str]:
        return [message.content for message in self._said(question)]

    def until_answered(self, question: str) -> None:
        self.server.wait_for(lambda: self._said(question), TIMEOUT_S)

    def asks(self, text: str) -> str:
        question = self.says(text)
        self.until_answered(question)
        return self._said(question)[-1].content

    def _message(self, text: str) -> discord_side.Message:
        return next(message for message in reversed(self.server.said(self.general)) if message.content == text)

    def votes(self, emoji: str, *, on: str, lesson: bool) -> None:
        message = self._message(on)
        self.server.reacts(self.ana, message, emoji)
        self.server.wait_for(lambda: self.server.marks(message) == ["🧠"] * lesson)

    def unvotes(self, emoji: str, *, on: str) -> None:
        message = self._message(on)
        self.server.unreacts(self.ana, message, emoji)
        self.server.wait_for(lambda: self.server.marks(message) == [])

    def corrects(self, answer: str, text: str) -> None:
        message = self._message(answer)
        click = self.server.clicks(self.ana, message, "👎")
        self.server.wait_for(lambda: click.answer is Callback.MODAL)
        form = self.server.submits(click, {"What would have been right?": text})
        self.server.wait_for(lambda: "Saved as your lesson" in form.text)

    def complaints(self) -> list[object]:
        return [*self.server.invalid_calls()]

    def hangs_posting(self) -> None:
        self._fault = self.server.fault("POST /channels/*/messages", discord_side.Hang(), times=None)

    def is_posting(self) -> bool:
        return bool(self.server.wait_for(lambda: self._fault.hits, TIMEOUT_S))

    def lets_go(self) -> None:
        self.server.clear_faults()

    def revokes(self) -> None:
        self.server.revokes_token()


@contextmanager
def both_platforms() -> Iterator[tuple[AtSlack, AtDiscord]]:
    """Ana at both platforms, under the very same id."""
    with DiscordServer() as discord, SlackThread() as slack:
        at_discord = AtDiscord(discord)
        yield AtSlack(slack, user_id=at_discord.ana.id), at_discord


def environment(at_slack: AtSlack, at_discord: AtDiscord) -> Mapping[str, str]:
    """What points a process at both."""
    slack = {name: value for name, value in at_slack.server.environment().items() if name != "SLACK_SIGNING_SECRET"}
    discord = at_discord.server
    return slack | {"DISCORD_TOKEN": discord.token, "DISCORD_API_URL": discord.api_url}
