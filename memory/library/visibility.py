"""Places stored with values that are no episodes, to decide where the values may be shown."""

from collections.abc import Mapping

from memory.model import Episode, Scope, Visibility
from memory.ports import Transaction
from memory.rules.audience import may_read


def place_json(scope: Scope) -> dict[str, object]:
    """A scope's place as JSON: the channel and its visibility."""
    return {"channel": scope.channel, "visibility": scope.visibility.value}


def may_be_shown(tx: Transaction, scope: Scope, place: Mapping[str, object]) -> bool:
    """Whether this person's words from a place (`place_json`) may be shown to them in this scope.

    It also depends on the place's present visibility.
    """
    channel = str(place["channel"])
    known = tx.channels.get(scope.workspace, channel)
    episode = Episode(
        goal="",
        workspace=scope.workspace,
        channel=channel,
        channel_visibility=known.visibility if known is not None else None,
        person=scope.person,
        visibility=Visibility(str(place["visibility"])),
    )
    return may_read(scope, episode)
