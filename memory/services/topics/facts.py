"""What a bot does with topics: find what is known about a thing, change it where somebody may, and list it all.

Whoever brought a topic up may change it, a teacher those that were brought up in the channel they teach in, and an
administrator all that they meet. Anybody else's wish changes nothing. What is new is its author's alone; a teacher's is
for the channel.
"""

from dataclasses import dataclass
from enum import StrEnum

from memory.errors import EmbeddingFailed, InvalidInput, NotFound
from memory.model import Audience, Role, Scope, Vector, Visibility
from memory.model.topic import Topic, TopicEvent
from memory.services.core import Core
from memory.services.topics.audit_log import change_salience
from memory.services.topics.ingest import FieldInput, Ingest, Placement
from memory.services.topics.listing import KnownTopic, Listing
from memory.services.topics.query import Value
from memory.services.topics.topics import World

FOUND = 4
"""So many topics are found for a text."""
_PROVENANCE = "chat"
LONGEST = 2_000
"""Characters of a thing's name, a property and a value that are taken from a chat."""


class ChangeOutcome(StrEnum):
    """The outcome of a change to a topic, as a sentence."""

    NEW_TOPIC = "new_topic"
    CHANGED = "changed"
    KNOWN = "known"
    """That value held already."""
    REFUSED = "refused"
    """It is another's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One value that somebody wanted to hold."""

    outcome: ChangeOutcome
    topic: Topic
    property: str
    before: Value | None = None
    """The value that held until then."""
    audience: Audience = Audience.PERSONAL
    """Who meets the topic."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Use cases of the bot, its commands and its pages."""

    _core: Core
    _world: World

    def about(self, scope: Scope, text: str) -> list[KnownTopic]:
        """The topics most like a text that this person meets here, best first. Reading changes nothing."""
        vector = self._embed(text)
        with self._core.store.read() as tx:
            return Listing.of_scope(tx, scope, self._core.clock).like(text, vector, self._core.embedder.name, FOUND)

    def attend(self, scope: Scope, topic_id: str) -> None:
        """Raise the attention of a topic that was told, so that it is not the first to be archived."""
        with self._core.store.write() as tx:
            topic = Listing.of_scope(tx, scope, self._core.clock).visible.representative(topic_id)
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
        """Every topic that this person meets here, by title. Reading changes nothing."""
        with self._core.store.read() as tx:
            listing = Listing.of_scope(tx, scope, self._core.clock)
            return listing.known(listing.topics())

    def every(
        self, workspace: str, *, public_only: bool, after: int, limit: int, text: str = ""
    ) -> tuple[list[KnownTopic], int]:
        """A part of all topics of a workspace, archived ones too, by title; and how many there are in all."""
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
        """A topic as it is stored, by what it goes by among all. Raises `NotFound`, also for what they may not see."""
        with self._core.store.read() as tx:
            listing = Listing.of_workspace(tx, workspace, self._core.clock, public_only=public_only)
            topic = listing.visible.named(topic_id)
        if topic is None:
            raise NotFound(f"no topic {topic_id} in {workspace} that you may see")
        return topic

    def history(self, workspace: str, topic_id: str, *, public_only: bool) -> tuple[Topic, list[TopicEvent]]:
        """A topic and everything that happened to it and to those it stands for, oldest first. Raises `NotFound`."""
        with self._core.store.read() as tx:
            visible = Listing.of_workspace(tx, workspace, self._core.clock, public_only=public_only).visible
            topic = visible.named(topic_id)
            if topic is None:
                raise NotFound(f"no topic {topic_id} in {workspace} that you may see")
            events = [each for event in tx.topics.event_log(workspace, topic.id) for each in visible.renamed(event)]
        return topic, events

    def name_in(self, scope: Scope, topic_id: str) -> str:
        """What a topic, by its id in the store, goes by for somebody. Raises `NotFound` if they do not meet it."""
        with self._core.store.read() as tx:
            visible = Listing.of_scope(tx, scope, self._core.clock).visible
            if topic_id not in visible.every:
                raise NotFound(f"no topic {topic_id} is visible there")
            return visible.name_of(topic_id)

    def change(self, scope: Scope, thing: str, name: str, value: str, role: Role) -> Changed:
        """Let a property of a thing have this value from now on, if this person may; the history keeps what was.

        The thing is a topic by its title or id; of several of this title the one for the fewest people. Raises
        `InvalidInput` for what is empty or too long.
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
        return Changed(outcome=outcome, topic=target.topic, property=name, before=before, audience=target.audience)

    def _begin(self, scope: Scope, thing: str, name: str, value: str, role: Role) -> Changed:
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
        return Changed(outcome=ChangeOutcome.NEW_TOPIC, topic=topic, property=name, audience=audience)

    def _embed(self, text: str) -> Vector | None:
        try:
            return self._core.embedder.embed([text])[0]
        except EmbeddingFailed:
            return None


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
