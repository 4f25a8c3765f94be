"""Ranks the actions for a goal: all usable tools and known answers, by the evidence.

A tool with arguments is also judged by how well they can be read from the goal: "12 * 7" is for the calculator, however
similar its description is.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import sqrt
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from bot.adapters.llm.offline.arguments import FilledArguments, fill
from bot.adapters.llm.offline.fitness import compared_texts, fitness
from bot.adapters.llm.offline.prompt_parser import Prompt, PromptLesson
from bot.adapters.llm.offline.similarity import Similarity
from bot.agent.decision import CONTROL_NAMES
from bot.model import ToolSpec
from memory.model import MOST_OPTIONS, Lesson
from memory.model.evidence import (
    INITIAL_THRESHOLD,
    MIN_STORED,
    Belief,
    Evidence,
    confidence_in,
    is_sure,
    untaught_belief,
)
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.retrieval.similarity import Opposition, are_opposed, opposition

EXPAND = "expand"

FITS = 0.53
"""The least fitness of a tool with arguments that is used without any lesson."""
_FITTING = 0.35
"""The least prior of a tool with arguments whose fitness is at least `FITS`."""
_UNFIT = 0.15
"""The greatest prior of a tool with less fitness, which is not used until people approve."""
ASKED_FROM = 0.045
"""The least belief for which the person is asked (measured: `memory/rules/evidence/README.md`)."""
ASKED_FROM_EACH = 0.0375
"""The same for an answer with n lessons, as a factor of the root of n (of 3 at most): the more lessons an answer has,
the more it is believed for a goal without any relation."""
_MOST_COUNTED = 3
SUGGESTED_FROM = 0.08
"""The least suggestion (`Belief.suggested`) for which the person is asked, whatever the belief: about four times the
belief in what one member approved."""
_OFFERED_FROM, _OFFERED_SHARE = 0.02, 0.1
"""The least likelihood of further options, absolute and relative to the likeliest."""
OFFERED_LIKE = 0.2
"""The least cosine of the goal with the one that an offered answer was taught for (measured: `tests/README.md`). Where
little is taught, the belief in an answer is not small even for a goal without any relation."""
_REJECTED_EXPANSION = 0.78
"""The least similarity to a goal with a rejected expansion for which a goal is not expanded either."""
SAME_GOAL = 0.9
"""The least similarity of two goals that are the same in other words."""
_OTHER_THING = 0.38
"""Subtracted from the belief in an answer about another thing: "the Berlin office" is not "the Paris office"."""
_SURELY_OTHER = 1.0
"""The same where a number differs or a word is the opposite, which embeddings hardly show: the answer is not given."""

Weigh: TypeAlias = Callable[[str], Evidence]
"""Computes the evidence for a goal. Blocking."""


class Likelihood(NamedTuple):
    """How likely it is that an action is meant."""

    belief: float
    suggested: float = 0.0
    lessons: int = 0
    """How many lessons approve it, if it is a known answer."""

    @property
    def is_worth_asking(self) -> bool:
        """Whether the person is asked about it."""
        least = max(ASKED_FROM, ASKED_FROM_EACH * sqrt(min(self.lessons, _MOST_COUNTED)))
        return self.belief >= least or self.suggested >= SUGGESTED_FROM


def on_offer(likeliest: Sequence[Likelihood]) -> int:
    """How many of the likeliest actions a person is asked about: up to `MOST_OPTIONS`; 0 if none is worth asking."""
    first = likeliest[:MOST_OPTIONS]
    if not any(each.is_worth_asking for each in first):
        return 0
    likelihoods = [max(each.belief, each.suggested) for each in first]
    return sum(each >= max(_OFFERED_FROM, _OFFERED_SHARE * likelihoods[0]) for each in likelihoods)


_NO_ARGUMENTS: Mapping[str, object] = MappingProxyType({})


class ActionCandidate(NamedTuple):
    """An action that could be taken. A tuple, as many are made: one for each tool and part of a goal."""

    action: str
    """A tool's name, or `answer`."""
    belief: float
    suggested: float = 0.0
    """The suggestion (`Belief.suggested`), which decides about asking if it is greater than the belief."""
    doubt: float = 0.0
    """Subtracted from the belief in an answer about another thing, which may be meant all the same."""
    prior: float = 0.0
    described: float = 0.0
    """The part of the prior that is only from the description: 0 if the tool's arguments fit."""
    rival: float = 0.0
    """The belief in the best other action, or in one that nobody has taught yet."""
    threshold: float = INITIAL_THRESHOLD
    """The threshold of the evidence."""
    arguments: Mapping[str, object] = _NO_ARGUMENTS
    text: str = ""
    """The known answer."""
    taught_for: str = ""
    """The goal of the strongest lesson that approves the known answer, if any."""
    lessons: int = 0
    """How many lessons approve the known answer."""
    is_search: bool = False
    """Whether the tool searches for the whole question, so that its result need not be an answer."""
    is_unfit: bool = False
    """Whether the tool's arguments or description do not fit the goal, and people have not approved it for the goal."""

    @property
    def confidence(self) -> float:
        """The confidence: the belief in relation to the best other action; a mere description counts less."""
        return confidence_in(self.belief, self.described, self.rival)

    @property
    def is_sure(self) -> bool:
        """Whether it is sure enough to be done."""
        return is_sure(self.belief, self.described, self.rival, self.threshold)

    @property
    def likelihood(self) -> float:
        """The likelihood that it is meant, for a question to the person."""
        return max(self.belief + self.doubt, self.suggested)

    @property
    def is_taught(self) -> bool:
        """Whether lessons support it."""
        return self.action == ANSWER or self.prior < self.belief


