"""The digest of what waits for teachers, sent to each of them privately or to a channel, at most once a day."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.conversation.commands import lesson_lines
from bot.conversation.commands.gaps_commands import COUNTS_THERE, THERE, TITLE, answer_choice, gap_line
from bot.conversation.commands.lesson_access import LessonAccess
from bot.conversation.executor import Executor
from bot.conversation.reply import short_id
from bot.errors import MessengerError
from bot.model import BotMessage, Choice
from bot.ports import KnowsPeople, KnowsTeachers, Messenger
from memory.model import Episode, Origin, Scope, Visibility
from memory.model.episode import authors_of
from memory.model.scope import platform_of
from memory.rules.audience import visibility_of
from memory.rules.chat_settings import DIGEST, DIRECT, OFF
from memory.rules.quarantine import Flag
from memory.services import Gap, Memory

log = logging.getLogger(__name__)

MIN_AGE = timedelta(days=1)
"""How long an item waits before it appears in a digest."""
SHOWN = 5
GAPS_SHOWN = 3
"""How many unanswered questions are listed, those first whose answer settles most."""
_NOWHERE = "digest"
_EVERY = timedelta(hours=1)
"""How often each platform is checked."""


class Digest:
    """Sends the digests. Each item is announced to each teacher once.

    A digest is claimed in the database before it is sent, so that one process sends it, and never twice even after a
    crash. If the platform refuses it, its items are in the next day's digest.
    """

    def __init__(self, memory: Memory, executor: Executor, to: str = DIRECT) -> None:
        self._memory = memory
        self._executor = executor
        self._to = to
        self._checked_at: dict[str, datetime] = {}

    async def send(self, messenger: Messenger) -> int:
        """Send the digests due on one platform. Returns the number of messages. Raises `StoreUnavailable`."""
        now = self._memory.clock()
        checked = self._checked_at.get(messenger.platform)
        if checked is not None and now - checked < _EVERY:
            return 0
        self._checked_at[messenger.platform] = now
        sent = 0
        for workspace in await self._executor(self._memory.store.workspaces):
            if platform_of(workspace) == messenger.platform:
                sent += await self._send_within(messenger, workspace, now)
        return sent

    async def _send_within(self, messenger: Messenger, workspace: str, now: datetime) -> int:
        chosen = await self._executor(self._memory.chat_settings.values, workspace)
        to = chosen.get(DIGEST, self._to)
        if to == OFF:
            return 0
        if to != DIRECT and await self._has_outsiders(messenger, workspace, to):
            to = DIRECT
        waiting = await self._executor(self._waiting, workspace, now)
        gaps = await self._executor(self._gaps, workspace, now)
        if not waiting and not gaps:
            return 0
        if to != DIRECT:
            return await self._post(messenger, workspace, to, waiting, gaps)
        sent = 0
        teachers = await messenger.teachers(workspace) if isinstance(messenger, KnowsTeachers) else []
        for teacher in teachers:
            others = [each for each in waiting if each.author != teacher]
            sent += await self._post(messenger, workspace, "", others, gaps, teacher) if others or gaps else 0
        return sent

    async def _has_outsiders(self, messenger: Messenger, workspace: str, channel: str) -> bool:
        """Whether a channel is shared with another organisation, which is shown nothing of the workspace.

        The platform is asked, as nothing may have happened in the channel since it was shared.
        """
        there = replace(_anybody(workspace), channel=channel)
        now = await self._readers(messenger, there)
        if now is not None:
            await self._executor(self._memory.channels.note, replace(there, visibility=now))
        return (await self._executor(self._memory.channels.last_known, there)).visibility is Visibility.SHARED

    async def _readers(self, messenger: Messenger, there: Scope) -> Visibility | None:
        try:
            return (await messenger.channel_card(there)).visibility if isinstance(messenger, KnowsPeople) else None
        except MessengerError as error:
            log.info("could not look up who reads %s in %s: %s", there.channel, there.workspace, error)
            return None

    def _gaps(self, workspace: str, now: datetime) -> list[Gap]:
        """The public questions that nobody has answered for `MIN_AGE`. Blocking."""
        found = self._memory.gaps.find(workspace, limit=GAPS_SHOWN, reader=_anybody(workspace))
        return [gap for gap in found if now - gap.first.created_at >= MIN_AGE]

    def _waiting(self, workspace: str, now: datetime) -> list[Episode]:
        """The lessons from public channels that have waited for a decision for `MIN_AGE`, oldest first. Blocking."""
        anybody = _anybody(workspace)
        lessons, found, number = LessonAccess(self._memory), list[Episode](), 1
        while True:
            page = lessons.waiting(anybody, number)
            found += [
                each
                for each in page.items
                if each.origin is not Origin.RUN
                and visibility_of(each) is Visibility.PUBLIC
                and Flag.NEEDS_QUESTION not in each.quarantine
                and now - each.created_at >= MIN_AGE
            ]
            number += 1
            if number > page.last:
                return sorted(found, key=lambda each: (each.created_at, each.id))

    async def _post(
        self,
        messenger: Messenger,
        workspace: str,
        channel: str,
        waiting: Sequence[Episode],
        gaps: Sequence[Gap],
        teacher: str = "",
    ) -> int:
        """Send one digest to a channel or a teacher, if it holds anything new for them. Returns 1 if sent, else 0."""
        reader, claim = teacher or channel, self._memory.digests.claim
        items = [*waiting, *(gap.first for gap in gaps)]
        news = await self._executor(claim, workspace, reader, [each.id for each in items])
        if not news:
            return 0
        text, choices = digest(waiting, gaps)
        message = BotMessage(
            workspace=workspace,
            channel=channel or items[0].channel,
            text=text,
            private_to=teacher,
            is_direct=bool(teacher),
            choices=choices,
            is_for_all=not teacher,
            people=authors_of(waiting[:SHOWN]),
        )
        try:
            await messenger.post(message)
        except MessengerError as error:
            log.warning("could not send today's digest to %s in %s: %s", reader, workspace, error)
            await self._executor(self._memory.digests.not_sent, workspace, reader, news)
            return 0
        return 1


def _anybody(workspace: str) -> Scope:
    """The scope of a reader in no channel, who sees only what everybody in the workspace may read."""
    return Scope(workspace=workspace, channel=_NOWHERE, person=_NOWHERE, visibility=Visibility.PUBLIC)


def digest(waiting: Sequence[Episode], gaps: Sequence[Gap] = ()) -> tuple[str, tuple[Choice, ...]]:
    """The message and its buttons: approve, edit and reject for each of the first; a form for each gap's answer."""
    shown = waiting[:SHOWN]
    lines: list[str] = []
    if shown:
        nobody = _anybody(shown[0].workspace)
        lines += ["**Waiting for a teacher for more than a day**", ""]
        lines += [f"{number}. {lesson_lines.review_line(each, nobody)}" for number, each in enumerate(shown, start=1)]
    if len(waiting) > SHOWN:
        lines.append(f"\nand {len(waiting) - SHOWN} more: `review` lists them.")
    if gaps:
        lines += [*([""] if shown else []), f"**{TITLE}**", ""]
        lines += [gap_line(gap, number) for number, gap in enumerate(gaps, start=1)]
        lines.append(f"\n{COUNTS_THERE} `gaps` lists them all.")
    choices = [choice for number, each in enumerate(shown, start=1) for choice in _choices(each, number)]
    choices += [answer_choice(gap, number, there=THERE) for number, gap in enumerate(gaps, start=1)]
    return "\n".join(lines), tuple(choices)


def _choices(lesson: Episode, number: int) -> list[Choice]:
    known = short_id(lesson.id)
    approve = Choice(label=f"Approve {number}", command="promote", argument=f"{known} channel")
    if lesson.quarantine:
        approve = Choice(label=f"Release {number}", command="release", argument=known)
    return [
        approve,
        Choice(label=f"Edit {number}", command="teach", argument=known),
        Choice(label=f"Reject {number}", command="archive", argument=known),
    ]
