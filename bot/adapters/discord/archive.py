"""Reads exports of DiscordChatExporter (JSON): questions with answers from replies and threads with a marked answer.

One file is one channel or thread; an archive (zip) may hold many. Versions before 2.41 do not tell who reacted, so only
pinned answers and answers with thanks are taken from them. No version tells who can read the channel.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.adapters.discord.plain_text import plain_text
from bot.adapters.naming import plain_name
from bot.adapters.sources.archive import object_of, objects_of, opened
from bot.adapters.sources.entries import Contents, FileFault, SourceChannel, SourceEntry
from bot.adapters.sources.threads import Message, answered_question, reply_chains
from memory.errors import InvalidInput
from memory.model import Visibility
from memory.model.teaching import EmojiMap

Record = Mapping[str, Any]
_PERSON_TYPES = ("Default", "Reply", "0", "19", "")
"""Types of messages that people write; a file of another version may have none."""
_UNTOLD = "files whose reactions do not say whose they are"


def is_export(value: object) -> bool:
    """Whether a JSON value is such an export."""
    found = object_of(value)
    return isinstance(found.get("messages"), list) and isinstance(found.get("channel"), dict)


def read(value: object, emoji: EmojiMap) -> Contents:
    """The answered questions of one file. Raises `InvalidInput` for a file that is no export."""
    if not is_export(value):
        raise InvalidInput("this is no export of DiscordChatExporter; make one with `--format Json`")
    export = _Export(object_of(value), emoji)
    entries = tuple(export.entries())
    return Contents(
        kind="Discord export",
        entries=entries,
        faults=tuple(export.faults),
        workspace=export.workspace,
        skipped=dict(export.left_out),
    )


def read_archive(path: Path, emoji: EmojiMap, progress: Callable[[str, int, int], None]) -> Contents:
    """The content of a zip archive of exports. Raises `InvalidInput` if it has none, or exports of several servers."""
    every: list[Contents] = []
    with opened(path) as archive:
        for number, name in enumerate(archive.names, start=1):
            progress(name, number, len(archive.names))
            value = archive.value(name)
            if is_export(value):
                every.append(read(value, emoji))
        faults = tuple(archive.faults)
    servers = {each.workspace for each in every}
    if len(servers) > 1:
        raise InvalidInput(f"{path} has exports of {len(servers)} servers; learn from one at a time")
    if not every:
        raise InvalidInput(f"{path} is neither a Slack export nor has it exports of DiscordChatExporter")
    left_out: Counter[str] = Counter()
    for each in every:
        left_out.update(each.skipped or {})
    return Contents(
        kind="Discord export",
        entries=tuple(entry for each in every for entry in each.entries),
        faults=(*faults, *(fault for each in every for fault in each.faults)),
        workspace=servers.pop(),
        skipped=dict(left_out),
    )


@dataclass(slots=True)
class _Export:
    record: Record
    emoji: EmojiMap
    faults: list[FileFault] = field(default_factory=list[FileFault])
    left_out: Counter[str] = field(default_factory=Counter[str])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _days: dict[str, str] = field(default_factory=dict[str, str])
    _has_untold: bool = False

    @property
    def workspace(self) -> str:
        """The server; empty for a direct conversation, which belongs to none."""
        guild = object_of(self.record.get("guild")).get("id")
        return f"discord:{guild}" if guild and str(guild) != "0" else ""

    def entries(self) -> Iterator[SourceEntry]:
        """Every question that somebody answered."""
        channel = object_of(self.record.get("channel"))
        place = self._place(channel)
        records = objects_of(self.record.get("messages"))
        for record in records:
            self._learn_names(record)
        messages = [each for each in map(self._message, records) if each is not None]
        if self._has_untold:
            self.left_out[_UNTOLD] += 1
        threads = [messages] if "Thread" in str(channel.get("type") or "") else reply_chains(messages)
        for thread in filter(None, threads):
            messages = [each for each in thread if each.text or each is thread[0]]
            day = self._days.get(thread[0].id, "")
            if entry := answered_question(messages, place, self.emoji, self.left_out, day=day, key="discord"):
                yield entry

    def _place(self, channel: Record) -> SourceChannel:
        """The channel of the file: of a thread its parent, except for a private thread, which has fewer readers."""
        kind, known = str(channel.get("type") or ""), str(channel.get("id") or "")
        name = str(channel.get("name") or known)
        if "Direct" in kind:
            people = {str(object_of(each.get("author")).get("id")) for each in objects_of(self.record.get("messages"))}
            is_group = "Group" in kind
            visibility = Visibility.PRIVATE if is_group else Visibility.DIRECT
            return SourceChannel(
                channel=known, name="direct message", visibility=visibility, people=tuple(sorted(people))
            )
        if "PrivateThread" in kind:
            return SourceChannel(channel=known, name=f"#{name}", visibility=Visibility.PRIVATE)
        if "Thread" in kind and channel.get("categoryId"):
            known, name = str(channel["categoryId"]), str(channel.get("category") or name)
        return SourceChannel(channel=known, name=f"#{name}")

    def _learn_names(self, record: Record) -> None:
        for person in (object_of(record.get("author")), *objects_of(record.get("mentions"))):
            name = person.get("nickname") or person.get("name")
            if person.get("id") and name:
                self._names[str(person["id"])] = plain_name(str(name))

    def _message(self, record: Record) -> Message | None:
        known, author = str(record.get("id") or ""), object_of(record.get("author"))
        if not known or not author.get("id"):
            self.faults.append(FileFault(position=f"message {known or '?'}", reason="it has no id, or nobody wrote it"))
            return None
        if str(record.get("type") or "") not in _PERSON_TYPES:
            return None
        self._days[known] = str(record.get("timestamp") or "")[:10]
        return Message(
            id=known,
            author=str(author["id"]),
            text=plain_text(str(record.get("content") or ""), self._names),
            reactions=self._reactions(record),
            is_pinned=record.get("isPinned") is True,
            is_bot=author.get("isBot") is True,
            reply_to=str(object_of(record.get("reference")).get("messageId") or ""),
        )

    def _reactions(self, record: Record) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for each in objects_of(record.get("reactions")):
            emoji = object_of(each.get("emoji"))
            if not isinstance(each.get("users"), list):
                self._has_untold = True
            people = frozenset(str(person.get("id")) for person in objects_of(each.get("users")))
            found[str(emoji.get("name") or emoji.get("code") or "")] = people
        return found
