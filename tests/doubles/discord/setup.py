"""Setting the scene: guilds, channels, roles, people, rights. Possible before the start and at any time after."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from tests.doubles.discord.backstage import Backstage
from tests.doubles.discord.happenings import with_rights
from tests.doubles.discord.model import Channel, ChannelKind, Guild, Member, Message, Overwrite, Person, Role
from tests.doubles.discord.permissions import EVERYONE, NONE, Permission
from tests.doubles.discord.stage import on_loop


class Setup(Backstage):
    """Who and what is there."""

    @on_loop
    def guild(self, name: str = "Guild", *, has_bot: bool = True) -> Guild:
        """A guild, owned by the app's owner. The bot has been there for a month, or is not (until `invites_bot`).

        Without the bot, only user-installed use is possible there.
        """
        guild = Guild(id=self.state.new_id(), name=name, owner_id=self.state.owner.id, has_bot=has_bot)
        everyone = Role(id=guild.id, guild_id=guild.id, name="@everyone", permissions=int(EVERYONE))
        self.state.roles[guild.id] = everyone
        inside = [self.state.owner, *([self.bot] if has_bot else [])]
        for person in inside:
            key = (guild.id, person.id)
            joined_at = self.state.clock() - timedelta(days=30)
            self.state.members[key] = Member(person_id=person.id, guild_id=guild.id, joined_at=joined_at)
        self.happenings.add_guild(guild)
        return guild

    @on_loop
    def invites_bot(self, guild: Guild) -> Guild:
        """The bot is invited into a guild where it is not."""
        key = (guild.id, self.bot.id)
        self.state.members[key] = Member(person_id=self.bot.id, guild_id=guild.id, joined_at=self.state.clock())
        joined = replace(self.state.guild(guild.id), has_bot=True)
        self.happenings.add_guild(joined)
        return joined

    @on_loop
    def channel(
        self, guild: Guild, name: str = "general", *, topic: str = "", private_to: Iterable[Person | Role] = ()
    ) -> Channel:
        """A text channel; with `private_to`, only they and the bot see it."""
        chosen = tuple(private_to)
        overwrites: tuple[Overwrite, ...] = ()
        if chosen:
            seen, view = (self.bot, *chosen), int(Permission.VIEW_CHANNEL)
            overwrites = (
                Overwrite(target_id=guild.id, of_person=False, deny=view),
                *(Overwrite(target_id=one.id, of_person=isinstance(one, Person), allow=view) for one in seen),
            )
        new = Channel(
            id=self.state.new_id(),
            kind=ChannelKind.TEXT,
            guild_id=guild.id,
            name=name,
            topic=topic,
            overwrites=overwrites,
        )
        return self.happenings.change_channel(new)

    @on_loop
    def thread(self, parent: Channel, owner: Person, name: str = "thread", *, source: Message | None = None) -> Channel:
        """A public thread that a person starts, from a message or by itself."""
        current = self._current(source) if source else None
        return self.happenings.start_thread(parent, owner, name, current, ChannelKind.PUBLIC_THREAD)

    @on_loop
    def private_thread(self, parent: Channel, owner: Person, *others: Person, name: str = "private") -> Channel:
        """A thread that only these people see, the bot if it is one of them."""
        thread = self.happenings.start_thread(parent, owner, name, None, ChannelKind.PRIVATE_THREAD)
        return self.happenings.change_channel(replace(thread, recipients=(owner.id, *(one.id for one in others))))

    @on_loop
    def leaves(self, person: Person, thread: Channel) -> None:
        """Somebody leaves a thread."""
        current = self.state.channel(thread.id)
        self.happenings.change_channel(
            replace(current, recipients=tuple(one for one in current.recipients if one != person.id))
        )

    @on_loop
    def dm(self, *people: Person) -> Channel:
        """One person's direct conversation with the bot; of several people, one without the bot."""
        return self.state.direct(*(person.id for person in people), *([self.bot.id] if len(people) == 1 else []))

    @on_loop
    def person(
        self,
        name: str,
        *guilds: Guild,
        is_bot: bool = False,
        accepts_dms: bool = True,
        joined_at: datetime | None = None,
    ) -> Person:
        """The person of that name, a member of these guilds (since `joined_at`); made when not there yet."""
        found = next((one for one in self.state.people.values() if one.name == name), None)
        person = found or Person(id=self.state.new_id(), name=name, is_bot=is_bot, accepts_dms=accepts_dms)
        self.state.people[person.id] = person
        for guild in guilds:
            if (guild.id, person.id) not in self.state.members:
                since = joined_at or self.state.clock()
                self.happenings.change_member(Member(person_id=person.id, guild_id=guild.id, joined_at=since))
        return person

    @on_loop
    def role(self, guild: Guild, name: str, permissions: Permission = NONE, *, of_bot: str = "") -> Role:
        """A role; with `of_bot` the one that a guild gives this bot when it is invited with rights."""
        role = Role(
            id=self.state.new_id(),
            guild_id=guild.id,
            name=name,
            permissions=int(permissions),
            position=1,
            bot_id=of_bot,
        )
        self.happenings.add_role(role)
        return role

    @on_loop
    def has_roles(self, person: Person, guild: Guild, *roles: Role) -> None:
        """A member has exactly these roles from now on."""
        member = self.state.member(guild.id, person.id)
        self.happenings.change_member(replace(member, roles=tuple(role.id for role in roles)))

    @on_loop
    def emoji(self, guild: Guild, name: str) -> str:
        """A custom emoji, spelt `name:id` as reactions take it."""
        spelling = f"{name}:{self.state.new_id()}"
        self.state.emojis.setdefault(guild.id, []).append(spelling)
        return spelling

    @on_loop
    def rights(
        self, channel: Channel | str, who: Person | Role, *, allow: Permission = NONE, deny: Permission = NONE
    ) -> Channel:
        """Change what a person (the bot too) or a role may do in a channel."""
        changed = with_rights(self._where(channel), who.id, isinstance(who, Person), allow, deny)
        return self.happenings.change_channel(changed)

    @on_loop
    def changes_role(self, role: Role) -> None:
        """Somebody changes what a role may do."""
        self.happenings.change_role(role)

    @on_loop
    def archives(self, thread: Channel | str, *, locked: bool = False) -> Channel:
        """A thread is archived; a locked one cannot be written to."""
        return self.happenings.change_channel(replace(self._where(thread), archived=True, locked=locked))

    @on_loop
    def deletes_channel(self, channel: Channel | str) -> None:
        """A channel or thread is deleted with its messages."""
        self.happenings.delete_channel(self._where(channel))

    @on_loop
    def removes_bot(self, guild: Guild) -> None:
        """The bot is kicked from a guild."""
        self.happenings.guild_gone(self.state.guild(guild.id), outage=False)

    @on_loop
    def outage(self, guild: Guild) -> None:
        """A guild is unavailable until `outage_over`."""
        self.happenings.guild_gone(self.state.guild(guild.id), outage=True)

    @on_loop
    def outage_over(self, guild: Guild) -> None:
        """The guild is there again."""
        self.happenings.guild_back(self.state.guild(guild.id))

    @on_loop
    def revokes_token(self) -> None:
        """The token is reset in the portal: every call is refused and every connection closed for good (4004)."""
        self.state.token = f"revoked-{self.state.new_id()}"
        for connection in self.gateway.connections:
            connection.close(4004)
