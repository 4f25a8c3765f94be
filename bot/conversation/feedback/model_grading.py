"""Grading, by a language model, of answers that nobody reacted to: the prompt and the parsing of its reply.

Question, answer and steps are passed as data in delimited blocks. The grade is good, bad or unsure; a reply that cannot
be parsed counts as unsure, so that no answer is graded and paid for twice. `memory.services.verdicts.model_grading`
decides how much a grade counts.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from bot.agent.dialogue import tool_output
from bot.agent.prompts import PROMPTS
from bot.agent.textual import only_object
from bot.conversation.executor import Executor
from bot.errors import ModelError
from bot.model import ModelRequest, UserTurn
from bot.ports import LanguageModel
from memory.model import Episode, Step, StepKind
from memory.rules.retrieval.prompt import neutralise, one_line
from memory.services import Guess, Memory

log = logging.getLogger(__name__)

_STEPS = 40
_STEP_CHARACTERS = 400
_GOAL_CHARACTERS = 4_000
_IS_GOOD = {"good": True, "bad": False, "unsure": None}

LEASE = "grading"
"""The lease by which one process grades at a time."""
_LEASE_FOR = timedelta(minutes=15)
_SYSTEM = PROMPTS["grading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGrading:
    """Grades the answers that wait for it, a few at a time."""

    memory: Memory
    executor: Executor
    model: LanguageModel
    idle: timedelta
    per_run: int
    owner: str

    async def run(self) -> int:
        """Grade answers that have waited long enough, at most `per_run`, in one process at a time. Returns the count.

        A model error ends the run; the remaining answers wait for the next one. Raises `MemoryFault`.
        """
        model_grades, hold = self.memory.model_grades, partial(self.memory.leases.hold, LEASE, self.owner, _LEASE_FOR)
        waiting = await self.executor(model_grades.waiting, self.idle, self.per_run)
        if not waiting or not await self.executor(hold):
            return 0
        count = 0
        for nodes in waiting:
            try:
                reply = await self.model.reply(request_for(nodes))
            except ModelError as error:
                log.warning("answers nobody reacted to are not judged for now: %s", error)
                break
            guess = read_guess(reply.turn.text, grader=reply.model or self.model.name)
            count += await self.executor(model_grades.put, nodes[0], guess)
            await self.executor(hold)
        return count

    async def release(self) -> None:
        """Release the lease, so that any process may grade next."""
        await self.executor(self.memory.leases.release, LEASE, self.owner)


def request_for(nodes: Sequence[Episode]) -> ModelRequest:
    """The model request that asks for the grade of one answer, given its nodes, root first."""
    root = nodes[0]
    taken = [_step(step) for node in nodes for step in node.trajectory]
    steps = [line for line in taken if line][:_STEPS]
    blocks = [
        tool_output("steps", "\n".join(steps) or "none"),
        tool_output("answer", root.output),
        f"<goal>\n{neutralise(root.goal[:_GOAL_CHARACTERS])}\n</goal>",
    ]
    return ModelRequest(system=_SYSTEM, turns=(UserTurn(text="\n".join(blocks)),))


def _step(step: Step) -> str:
    match step.kind:
        case StepKind.ACT if step.tool:
            return one_line(step.call, _STEP_CHARACTERS)
        case StepKind.OBSERVE:
            return one_line(f"{'error' if step.is_error else 'result'}: {step.text}", _STEP_CHARACTERS)
        case StepKind.EXPAND:
            return one_line(f"split into {step.flow}: {' | '.join(step.subgoals)}", _STEP_CHARACTERS)
        case _:
            return ""


def read_guess(text: str, *, grader: str) -> Guess:
    """Parse the model's grade. Anything but one JSON object with a known outcome is "unsure"."""
    parsed = only_object(text)
    outcome, reason = parsed.get("outcome"), parsed.get("reason")
    if not isinstance(outcome, str) or outcome not in _IS_GOOD:
        return Guess(is_good=None, reason="Its reply could not be read.", grader=grader)
    return Guess(is_good=_IS_GOOD[outcome], reason=reason if isinstance(reason, str) else "", grader=grader)
