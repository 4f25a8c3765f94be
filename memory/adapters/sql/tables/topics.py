"""Tables of topics."""

from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import (
    BigInteger,
    Column,
    Dialect,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    text,
)
from sqlalchemy.types import TypeDecorator

from memory.adapters.row_validation import exact
from memory.adapters.sql.tables.columns import (
    READ_AS,
    enums,
    floats,
    keyed,
    metadata,
    partial_index,
    short_texts,
    text_keys,
    timestamps,
)
from memory.adapters.sql.tables.dialect import PROSE, SHORT
from memory.adapters.sql.tables.types import UtcDateTime, json_object, json_value
from memory.model import Visibility
from memory.model.topic import FieldType, Revision, Topic, TopicEvent, TopicEventKind, TopicField, TopicLink

if TYPE_CHECKING:
    from memory.model import Vector


class ExactVector(TypeDecorator["Vector"]):
    """A vector as little-endian float64: there are few topics, and their similarities are shown without rounding."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: "Vector | None", dialect: Dialect) -> bytes | None:
        return None if value is None else exact(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> "Vector | None":
        return None if value is None else np.frombuffer(value, "<f8")


def maybe(*names: str) -> list[Column[str | None]]:
    """Nullable texts."""
    return [Column(name, PROSE, nullable=True) for name in names]


def _of_topic(table: str, *columns: str) -> list[ForeignKeyConstraint]:
    return [
        ForeignKeyConstraint(
            ["workspace", column],
            ["topics.workspace", "topics.id"],
            name=f"fk_{table}_{column}_topics",
            ondelete="CASCADE",
        )
        for column in columns
    ]


topics = Table(
    "topics",
    metadata,
    *text_keys("workspace", "id"),
    *short_texts("partition", "person"),
    Column("seq", BigInteger, nullable=False),
    *timestamps("created_at"),
    *floats("first_salience", "failed_salience", "salience"),
    *timestamps("salience_at"),
    Column("archived_at", UtcDateTime, nullable=True),
    *short_texts("merged_into", "alias"),
    *maybe("topic_kind", "title", "summary"),
    Index(None, "workspace", "partition", "seq"),
    Index(None, "workspace", "partition", "title"),
    Index(None, "workspace", "merged_into"),
    Index(None, "workspace", "person"),
    info={READ_AS: Topic},
)

topic_places = keyed(
    "topic_places",
    *text_keys("workspace", "topic_id"),
    *short_texts("channel"),
    *enums(Visibility, "visibility"),
    *_of_topic("topic_places", "topic_id"),
)

topic_vectors = keyed(
    "topic_vectors",
    *text_keys("workspace", "topic_id"),
    *short_texts("model"),
    Column("vector", ExactVector, nullable=False),
    *_of_topic("topic_vectors", "topic_id"),
)

topic_fields = keyed(
    "topic_fields",
    *text_keys("workspace", "topic_id", "name"),
    *short_texts("person"),
    *enums(FieldType, "field_type"),
    Column("ref_topic_id", SHORT, nullable=True),
    *_of_topic("topic_fields", "topic_id"),
    read_as=TopicField,
)

# Values are only added and never updated.
topic_revisions = Table(
    "topic_revisions",
    metadata,
    *short_texts("workspace", "id", "topic_id", "name"),
    Column("seq", BigInteger, nullable=False),
    *short_texts("person"),
    *timestamps("valid_from"),
    Column("value", json_value, nullable=False),
    *maybe("provenance", "why_changed", "impact_expected"),
    PrimaryKeyConstraint("workspace", "topic_id", "name", "person", "id"),
    ForeignKeyConstraint(
        ["workspace", "topic_id", "name"],
        ["topic_fields.workspace", "topic_fields.topic_id", "topic_fields.name"],
        ondelete="CASCADE",
    ),
    Index(None, "workspace", "person"),
    info={READ_AS: Revision},
)

topic_links = keyed(
    "topic_links",
    *text_keys("workspace", "from_id", "to_id", "kind"),
    *short_texts("person"),
    *timestamps("at"),
    *_of_topic("topic_links", "from_id", "to_id"),
    Index(None, "workspace", "to_id"),
    read_as=TopicLink,
)

IS_CHANGE = text("kind != 'salience'")

topic_events = Table(
    "topic_events",
    metadata,
    *short_texts("workspace"),
    Column("seq", BigInteger, nullable=False),
    *short_texts("topic_id"),
    *enums(TopicEventKind, "kind"),
    *short_texts("actor"),
    *timestamps("at"),
    Column("detail", json_object, nullable=False),
    PrimaryKeyConstraint("workspace", "seq"),
    *_of_topic("topic_events", "topic_id"),
    Index(None, "workspace", "topic_id", "seq"),
    Index(None, "workspace", "actor"),
    partial_index("ix_topic_events_changes", "workspace", "seq", where=IS_CHANGE),
    info={READ_AS: TopicEvent},
)
