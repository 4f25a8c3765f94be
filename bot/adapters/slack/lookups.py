"""What a connected workspace is asked about: what people wrote, what they are called, who teaches."""

from collections.abc import Sequence

from bot.adapters.naming import Names, plain_name
from bot.adapters.slack.answered_questions import Label, answered_question
from bot.adapters.slack.events import Location
from bot.adapters.slack.reading_along import ReadingAlong
from bot.adapters.slack.teachers import Teachers
from bot.adapters.slack.threads import Threads
from bot.adapters.slack.web import Identity, Web, require_own
from bot.model import ChannelCard, Profile, Remark
from memory.model import Scope
from memory.model.saved import AnsweredQuestion


class Lookups:
    """The lookups of a messenger for one workspace, which sets what is known once it is connected."""

    def __init__(self, web: Web, threads: Threads, names: Names) -> None:
        self._web = web
        self._threads = threads
        self._names = names
        self._identity: Identity | None = None
        self._labelled: Label | None = None
        self._teachers: Teachers | None = None

    async def remarks(self, scope: Scope, message_id: str, wanted: Sequence[str], last: int) -> list[Remark]:
        """What people wrote before a message in its thread or channel. Raises `MessengerError` kinds."""
        require_own(self._identity, scope.workspace)
        return await ReadingAlong(self._web, self._threads, self._name_of).remarks(scope, message_id, wanted, last)

    async def answered_question(self, scope: Scope, message_id: str) -> AnsweredQuestion | None:
        """A reply in a thread, with what began it. Raises `MessengerError` kinds."""
        require_own(self._identity, scope.workspace)
        if self._labelled is None or self._identity is None:
            return None
        me = self._identity.user
        return await answered_question(self._web, self._threads, self._labelled, me, scope.channel, message_id)

    async def name_of(self, workspace: str, person: str) -> str:
        """Their name, as plain words."""
        require_own(self._identity, workspace)
        return await self._name_of(person)

    async def profile(self, scope: Scope) -> Profile:
        """Name, title and time zone of the scope's person. Raises `MessengerError` kinds."""
        require_own(self._identity, scope.workspace)
        answer = await self._web.once(self._web.client.users_info, scope.person, user=scope.person)
        person = answer["user"]
        named = person.get("profile") or {}
        name = str(named.get("display_name") or named.get("real_name") or person.get("name") or "")
        return Profile(
            name=plain_name(name), title=plain_name(str(named.get("title") or "")), zone=str(person.get("tz") or "")
        )

    async def channel_card(self, scope: Scope) -> ChannelCard:
        """Name, topic and purpose of the scope's channel. Raises `MessengerError` kinds."""
        require_own(self._identity, scope.workspace)
        answer = await self._web.once(self._web.client.conversations_info, scope.channel, channel=scope.channel)
        topic, purpose = (str((answer["channel"].get(each) or {}).get("value") or "") for each in ("topic", "purpose"))
        return ChannelCard(name=scope.place, topic=topic, purpose=purpose)

    async def _name_of(self, person: str) -> str:
        return plain_name(await self._names.of(person))

    async def approvers(self, scope: Scope) -> list[str]:
        """Who can approve what is taught there, by name."""
        location = Location(channel=scope.channel, user=scope.person)
        return await self._teachers.names(location) if self._teachers else []

    async def teachers(self, workspace: str) -> list[str]:
        """Who can, by id. The channel's creators are nobody special beyond it."""
        return await self._teachers.ids() if self._teachers else []
