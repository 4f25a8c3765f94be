"""Private notices, sent once, that a teacher approved or rejected what a person taught."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.conversation.executor import Executor
from bot.conversation.notifications import notice
from bot.errors import MessengerError
from bot.ports import Messenger
from memory.model import Visibility
from memory.rules.audience import visibility_of
from memory.rules.retrieval.prompt import shown_line
from memory.services import DecisionNotice, Memory

log = logging.getLogger(__name__)

_MOST = 5
"""Decisions listed in one message; the others are only counted."""


class DecisionNotifier:
    """Notifies authors in direct messages."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._notices = memory.decision_notices
        self._executor = executor
        self._being_told: set[tuple[str, str]] = set()

    async def tell(self, messenger: Messenger, workspace: str, people: Iterable[str]) -> None:
        """Notify these people about decisions on their lessons."""
        for person in dict.fromkeys(people):
            key = (workspace, person)
            if not person or key in self._being_told:
                continue
            self._being_told.add(key)
            try:
                await self._tell(messenger, workspace, person)
            finally:
                self._being_told.discard(key)

    async def _tell(self, messenger: Messenger, workspace: str, person: str) -> None:
        waiting = await self._executor(self._notices.waiting, workspace, person)
        if not waiting:
            return
        # Marked before it is posted, so that nobody is told twice.
        await self._executor(self._notices.mark_notified, workspace, [each.lesson.id for each in waiting])
        place = replace(waiting[0].lesson.scope, person=person, thread="")
        try:
            await messenger.post(replace(notice(place, decision_message(waiting)), is_direct=True))
        except MessengerError as error:
            log.info("could not tell %s about a decision: %s", person, error)


def decision_message(notices: Sequence[DecisionNotice]) -> str:
    """The message. Lessons of a private channel are not quoted outside it."""
    lines = [f"- {_line(each)}" for each in notices[:_MOST]]
    if len(notices) > _MOST:
        lines.append(f"- and {len(notices) - _MOST} more")
    return "\n".join(["A teacher looked at what you taught me:", "", *lines])


def _line(each: DecisionNotice) -> str:
    lesson = each.lesson
    about = f"“{shown_line(lesson.goal, 80)}”"
    if visibility_of(lesson) is not Visibility.PUBLIC:
        about = "something you wrote in a private channel"
    where = "the whole workspace" if lesson.verdicts.workspace.is_validated else lesson.place or "its channel"
    if each.is_approved:
        return f"approved: {about} counts for {where} now"
    return f"not taken over as it was: {about}"
