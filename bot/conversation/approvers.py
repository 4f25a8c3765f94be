"""Names who can approve what waits, once in each place."""

from bot.conversation.executor import Executor
from bot.ports import KnowsTeachers, Messenger
from memory.model import Episode, Scope, Visibility
from memory.rules.audience import visibility_of
from memory.services import Memory


class Approvers:
    """Says with the first lesson that waits in a channel who can approve it."""

    def __init__(self, memory: Memory, executor: Executor) -> None:
        self._memory = memory
        self._executor = executor

    async def who(self, messenger: Messenger, scope: Scope, lesson: Episode) -> str:
        """A sentence to add to the confirmation; nothing where nobody has to approve, or it was told there before."""
        is_waiting = bool(lesson.quarantine) or not lesson.verdicts.channel.is_validated
        if not is_waiting or visibility_of(lesson) is Visibility.DIRECT or not isinstance(messenger, KnowsTeachers):
            return ""
        # Whom another organisation's people can ask is told to them by their own.
        if scope.visibility is Visibility.SHARED:
            return ""
        first = self._memory.recording.first_time
        if not await self._executor(first, scope.workspace, f"approvers/{scope.channel}"):
            return ""
        return who_can_approve(await messenger.approvers(scope))


def who_can_approve(names: list[str]) -> str:
    """The sentence, with a space before it."""
    if not names:
        return " Nobody is named as a teacher here yet; an administrator of mine can name one."
    *others, last = names
    return f" Who can approve it: {' and '.join(filter(None, [', '.join(others), last]))}."
