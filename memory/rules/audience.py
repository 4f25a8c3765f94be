"""Who may find an episode: the partitions that it is indexed in, and those that a person may search.

Scopes are enforced by construction: a search names partitions, and an episode is indexed only in partitions that its
audience may search. Nothing from a direct message or a private channel is indexed where people outside it search.

A channel's readers may change. An episode counts as visible to those who could read it both then and now
(`visibility_of`). `memory/README.md` has a table of the effects.
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
"""The groups of readers that may be shown episodes of each visibility; `author` means the author in direct messages.

Private and shared channels are not comparable: members of private channels know internal matters of the workspace, and
shared channels have readers of other organisations.
"""


@cache
def narrower(one: Visibility, other: Visibility) -> Visibility:
    """The visibility whose readers both have in common: direct if that is only the author."""
    both = _READERS[one] & _READERS[other]
    return next(visibility for visibility, readers in _READERS.items() if readers == both)


def visibility_of(item: Episode | Topic) -> Visibility:
    """The effective visibility: the narrower of the channel's visibility then and now, if the latter is known."""
    return narrower(item.visibility, item.channel_visibility or item.visibility)


def changed_by(known: Visibility | None, now: Visibility) -> tuple[Visibility, ...]:
    """The visibilities of items whose effective visibility changes when that of their channel does."""
    return tuple(then for then in Visibility if narrower(then, known or then) is not narrower(then, now))


def may_be_repeated(then: Visibility, now: Visibility | None) -> bool:
    """Whether words from a channel may be repeated in it now: its readers are the same as then, or fewer.

    `now` is None if the channel's visibility is unknown.
    """
    return now is None or narrower(then, now) is now


@lru_cache(maxsize=4096)
def _name(*parts: str) -> str:
    """Join the parts of a partition's name. They are quoted, so that no id can produce another partition's name."""
    return "/".join(part if part.isascii() and part.isalnum() else quote(part, safe="") for part in parts)


def _channel(channel: str, visibility: Visibility) -> str:
    """A channel's partition, another one for each visibility, so that opening a channel publishes nothing older."""
    return _name("channel", channel, *([] if visibility is Visibility.PUBLIC else [visibility.value]))


def _proposals(channel: str, visibility: Visibility) -> str:
    """The partition of episodes that a channel's people only proposed; used for evidence alone."""
    return f"proposals/{_channel(channel, visibility)}"


def _own_partition_in(kind: str, person: str, channel: str, visibility: Visibility) -> str:
    """A person's own partition in a private or shared channel."""
    return _name(kind, person, "in", channel, *([visibility.value] if visibility is Visibility.SHARED else []))


def partitions_of(episode: Episode) -> list[IndexEntry]:
    """The index entries of an episode, for each audience that has validated it.

    Empty for archived, quarantined and undecided ones. One that is quarantined only because it was restated is indexed
    for its author alone.
    """
    if episode.archived_at is not None or (episode.quarantine and set(episode.quarantine) != {RESTATED}):
        return []
    entries: list[IndexEntry] = []

    visibility = visibility_of(episode)
    # A direct message has one person, whoever wrote the lesson.
    owner = episode.person if episode.visibility is Visibility.DIRECT else episode.author or episode.person
    is_for_all = not episode.quarantine

    def file(audience: Audience, *partitions: str) -> None:
        verdict = episode.verdicts.of(audience)
        may_be_found = is_for_all or (audience is Audience.PERSONAL and owner == episode.author)
        if verdict.is_validated and may_be_found:
            entries.extend(IndexEntry(partition=name, audience=audience, verdict=verdict) for name in partitions)

    person = ("person", owner)
    in_direct = [] if _is_correction_from_before(episode) else [_name(*person, "direct")]
    channel = _channel(episode.channel, visibility)
    match visibility:
        case Visibility.PUBLIC:
            file(Audience.PERSONAL, _name(*person))
            file(Audience.CHANNEL, channel)
            file(Audience.WORKSPACE, "workspace")
        case Visibility.PRIVATE | Visibility.SHARED:
            # In their direct messages with the bot, a person may see it too.
            file(Audience.PERSONAL, _own_partition_in(*person, episode.channel, visibility), *in_direct)
            file(Audience.CHANNEL, channel)
        case Visibility.DIRECT:
            file(Audience.PERSONAL, *in_direct)
            if episode.visibility is Visibility.DIRECT:
                file(Audience.CHANNEL, channel)
    return sorted(entries, key=lambda entry: entry.partition)


def index_entries_of(episode: Episode) -> list[IndexEntry]:
    """All index entries of an episode: `partitions_of`, and as evidence in its channel if people only proposed it.

    Proposed episodes of direct messages are not indexed.
    """
    visibility = visibility_of(episode)
    is_kept_back = episode.archived_at is not None or episode.quarantine or visibility is Visibility.DIRECT
    if is_kept_back or not episode.verdicts.is_proposed:
        return partitions_of(episode)
    place = _proposals(episode.channel, visibility)
    proposed = IndexEntry(partition=place, audience=Audience.CHANNEL, verdict=Verdict.PENDING)
    return sorted([*partitions_of(episode), proposed], key=lambda entry: entry.partition)


def nearest_entry(episode: Episode, partitions: Sequence[str]) -> IndexEntry | None:
    """The episode's index entry in the first of these partitions that has it. `partitions`: most specific first."""
    indexed = [entry for entry in partitions_of(episode) if entry.partition in partitions]
    return min(indexed, key=lambda entry: partitions.index(entry.partition), default=None)


