"""Who may find an episode: the partitions of the recall index it is filed under, and those a person may search.

Scope is applied before anything else by construction: a search names partitions, and an episode is only ever filed in
partitions its audience may name. Nothing from a direct message or a private channel is filed where people outside that
conversation look.

A channel may change who reads it. What was said in it counts as said where both the people of then and those of now
could read it: `visibility_of`. `memory/README.md` has the table of what follows.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from urllib.parse import quote

from memory.errors import InvalidInput
from memory.model import RESTATED, Audience, Episode, Origin, Scope, Verdict, Visibility
from memory.model.topic import Topic
from memory.ports import IndexEntry

_READERS = {
    Visibility.PUBLIC: frozenset({"workspace", "members", "author"}),
    Visibility.PRIVATE: frozenset({"members", "author"}),
    Visibility.SHARED: frozenset({"outsiders", "author"}),
    Visibility.DIRECT: frozenset({"author"}),
}
"""Before whom something may be shown that was said under each visibility; before its author in direct messages only.

Members of a private channel and the people of a shared one are not comparable: the ones know what the workspace keeps
to itself, among the others are people of elsewhere.
"""


@cache
def narrower(one: Visibility, other: Visibility) -> Visibility:
    """The visibility of what both allow to be shown: direct, where they have but its author in common."""
    both = _READERS[one] & _READERS[other]
    return next(visibility for visibility, readers in _READERS.items() if readers == both)


def visibility_of(item: Episode | Topic) -> Visibility:
    """The visibility that counts: the narrower of what its channel was then, and what it is now as far as is known."""
    return narrower(item.visibility, item.channel_visibility or item.visibility)


def stays(then: Visibility, now: Visibility | None) -> bool:
    """Whether what was said in a channel under one visibility may be repeated in it now. None: nothing is known of it.

    Yes where fewer read it than did, or the same people.
    """
    return now is None or narrower(then, now) is now


@lru_cache(maxsize=4096)
def _name(*parts: str) -> str:
    """Join the parts of a partition's name; an id can never contain the separator, so no id can spell another name."""
    return "/".join(part if part.isascii() and part.isalnum() else quote(part, safe="") for part in parts)


def _channel(channel: str, visibility: Visibility) -> str:
    """A channel's partition. One that is opened to everybody later does not publish what was said in it before."""
    return _name("channel", channel, *([] if visibility is Visibility.PUBLIC else [visibility.value]))


def _proposals(channel: str, visibility: Visibility) -> str:
    """Where a channel keeps what its people think of answers without having decided: for evidence alone."""
    return f"proposals/{_channel(channel, visibility)}"


def _inside(kind: str, person: str, channel: str, visibility: Visibility) -> str:
    """A person's own partition in a channel that not everybody of the workspace, or more than they, can read."""
    return _name(kind, person, "in", channel, *([visibility.value] if visibility is Visibility.SHARED else []))


def partitions_of(episode: Episode) -> list[IndexEntry]:
    """Where the episode is filed for each audience that has validated it.

    Empty for archived, quarantined and undecided ones; of one that waits for a teacher only because it was restated,
    where its author alone looks.
    """
    if episode.archived_at is not None or (episode.quarantine and set(episode.quarantine) != {RESTATED}):
        return []
    entries: list[IndexEntry] = []

    visibility = visibility_of(episode)
    # Whoever wrote a lesson about a direct message, the conversation has one person.
    owner = episode.person if episode.visibility is Visibility.DIRECT else episode.author or episode.person
    is_for_all = not episode.quarantine

    def file(audience: Audience, *partitions: str) -> None:
        verdict = episode.verdicts.of(audience)
        may_be_found = is_for_all or (audience is Audience.PERSONAL and owner == episode.author)
        if verdict.is_validated and may_be_found:
            entries.extend(IndexEntry(partition=name, audience=audience, verdict=verdict) for name in partitions)

    person = ("person", owner)
    among_four_eyes = [] if _repeats_kept_words(episode) else [_name(*person, "direct")]
    channel = _channel(episode.channel, visibility)
    match visibility:
        case Visibility.PUBLIC:
            file(Audience.PERSONAL, _name(*person))
            file(Audience.CHANNEL, channel)
            file(Audience.WORKSPACE, "workspace")
        case Visibility.PRIVATE | Visibility.SHARED:
            # The person's own direct messages with the bot are read by nobody outside the channel either.
            file(Audience.PERSONAL, _inside(*person, episode.channel, visibility), *among_four_eyes)
            file(Audience.CHANNEL, channel)
        case Visibility.DIRECT:
            file(Audience.PERSONAL, *among_four_eyes)
            if episode.visibility is Visibility.DIRECT:
                file(Audience.CHANNEL, channel)
    return sorted(entries, key=lambda entry: entry.partition)


