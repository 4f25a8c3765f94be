"""Scores what can be done about a goal: every tool and every known answer, best first.

    score(a) = similarity(a) + L * max over REPEAT lessons with action a of (sim - d)+
                             - M * max over AVOID lessons with action a of (sim - d)+

`sim` is the cosine between this goal and the lesson's. A weak prior raised and lowered by what people said stands in
for an in-context learner (`d` = .7 and `L` = 6 were tuned on BANKING77 and held on CLINC150). There `M` was 3, enough
to fall behind one of 150 other actions; here a rejected action must fall below an absolute threshold: `M` equals `L`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from bot.adapters.llm.offline.arguments import fill
from bot.adapters.llm.offline.fitness import fitness, sentences
from bot.adapters.llm.offline.opposition import are_opposed
from bot.adapters.llm.offline.reading import Prompt, PromptLesson
from bot.adapters.llm.offline.similarity import Similarity
from bot.model import ToolSpec
from memory.model import Lesson
from memory.rules.retrieval.prompt import one_line

ANSWER = "answer"
EXPAND = "expand"
CONTROL = frozenset({EXPAND, "fail", "ask_person", "think"})

REPEAT_WEIGHT = 6.0
AVOID_WEIGHT = 6.0
COUNTS_FROM = 0.7
"""A lesson counts from this cosine on."""
SURE = 0.53
"""Score from which a tool is used."""
KNOWN = 0.72
"""Similarity from which a taught answer is repeated. Two questions about one thing are close even when they
ask for different things of it ("sick days", "vacation days": .71), so it lies higher."""
SAME_GOAL = 0.9
"""Similarity from which two goals are the same in other words."""
_OTHER_THING = 0.3
"""Taken off the similarity of a lesson that is about another thing: "the Berlin office" is not "the Paris office"."""
_WRONG_ANSWER_CHARACTERS = 200
"""How much of a rejected answer a lesson shows."""


_Nearness: TypeAlias = list[tuple[PromptLesson, float]]
"""Every lesson with the cosine of its goal to this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One thing that could be done."""

    action: str
    """A tool's name, or `answer`."""
    similarity: float
    score: float
    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    text: str = ""
    """The known answer."""
    is_search: bool = False
    """A tool that looks for the whole question somewhere: what it finds need not be an answer."""

    @property
    def is_sure(self) -> bool:
        """Whether it is good enough to be done."""
        if self.action == ANSWER:
            # Above its similarity: on balance people approved of it.
            return self.similarity >= KNOWN and self.score > self.similarity
        return self.score >= SURE


class Chooser:
    """Scores what can be done about a goal, given the prompt and tools of a request. Blocking: it embeds."""

    def __init__(self, similarity: Similarity, prompt: Prompt, tools: Sequence[ToolSpec]) -> None:
        self._similarity = similarity
        self._prompt = prompt
        self._tools = [tool for tool in tools if tool.name not in CONTROL]

    def rank(self, goal: str) -> list[Candidate]:
        """Every usable candidate, best first; equal ones in the order of the prompt, answers before tools."""
        nearness = self._nearness(goal)
        found = [*self._known_answers(goal, nearness), *self._usable_tools(goal, nearness)]
        return sorted(found, key=lambda candidate: -candidate.score)

    def push(self, goal: str, action: str) -> float:
        """How much the lessons raise (above 0) or lower the score of an action for this goal."""
        return self._push(action, "", self._nearness(goal))

    def repeated_steps(self, goal: str) -> str:
        """The steps of the expansion people approved for this very goal; empty when there is none."""
        for lesson, sim in sorted(self._nearness(goal), key=lambda near: -near[1]):
            is_it = sim >= SAME_GOAL and not are_opposed(goal, lesson.goal)
            if is_it and lesson.kind is Lesson.REPEAT and lesson.action == EXPAND:
                return lesson.steps
        return ""

    def _nearness(self, goal: str) -> _Nearness:
        lessons = self._prompt.lessons
        cosines = self._similarity.between(goal, [lesson.goal for lesson in lessons])
        return list(zip(lessons, cosines, strict=True))

    def _known_answers(self, goal: str, nearness: _Nearness) -> list[Candidate]:
        # A tool takes its arguments from this goal; an answer cannot be told for another thing.
        nearness = [
            (lesson, cosine - (_OTHER_THING if are_opposed(goal, lesson.goal) else 0.0)) for lesson, cosine in nearness
        ]
        best: dict[str, float] = {}
        for lesson, sim in nearness:
            text = self._lesson_answer(lesson)
            if text:
                best[text] = max(sim, best.get(text, -1.0))
        return [
            Candidate(action=ANSWER, text=text, similarity=sim, score=sim + self._push(ANSWER, text, nearness))
            for text, sim in best.items()
        ]

    def _usable_tools(self, goal: str, nearness: _Nearness) -> list[Candidate]:
        self._similarity.between(goal, [sentence for tool in self._tools for sentence in sentences(tool)])
        found: list[Candidate] = []
        for tool in self._tools:
            filled = fill(tool.parameters, goal, self._prompt.keys)
            if filled is not None:
                sim = fitness(self._similarity, tool, goal, filled)
                found.append(
                    Candidate(
                        action=tool.name,
                        arguments=filled.arguments,
                        is_search=filled.is_search,
                        similarity=sim,
                        score=sim + self._push(tool.name, "", nearness),
                    )
                )
        return found

    def _push(self, action: str, text: str, nearness: _Nearness) -> float:
        raised = [sim - COUNTS_FROM for lesson, sim in nearness if self._favours(lesson, action, text)]
        lowered = [sim - COUNTS_FROM for lesson, sim in nearness if _opposes(lesson, action, text)]
        return REPEAT_WEIGHT * max([0.0, *raised]) - AVOID_WEIGHT * max([0.0, *lowered])

    def _favours(self, lesson: PromptLesson, action: str, text: str) -> bool:
        if action == ANSWER:
            return self._lesson_answer(lesson) == text
        if lesson.kind is Lesson.REPEAT:
            return lesson.action == action
        return self._tool_named_in(lesson.instead) == action

    def _lesson_answer(self, lesson: PromptLesson) -> str:
        """The answer a lesson tells to give; empty for one about tools."""
        if lesson.kind is Lesson.REPEAT:
            return lesson.answer if lesson.action == ANSWER else ""
        return "" if self._tool_named_in(lesson.instead) else lesson.instead

    def _tool_named_in(self, correction: str) -> str:
        """The tool a correction tells to use: "use the calculator", "search knowledge". Empty for a plain answer."""
        for tool in self._tools:
            name = r"[ _-]".join(map(re.escape, re.split(r"[_-]", tool.name)))
            if re.fullmatch(rf"\W*(?:the\s+)?{name}(?:\s+tool)?\W*", correction, re.IGNORECASE) or re.search(
                rf"\b(?:use|try|call|run|take|ask|check)\s+(?:the\s+)?{name}\b", correction, re.IGNORECASE
            ):
                return tool.name
        return ""


def _opposes(lesson: PromptLesson, action: str, text: str) -> bool:
    if lesson.kind is Lesson.REPEAT or lesson.action != action:
        return False
    # That one answer was wrong says nothing against the others.
    return action != ANSWER or lesson.wrong_answer == one_line(text, _WRONG_ANSWER_CHARACTERS)
