"""The place stored with a value that is no episode, and whether the value may be shown in another place."""

from collections.abc import Mapping

from memory.model import Episode, Scope, Visibility
from memory.ports import Transaction
from memory.rules.audience import may_read


def place_json(scope: Scope) -> dict[str, object]:
    """A place as JSON: the channel, and who could read it."""
    return {"channel": scope.channel, "visibility": scope.visibility.value}


def may_be_shown(tx: Transaction, scope: Scope, place: Mapping[str, object]) -> bool:
    """Whether what this person said at a place (`place_json`) may be shown to them here, by who reads there now too."""
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