def index_entries_of(episode: Episode) -> list[IndexEntry]:
    """Everywhere the episode is filed: for who has validated it, and as evidence where people only proposed it.

    What is proposed is filed for its channel alone, and never from a direct message.
    """
    visibility = visibility_of(episode)
    is_kept_back = episode.archived_at is not None or episode.quarantine or visibility is Visibility.DIRECT
    if is_kept_back or not episode.verdicts.is_proposed:
        return partitions_of(episode)
    place = _proposals(episode.channel, visibility)
    proposed = IndexEntry(partition=place, audience=Audience.CHANNEL, verdict=Verdict.PENDING)
    return sorted([*partitions_of(episode), proposed], key=lambda entry: entry.partition)


def nearest_entry(episode: Episode, partitions: Sequence[str]) -> IndexEntry | None:
    """Where the episode is filed in the most specific of these partitions that has it."""
    filed = [entry for entry in partitions_of(episode) if entry.partition in partitions]
    return min(filed, key=lambda entry: partitions.index(entry.partition), default=None)


def is_only_proposed(episode: Episode, scope: Scope | None) -> bool:
    """Whether people of the channel think it right, and for who asks from this scope nobody decided so."""
    is_proposed = episode.verdicts.proposed in (Verdict.SUCCESS, Verdict.DISPUTED)
    return is_proposed and scope is not None and nearest_entry(episode, partitions_for(scope)) is None


def _repeats_kept_words(episode: Episode) -> bool:
    """Whether it is a correction of before its channel narrowed: its author may be kept from its question now."""
    return episode.origin is Origin.CORRECTION and has_narrowed(episode)


def partitions_for(scope: Scope) -> list[str]:
    """The partitions a question from this scope may search, most specific first."""
    person = ("person", scope.person)
    if scope.visibility is Visibility.SHARED:
        return [_inside(*person, scope.channel, scope.visibility), _channel(scope.channel, scope.visibility)]
    own = [_name(*person)]
    if scope.visibility is Visibility.DIRECT:
        own.insert(0, _name(*person, "direct"))
    if scope.visibility is Visibility.PRIVATE:
        own.insert(0, _inside(*person, scope.channel, scope.visibility))
    channels = [_channel(scope.channel, scope.visibility), _channel(scope.channel, Visibility.PUBLIC)]
    return [*own, *dict.fromkeys(channels), "workspace"]


def proposals_for(scope: Scope) -> list[str]:
    """The partitions of what others only proposed in this very place. None among four eyes: nobody else is there."""
    if scope.visibility is Visibility.DIRECT:
        return []
    here = _proposals(scope.channel, scope.visibility)
    is_shared = scope.visibility is Visibility.SHARED
    return [here] if is_shared else list(dict.fromkeys([here, _proposals(scope.channel, Visibility.PUBLIC)]))


def partition_of(scope: Scope, audience: Audience) -> str:
    """The one partition for something that is said here for this audience, and is no episode.

    Raises `InvalidInput` for the workspace from a conversation that not everybody can read.
    """
    match audience:
        case Audience.PERSONAL:
            return partitions_for(scope)[0]
        case Audience.CHANNEL:
            return _channel(scope.channel, scope.visibility)
        case Audience.WORKSPACE:
            if scope.visibility is not Visibility.PUBLIC:
                raise InvalidInput("What is said in a private conversation stays there; use channel or personal.")
            return "workspace"


