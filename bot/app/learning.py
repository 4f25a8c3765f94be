"""Learning from a file: recognising its kind, deciding where its lessons go, and importing them in chunks."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bot.adapters.sources import faq_lines, faq_markdown, faq_table
from bot.adapters.sources.archive import opened
from bot.adapters.sources.entries import Contents, FileFault, SourceChannel, SourceEntry, read_text
from memory.errors import InvalidInput
from memory.model import Audience, Scope, Visibility
from memory.model.batch import Proposal
from memory.model.teaching import EmojiMap
from memory.services import EntryOutcome, EntryStatus, Memory

CHUNK = 250
"""Lessons imported in one transaction, so that chat can write in between, and little is repeated after a kill."""
SAMPLES = 5
_TAKEN = (EntryStatus.ADDED, EntryStatus.HELD_BACK, EntryStatus.OWN)
_PINNED = "pinned"
ShowsLearning = Callable[[str, int, int], None]
"""Progress callback: called with the stage, the number done, and the total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the lessons of a file go."""

    workspace: str
    """The workspace, if the file does not name one; a platform's export does."""
    actor: str
    is_workspace_given: bool = False
    channel: str = ""
    visibility: Visibility | None = None
    audience: Audience | None = None
    with_direct: bool = False
    people: Mapping[str, str] = field(default_factory=dict[str, str])
    """The ids of people here, by their ids in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnReport:
    """The result of learning from a file."""

    kind: str
    workspace: str
    batch: str
    """The id of the batch; empty for a dry run, and for a file that added nothing."""
    entries: int
    counts: Mapping[str, int]
    """The number of entries with each status."""
    differing: int
    """The number added although the same question has another answer there."""
    held_back: Mapping[str, int]
    """The number held back, to be reviewed one by one, for each reason."""
    places: Mapping[str, int]
    """The number added in each channel."""
    left_out: Mapping[str, int]
    faults: tuple[FileFault, ...]
    samples: tuple[SourceEntry, ...]

    @property
    def added(self) -> int:
        """The number that waits for review, or counts for one person."""
        return sum(self.counts.get(status.value, 0) for status in _TAKEN)

    @property
    def has_failed(self) -> bool:
        """Whether no entry could be used."""
        is_known = self.counts.get(EntryStatus.KNOWN.value, 0) + self.counts.get(EntryStatus.JOINED.value, 0)
        return bool(self.faults) and not self.added and not is_known


def read_file(path: Path, emoji: EmojiMap, progress: ShowsLearning, *, encoding: str = "") -> Contents:
    """The entries of a file. Its kind is recognised by name and content; raises `InvalidInput` for an unknown one."""
    from bot.adapters.discord import archive as discord
    from bot.adapters.slack import archive as slack

    match path.suffix.casefold():
        case ".zip":
            with opened(path) as archive:
                names = archive.names
            return (
                slack.read(path, emoji, progress)
                if slack.is_export(names)
                else discord.read_archive(path, emoji, progress)
            )
        case ".csv" | ".tsv":
            return _contents("csv", [*faq_table.read(read_text(path, encoding))])
        case ".md" | ".markdown":
            return _contents("Markdown", [*faq_markdown.read(read_text(path, encoding))])
        case ".jsonl" | ".ndjson":
            return _contents("JSON lines", [*faq_lines.read(read_text(path, encoding))])
        case ".json":
            text = read_text(path, encoding)
            value = _json(text)
            if discord.is_export(value):
                return discord.read(value, emoji)
            return _contents("JSON lines", [*faq_lines.read(text)])
    raise InvalidInput(
        f"cannot tell what {path} is: an FAQ ends in .csv, .md or .jsonl, an export of Slack in .zip, of "
        "DiscordChatExporter in .json or .zip"
    )


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _contents(kind: str, found: Sequence[SourceEntry | FileFault]) -> Contents:
    return Contents(
        kind=kind,
        entries=tuple(each for each in found if isinstance(each, SourceEntry)),
        faults=tuple(each for each in found if isinstance(each, FileFault)),
    )


def learn(
    memory: Memory, path: Path, contents: Contents, target: Target, progress: ShowsLearning, *, is_dry_run: bool
) -> LearnReport:
    """Import the entries of a file, skipping those imported before. A dry run only reports each entry's outcome.

    Raises `InvalidInput` if it must be specified where the lessons go.
    """
    routes = _Routes(memory, path, contents, target)
    proposals = [(each, made) for each in contents.entries if (made := routes.proposal(each)) is not None]
    intake = memory.batches.intake(
        routes.workspace, path.name, _digest(path, routes), actor=target.actor, is_dry_run=is_dry_run
    )
    outcomes: list[EntryOutcome] = []
    progress("learning", 0, len(proposals))
    for start in range(0, len(proposals), CHUNK):
        outcomes += intake.take([made for _, made in proposals[start : start + CHUNK]])
        progress("learning", len(outcomes), len(proposals))
    has_batch = not is_dry_run and any(each.status in _TAKEN for each in outcomes)
    return _report(contents, routes, [each for each, _ in proposals], outcomes, intake.batch.id if has_batch else "")


def _report(
    contents: Contents, routes: "_Routes", entries: Sequence[SourceEntry], outcomes: Sequence[EntryOutcome], batch: str
) -> LearnReport:
    pairs = [*zip(entries, outcomes, strict=True)]
    taken = [(entry, outcome) for entry, outcome in pairs if outcome.status in _TAKEN]
    refused = [
        FileFault(position=entry.position, reason=outcome.reason)
        for entry, outcome in pairs
        if outcome.status is EntryStatus.REFUSED
    ]
    places = Counter(entry.place.name or entry.place.channel for entry, _ in taken if entry.place is not None)
    return LearnReport(
        kind=contents.kind,
        workspace=routes.workspace,
        batch=batch,
        entries=len(contents.entries),
        counts=Counter(each.status.value for each in outcomes),
        differing=sum(outcome.differs for _, outcome in taken),
        held_back=Counter(outcome.reason for _, outcome in taken if outcome.status is EntryStatus.HELD_BACK),
        places=dict(places.most_common()),
        left_out={**(contents.skipped or {}), **routes.left_out},
        faults=(*contents.faults, *refused),
        samples=tuple(entry for entry, _ in taken[:SAMPLES]),
    )


@dataclass(slots=True)
class _Routes:
    """Decides where each entry goes."""

    memory: Memory
    path: Path
    contents: Contents
    target: Target
    left_out: Counter[str] = field(default_factory=Counter[str])
    _visibilities: dict[str, Visibility] = field(default_factory=dict[str, Visibility])

    @property
    def workspace(self) -> str:
        """The workspace of the file, unless another one is given."""
        own = self.contents.workspace
        return self.target.workspace if self.target.is_workspace_given or not own else own

    @property
    def is_foreign(self) -> bool:
        """Whether the file is from another workspace, whose channels do not exist here."""
        return bool(self.contents.workspace) and self.contents.workspace != self.workspace

    def proposal(self, entry: SourceEntry) -> Proposal | None:
        """The entry as a proposal; None if it is left out, which is counted by its reason."""
        is_conversation = bool(entry.key)
        place = entry.place
        if is_conversation and place is not None and place.visibility is Visibility.DIRECT:
            return self._direct(entry, place)
        if self.is_foreign and place is not None and place.visibility is not Visibility.PUBLIC:
            self.left_out["not public, in another workspace"] += 1
            return None
        author = self._person(entry.author) if is_conversation else self.target.actor
        others = (self._person(entry.asker),) if is_conversation else ()
        scope = self._scope(place, author)
        return Proposal(
            scope=scope,
            question=entry.question,
            answer=entry.answer,
            key=entry.key or f"text/{scope.channel}/{entry.question}/{entry.answer}",
            audience=self._audience(entry, scope),
            source=" · ".join(part for part in (entry.position, entry.mark) if part),
            others=others,
        )

    def _direct(self, entry: SourceEntry, place: SourceChannel) -> Proposal | None:
        """A proposal from a direct conversation: for the asker alone, and only if they said that it is right."""
        if not self.target.with_direct or self.is_foreign:
            self.left_out["in direct messages; --direct takes them, for the asker alone"] += 1
            return None
        if entry.mark == _PINNED:
            self.left_out["in direct messages, not marked by who asked"] += 1
            return None
        asker = self._person(entry.asker)
        return Proposal(
            scope=Scope(
                workspace=self.workspace,
                channel=place.channel,
                person=asker,
                visibility=Visibility.DIRECT,
                place=place.name,
            ),
            question=entry.question,
            answer=entry.answer,
            key=entry.key,
            audience=Audience.PERSONAL,
            source=f"{entry.position} · {entry.mark}",
            others=(self._person(entry.author),),
            accepted_by=asker,
        )

    def _scope(self, place: SourceChannel | None, author: str) -> Scope:
        target = self.target
        if self.is_foreign and not target.channel:
            source = f"{self.path} is an export of {self.contents.workspace}"
            raise InvalidInput(f"{source}: name a --channel of {self.workspace}, and --public or --private")
        if target.channel or place is None:
            channel, name = target.channel or f"file:{self.path.name}", "" if target.channel else self.path.name
            place = SourceChannel(channel=channel, name=name, visibility=None if target.channel else Visibility.PUBLIC)
        return Scope(
            workspace=self.workspace,
            channel=place.channel,
            person=author,
            visibility=self._visibility(place),
            place=place.name,
        )

    def _visibility(self, place: SourceChannel) -> Visibility:
        """Who can read a channel, by the file, by what was given, or by what the bot knows."""
        known = place.visibility or self.target.visibility or self._visibilities.get(place.channel)
        if known is None:
            asked = Scope(
                workspace=self.workspace,
                channel=place.channel,
                person=self.target.actor,
                visibility=Visibility.PRIVATE,
                is_visibility_known=False,
            )
            found = self.memory.channels.last_known(asked)
            if not found.is_visibility_known:
                raise InvalidInput(
                    f"nobody knows yet who can read {place.name or place.channel}: say --public if everybody of the "
                    "workspace can, or --private"
                )
            known = self._visibilities[place.channel] = found.visibility
        return known

    def _audience(self, entry: SourceEntry, scope: Scope) -> Audience:
        if self.target.audience is not None:
            return self.target.audience
        if entry.audience is not None:
            return entry.audience
        is_of_a_channel = self.target.channel or entry.place is not None
        return Audience.CHANNEL if is_of_a_channel else Audience.WORKSPACE

    def _person(self, known: str) -> str:
        """The id of a person here. Unmapped ids of another workspace are prefixed, to equal nobody's here."""
        if not known:
            return "unknown"
        here = self.target.people.get(known)
        return here or (f"{self.contents.workspace}/{known}" if self.is_foreign else known)


def _digest(path: Path, routes: _Routes) -> str:
    """The digest of the file and of where its lessons go."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    target = routes.target
    digest.update(f"\n{routes.workspace}\n{target.channel}\n{target.audience}".encode())
    return digest.hexdigest()
