"""Reads a Slack export (zip): questions with answers from threads in which people marked the right answer.

The archive has `users.json`, one list for each kind of conversation, and for each conversation a folder with a file per
day. The folder is named after the channel or group, or has the id of a direct conversation. Older and smaller exports
lack some of these files, and some fields of messages.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.adapters.naming import plain_name
from bot.adapters.slack.events import plain_text
from bot.adapters.sources.archive import Archive, object_of, objects_of, opened
from bot.adapters.sources.entries import Contents, SourceChannel, SourceEntry
from bot.adapters.sources.threads import Message, answered_question
from memory.model import Visibility
from memory.model.teaching import EmojiMap

Record = Mapping[str, Any]
_LISTS = (
    ("channels.json", Visibility.PUBLIC, ""),
    ("groups.json", Visibility.PRIVATE, ""),
    ("mpims.json", Visibility.PRIVATE, "group DM"),
    ("dms.json", Visibility.DIRECT, "direct message"),
)
"""The lists of conversations, with who reads these, and what they are called if not by their own name."""
_READ_SUBTYPES = ("", "file_share", "thread_broadcast", "bot_message")
"""Subtypes of messages that people or bots write."""


def is_export(names: Sequence[str]) -> bool:
    """Whether an archive with these files is a Slack export."""
    return "users.json" in names and any(name in names for name, *_ in _LISTS)


def read(path: Path, emoji: EmojiMap, progress: Callable[[str, int, int], None]) -> Contents:
    """The answered questions of an export. `progress` is called with the conversation, its number and their count.

    Raises `InvalidInput` for a file that is no archive.
    """
    with opened(path) as archive:
        export = _Export(archive, emoji)
        entries = tuple(export.entries(progress))
        return Contents(
            kind="Slack export",
            entries=entries,
            faults=tuple(archive.faults),
            workspace=export.workspace,
            skipped=dict(export.left_out),
        )


@dataclass(slots=True)
class _Export:
    archive: Archive
    emoji: EmojiMap
    left_out: Counter[str] = field(default_factory=Counter[str])
    workspace: str = ""
    _names: dict[str, str] = field(default_factory=dict[str, str])
    """Names of people and public channels, by id. Other channels stay unnamed."""
    _bots: set[str] = field(default_factory=set[str])

    def entries(self, progress: Callable[[str, int, int], None]) -> Iterator[SourceEntry]:
        """Those of every conversation that the archive lists."""
        self._read_people()
        places = [*self._places()]
        days: dict[str, list[str]] = {}
        for name in self.archive.names:
            folder, slash, _ = name.rpartition("/")
            if slash:
                days.setdefault(folder, []).append(name)
        for number, (folder, place) in enumerate(places, start=1):
            progress(place.name, number, len(places))
            for thread in self._threads(days.pop(folder, ())):
                day, key = _day(thread[0].id), f"slack/{place.channel}"
                if entry := answered_question(thread, place, self.emoji, self.left_out, day=day, key=key):
                    yield entry
        for folder in days:
            self.archive.fault(folder, "no list of the archive names this conversation, so nobody knows who reads it")

    def _read_people(self) -> None:
        teams: Counter[str] = Counter()
        for user in self.archive.records("users.json"):
            profile = object_of(user.get("profile"))
            names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
            known = str(user.get("id") or "")
            self._names[known] = plain_name(next((str(each) for each in names if each), ""))
            teams[str(user.get("team_id") or "")] += 1
            if user.get("is_bot") or known == "USLACKBOT":
                self._bots.add(known)
        del teams[""]
        if teams:
            self.workspace = f"slack:{teams.most_common(1)[0][0]}"

    def _places(self) -> Iterator[tuple[str, SourceChannel]]:
        """(folder, place) of every conversation."""
        for name, visibility, shown_name in _LISTS:
            for channel in self.archive.records(name):
                known, called = str(channel.get("id") or ""), str(channel.get("name") or "")
                if not known:
                    self.archive.fault(name, "a conversation has no id")
                    continue
                is_shared = any(channel.get(flag) for flag in ("is_ext_shared", "is_pending_ext_shared"))
                place = SourceChannel(
                    channel=known,
                    name=shown_name or f"#{called or known}",
                    visibility=Visibility.SHARED if is_shared else visibility,
                    people=_texts(channel.get("members")) if visibility is Visibility.DIRECT else (),
                )
                if visibility is Visibility.PUBLIC:
                    self._names[known] = plain_name(called)
                yield (known if visibility is Visibility.DIRECT or not called else called), place

    def _threads(self, days: Sequence[str]) -> list[list[Message]]:
        """The threads of a conversation, each from its first message on."""
        threads: dict[str, list[Message]] = {}
        for name in days:
            for record in self.archive.records(name):
                stamp, thread = str(record.get("ts") or ""), str(record.get("thread_ts") or "")
                if thread and stamp and record.get("subtype", "") in _READ_SUBTYPES:
                    threads.setdefault(thread, []).append(self._message(record, stamp))
        every = []
        for begun, messages in threads.items():
            messages.sort(key=lambda each: (len(each.id.partition(".")[0]), each.id))
            if messages[0].id == begun:
                every.append(messages)
            else:
                self.left_out["threads whose first message is missing"] += 1
        return every

    def _message(self, record: Record, stamp: str) -> Message:
        author = str(record.get("user") or "")
        is_bot = bool(record.get("bot_id")) or record.get("subtype") == "bot_message" or author in self._bots
        reactions = objects_of(record.get("reactions"))
        return Message(
            id=stamp,
            author=author,
            text=plain_text(str(record.get("text") or ""), self._names),
            reactions={str(each.get("name") or ""): frozenset(_texts(each.get("users"))) for each in reactions},
            is_pinned=bool(record.get("pinned_to")),
            is_bot=is_bot,
        )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _day(stamp: str) -> str:
    try:
        return f"{datetime.fromtimestamp(float(stamp), UTC):%Y-%m-%d}"
    except (ValueError, OverflowError, OSError):
        return stamp[:20]
