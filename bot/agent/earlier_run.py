"""An unfinished run that is resumed, and whether its nodes had ended."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory.model import ASK, Episode, Step, StepKind, Termination


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """An unfinished run that is resumed."""

    nodes: Mapping[str, Episode]
    """Its nodes by path; `0` is the root."""
    answered: str = ""
    """The path of the node whose question the person answered; empty if none was answered."""
    reply: str = ""
    """The person's answer in words; empty if they chose an option."""

    @property
    def goal(self) -> str:
        """The root's goal."""
        return self.nodes["0"].goal

    def of(self, path: str, goal: str) -> Episode | None:
        """The earlier node at this path, if it has the same goal."""
        known = self.nodes.get(path)
        return known if known is not None and known.goal == goal else None


def question_of(node: Episode) -> Step | None:
    """The question that a node waits for; None if it does not wait."""
    last = node.trajectory[-1] if node.trajectory else None
    return last if last is not None and last.kind is StepKind.ACT and last.tool == ASK else None


def is_over(node: Episode) -> bool:
    """Whether a node ended by itself. One that expanded did not: its subgoals are resumed."""
    return node.termination in (Termination.SUCCESS, Termination.FAILURE) and question_of(node) is None
