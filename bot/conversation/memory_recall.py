"""Recall as the agent asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.conversation.executor import Executor
from memory.model import Recollection, Scope
from memory.model.evidence import ActionText, Evidence
from memory.services import Memory


@dataclass(frozen=True, slots=True)
class MemoryRecall:
    """Recall as the agent tree calls it: on a thread of the pool."""

    _memory: Memory
    _executor: Executor

    async def __call__(
        self, scope: Scope, goal: str, *, run_id: str, context: frozenset[str], actions: Sequence[ActionText]
    ) -> Recollection:
        """The lessons for a node's goal, and the evidence."""
        recall = self._memory.recalling.recall
        return await self._executor(recall, scope, goal, run_id=run_id, context=context, actions=actions)

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str) -> Evidence:
        """The evidence for a part of a goal. Blocking."""
        return self._memory.recalling.weighing.weigh(scope, goal, actions, run_id=run_id)
