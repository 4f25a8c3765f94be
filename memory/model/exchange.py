"""What was said to the bot and what it said, as one conversation goes on."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One message to the bot with its answer."""

    run_id: str
    person: str
    """Who wrote the message."""
    message_id: str
    text: str
    understood: str = ""
    """What it was taken to mean in its conversation, where that is more than it says."""
    answer: str
    """What was posted of it."""
    at: datetime
    """Of the message."""
    answered_at: datetime | None = None
    """When the answer was posted."""
    is_replied_to: bool = False
    """The message that is asked now replies to this one, or to its answer."""

    @property
    def goal(self) -> str:
        """The whole of what was asked."""
        return self.understood or self.text
