"""How often a workspace's questions were answered or asked back, and how many of the answers people called wrong."""

from collections.abc import Iterable
from dataclasses import dataclass

from memory.model import ASK, Episode, Origin, Termination, Verdict
from memory.ports import EpisodeFilter, Transaction
from memory.services.thresholds import threshold_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What became of the questions that are remembered, and the threshold that decides now."""

    questions: int
    answered: int
    judged: int
    """Of the answered, those that people judged."""
    wrong: int
    """Of the judged, those whose verdict is failure."""
    asked: int
    """Questions answered by asking which of a few things was meant."""
    threshold: float
    budget: float

    def __str__(self) -> str:
        """In one line, in percent."""
        answered, asked = _percent(self.answered, self.questions), _percent(self.asked, self.questions)
        wrong = f"of those judged {_percent(self.wrong, self.judged)} marked wrong" if self.judged else "none judged"
        return f"answered {answered}, {wrong}; asked {asked}; threshold {self.threshold:.2f} (budget {self.budget:.0%})"


def decisions(tx: Transaction, workspace: str, budget: float) -> Decisions:
    """Those of one workspace, since ever."""
    every = tx.episodes.outlines(workspace, EpisodeFilter(roots_only=True, include_archived=True, limit=None))
    questions = [each for each in every if each.origin is Origin.RUN]
    asked = sum(each.action == ASK for each in questions)
    answered = list(_answered(questions))
    return Decisions(
        questions=len(questions),
        answered=len(answered),
        judged=sum(each.verdict is not Verdict.PENDING for each in answered),
        wrong=sum(each.verdict is Verdict.FAILURE for each in answered),
        asked=asked,
        threshold=threshold_of(tx, workspace, budget),
        budget=budget,
    )


def _answered(questions: Iterable[Episode]) -> Iterable[Episode]:
    ended = (Termination.SUCCESS, Termination.EXPAND)
    return (each for each in questions if each.action != ASK and each.termination in ended)


def _percent(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.0%}"
