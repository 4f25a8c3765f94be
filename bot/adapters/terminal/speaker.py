"""The person who speaks at the terminal, and the events of their acts."""

from bot.adapters.command_words import ParsedCommand, command_event
from bot.config import TerminalSettings
from bot.model import PersonCommand, PersonCorrection, PersonMessage, PersonReaction, PersonTeaching
from memory.model import Role, Scope, Visibility
from memory.ports import Clock, NewId

ROLES = {Role.MEMBER: "a member", Role.TEACHER: "a teacher", Role.ADMIN: "an administrator"}
"""The roles at a terminal, in words."""


class CurrentSpeaker:
    """The current speaker. `person` may be set to another one at any time.

    With `teacher` or `admin` the first person has this role; all others are members.
    """

    def __init__(
        self, settings: TerminalSettings, *, clock: Clock, new_id: NewId, teacher: bool, admin: bool = False
    ) -> None:
        self.person = settings.person
        self._settings = settings
        self._clock = clock
        self._new_id = new_id
        self._first, self._first_role = settings.person, Role.MEMBER
        if teacher or admin:
            self._first_role = Role.ADMIN if admin else Role.TEACHER

    @property
    def role(self) -> Role:
        """The current speaker's role."""
        return self._first_role if self.person == self._first else Role.MEMBER

    @property
    def introduced(self) -> str:
        """The current speaker, in words."""
        return "you speak for yourself" if self.person == self._first == "you" else f"you are {self.person} now"

    @property
    def scope(self) -> Scope:
        """The current speaker in the terminal's only channel, which everybody at the terminal can read."""
        return Scope(
            workspace=self._settings.workspace,
            channel=self._settings.channel,
            person=self.person,
            visibility=Visibility.PUBLIC,
            place=f"#{self._settings.channel}",
        )

    def message(self, text: str) -> PersonMessage:
        """The event of a message."""
        return PersonMessage(
            event_id=self._new_id(),
            scope=self.scope,
            message_id=self._new_id(),
            text=text,
            at=self._clock(),
            role=self.role,
        )

    def reaction(self, message_id: str, emoji: str, *, added: bool) -> PersonReaction:
        """The event of a reaction that is added or removed."""
        return PersonReaction(
            event_id=self._new_id(),
            scope=self.scope,
            message_id=message_id,
            emoji=emoji,
            added=added,
            at=self._clock(),
            role=self.role,
        )

    def command(self, typed: ParsedCommand, message_id: str = "") -> PersonCommand | PersonCorrection | PersonTeaching:
        """The event of a command, correction or lesson, about an answer or the last one."""
        return command_event(
            typed, event_id=self._new_id(), scope=self.scope, at=self._clock(), role=self.role, message_id=message_id
        )
