"""Scopes: the workspace, channel and person that something came from, who can read there, and audiences."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from memory.errors import InvalidInput
from memory.model.validation import require_member, shown_value


class Visibility(StrEnum):
    """Who can read the conversation an episode came from."""

    DIRECT = "direct"
    """One person and the bot."""
    PRIVATE = "private"
    """A channel whose members were invited."""
    PUBLIC = "public"
    """Any member of the workspace may read it."""
    SHARED = "shared"
    """People of other organisations can read it too: nothing of the workspace is shown there, and nothing leaves it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """Who can read a channel now, as last known from its messages and from the platform."""

    workspace: str
    channel: str
    visibility: Visibility
    since: datetime
    """When this became known."""


class Audience(StrEnum):
    """The groups of people for whom a verdict counts, narrowest first."""

    PERSONAL = "personal"
    CHANNEL = "channel"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where something was said and by whom.

    `workspace` is qualified by its platform (`slack:T024BE7LD`), so ids of two platforms or two workspaces
    may be equal without ever meeting. It is the first part of every key in the store. Raises `InvalidInput` for
    fields of another type, and `ValueError` without workspace, channel or person.
    """

    workspace: str
    channel: str
    person: str
    thread: str = ""
    visibility: Visibility = Visibility.PUBLIC
    place: str = ""
    """The channel as people write it (`#general`), for display only."""
    is_visibility_known: bool = field(default=True, compare=False)
    """False where `visibility` is a guess, because the platform could not be asked just now. Never stored."""

    def __post_init__(self) -> None:
        for part in (self.workspace, self.channel, self.person, self.thread, self.place):
            if not isinstance(part, str):
                raise InvalidInput(f"a scope is made of texts, got {shown_value(part)}")
        if not self.workspace or not self.channel or not self.person:
            # Not `InvalidInput`: a damaged row has such a scope, too, and is no fault of the caller.
            names = (self.workspace, self.channel, self.person)
            raise ValueError(f"a scope needs a workspace, a channel and a person, got {names}")
        if not isinstance(self.visibility, Visibility):
            visibility = require_member(Visibility, self.visibility, "the visibility of a scope")
            object.__setattr__(self, "visibility", visibility)

    @property
    def platform(self) -> str:
        """The platform of the workspace."""
        return platform_of(self.workspace)

    @property
    def sender_key(self) -> str:
        """The seed's `platform:sender:channel` (genie, `ReactionContext.SenderKey`).

        A `:` inside one of the three is written `%3A`, and a `%` then `%25`, so that no two senders share a key. Two
        workspaces of one platform do: `session_key` tells them apart.
        """
        return _joined(self.platform, self.person, self.channel)

    @property
    def session_key(self) -> str:
        """`workspace:sender:channel`, each part written as in `sender_key`: one key per person and place."""
        return _joined(self.workspace, self.person, self.channel)

    @property
    def conversation(self) -> tuple[str, str, str, str]:
        """The key messages are queued by: one run at a time in each.

        A thread, or a direct conversation. Elsewhere each person has one of their own, so that nobody waits for others.
        """
        is_shared = not self.thread and self.visibility is not Visibility.DIRECT
        return (self.workspace, self.channel, self.thread, self.person if is_shared else "")

    def has_new_visibility(self, known: Visibility | None) -> bool:
        """Whether it tells another visibility of its channel than is known.

        A direct message stays one person's, and a guess is no news.
        """
        return self.is_visibility_known and self.visibility not in (Visibility.DIRECT, known)


def platform_of(workspace: str) -> str:
    """The platform of a workspace: the part of its name before the first colon."""
    return workspace.partition(":")[0]


def _joined(*parts: str) -> str:
    return ":".join(part.replace("%", "%25").replace(":", "%3A") for part in parts)
