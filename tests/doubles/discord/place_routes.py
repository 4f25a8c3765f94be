"""REST: the app itself, people, guilds, channels, threads, direct conversations, commands."""

import re
from collections.abc import Mapping
from dataclasses import replace

from tests.doubles.discord import payloads
from tests.doubles.discord.errors import Problems, error
from tests.doubles.discord.happenings import Happenings
from tests.doubles.discord.ids import time_of
from tests.doubles.discord.model import Channel, ChannelKind, CommandSync, Guild, Json, Message
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord.routing import Handler, Incoming

CHAT_INPUT, USER_MENU, MESSAGE_MENU = 1, 2, 3
MOST_COMMANDS = {CHAT_INPUT: 100, USER_MENU: 15, MESSAGE_MENU: 15}
_COMMAND_NAME = re.compile(r"^[-_'\w]{1,32}$")
THREAD_NAME = 100


class PlaceRoutes:
    """What the bot can look up and set up."""

    def __init__(self, happenings: Happenings) -> None:
        self._state = happenings.state
        self._happenings = happenings

    def table(self) -> Mapping[str, Handler]:
        """Patterns and their handlers."""
        state = self._state
        return {
            "GET /users/@me": lambda _: payloads.user(state.bot),
            "GET /users/@me/guilds": lambda _: [self._short(g) for g in state.guilds.values() if g.has_bot],
            "GET /users/*": lambda call: payloads.user(state.person(call.params[0])),
            "POST /users/@me/channels": self.open_direct,
            "GET /applications/@me": lambda _: payloads.application(state),
            "GET /oauth2/applications/@me": lambda _: payloads.application(state),
            "GET /guilds/*": lambda call: payloads.guild(state, self._guild(call)),
            "GET /guilds/*/channels": self.guild_channels,
            "GET /guilds/*/roles": lambda call: [payloads.role(r) for r in state.roles_of(self._guild(call).id)],
            "GET /guilds/*/members/*": self.guild_member,
            "GET /guilds/*/threads/active": self.active_threads,
            "GET /channels/*": lambda call: payloads.channel(state, self._channel(call)),
            "PATCH /channels/*": self.change_thread,
            "DELETE /channels/*": self.delete_channel,
            "POST /channels/*/messages/*/threads": self.thread_from_message,
            "POST /channels/*/threads": self.thread_without_message,
            "PUT /channels/*/thread-members/@me": self.join_thread,
            "GET /channels/*/thread-members/*": self.thread_member,
            "PUT /applications/*/commands": self.sync_commands,
            "GET /applications/*/commands": self.commands,
            "PUT /applications/*/guilds/*/commands": self.sync_commands,
            "GET /applications/*/guilds/*/commands": self.commands,
        }

    # guilds and channels

    def _guild(self, call: Incoming) -> Guild:
        guild = self._state.guild(call.params[0])
        if not guild.has_bot:
            raise error(50001)
        return guild

    def _channel(self, call: Incoming) -> Channel:
        channel = self._state.channel(call.params[0])
        self._state.require(self._state.bot.id, channel)
        return channel

    @staticmethod
    def _short(guild: Guild) -> Json:
        return {"id": guild.id, "name": guild.name, "icon": None, "owner": False, "permissions": "0", "features": []}

    def guild_channels(self, call: Incoming) -> list[Json]:
        """Without threads."""
        there = self._state.channels_of(self._guild(call).id)
        return [payloads.channel(self._state, channel) for channel in there if not channel.is_thread]

    def thread_member(self, call: Incoming) -> Json:
        """Raises 10007 for somebody who is not in the thread."""
        thread, person = self._channel(call), call.params[1]
        if person not in thread.recipients:
            raise error(10007)
        return {"id": thread.id, "user_id": person, "join_timestamp": time_of(thread.id).isoformat(), "flags": 0}

    def active_threads(self, call: Incoming) -> Json:
        """Those that the bot sees."""
        there = [c for c in self._state.channels_of(self._guild(call).id) if c.is_thread and not c.archived]
        seen = [payloads.channel(self._state, c) for c in there if self._state.can_see(self._state.bot.id, c)]
        return {"threads": seen, "members": []}

    def guild_member(self, call: Incoming) -> Json:
        """One person in a guild."""
        return payloads.member(self._state, self._state.member(self._guild(call).id, call.params[1]))

    def open_direct(self, call: Incoming) -> Json:
        """The conversation with one person; the same each time."""
        person = self._state.person(str(call.form["recipient_id"]))
        return payloads.channel(self._state, self._state.direct(self._state.bot.id, person.id))

    # threads

    def thread_from_message(self, call: Incoming) -> Json:
        """The thread takes the message's id."""
        parent = self._channel(call)
        message = self._state.message(call.params[1], parent.id)
        return self._start(parent, call.form, message, ChannelKind.PUBLIC_THREAD)

    def thread_without_message(self, call: Incoming) -> Json:
        """Private unless the form says otherwise."""
        kind = ChannelKind(int(call.form.get("type", ChannelKind.PRIVATE_THREAD)))
        return self._start(self._channel(call), call.form, None, kind)

    def _start(self, parent: Channel, form: Json, source: Message | None, kind: ChannelKind) -> Json:
        is_public = kind is ChannelKind.PUBLIC_THREAD
        right = Permission.CREATE_PUBLIC_THREADS if is_public else Permission.CREATE_PRIVATE_THREADS
        self._state.require(self._state.bot.id, parent, right)
        problems = Problems()
        problems.length("name", form.get("name"), THREAD_NAME, 1)
        problems.tell()
        thread = self._happenings.start_thread(parent, self._state.bot, str(form["name"]), source, kind)
        return payloads.channel(self._state, thread)

    def change_thread(self, call: Incoming) -> Json:
        """Name, archived, locked."""
        channel = self._channel(call)
        if channel.owner_id != self._state.bot.id:
            right = Permission.MANAGE_THREADS if channel.is_thread else Permission.MANAGE_CHANNELS
            self._state.require(self._state.bot.id, channel, right)
        known = {name: call.form[name] for name in ("name", "archived", "locked") if name in call.form}
        return payloads.channel(self._state, self._happenings.change_channel(replace(channel, **known)))

    def delete_channel(self, call: Incoming) -> Json:
        """Direct conversations are only closed."""
        channel = self._channel(call)
        if channel.kind is not ChannelKind.DM:
            right = Permission.MANAGE_THREADS if channel.is_thread else Permission.MANAGE_CHANNELS
            self._state.require(self._state.bot.id, channel, right)
            body = payloads.channel(self._state, channel)
            self._happenings.delete_channel(channel)
            return body
        return payloads.channel(self._state, channel)

    def join_thread(self, call: Incoming) -> None:
        """The bot becomes a member of a thread."""
        self._state.join_thread(self._channel(call), self._state.bot.id)

    # commands

    def commands(self, call: Incoming) -> list[Json]:
        """Everywhere, or one guild's."""
        return self._state.commands.get(self._scope(call), [])

    def sync_commands(self, call: Incoming) -> list[Json]:
        """The whole list is replaced; a command that keeps its name and type keeps its id."""
        scope, wanted = self._scope(call), call.body
        check_commands(wanted)
        before = {(one["name"], one["type"]): one["id"] for one in self._state.commands.get(scope, [])}
        self._state.commands[scope] = [self._command(scope, one, before) for one in wanted]
        self._state.syncs.append(CommandSync(guild_id=scope, commands=tuple(wanted)))
        return self._state.commands[scope]

    def _command(self, scope: str, wanted: Json, before: Mapping[tuple[str, int], str]) -> Json:
        kind = wanted.get("type", CHAT_INPUT)
        guild: Json = {"guild_id": scope} if scope else {}
        return {
            "description": "",
            "options": [],
            "default_member_permissions": None,
            "nsfw": False,
            **wanted,
            "id": before.get((wanted["name"], kind)) or self._state.new_id(),
            "type": kind,
            "application_id": self._state.application_id,
            "version": self._state.new_id(),
            **guild,
        }

    def _scope(self, call: Incoming) -> str:
        if call.params[0] != self._state.application_id:
            raise error(50001)
        return self._state.guild(call.params[1]).id if len(call.params) > 1 else ""


