"""One use of a button, a menu, a form or a command: what was asked, and how the app answered."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum

from tests.doubles.discord.model import Channel, Json, Message, MessageFlag, Person
from tests.doubles.discord.state import State


class InteractionKind(IntEnum):
    """Discord's interaction types."""

    COMMAND = 2
    COMPONENT = 3
    MODAL = 5


class Callback(IntEnum):
    """Discord's ways to answer an interaction."""

    PONG = 1
    MESSAGE = 4
    DEFERRED_MESSAGE = 5
    DEFERRED_UPDATE = 6
    UPDATE_MESSAGE = 7
    AUTOCOMPLETE = 8
    MODAL = 9


@dataclass(slots=True, kw_only=True, eq=False)
class Interaction:
    """A handle that stays current: read its answer from it at any time."""

    state: State = field(repr=False)
    id: str
    token: str
    kind: InteractionKind
    person: Person
    channel: Channel
    data: Json
    at: datetime
    source_id: str = ""
    """The message with the button, or the one that opened the form."""
    answer: Callback | None = None
    """How the app acknowledged it; None while it has not."""
    modal: Json | None = None
    """The form it opened."""
    original_id: str = ""
    followup_ids: list[str] = field(default_factory=list)
    expired: bool = False

    @property
    def original(self) -> Message | None:
        """The answer itself: for an update, the message with the button."""
        return self.state.find(self.original_id)

    @property
    def followups(self) -> list[Message]:
        """What was said after the answer, as far as it still stands."""
        found = (self.state.find(message_id) for message_id in self.followup_ids)
        return [message for message in found if message]

    @property
    def replies(self) -> list[Message]:
        """Every new message this interaction brought that the person can read, not the updated one."""
        first = self.original if self.original_id != self.source_id else None
        return [m for m in (first, *self.followups) if m and MessageFlag.LOADING not in m.flags]

    @property
    def private_replies(self) -> list[Message]:
        """The replies that only the person sees."""
        return [message for message in self.replies if message.ephemeral_to]

    @property
    def text(self) -> str:
        """All replies as read from top to bottom."""
        return "\n".join(message.content for message in self.replies)
