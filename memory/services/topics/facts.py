"""The bot's use cases of topics: find what is known about a thing, change it, and list everything.

A topic may be changed by the person who brought it up, by a teacher in the channel where it was brought up, and by an
administrator who can see it. A new topic is visible to its author only; a teacher's to the channel.
"""

from dataclasses import dataclass
from enum import StrEnum

from memory.errors import InvalidInput, NotFound
from memory.model import Audience, Role, Scope, Visibility
from memory.model.topic import Topic, TopicEvent
from memory.model.validation import require_whole
from memory.ports import Transaction
from memory.services.core import Core
from memory.services.topics.audit_log import change_salience
from memory.services.topics.bundles import AllTopics, VisibleTopics
from memory.services.topics.ingest import FieldInput, Ingest, Placement
from memory.services.topics.listing import KnownTopic, Listing
from memory.services.topics.query import Value
from memory.services.topics.topics import World

FOUND = 4
"""The most topics found for a text."""
_PROVENANCE = "chat"
LONGEST = 2_000
"""The most characters of a thing's name, a property and a value from a chat."""


class ChangeOutcome(StrEnum):
    """The outcome of a change to a topic."""

    NEW_TOPIC = "new_topic"
    CHANGED = "changed"
    KNOWN = "known"
    """The value was current already."""
    REFUSED = "refused"
    """The topic is another person's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeResult:
    """The result of changing one value."""

    outcome: ChangeOutcome
    topic: Topic
    property: str
    before: Value | None = None
    """The value that was current before."""
    audience: Audience = Audience.PERSONAL
    """Who can see the topic."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The use cases of topics for the bot, its commands and its pages."""

    _core: Core
    _world: World

    def about(self, scope: Scope, text: str) -> list[KnownTopic]:
        """The topics visible here that are most similar to a text, best first. Only reads."""
        vector = self._core.embedded(text)
        with self._core.store.read() as tx:
            return Listing.of_scope(tx, scope, self._core.clock).like(text, vector, self._core.embedder.name, FOUND)

    def attend(self, scope: Scope, topic_id: str) -> None:
        """Raise the salience of a topic that was shown, so that it is not the first to be archived."""
        with self._core.store.write() as tx:
            topic = VisibleTopics(tx, scope).representative(topic_id)
            if topic is not None:
                policy = self._world.policy
                change_salience(
                    tx,
                    topic,
                    scope.person,
                    self._core.clock(),
                    reason="query_bump",
                    by=policy.bump,
                    cap=policy.salience_cap,
                )

    def listed(self, scope: Scope) -> list[KnownTopic]:
        """All topics visible to this person here, by title. Only reads."""
        with self._core.store.read() as tx:
            listing = Listing.of_scope(tx, scope, self._core.clock)
            return listing.known(listing.topics())

    def every(
        self, workspace: str, *, public_only: bool, after: int, limit: int, text: str = ""
    ) -> tuple[list[KnownTopic], int]:
        """A page of all topics of a workspace, archived ones too, by title, and their total number."""
        require_whole(limit, "limit")
        with self._core.store.read() as tx:
            listing = Listing.of_workspace(tx, workspace, self._core.clock, public_only=public_only)
            wanted = text.casefold()
            found = [
                each
                for each in listing.topics(archived=True)
                if wanted in f"{each.title or ''}\n{each.summary or ''}".casefold()
            ]
            return listing.known(found[after : after + limit]), len(found)

    def one(self, workspace: str, topic_id: str, *, public_only: bool) -> Topic:
        """A topic by its name in the whole workspace. Raises `NotFound`, also if it may not be seen."""
        with self._core.store.read() as tx:
            return self._one(tx, workspace, topic_id, public_only=public_only)[1]

    def history(self, workspace: str, topic_id: str, *, public_only: bool) -> tuple[Topic, list[TopicEvent]]:
        """A topic with the audit trail of it and of its duplicates, oldest first. Raises `NotFound`."""
        with self._core.store.read() as tx:
            visible, topic = self._one(tx, workspace, topic_id, public_only=public_only)
            events = [each for event in tx.topics.event_log(workspace, topic.id) for each in visible.renamed(event)]
        return topic, events

    def _one(self, tx: Transaction, workspace: str, topic_id: str, *, public_only: bool) -> tuple[VisibleTopics, Topic]:
        visible = AllTopics(tx, workspace, public_only=public_only)
        topic = visible.named(topic_id)
        if topic is None:
            raise NotFound(f"no topic {topic_id} in {workspace} that you may see")
        return visible, topic

    def name_in(self, scope: Scope, topic_id: str) -> str:
        """The name of a topic, given by its id in the store, for a person. Raises `NotFound` if they may not see it."""
        with self._core.store.read() as tx:
            visible = VisibleTopics(tx, scope)
            if topic_id not in visible.every:
                raise NotFound(f"no topic {topic_id} is visible there")
            return visible.name_of(topic_id)

    def change(self, scope: Scope, thing: str, name: str, value: str, role: Role) -> ChangeResult:
        """Set a property of a thing from now on, if this person may. The history keeps the former value.

        The thing is a topic by title or id; of several with this title, the one for the fewest people. Raises
        `InvalidInput` for a text that is empty or too long.
        """
        thing, name, value = (_short(each) for each in (thing, name, value))
        with self._core.store.read() as tx:
            listing = Listing.of_scope(tx, scope, self._core.clock)
            known = listing.known(listing.titled(thing)[:FOUND])
        if not known:
            return self._begin(scope, thing, name, value, role)
        mine = [each for each in known if _may_change(each.topic, scope, role)]
        target = (mine or known)[0]
        fields = {field.name.casefold(): field for field in target.fields}
        field = fields.get(name.casefold())
        before = field.current if field is not None else None
        name = field.name if field is not None else name
        outcome = ChangeOutcome.REFUSED
        if mine:
            ingested = self._world.ingest(
                scope,
                Ingest(
                    placement=Placement.VERSION_FIELD,
                    topic_id=target.topic.id,
                    fields=[FieldInput(name=name, value=value, provenance=_PROVENANCE)],
                ),
            )
            outcome = ChangeOutcome.CHANGED if ingested.revised else ChangeOutcome.KNOWN
        return ChangeResult(outcome=outcome, topic=target.topic, property=name, before=before, audience=target.audience)

    def _begin(self, scope: Scope, thing: str, name: str, value: str, role: Role) -> ChangeResult:
        is_shared = role.may_promote and scope.visibility is not Visibility.DIRECT
        audience = Audience.CHANNEL if is_shared else Audience.PERSONAL
        made = self._world.ingest(
            scope,
            Ingest(
                title=thing,
                audience=audience,
                fields=[FieldInput(name=name, value=value, provenance=_PROVENANCE)],
            ),
        )
        topic = self._world.topic(scope, made.topic_id)
        return ChangeResult(outcome=ChangeOutcome.NEW_TOPIC, topic=topic, property=name, audience=audience)


def _may_change(topic: Topic, scope: Scope, role: Role) -> bool:
    is_taught_here = role.may_promote and topic.channel == scope.channel
    return topic.person == scope.person or role is Role.ADMIN or is_taught_here


def _short(text: str) -> str:
    words = " ".join(text.split())
    if not words:
        raise InvalidInput("a thing, one of its properties and the value are needed")
    if len(words) > LONGEST:
        raise InvalidInput(f"that is too long to be kept about a thing: at most {LONGEST} characters")
    return words