def is_personal(partition: str, person: str) -> bool:
    """Whether a partition is one that this person alone may search."""
    own = _name("person", person)
    return partition == own or partition.startswith(f"{own}/")


def is_here(scope: Scope, episode: Episode) -> bool:
    """Whether the episode was said in this very place, and everybody who reads it now may be shown it."""
    here = (scope.workspace, scope.channel, scope.visibility)
    if here != (episode.workspace, episode.channel, visibility_of(episode)):
        return False
    return scope.visibility is not Visibility.DIRECT or scope.person == episode.person


def may_read(scope: Scope, episode: Episode) -> bool:
    """Whether an episode's words may be repeated where this person is, whatever anybody thinks of them.

    Public ones everywhere but before outsiders, those of this place, one's own among four eyes.
    """
    if episode.workspace != scope.workspace:
        return False
    if visibility_of(episode) is Visibility.PUBLIC:
        return scope.visibility is not Visibility.SHARED
    return is_here(scope, episode) or (scope.visibility is Visibility.DIRECT and _is_own(scope, episode))


def may_see(scope: Scope, episode: Episode) -> bool:
    """Whether a person may be shown this episode outside recall: it is theirs, or it is filed where they may look.

    The rule of `/why`, `/memory` and search. A foreign workspace is never visible.
    """
    if episode.workspace != scope.workspace:
        return False
    named = set(partitions_for(scope))
    if any(entry.partition in named for entry in partitions_of(episode)):
        return True
    return _is_own(scope, episode) and may_read(scope, episode)


def is_in_reach(scope: Scope, episode: Episode) -> bool:
    """Whether the evidence for this person may rest on it: they may see it, or it is proposed where they are."""
    proposals = proposals_for(scope)
    return may_see(scope, episode) or any(entry.partition in proposals for entry in index_entries_of(episode))


def has_narrowed(item: Episode | Topic) -> bool:
    """Whether fewer may be shown it than could read it when it was said."""
    return visibility_of(item) is not item.visibility


def as_seen_from(scope: Scope, lesson: Episode, verdict: Verdict) -> Episode:
    """The lesson without a reason that is for another verdict, or that was given where this person may not read now."""
    is_elsewhere = has_narrowed(lesson) and scope.channel != lesson.channel
    reason = "" if is_elsewhere or lesson.verdict is not verdict else lesson.outcome_reason
    correction = lesson.correction if verdict is Verdict.FAILURE else ""
    if (reason, correction) == (lesson.outcome_reason, lesson.correction):
        return lesson  # as most often: to make another one takes long
    return replace(lesson, outcome_reason=reason, correction=correction)


def visibility_about(answer: Episode, scope: Scope) -> Visibility:
    """The visibility of what is said about an answer: that of the answer as it counts now, or of the place if narrower.

    Words from another place stay with who said them, unless everybody may read there.
    """
    place = scope.visibility
    if scope.channel != answer.channel and place is not Visibility.PUBLIC:
        place = Visibility.DIRECT
    return narrower(visibility_of(answer), place)


def may_meet(scope: Scope, topic: Topic) -> bool:
    """Whether a topic that is filed where this person looks may be shown there after its channel changed."""
    if not has_narrowed(topic):
        return True
    is_alone = scope.visibility is Visibility.DIRECT and scope.person == topic.person
    return is_alone or (scope.channel, scope.visibility) == (topic.channel, visibility_of(topic))


def _is_own(scope: Scope, episode: Episode) -> bool:
    """Whether the person asked it, or wrote it; of a direct message only whose conversation it is."""
    if scope.visibility is Visibility.DIRECT and _repeats_kept_words(episode):
        return False
    is_author = episode.author == scope.person and episode.visibility is not Visibility.DIRECT
    return episode.person == scope.person or is_author
