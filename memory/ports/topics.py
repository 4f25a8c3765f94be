"""Topics in a store: fields with every revision, typed edges, embeddings, the audit log."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from memory.model import Vector
from memory.model.topic import Revision, Topic, TopicEvent, TopicField, TopicLink


class TopicTable(Protocol):
    """Topics with their fields, revisions, edges and audit trails. Every call names the workspace."""

    def put(self, topic: Topic) -> None:
        """Insert, or replace the topic with this workspace and id, which keeps its `seq`."""

    def get(self, workspace: str, topic_id: str) -> Topic | None:
        """The topic, or None."""

    def get_many(self, workspace: str, topic_ids: Iterable[str]) -> dict[str, Topic]:
        """Those that exist, by id."""

    def within(self, workspace: str, partitions: Sequence[str] | None = None) -> list[Topic]:
        """Every topic of these partitions (None: of the workspace) in order of arrival, archived and merged too."""

    def titled(self, workspace: str, partition: str, title: str) -> list[Topic]:
        """Topics with exactly this title in one partition, by id, archived and merged too."""

    def merged_into(self, workspace: str, topic_ids: Iterable[str]) -> list[Topic]:
        """The topics that were merged into one of these, by id."""

    def of_person(self, workspace: str, person: str) -> list[Topic]:
        """The topics that one person brought up, in order of arrival."""

    def count(self, workspace: str) -> int:
        """How many topics there are, archived and merged too."""

    def delete(self, workspace: str, topic_ids: Iterable[str]) -> int:
        """Erase topics with embeddings, fields, revisions, edges and audit log. Returns how many existed."""

    def put_vector(self, workspace: str, topic_id: str, model: str, vector: Vector) -> None:
        """Store or replace the topic's embedding. Raises `NotFound` without the topic."""

    def vectors(self, workspace: str, model: str, topic_ids: Iterable[str]) -> dict[str, Vector]:
        """Embeddings of one model by topic, in double precision as they were given."""

    def without_vector(self, workspace: str, model: str, *, after: str, limit: int) -> list[str]:
        """Ids of topics with a title or summary but without an embedding of `model`, in order, those after this one."""

    def count_without_vector(self, workspace: str, model: str) -> int:
        """How many of them there are."""

    def copy_vector(self, workspace: str, from_id: str, to_id: str) -> None:
        """Store the embedding of one topic, if it has one, as another's too. Raises `NotFound` without the other."""

    def put_field(self, field: TopicField) -> None:
        """Insert, or replace the field with this name. Raises `NotFound` without the topic."""

    def fields(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicField]:
        """The fields of these topics, by topic and name."""

    def add_revision(self, revision: Revision) -> bool:
        """Append a value; False, and nothing is changed, if this person gave the field one with this id before.

        Raises `NotFound` without the field.
        """

    def revisions(self, workspace: str, topic_ids: Iterable[str]) -> list[Revision]:
        """Every value of every field of these topics, in order of arrival."""

    def revisions_by(self, workspace: str, person: str) -> list[Revision]:
        """Every value one person gave, in order of arrival."""

    def add_link(self, link: TopicLink) -> bool:
        """Add an edge; False if it is there. Raises `NotFound` without both topics."""

    def links(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicLink]:
        """Every edge that touches one of these topics, by its ends and kind."""

    def set_salience(self, *topics: Topic) -> None:
        """Store the salience of topics that exist, and nothing else of them."""

    def append(self, *new: TopicEvent) -> None:
        """Append to the trails of topics of one workspace, in this order. Assigns `seq`.

        Raises `NotFound` without the topics.
        """

    def event_log(self, workspace: str, topic_id: str) -> list[TopicEvent]:
        """The topic's audit log in order."""

    def changes(self, workspace: str, *, actor: str = "", before: int = 0, limit: int) -> list[TopicEvent]:
        """The audit trail of all topics without changes of salience, newest first: of one person, before this `seq`."""

    def erase_words(self, workspace: str, person: str) -> list[str]:
        """Erase what one person contributed to topics of others, and their name on other entries.

        Their revisions and edges go, their fields where nobody else gave a value, their `revised`, `confirmed` and
        `linked` events; other events stay without an actor. Returns the topics that were touched, by id.
        """

    def move(self, workspace: str, from_id: str, to_id: str) -> None:
        """Move a topic's fields, values, edges and audit log to another, which has none; `seq` numbers are kept.

        Raises `NotFound` without the other.
        """

    def naming(self, workspace: str, topic_ids: Iterable[str]) -> list[TopicEvent]:
        """The entries of audit logs whose detail names one of these topics, in order."""

    def replace_detail(self, event: TopicEvent) -> None:
        """Replace the detail of the entry with this `seq`, only to erase words from it."""