def check_commands(commands: list[Json]) -> None:
    """Names, descriptions and numbers of commands. Raises 50035."""
    problems = Problems()
    seen: set[tuple[str, int]] = set()
    for index, one in enumerate(commands):
        kind, name = one.get("type", CHAT_INPUT), str(one.get("name") or "")
        if (name, kind) in seen:
            problems.add(f"{index}", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
        seen.add((name, kind))
        _check_command(problems, f"{index}", one, is_menu=kind != CHAT_INPUT)
    for kind, most in MOST_COMMANDS.items():
        problems.count("commands", sum(k == kind for _, k in seen), most)
    problems.tell()


def _check_command(problems: Problems, at: str, one: Json, *, is_menu: bool = False) -> None:
    name = str(one.get("name") or "")
    problems.length(f"{at}.name", name, 32, 1)
    if not is_menu:
        if not _COMMAND_NAME.match(name) or name != name.lower():
            problems.add(f"{at}.name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
        problems.length(f"{at}.description", one.get("description"), 100, 1)
    options = one.get("options") or []
    problems.count(f"{at}.options", len(options), 25)
    problems.count(f"{at}.choices", len(one.get("choices") or ()), 25)
    for number, option in enumerate(options):
        _check_command(problems, f"{at}.options.{number}", option)
