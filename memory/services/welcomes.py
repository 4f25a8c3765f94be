"""Whom and where the bot has welcomed: each person and each place once, whatever restarts and however many run."""

from dataclasses import dataclass

from memory.services.core import Core


@dataclass(frozen=True, slots=True)
class Welcomes:
    """Claims of a welcome, taken before it is said. Forgetting or purging a person takes theirs back."""

    _core: Core

    def claim(self, workspace: str, *, channel: str = "", person: str = "") -> bool:
        """Whether this person, channel or (with neither) workspace is to be welcomed now: true once."""
        with self._core.store.write() as tx:
            return tx.people.welcome(workspace, self._core.clock(), channel=channel, person=person)
