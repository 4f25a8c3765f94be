"""What the parts of the server share."""

from collections.abc import Callable
from datetime import datetime

from tests.doubles.discord.faults import Faults
from tests.doubles.discord.gateway import Gateway
from tests.doubles.discord.happenings import Happenings
from tests.doubles.discord.journal import Journal
from tests.doubles.discord.model import Channel, Intent, Message, Person
from tests.doubles.discord.stage import Stage
from tests.doubles.discord.state import State


class Backstage:
    """The world and all that moves it. Every public method of a part may be called from any thread."""

    def __init__(self, *, token: str, clock: Callable[[], datetime], granted: Intent) -> None:
        self.stage = Stage()
        self.journal = Journal()
        self.state = State(token=token, clock=clock, granted=granted)
        self.gateway = Gateway(self.journal)
        self.faults = Faults()
        self.happenings = Happenings(self.state, self.gateway)

    @property
    def bot(self) -> Person:
        """The app's own user."""
        return self.state.bot

    def _current(self, message: Message | str) -> Message:
        """A message as it stands now, from any earlier copy of it or its id."""
        return self.state.message(message if isinstance(message, str) else message.id)

    def _where(self, channel: Channel | str) -> Channel:
        """A channel as it stands now, from any earlier copy of it or its id."""
        return self.state.channel(channel if isinstance(channel, str) else channel.id)
