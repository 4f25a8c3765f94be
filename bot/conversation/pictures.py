"""A cache of pictures of accepted messages until these are answered. A restart loses them."""

from collections import OrderedDict

from bot.model import ImageFile, PersonEdit, PersonMessage

_MOST_BYTES = 60_000_000


class Pictures:
    """Pictures by event, up to a total size; the oldest are dropped first."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[str, tuple[ImageFile, ...]] = OrderedDict()

    def keep(self, event_id: str, images: tuple[ImageFile, ...]) -> None:
        """Keep a message's pictures."""
        if images:
            self._kept[event_id] = images
        while sum(len(image.content) for kept in self._kept.values() for image in kept) > self._most_bytes:
            self._kept.popitem(last=False)

    def take(self, event_id: str) -> tuple[ImageFile, ...]:
        """Remove and return a message's pictures."""
        return self._kept.pop(event_id, ())


def described(image: ImageFile) -> str:
    """A line of text in place of a picture."""
    return f"Attached picture {image.name} ({image.media_type}, {len(image.content)} bytes)"


def full_text(event: PersonMessage | PersonEdit) -> str:
    """The text of a message with its attachments, as the agent reads it; may be empty."""
    words = [event.text] if event.text.strip() else []
    files = [f"Attached file {file.name}:\n{file.text}" for file in event.files]
    return "\n\n".join([*words, *files, *map(described, event.images)])
