"""What the parts of the server share."""

from collections.abc import Callable
from datetime import datetime

from tests.doubles.discord.faults import Faults
from tests.doubles.discord.gateway import Gateway
from tests.doubles.discord.happenings import Happenings
from tests.doubles.discord.journal import Journal
from tests.doubles.discord.model import Channel, Intent, Message, Person
from tests.doubles.discord.stage import Stage
from tests.doubles.discord.world import World


class Backstage:
    """The world and all that moves it. Every public method of a part may be called from any thread."""

    def __init__(self, *, token: str, clock: Callable[[], datetime], granted: Intent) -> None:
        self.stage = Stage()
        self.journal = Journal()
        self.world = World(token=token, clock=clock, granted=granted)
        self.gateway = Gateway(self.journal)
        self.faults = Faults()
        self.happenings = Happenings(self.world, self.gateway)

    @property
    def bot(self) -> Person:
        """The app's own user."""
        return self.world.bot

    def _current(self, message: Message | str) -> Message:
        """A message as it stands now, from any earlier copy of it or its id."""
        return self.world.message(message if isinstance(message, str) else message.id)

    def _where(self, channel: Channel | str) -> Channel:
        """A channel as it stands now, from any earlier copy of it or its id."""
        return self.world.channel(channel if isinstance(channel, str) else channel.id)
