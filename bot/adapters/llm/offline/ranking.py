"""Ranks what can be done about a goal: every usable tool and every known answer, by what the evidence says of it.

A tool that takes arguments is also judged by how well they can be read from the goal: "12 * 7" is for the calculator,
whatever its description's embedding is like.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from bot.adapters.llm.offline.arguments import Filled, fill
from bot.adapters.llm.offline.fitness import compared_texts, fitness
from bot.adapters.llm.offline.prompt_parser import Prompt, PromptLesson
from bot.adapters.llm.offline.similarity import Similarity
from bot.agent.decision import CONTROL_NAMES
from bot.model import ToolSpec
from memory.model import MOST_OPTIONS, Lesson
from memory.model.evidence import KEPT_FROM, START, Belief, Evidence, confidence_in, is_sure, unknown
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.retrieval.likeness import Opposition, are_opposed, opposition

EXPAND = "expand"

FITS = 0.53
"""Fitness from which a tool that takes arguments is used without any lesson."""
_FITTING = 0.35
"""The least that is believed of such a tool before any lesson ..."""
_UNFIT = 0.15
"""... and the most of one that fits less: it is not used until people approve of it."""
ASKED_FROM = 0.045
"""Belief from which the person is asked whether they mean it (measured: `memory/rules/evidence/README.md`) ..."""
SUGGESTED_FROM = 0.08
"""... or how far it must be suggested (`Belief.suggested`): some four times the belief in what one member approved."""
_OFFERED_FROM, _OFFERED_SHARE = 0.02, 0.1
"""How far what is offered beside that must be likely, by itself and in proportion to what is likeliest."""
_REJECTED_EXPANSION = 0.78
"""Similarity to a goal whose expansion people rejected from which this one is not expanded."""
SAME_GOAL = 0.9
"""Similarity from which two goals are the same in other words."""
_OTHER_THING = 0.38
"""Taken off the belief in an answer about another thing: "the Berlin office" is not "the Paris office" ..."""
_SURELY_OTHER = 1.0
"""... and where a number differs, or a word says the opposite, which embeddings hardly tell: it is not told unasked."""

Weigh: TypeAlias = Callable[[str], Evidence]
"""The evidence for a goal. Blocking."""


def on_offer(likeliest: Sequence[tuple[float, float]]) -> int:
    """How many of the likeliest a person is asked about: up to `MOST_OPTIONS`, none where it is not worth asking.

    Of each, likeliest first: what is believed, and how far it is suggested.
    """
    first = likeliest[:MOST_OPTIONS]
    if not any(belief >= ASKED_FROM or suggested >= SUGGESTED_FROM for belief, suggested in first):
        return 0
    likelihoods = [max(each) for each in first]
    return sum(each >= max(_OFFERED_FROM, _OFFERED_SHARE * likelihoods[0]) for each in likelihoods)


_NO_ARGUMENTS: Mapping[str, object] = MappingProxyType({})


class ActionCandidate(NamedTuple):
    """One thing that could be done. A tuple, for there is one of every tool and part of a goal."""

    action: str
    """A tool's name, or `answer`."""
    belief: float
    suggested: float = 0.0
    """How far it is worth asking about, where that is more (`Belief.suggested`)."""
    doubt: float = 0.0
    """Taken off the belief, of an answer about another thing. It may be what was meant all the same."""
    prior: float = 0.0
    described: float = 0.0
    """How much of the prior is what a description promises: nothing where the arguments that a tool takes fit."""
    rival: float = 0.0
    """The belief in the best other one, or in what nobody has taught yet."""
    threshold: float = START
    """That of the evidence."""
    arguments: Mapping[str, object] = _NO_ARGUMENTS
    text: str = ""
    """The known answer."""
    is_search: bool = False
    """A tool that looks for the whole question somewhere: what it finds need not be an answer."""
    is_unfit: bool = False
    """A tool whose arguments or description do not go with the goal, and that people have not approved of for it."""

    @property
    def confidence(self) -> float:
        """How much of the belief the best other candidate leaves, what is only described counting for less."""
        return confidence_in(self.belief, self.described, self.rival)

    @property
    def is_sure(self) -> bool:
        """Whether it is good enough to be done."""
        return is_sure(self.belief, self.described, self.rival, self.threshold)

    @property
    def likelihood(self) -> float:
        """How far it may be what was meant, if that is asked."""
        return max(self.belief + self.doubt, self.suggested)

    @property
    def is_taught(self) -> bool:
        """Whether lessons speak for it."""
        return self.action == ANSWER or self.prior < self.belief