class Chooser:
    """Ranks actions by the prompt and tools of a request. Blocking: it computes embeddings."""

    def __init__(
        self,
        similarity: Similarity,
        prompt: Prompt,
        tools: Sequence[ToolSpec],
        weigh: Weigh,
        tried: Collection[str] = (),
    ) -> None:
        self._similarity = similarity
        self._tried = tried
        self._prompt = prompt
        self._tools = [tool for tool in tools if tool.name not in CONTROL_NAMES]
        self._weigh = cache(weigh)
        self._ranked: dict[str, list[ActionCandidate]] = {}
        self._filled: dict[str, dict[str, FilledArguments]] = {}

    def rank(self, goal: str) -> list[ActionCandidate]:
        """The usable actions, best first; equal ones in the order of the evidence, answers before tools."""
        if goal not in self._ranked:
            self._ranked[goal] = self._rank(goal)
        return self._ranked[goal]

    def _rank(self, goal: str) -> list[ActionCandidate]:
        evidence = self._weigh(goal)
        beliefs = [belief for belief in evidence.beliefs if not self._is_of_last(goal, belief)]
        evidence = replace(evidence, beliefs=tuple(beliefs))
        found = [*_known_answers(goal, evidence), *self._usable_tools(goal, evidence)]
        ranked = sorted(found, key=lambda candidate: -candidate.belief)
        # A tool that was tried is no rival.
        best = [candidate for candidate in ranked if candidate.action not in self._tried][:2]
        least = untaught_belief(evidence.nearest)
        return [
            each._replace(
                rival=max([least, *[one.belief for one in best if one is not each]]), threshold=evidence.threshold
            )
            for each in ranked
        ]

    def lessons(self, goal: str) -> int:
        """The number of lessons that were weighed for the goal."""
        return self._weigh(goal).lessons

    def nearest(self, goal: str) -> float:
        """The cosine of the nearest lesson with the goal."""
        return self._weigh(goal).nearest

    def to_ask_about(self, goal: str, of_siblings: Collection[str] = ()) -> list[ActionCandidate]:
        """The actions that the person may have meant, likeliest first; empty if none is likely enough.

        Never tools that were tried, that do not fit, or that only search for the question, and no answer that another
        part of the message gets (`of_siblings`).
        """
        ranked = [each for each in self.rank(goal) if each.action != ANSWER or each.text not in of_siblings]
        open_ = [each for each in ranked if not (each.is_search or each.is_unfit or each.action in self._tried)]
        open_.sort(key=lambda each: -each.likelihood)
        related: list[ActionCandidate] = []
        while len(related) < MOST_OPTIONS and open_ and open_[0].likelihood >= _OFFERED_FROM:
            related += self._related(goal, open_[:MOST_OPTIONS])
            del open_[:MOST_OPTIONS]
        return related[
            : on_offer([Likelihood(each.belief + each.doubt, each.suggested, each.lessons) for each in related])
        ]

    def _related(self, goal: str, candidates: Sequence[ActionCandidate]) -> list[ActionCandidate]:
        """The candidates without known answers that were taught for goals that are not at all like this one."""
        taught_for = list(dict.fromkeys(each.taught_for for each in candidates if each.taught_for))
        likeness = dict(zip(taught_for, self._similarity.between(goal, taught_for), strict=True))
        return [each for each in candidates if likeness.get(each.taught_for, OFFERED_LIKE) >= OFFERED_LIKE]

    def _is_of_last(self, goal: str, belief: Belief) -> bool:
        """Whether an answer is rather one to the last question, which the goal continues."""
        approving = [weight.goal for weight in belief.weights if weight.effect > 0]
        if not self._prompt.last_goal or belief.action != ANSWER or not approving:
            return False
        to_this, to_last = self._similarity.between(approving[0], [goal, self._prompt.last_goal])
        return to_last > to_this

    def is_search(self, action: str, goal: str) -> bool:
        """Whether a tool would search for the whole goal, so that its result need not be an answer."""
        filled = self._arguments(goal).get(action)
        return filled is not None and filled.is_search

    def impossible(self, goal: str) -> frozenset[str]:
        """The tools with required arguments that are not in the goal."""
        return frozenset(tool.name for tool in self._tools) - self._arguments(goal).keys()

    def _arguments(self, goal: str) -> Mapping[str, FilledArguments]:
        """The arguments of each usable tool, by name."""
        if goal not in self._filled:
            found = {tool.name: fill(tool.parameters, goal, self._prompt.keys) for tool in self._tools}
            self._filled[goal] = {name: filled for name, filled in found.items() if filled is not None}
        return self._filled[goal]

    def may_expand(self, goal: str) -> bool:
        """Whether the goal may be expanded: people did not reject that for the most similar expanded goal."""
        expanded = [pair for pair in self._nearest_first(goal) if pair[0].action == EXPAND]
        return not expanded or expanded[0][0].kind is Lesson.REPEAT or expanded[0][1] < _REJECTED_EXPANSION

    def repeated_steps(self, goal: str) -> str:
        """The steps of the expansion that people approved for the same goal; empty if there is none."""
        for lesson, likeness in self._nearest_first(goal):
            is_it = likeness >= SAME_GOAL and not are_opposed(goal, lesson.goal)
            if is_it and lesson.kind is Lesson.REPEAT and lesson.action == EXPAND:
                return lesson.steps
        return ""

    def _nearest_first(self, goal: str) -> list[tuple[PromptLesson, float]]:
        lessons = self._prompt.lessons
        cosines = self._similarity.between(goal, [lesson.goal for lesson in lessons])
        return sorted(zip(lessons, cosines, strict=True), key=lambda pair: -pair[1])

    def _usable_tools(self, goal: str, evidence: Evidence) -> list[ActionCandidate]:
        beliefs = {belief.action: belief for belief in evidence.beliefs}
        found: list[ActionCandidate] = []
        arguments = self._arguments(goal)
        usable = [(tool, arguments[tool.name]) for tool in self._tools if tool.name in arguments]
        # One batch takes a third of the time of single calls, and the embedder caches the vectors.
        compared = [text for tool, _ in usable if _takes_arguments(tool) for text in compared_texts(tool)]
        self._similarity.vectors([goal, *compared])
        for tool, filled in usable:
            believed = beliefs.get(tool.name) or Belief(action=tool.name, value=0.0, prior=0.0)
            prior, is_fit, takes_arguments = believed.prior, True, _takes_arguments(tool)
            if takes_arguments:
                fits = fitness(self._similarity, tool, goal, filled)
                is_fit = fits >= FITS
                prior = max(prior, fits - FITS + _FITTING) if is_fit else min(prior, fits, _UNFIT)
            value = prior + believed.value - believed.prior
            found.append(
                ActionCandidate(
                    action=tool.name,
                    arguments=filled.arguments,
                    is_search=filled.is_search,
                    belief=value,
                    suggested=prior + believed.suggested - believed.prior,
                    prior=prior,
                    described=0.0 if takes_arguments and is_fit else prior,
                    is_unfit=not is_fit and value - prior < MIN_STORED,
                )
            )
        return found


