"""The control arm: a share of the runs gets no lessons, so that what lessons are worth can be told from the others."""

from dataclasses import dataclass

from memory.model import Recollection, Scope, StageCounts
from memory.rules.chat_settings import CONTROL_ARM
from memory.rules.control_arm import is_control
from memory.services.chat_settings import settings_at
from memory.services.core import Core


@dataclass(frozen=True, slots=True)
class ControlArm:
    """The use cases of runs without lessons. Which ones were is kept with their recalls (`Retrieval.is_control`)."""

    _core: Core

    def has(self, scope: Scope, run_id: str) -> bool:
        """Whether a run gets no lessons, by the share that was set in chat, else in the settings file."""
        with self._core.store.read() as tx:
            chosen = settings_at(self._core, tx, scope.workspace, scope.channel).get(CONTROL_ARM)
        share = float(chosen.value) if chosen else self._core.control_arm
        return is_control(run_id, share, self._core.chance)

    def recall(self, goal: str) -> Recollection:
        """What such a run gets for a goal: nothing."""
        return Recollection(
            retrieval_id=self._core.new_id(),
            goal=goal,
            exemplars=(),
            counts=StageCounts(),
            vector=self._core.embedded(goal),
            is_control=True,
        )