class Chooser:
    """Ranks what can be done about a goal, given the prompt and tools of a request. Blocking: it embeds."""

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
        self._filled: dict[str, dict[str, Filled]] = {}

    def rank(self, goal: str) -> list[ActionCandidate]:
        """Every usable candidate, best first; equal ones as the evidence has them, answers before other tools."""
        if goal not in self._ranked:
            self._ranked[goal] = self._rank(goal)
        return self._ranked[goal]

    def _rank(self, goal: str) -> list[ActionCandidate]:
        evidence = self._weigh(goal)
        beliefs = [belief for belief in evidence.beliefs if not self._is_of_last(goal, belief)]
        evidence = replace(evidence, beliefs=tuple(beliefs))
        found = [*_known_answers(goal, evidence), *self._usable_tools(goal, evidence)]
        ranked = sorted(found, key=lambda candidate: -candidate.belief)
        # What was tried in vain is no rival any more.
        best = [candidate for candidate in ranked if candidate.action not in self._tried][:2]
        least = unknown(evidence.nearest)
        return [
            each._replace(
                rival=max([least, *[one.belief for one in best if one is not each]]), threshold=evidence.threshold
            )
            for each in ranked
        ]

    def lessons(self, goal: str) -> int:
        """How many lessons were weighed for the goal."""
        return self._weigh(goal).lessons

    def nearest(self, goal: str) -> float:
        """Cosine of the nearest lesson."""
        return self._weigh(goal).nearest

    def to_ask_about(self, goal: str) -> list[ActionCandidate]:
        """What the person may have meant, likeliest first; nothing where nothing is worth it.

        Never a tool that was tried, that does not fit, or that only looks the question up somewhere.
        """
        ranked = self.rank(goal)
        open_ = [each for each in ranked if not (each.is_search or each.is_unfit or each.action in self._tried)]
        open_.sort(key=lambda each: -each.likelihood)
        return open_[: on_offer([(each.belief + each.doubt, each.suggested) for each in open_])]

    def _is_of_last(self, goal: str, belief: Belief) -> bool:
        """Whether an answer is known for the question before, which this one goes on from, more than for this one."""
        approving = [weight.goal for weight in belief.weights if weight.effect > 0]
        if not self._prompt.last_goal or belief.action != ANSWER or not approving:
            return False
        to_this, to_last = self._similarity.between(approving[0], [goal, self._prompt.last_goal])
        return to_last > to_this

    def is_search(self, action: str, goal: str) -> bool:
        """Whether a tool would look for the whole goal somewhere, so that what it finds need not be an answer."""
        filled = self._arguments(goal).get(action)
        return filled is not None and filled.is_search

    def impossible(self, goal: str) -> frozenset[str]:
        """The tools that need what the goal does not give them."""
        return frozenset(tool.name for tool in self._tools) - self._arguments(goal).keys()

    def _arguments(self, goal: str) -> Mapping[str, Filled]:
        """What each tool that can be used for the goal takes from it, by name."""
        if goal not in self._filled:
            found = {tool.name: fill(tool.parameters, goal, self._prompt.keys) for tool in self._tools}
            self._filled[goal] = {name: filled for name, filled in found.items() if filled is not None}
        return self._filled[goal]

    def may_expand(self, goal: str) -> bool:
        """Whether people did not reject it for the goal most like this one that was expanded."""
        expanded = [near for near in self._nearest_first(goal) if near[0].action == EXPAND]
        return not expanded or expanded[0][0].kind is Lesson.REPEAT or expanded[0][1] < _REJECTED_EXPANSION

    def repeated_steps(self, goal: str) -> str:
        """The steps of the expansion people approved for this very goal; empty when there is none."""
        for lesson, likeness in self._nearest_first(goal):
            is_it = likeness >= SAME_GOAL and not are_opposed(goal, lesson.goal)
            if is_it and lesson.kind is Lesson.REPEAT and lesson.action == EXPAND:
                return lesson.steps
        return ""

    def _nearest_first(self, goal: str) -> list[tuple[PromptLesson, float]]:
        lessons = self._prompt.lessons
        cosines = self._similarity.between(goal, [lesson.goal for lesson in lessons])
        return sorted(zip(lessons, cosines, strict=True), key=lambda near: -near[1])

    def _usable_tools(self, goal: str, evidence: Evidence) -> list[ActionCandidate]:
        beliefs = {belief.action: belief for belief in evidence.beliefs}
        found: list[ActionCandidate] = []
        arguments = self._arguments(goal)
        usable = [(tool, arguments[tool.name]) for tool in self._tools if tool.name in arguments]
        # One batch takes a third of the time that they take one by one; what was embedded once is remembered.
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
                    is_unfit=not is_fit and value - prior < KEPT_FROM,
                )
            )
        return found


def _takes_arguments(tool: ToolSpec) -> bool:
    return bool(tool.parameters.get("properties"))


def _known_answers(goal: str, evidence: Evidence) -> list[ActionCandidate]:
    """A tool takes its arguments from this goal; an answer cannot be told for another thing."""
    found: list[ActionCandidate] = []
    for belief in evidence.beliefs:
        if belief.action == ANSWER:
            doubt = _doubt(goal, belief)
            found.append(
                ActionCandidate(
                    action=ANSWER,
                    text=belief.text,
                    belief=belief.value - doubt,
                    suggested=belief.suggested,
                    doubt=doubt,
                )
            )
    return found


def _doubt(goal: str, belief: Belief) -> float:
    """What is taken off, unless people approved of the answer for things that are unlike in the same ways.

    What holds in Berlin and in Paris may hold in Rome, but what opens both doors need not close one.
    """
    approving = [weight.goal for weight in belief.weights if weight.approves and weight.effect > 0]
    nearest, *others = approving or [goal]
    unlike = opposition(goal, nearest)
    for other in others if unlike else ():
        unlike &= ~opposition(nearest, other)
    if unlike & (Opposition.NUMBER | Opposition.WORD):
        return _SURELY_OTHER
    return _OTHER_THING if unlike else 0.0
