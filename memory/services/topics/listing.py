"""Listing topics: each with its fields and all their values."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from memory.model import Audience, Scope, Vector
from memory.model.topic import Topic
from memory.ports import Clock, Transaction
from memory.rules.audience import is_personal
from memory.rules.retrieval.similarity import cosine
from memory.rules.use_detection.words import content_words, terms
from memory.services.topics.bundles import AllTopics, VisibleTopics
from memory.services.topics.query import FieldBundle

HISTORY = 50
"""How many values of one field are shown, newest first."""
NAMED = 0.5
"""Added to the similarity of a topic whose whole title is in the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopic:
    """One topic with its fields, as a person may see it."""

    topic: Topic
    """The topic, under its name for that person."""
    fields: tuple[FieldBundle, ...]
    """The fields by name, each with its values."""
    people: tuple[str, ...]
    """The authors: who brought it up, and who gave values."""
    similarity: float = 0.0
    """The similarity to the text that was searched for."""

    @property
    def audience(self) -> Audience:
        """The audience of the topic."""
        if is_personal(self.topic.partition, self.topic.person):
            return Audience.PERSONAL
        return Audience.WORKSPACE if self.topic.partition == "workspace" else Audience.CHANNEL

    @property
    def title(self) -> str:
        """Its title; its id if it has none."""
        return self.topic.title or self.topic.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Topics that may be listed, in one transaction."""

    visible: VisibleTopics
    tx: Transaction
    clock: Clock

    @classmethod
    def of_scope(cls, tx: Transaction, scope: Scope, clock: Clock) -> "Listing":
        """The topics that one person may see in one place."""
        return cls(visible=VisibleTopics(tx, scope), tx=tx, clock=clock)

    @classmethod
    def of_workspace(cls, tx: Transaction, workspace: str, clock: Clock, *, public_only: bool) -> "Listing":
        """All topics of a workspace, or only the public ones."""
        return cls(visible=AllTopics(tx, workspace, public_only=public_only), tx=tx, clock=clock)

    def topics(self, *, archived: bool = False) -> list[Topic]:
        """The topics by title, without merged ones, and with archived ones only if asked for."""
        standing = [each for each in self.visible.every.values() if not each.merged_into]
        found = [each for each in standing if archived or each.archived_at is None]
        return sorted(found, key=lambda each: ((each.title or each.id).casefold(), each.seq))

    def known(self, topics: Sequence[Topic], similarity: Sequence[float] = ()) -> list[KnownTopic]:
        """These topics with their fields and values, in two SQL statements."""
        ids = [each.id for each in topics]
        fields = self.visible.fields(ids, at=self.clock(), limit=HISTORY)
        home = self.visible.members(ids)
        people: dict[str, dict[str, None]] = {each.id: {each.person: None} for each in topics}
        for revision in self.tx.topics.revisions(self.visible.workspace, home):
            people[home[revision.topic_id]][revision.person] = None
        return [
            KnownTopic(
                topic=self.visible.shown(each),
                fields=tuple(fields[each.id][name] for name in sorted(fields[each.id])),
                people=tuple(filter(None, people[each.id])),
                similarity=similarity[place] if similarity else 0.0,
            )
            for place, each in enumerate(topics)
        ]

    def like(self, text: str, vector: Vector | None, model: str, limit: int) -> list[KnownTopic]:
        """The topics most similar to a text by meaning, best first; those whose title the text contains come first."""
        live = self.visible.live
        if not live:
            return []
        stored = self.tx.topics.vectors(self.visible.workspace, model, [each.id for each in live])
        words = content_words(text)
        scores = {
            each.id: _similarity(each, words, stored.get(each.id), vector)
            for each in live
            if each.title or each.summary
        }
        best = sorted((each for each in live if each.id in scores), key=lambda each: (-scores[each.id], each.seq))
        return self.known(best[:limit], [scores[each.id] for each in best[:limit]])

    def titled(self, title: str) -> list[Topic]:
        """The topics with this title or id, ignoring case and articles."""
        wanted = bare_title(title)
        return [
            each for each in self.visible.live if wanted in (bare_title(each.title or ""), bare_title(each.public_id))
        ]


def _similarity(topic: Topic, words: Set[str], stored: Vector | None, vector: Vector | None) -> float:
    title = terms(topic.title or "")
    is_named = bool(title) and all(term.forms & words for term in title)
    return cosine(stored, vector) + (NAMED if is_named else 0.0)


_ARTICLES = ("the ", "a ", "an ", "our ", "my ", "your ")


def bare_title(title: str) -> str:
    """A title in lower case, without outer punctuation and a leading article."""
    folded = " ".join(title.casefold().split()).strip(" .!?\"'“”")
    article = next((each for each in _ARTICLES if folded.startswith(each)), "")
    return folded[len(article) :]
