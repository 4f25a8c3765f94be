"""Who may find an episode: the partitions of the recall index it is filed under, and those a person may search.

Scope is applied before anything else by construction: a search names partitions, and an episode is only ever filed in
partitions its audience may name. Nothing from a direct message or a private channel is filed where people outside that
conversation look (design 3.1, rule 5).
"""

from urllib.parse import quote

from memory.errors import InvalidInput
from memory.model import Audience, Episode, Scope, Visibility
from memory.ports import IndexEntry


def _name(*parts: str) -> str:
    """Join the parts of a partition's name; an id can never contain the separator, so no id can spell another name."""
    return "/".join(quote(part, safe="") for part in parts)


def _channel(channel: str, visibility: Visibility) -> str:
    """A channel's partition. One that is opened to everybody later does not publish what was said in it before."""
    return _name("channel", channel, *([] if visibility is Visibility.PUBLIC else [visibility.value]))


def _inside(kind: str, person: str, channel: str, visibility: Visibility) -> str:
    """A person's own partition in a channel that not everybody of the workspace, or more than they, can read."""
    return _name(kind, person, "in", channel, *([visibility.value] if visibility is Visibility.SHARED else []))


def partitions_of(episode: Episode) -> list[IndexEntry]:
    """Where the episode is filed for each audience that has validated it.

    Empty for archived, quarantined and undecided ones.
    """
    if episode.archived_at is not None or episode.quarantine:
        return []
    entries: list[IndexEntry] = []

    def file(audience: Audience, *partitions: str) -> None:
        verdict = episode.verdicts.of(audience)
        if verdict.is_validated:
            entries.extend(IndexEntry(partition=name, audience=audience, verdict=verdict) for name in partitions)

    person = ("person", episode.author or episode.person)
    channel = _channel(episode.channel, episode.visibility)
    match episode.visibility:
        case Visibility.PUBLIC:
            file(Audience.PERSONAL, _name(*person))
            file(Audience.CHANNEL, channel)
            file(Audience.WORKSPACE, "workspace")
        case Visibility.PRIVATE | Visibility.SHARED:
            # The person's own direct messages with the bot are read by nobody outside the channel either.
            file(Audience.PERSONAL, _inside(*person, episode.channel, episode.visibility), _name(*person, "direct"))
            file(Audience.CHANNEL, channel)
        case Visibility.DIRECT:
            # Whoever wrote the lesson, the conversation has one person.
            file(Audience.PERSONAL, _name("person", episode.person, "direct"))
            file(Audience.CHANNEL, channel)
    return sorted(entries, key=lambda entry: entry.partition)


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


def partition_of(scope: Scope, audience: Audience) -> str:
    """The one partition for something that is said here for this audience, and is no episode.

    Raises `InvalidInput` for the workspace from a conversation that not everybody can read (design 3.1, rule 5).
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


def may_see(scope: Scope, episode: Episode) -> bool:
    """Whether a person may be shown this episode outside recall: it is theirs, or it is filed where they may look.

    The rule of `/why`, `/memory` and search. A foreign workspace is never visible.
    """
    if episode.workspace != scope.workspace:
        return False
    named = set(partitions_for(scope))
    if any(entry.partition in named for entry in partitions_of(episode)):
        return True
    is_own = scope.person in (episode.person, episode.author)
    is_public = episode.visibility is Visibility.PUBLIC and scope.visibility is not Visibility.SHARED
    if is_public or scope.visibility is Visibility.DIRECT:
        return is_own
    return is_own and episode.channel == scope.channel
