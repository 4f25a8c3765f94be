"""One workspace: who and what is in it, and what was said there."""

import re
from collections.abc import Iterable

from tests.doubles.slack.errors import SlackError
from tests.doubles.slack.stamps import Stamps
from tests.doubles.slack.state import Channel, Ephemeral, HostedFile, Json, Message, Status, User, UserGroup, View

ALL_SCOPES = frozenset(
    {
        *("app_mentions:read", "assistant:write", "chat:write", "commands", "reactions:read", "reactions:write"),
        *("channels:history", "groups:history", "im:history", "mpim:history"),
        *("channels:read", "groups:read", "im:read", "mpim:read", "im:write"),
        *("files:read", "files:write", "team:read", "usergroups:read", "users:read"),
    }
)


class Workspace:
    """State of one team. Everything here is plain look-up and observation; nothing sends events."""

    def __init__(self, team_id: str, domain: str, stamps: Stamps, *, app_id: str, bot_name: str = "goodbot") -> None:
        self.id = team_id
        self.domain = domain
        self.app_id = app_id
        self.bot_token = f"xoxb-{team_id}-1"
        self.scopes: set[str] = set(ALL_SCOPES)
        self.revoked = ""
        """The error code its token answers with once taken away: `token_revoked`, `account_inactive`."""
        self._stamps = stamps
        self.users: dict[str, User] = {}
        self.groups: dict[str, UserGroup] = {}
        self.channels: dict[str, Channel] = {}
        self.ephemerals: list[Ephemeral] = []
        self.views: dict[str, View] = {}
        self.homes: dict[str, View] = {}
        self.statuses: list[Status] = []
        self.sessions: dict[tuple[str, str], Status] = {}
        self.prompts: dict[str, list[Json]] = {}
        self.files: dict[str, HostedFile] = {}
        self._messages: dict[str, dict[str, Message]] = {}
        self.deleted: dict[tuple[str, str], Message] = {}
        self.bot = self.add_user(bot_name, bot=True, app_id=app_id)

    def install_again(self) -> None:
        """The app comes back after it was removed, with a new token."""
        self.revoked = ""
        head, _, number = self.bot_token.rpartition("-")
        self.bot_token = f"{head}-{int(number) + 1}"

    # Who and what there is -------------------------------------------------------------------------------------

    def add_user(
        self,
        name: str,
        *,
        user_id: str = "",
        bot: bool = False,
        app_id: str = "",
        admin: bool = False,
        guest: str = "",
        external_team: str = "",
    ) -> User:
        """A person or bot. Ids follow from the order, so two workspaces have equal ids unless told otherwise."""
        number = len(self.users) + 1
        clean = re.sub(r"[^A-Z0-9]", "", name.upper())
        user = User(
            id=user_id or f"U{number:03d}{clean}",
            name=name,
            real_name=name.capitalize(),
            team_id=external_team or self.id,
            bot_id=f"B{number:03d}{clean}" if bot else "",
            app_id=app_id,
            admin=admin,
            guest=guest,
            external=bool(external_team),
        )
        self.users[user.id] = user
        return user

    def add_group(self, handle: str, users: Iterable[str]) -> UserGroup:
        """A user group of user ids."""
        group = UserGroup(id=f"S{len(self.groups) + 1:03d}{handle.upper()}", handle=handle, users=list(users))
        self.groups[group.id] = group
        return group

    def add_channel(
        self,
        name: str,
        *,
        channel_id: str = "",
        private: bool = False,
        shared: bool = False,
        members: Iterable[str] = (),
        with_bot: bool = True,
    ) -> Channel:
        """A public or private channel. `members` are user ids; the bot is one of them unless said otherwise."""
        channel = Channel(
            id=channel_id or f"C{len(self.channels) + 1:03d}{re.sub(r'[^A-Z0-9]', '', name.upper())}",
            name=name,
            kind="group" if private else "channel",
            members={*members, *([self.bot.id] if with_bot else [])},
            shared=shared,
            created=int(self._stamps.now()),
        )
        self.channels[channel.id] = channel
        return channel

    def im(self, user_id: str) -> Channel:
        """The direct conversation between a person and the bot; opened when there is none."""
        for channel in self.channels.values():
            if channel.kind == "im" and user_id in channel.members:
                return channel
        user = self.user(user_id)
        channel = Channel(
            id=f"D{len(self.channels) + 1:03d}{user.id[1:]}",
            name="",
            kind="im",
            members={user.id, self.bot.id},
            created=int(self._stamps.now()),
        )
        self.channels[channel.id] = channel
        return channel

    def user(self, user_id: str) -> User:
        """By id. Raises `user_not_found`."""
        if user_id not in self.users:
            raise SlackError("user_not_found")
        return self.users[user_id]

    def user_named(self, name: str) -> User | None:
        """By name, if there is one."""
        return next((user for user in self.users.values() if user.name == name), None)

    def bot_user(self, bot_id: str) -> User:
        """The user of a bot id. Raises `bot_not_found`."""
        for user in self.users.values():
            if user.bot_id == bot_id:
                return user
        raise SlackError("bot_not_found")

    def channel(self, channel_id: str) -> Channel:
        """By id; the id of a person means the direct conversation. Raises `channel_not_found`."""
        if channel_id in self.users and channel_id != self.bot.id:
            return self.im(channel_id)
        if channel_id not in self.channels:
            raise SlackError("channel_not_found")
        return self.channels[channel_id]

    # What was said ---------------------------------------------------------------------------------------------

    def keep(self, message: Message) -> Message:
        """A message is there from now on."""
        self._messages.setdefault(message.channel, {})[message.ts] = message
        return message

    def drop(self, message: Message) -> None:
        """A message is gone; it stays in `deleted`."""
        self.deleted[message.channel, message.ts] = self._messages[message.channel].pop(message.ts)

    def find(self, channel: str, ts: str) -> Message | None:
        """The message at an address, if it is (still) there."""
        return self._messages.get(channel, {}).get(ts)

    def message(self, channel: str, ts: str) -> Message:
        """The message at an address. Raises `message_not_found`."""
        found = self.find(channel, ts)
        if found is None:
            raise SlackError("message_not_found")
        return found

    def messages(self, channel: str) -> list[Message]:
        """All messages of a channel and its threads, oldest first."""
        return list(self._messages.get(channel, {}).values())

    def said_by_bot(self, channel: str, thread_ts: str | None = None) -> list[Message]:
        """The bot's messages there, oldest first; `thread_ts` keeps one thread, empty the top level."""
        return [
            message
            for message in self.messages(channel)
            if message.user == self.bot.id and (thread_ts is None or message.thread_ts == thread_ts)
        ]

    def replies(self, channel: str, thread_ts: str) -> list[Message]:
        """The replies in one thread, without its root."""
        return [message for message in self.messages(channel) if message.thread_ts == thread_ts]

    def seen_by(self, user: str, channel: str = "") -> list[Ephemeral]:
        """Ephemeral messages a person can still see, oldest first."""
        return [e for e in self.ephemerals if e.user == user and not e.gone and channel in ("", e.channel)]

    def modal(self, user: str) -> View | None:
        """The modal on top of a person's screen."""
        views = [view for view in self.views.values() if view.user == user and view.is_open]
        return views[-1] if views else None

    def home(self, user: str) -> View | None:
        """What the bot published to a person's App Home."""
        return self.homes.get(user)

    def status(self, channel: str, thread_ts: str) -> str:
        """What the thread shows now: `processing`, `is thinking...`; empty when nothing."""
        for status in reversed(self.statuses):
            if (status.channel, status.thread_ts) == (channel, thread_ts):
                return "" if status.status in ("active", "closed", "suspended") else status.status
        return ""

    def open_streams(self, channel: str = "") -> list[Message]:
        """Messages that are still streaming."""
        return [
            message
            for name in ([channel] if channel else list(self._messages))
            for message in self.messages(name)
            if message.stream is not None and message.stream.state == "open"
        ]