def _takes_arguments(tool: ToolSpec) -> bool:
    return bool(tool.parameters.get("properties"))


def _known_answers(goal: str, evidence: Evidence) -> list[ActionCandidate]:
    """The known answers, with doubt for those about other things. Tools need none, as the goal has their arguments."""
    found: list[ActionCandidate] = []
    for belief in evidence.beliefs:
        if belief.action == ANSWER:
            approving = [weight.goal for weight in belief.weights if weight.approves and weight.effect > 0]
            doubt = _doubt(goal, approving)
            found.append(
                ActionCandidate(
                    action=ANSWER,
                    text=belief.text,
                    taught_for=next(iter(approving), ""),
                    lessons=len(approving),
                    belief=belief.value - doubt,
                    suggested=belief.suggested,
                    doubt=doubt,
                )
            )
    return found


def _doubt(goal: str, approving: Sequence[str]) -> float:
    """The doubt about an answer for another thing, unless people approved it for things that differ in the same way.

    `approving` has the goals that it was approved for, of the strongest lesson first.

    What is true in Berlin and in Paris may be true in Rome, but what opens both doors need not close one.
    """
    nearest, *others = approving or [goal]
    unlike = opposition(goal, nearest)
    for other in others if unlike else ():
        unlike &= ~opposition(nearest, other)
    if unlike & (Opposition.NUMBER | Opposition.WORD):
        return _SURELY_OTHER
    return _OTHER_THING if unlike else 0.0
