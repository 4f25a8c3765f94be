"""The handbook: what a workspace was taught, as questions with answers, for reading and export."""

from collections.abc import Iterator
from dataclasses import dataclass

from memory.model import Audience, Episode, Origin, Termination, Verdict, Visibility
from memory.model.normal_form import comparable
from memory.ports import EpisodeFilter
from memory.rules.audience import visibility_of
from memory.services.core import Core


@dataclass(frozen=True, slots=True, kw_only=True)
class HandbookEntry:
    """One question with an approved answer."""

    lesson: Episode
    audience: Audience
    """The widest audience for which it counts."""
    visibility: Visibility
    """Who may read it now."""


@dataclass(frozen=True, slots=True)
class Handbook:
    """The use case of listing what the bot was taught."""

    _core: Core

    def entries(self, workspace: str, channel: str = "") -> list[HandbookEntry]:
        """The lessons for the workspace and its public channels; or for one channel, which may be private.

        Those for the workspace come first, then by channel, in the order taught; equal entries are listed once. Lessons
        for one person, and those from direct messages, are never included.
        """
        wanted = EpisodeFilter(
            verdict=Verdict.SUCCESS, channel=channel, roots_only=True, limit=None, newest_first=False
        )
        with self._core.store.read() as tx:
            lessons = tx.episodes.search(workspace, wanted)
        found = [entry for each in lessons if (entry := _entry(each, is_asked_for=bool(channel))) is not None]
        found.sort(key=lambda each: (each.audience is not Audience.WORKSPACE, _channel(each)))
        return list(_once(found))


def _entry(lesson: Episode, *, is_asked_for: bool) -> HandbookEntry | None:
    visibility = visibility_of(lesson)
    if not lesson.is_lesson or visibility is Visibility.DIRECT or not _says_something(lesson):
        return None
    if visibility is not Visibility.PUBLIC and not is_asked_for:
        return None
    for audience in (Audience.WORKSPACE, Audience.CHANNEL):
        if lesson.verdicts.of(audience) is Verdict.SUCCESS:
            is_for_all = audience is Audience.WORKSPACE and visibility is Visibility.PUBLIC
            kept = Audience.WORKSPACE if is_for_all else Audience.CHANNEL
            return HandbookEntry(lesson=lesson, audience=kept, visibility=visibility)
    return None


def _says_something(lesson: Episode) -> bool:
    """Whether its text is an answer. A tool's output is not, as it was right only at its time."""
    is_answer = lesson.origin is not Origin.RUN or lesson.action == "answer"
    return (
        is_answer and lesson.termination is Termination.SUCCESS and bool(lesson.goal.strip() and lesson.output.strip())
    )


def _channel(entry: HandbookEntry) -> str:
    return "" if entry.audience is Audience.WORKSPACE else entry.lesson.channel


def _once(entries: list[HandbookEntry]) -> Iterator[HandbookEntry]:
    seen: set[tuple[str, str, str, str]] = set()
    for each in entries:
        words = comparable(each.lesson.goal), comparable(each.lesson.output)
        key = (_channel(each), each.visibility.value, *words)
        if key not in seen:
            seen.add(key)
            yield each