def is_only_proposed(episode: Episode, scope: Scope | None) -> bool:
    """Whether people proposed the episode as right, and no audience of this scope has validated it."""
    is_proposed = episode.verdicts.proposed in (Verdict.SUCCESS, Verdict.DISPUTED)
    return is_proposed and scope is not None and nearest_entry(episode, partitions_for(scope)) is None


def _is_correction_from_before(episode: Episode) -> bool:
    """Whether it is a correction from before its channel narrowed: its author may no longer see the question."""
    return episode.origin is Origin.CORRECTION and has_narrowed(episode)


def partitions_for(scope: Scope) -> list[str]:
    """The partitions that a question from this scope may search, most specific first."""
    person = ("person", scope.person)
    if scope.visibility is Visibility.SHARED:
        return [_own_partition_in(*person, scope.channel, scope.visibility), _channel(scope.channel, scope.visibility)]
    own = [_name(*person)]
    if scope.visibility is Visibility.DIRECT:
        own.insert(0, _name(*person, "direct"))
    if scope.visibility is Visibility.PRIVATE:
        own.insert(0, _own_partition_in(*person, scope.channel, scope.visibility))
    channels = [_channel(scope.channel, scope.visibility), _channel(scope.channel, Visibility.PUBLIC)]
    return [*own, *dict.fromkeys(channels), "workspace"]


def proposals_for(scope: Scope) -> list[str]:
    """The partitions of proposed episodes in this scope's channel. None in direct messages."""
    if scope.visibility is Visibility.DIRECT:
        return []
    here = _proposals(scope.channel, scope.visibility)
    is_shared = scope.visibility is Visibility.SHARED
    return [here] if is_shared else list(dict.fromkeys([here, _proposals(scope.channel, Visibility.PUBLIC)]))


def partition_of(scope: Scope, audience: Audience) -> str:
    """The partition for data other than episodes, from this scope for this audience.

    Raises `InvalidInput` for the workspace from a conversation that is not public.
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
    """Whether only this person may search a partition."""
    own = _name("person", person)
    return partition == own or partition.startswith(f"{own}/")


def is_here(scope: Scope, episode: Episode) -> bool:
    """Whether the episode is of this scope's channel, and all its present readers may see it."""
    here = (scope.workspace, scope.channel, scope.visibility)
    if here != (episode.workspace, episode.channel, visibility_of(episode)):
        return False
    return scope.visibility is not Visibility.DIRECT or scope.person == episode.person


def may_read(scope: Scope, episode: Episode) -> bool:
    """Whether an episode's words may be shown to this person in this place, whatever its verdict.

    Public ones may everywhere but in shared channels, those of this channel, and one's own in direct messages.
    """
    if episode.workspace != scope.workspace:
        return False
    if visibility_of(episode) is Visibility.PUBLIC:
        return scope.visibility is not Visibility.SHARED
    return is_here(scope, episode) or (scope.visibility is Visibility.DIRECT and _is_own(scope, episode))


def may_see(scope: Scope, episode: Episode) -> bool:
    """Whether a person may see this episode outside recall: it is theirs, or indexed in a partition they may search.

    The rule of `/why`, `/memory` and search. Episodes of other workspaces are never visible.
    """
    if episode.workspace != scope.workspace:
        return False
    named = set(partitions_for(scope))
    if any(entry.partition in named for entry in partitions_of(episode)):
        return True
    return _is_own(scope, episode) and may_read(scope, episode)


def is_in_reach(scope: Scope, episode: Episode) -> bool:
    """Whether evidence for this scope may use the episode: the person may see it, or it is proposed in the channel."""
    proposals = proposals_for(scope)
    return may_see(scope, episode) or any(entry.partition in proposals for entry in index_entries_of(episode))


def has_narrowed(item: Episode | Topic) -> bool:
    """Whether fewer people may see it now than could read it then."""
    return visibility_of(item) is not item.visibility


def as_seen_from(scope: Scope, lesson: Episode, verdict: Verdict) -> Episode:
    """The lesson without a reason or correction that is for another verdict, or a reason this person may not read."""
    is_elsewhere = has_narrowed(lesson) and scope.channel != lesson.channel
    reason = "" if is_elsewhere or lesson.verdict is not verdict else lesson.outcome_reason
    correction = lesson.correction if verdict is Verdict.FAILURE else ""
    if (reason, correction) == (lesson.outcome_reason, lesson.correction):
        return lesson  # most often; `replace` is slow
    return replace(lesson, outcome_reason=reason, correction=correction)


def visibility_about(answer: Episode, scope: Scope) -> Visibility:
    """The visibility of words about an answer: the narrower of the answer's and of the place where they are said.

    Words from another channel are direct, unless that channel is public.
    """
    place = scope.visibility
    if scope.channel != answer.channel and place is not Visibility.PUBLIC:
        place = Visibility.DIRECT
    return narrower(visibility_of(answer), place)


def may_meet(scope: Scope, topic: Topic) -> bool:
    """Whether a topic from a partition this person searches may still be shown there after its channel changed."""
    if not has_narrowed(topic):
        return True
    is_alone = scope.visibility is Visibility.DIRECT and scope.person == topic.person
    return is_alone or (scope.channel, scope.visibility) == (topic.channel, visibility_of(topic))


def _is_own(scope: Scope, episode: Episode) -> bool:
    """Whether the person asked or wrote it; episodes of direct messages belong to the person who asked only."""
    if scope.visibility is Visibility.DIRECT and _is_correction_from_before(episode):
        return False
    is_author = episode.author == scope.person and episode.visibility is not Visibility.DIRECT
    return episode.person == scope.person or is_author
