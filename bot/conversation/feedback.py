"""Reactions, buttons and corrections: find the answer, store what was said of it, show what came of it."""

import logging
import re

from bot.conversation import messages
from bot.conversation.commands import find_run
from bot.conversation.executor import Executor
from bot.conversation.notifications import say, tell
from bot.errors import MessengerError
from bot.model import (
    MessageRef,
    PersonCommand,
    PersonCorrection,
    PersonMessage,
    PersonReaction,
    PersonTeaching,
    PersonVote,
    ReactionsCleared,
)
from bot.ports import Messenger
from memory.errors import NotFound
from memory.model import Reaction, Role, Visibility
from memory.rules.emoji import EmojiMap
from memory.services import Memory, VoteResult

log = logging.getLogger(__name__)

LESSON_MARK = "🧠"

_BUTTON = "button"
_LIKE_A_CORRECTION = re.compile(r"correct\s+\S", re.IGNORECASE)


class FeedbackHandler:
    """What people do to teach, whatever the platform."""

    def __init__(self, memory: Memory, executor: Executor, emoji: EmojiMap) -> None:
        self._memory = memory
        self._executor = executor
        self._emoji = emoji

    def teaches(self, emoji: str) -> bool:
        """Whether an emoji on an answer means anything."""
        return self._emoji.value(emoji) is not None

    async def on_reaction(self, messenger: Messenger, event: PersonReaction) -> None:
        """An emoji came or went. Most mean nothing, and cost no look at the store."""
        value = self._emoji.value(event.emoji)
        if value is not None:
            await self._vote(messenger, event, f"emoji:{event.emoji}", value, is_active=event.added)

    async def on_vote(self, messenger: Messenger, event: PersonVote) -> None:
        """A button was pressed: the last press counts, 0 takes it back."""
        await self._vote(messenger, event, _BUTTON, event.value, is_active=event.value != 0)

    async def _vote(
        self, messenger: Messenger, event: PersonReaction | PersonVote, source: str, value: int, *, is_active: bool
    ) -> None:
        reaction = Reaction(
            workspace=event.scope.workspace,
            channel=event.scope.channel,
            message_id=event.message_id,
            actor=event.scope.person,
            source=source,
            value=value,
            at=event.at,
            role=event.role,
            is_active=is_active,
        )
        taught = await self._executor(
            self._memory.teaching.react, reaction, event_id=event.event_id, on_own_message=event.on_own_message
        )
        if not taught.is_known and isinstance(event, PersonVote):
            # Buttons stay under answers for ever. A reaction may be about anything, and overtake the answer's own row.
            await say(messenger, event, messages.NO_SUCH_ANSWER)
            return
        await self._show_mark(messenger, taught)
        if taught.is_limited and taught.is_new_opinion:
            await self._say_limit_once(messenger, event)
        is_against = taught.is_new_opinion and is_active and value < 0
        if is_against and event.role is not Role.GUEST:
            await self._ask_once(messenger, event, taught)

    async def _say_limit_once(self, messenger: Messenger, event: PersonReaction | PersonVote) -> None:
        """Say once an hour, to that person alone, that further votes count for them only."""
        hour = event.at.strftime("%Y-%m-%dT%H")
        occasion = f"limited/{event.scope.person}/{hour}"
        if await self._executor(self._memory.recording.first_time, event.scope.workspace, occasion):
            await say(messenger, event, messages.TOO_MANY_VOTES)

    async def _ask_once(self, messenger: Messenger, event: PersonReaction | PersonVote, taught: VoteResult) -> None:
        """Ask what would have been right: once for each person and answer, and never as a condition."""
        if taught.root is None:
            return
        question = f"asked/{taught.root.run_id}/{event.scope.person}"
        if await self._executor(self._memory.recording.first_time, event.scope.workspace, question):
            ref = MessageRef(workspace=event.scope.workspace, channel=event.scope.channel, message_id=event.message_id)
            await messenger.ask_correction(event, ref, messages.ask_correction(messenger.spell))

    async def on_cleared(self, messenger: Messenger, event: ReactionsCleared) -> None:
        """A moderator took reactions off an answer: every vote that came by them is withdrawn."""
        changed = await self._executor(
            self._memory.teaching.clear,
            event.scope.workspace,
            event.scope.channel,
            event.message_id,
            source=f"emoji:{event.emoji}" if event.emoji else "",
            actor=event.scope.person,
            at=event.at,
            event_id=event.event_id,
        )
        await self._show_mark(messenger, changed)

    async def on_correction(self, messenger: Messenger, event: PersonCorrection) -> None:
        """Somebody says what would have been right."""
        run_id = await self._meant(event, event.message_id)
        if run_id is None:
            await say(messenger, event, messages.NO_SUCH_ANSWER if event.message_id else messages.NO_ANSWER_YET)
            return
        try:
            outcome = await self._executor(
                self._memory.teaching.correct,
                event.scope,
                run_id,
                event.text,
                role=event.role,
                at=event.at,
                event_id=event.event_id,
                reason=event.reason,
            )
        except NotFound:
            await say(messenger, event, messages.NO_SUCH_ANSWER)
            return
        if outcome is not None:
            failed = outcome.failed
            await self._mark(messenger, failed.workspace, failed.run_id, failed.is_lesson)
            await say(messenger, event, messages.corrected(outcome, messenger.spell))

    async def explains_correcting(self, messenger: Messenger, event: PersonMessage) -> bool:
        """Whether a question looked like a correction that lacks its spelling, and the person was told: once a month.

        It is not answered then: its answer would be the last one, which the correction would meet.
        """
        if not _LIKE_A_CORRECTION.match(event.text.strip()) or await self._meant(event) is None:
            return False
        occasion = f"correcting/{event.scope.person}/{event.at:%Y-%m}"
        is_first = await self._executor(self._memory.recording.first_time, event.scope.workspace, occasion)
        return is_first and await tell(messenger, event, messages.how_to_correct(messenger.spell))

    async def _meant(self, event: PersonCorrection | PersonMessage, message_id: str = "") -> str | None:
        """The run of the answer to correct. In a thread that others read, none from outside of it: they saw no such."""
        scope = event.scope
        if not message_id and scope.thread and scope.visibility is not Visibility.DIRECT:
            has_answered = self._memory.recording.has_answered_in
            if not await self._executor(has_answered, scope.workspace, scope.channel, scope.thread):
                return None
        about = PersonCommand(
            event_id=event.event_id, scope=scope, name="correct", argument="", at=event.at, message_id=message_id
        )
        return await self._executor(find_run, self._memory, about)

    async def on_teaching(self, messenger: Messenger, event: PersonTeaching) -> None:
        """Somebody teaches an answer nobody had asked for yet."""
        lesson = await self._executor(
            self._memory.teaching.teach,
            event.scope,
            event.question,
            event.answer,
            role=event.role,
            audience=event.audience,
            at=event.at,
            event_id=event.event_id,
        )
        if lesson is not None:
            await say(messenger, event, messages.taught(lesson, messenger.spell))

    # Marks ----------------------------------------------------------------------------------------------------

    async def _show_mark(self, messenger: Messenger, taught: VoteResult) -> None:
        """🧠 comes when an answer became a lesson and goes when it stopped being one: this one, and what it moved."""
        if taught.root is not None and taught.is_lesson != taught.was_lesson:
            await self._mark(messenger, taught.root.workspace, taught.root.run_id, taught.is_lesson)
        for was, other in taught.elsewhere:
            if other.is_root and other.is_lesson != was.overall.is_validated:
                await self._mark(messenger, other.workspace, other.run_id, other.is_lesson)

    async def refresh_mark(self, messenger: Messenger, workspace: str, run_id: str) -> None:
        """Show on the answer whether it is a lesson now."""
        try:
            view = await self._executor(self._memory.audit.run, workspace, run_id)
        except NotFound:
            return
        await self._mark(messenger, workspace, run_id, view.root.is_lesson)

    async def _mark(self, messenger: Messenger, workspace: str, run_id: str, present: bool) -> None:
        posted = await self._executor(self._memory.answers.posted, workspace, run_id)
        if not posted:
            return
        last = MessageRef(workspace=workspace, channel=posted[-1].channel, message_id=posted[-1].message_id)
        try:
            await messenger.mark(last, LESSON_MARK, present)
        except MessengerError as error:
            log.info("the mark on %s was not shown: %s", run_id, error)
