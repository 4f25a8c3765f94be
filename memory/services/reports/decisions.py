"""Statistics of a workspace's questions: how many were answered or asked back, and how many answers were wrong."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory.model import Origin, Termination, Verdict
from memory.ports import NodeCount, Transaction
from memory.services.verdicts.tally import threshold_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """The outcomes of the stored questions, and the current threshold."""

    questions: int
    answered: int
    judged: int
    """Those of the answered that people judged."""
    wrong: int
    """Those of the judged with the verdict failure."""
    asked: int
    """Questions to which the bot asked back which of a few things was meant."""
    threshold: float
    budget: float

    def __str__(self) -> str:
        """One line with percentages."""
        answered, asked = _percent(self.answered, self.questions), _percent(self.asked, self.questions)
        wrong = f"of those judged {_percent(self.wrong, self.judged)} marked wrong" if self.judged else "none judged"
        return f"answered {answered}, {wrong}; asked {asked}; threshold {self.threshold:.2f} (budget {self.budget:.0%})"


def decisions(tx: Transaction, workspace: str, counted: Mapping[str, int], budget: float) -> Decisions:
    """The statistics of one workspace over all time; `counted` are its `TotalsTable.episode_counts`."""
    return Decisions(
        questions=counted["questions"],
        answered=counted["questions.answered"],
        judged=counted["questions.judged"],
        wrong=counted["questions.wrong"],
        asked=counted["questions.asked"],
        threshold=threshold_of(tx, workspace, budget),
        budget=budget,
    )


def decision_statistics(nodes: Iterable[NodeCount], threshold: float, budget: float) -> Decisions:
    """The statistics of these counts of episodes."""
    questions = [each for each in nodes if is_question(each)]
    answered = [each for each in questions if is_answered(each)]
    return Decisions(
        questions=_number(questions),
        answered=_number(answered),
        judged=_number(each for each in answered if each.verdict is not Verdict.PENDING),
        wrong=_number(each for each in answered if each.verdict is Verdict.FAILURE),
        asked=_number(each for each in questions if each.has_asked),
        threshold=threshold,
        budget=budget,
    )


def is_question(count: NodeCount) -> bool:
    """Whether these are questions of people, not their parts or lessons that people wrote."""
    return count.is_root and count.origin is Origin.RUN


def is_answered(count: NodeCount) -> bool:
    """Whether these questions got an answer, which asking back is not."""
    return not count.has_asked and count.termination in (Termination.SUCCESS, Termination.EXPAND)


def is_unknown(count: NodeCount) -> bool:
    """Whether these questions ended in "I don't know"."""
    return not count.has_asked and count.termination is Termination.FAILURE


def _number(counts: Iterable[NodeCount]) -> int:
    return sum(each.number for each in counts)


def _percent(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.0%}"
