"""One decision about a goal: split it, use a tool, repeat a known answer, or give up."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from statistics import geometric_mean, mean

from bot.adapters.llm.offline.choosing import ASKED_FROM, EXPAND, Candidate, Chooser, Weigh
from bot.adapters.llm.offline.prompt_evidence import prompt_evidence
from bot.adapters.llm.offline.reading import Prompt
from bot.adapters.llm.offline.similarity import Similarity
from bot.adapters.llm.offline.splitting import MOST_PARTS, Split, begins_a_request, has_several_words, split
from bot.agent.decision import CONTROL_NAMES
from bot.model import ModelTurn, ToolCall, ToolSpec, ToolTurn
from memory.model import ASK
from memory.model.evidence import Evidence
from memory.rules.evidence.weighing import ANSWER

FAIL = "fail"
FOUND = 0.35
"""Similarity from which a passage that was asked for is told."""
FOUND_UNASKED = 0.45
"""The same for a passage looked up only because nothing else was known."""
_UNSAID = 1.5
"""How many times as sure as the whole its parts must be where no word joins them: "I lost my card, what now?"."""
_ENOUGH_WORDS = 4
"""From so many words on a part says as much of its being a request as any longer one."""

HONEST = (
    "I am the offline model: no language model, only my tools and what people here taught me. "
    "To teach me, react with 👎 and say what would have been right."
)
DID_YOU_MEAN = "I am not sure. Did you mean one of these?"
DID_YOU_MEAN_THIS = "I am not sure. Did you mean this?"
DOES_NOT_KNOW = "I don't know that."

_KNOWLEDGE = re.compile(r"knowledge", re.IGNORECASE)
_LIBRARY = re.compile(r"documents?\b|\bdocs\b|handbook|\bwiki\b|\bfaq\b|manual", re.IGNORECASE)
_STEPS = re.compile(r"(?:^|; )(?P<flow>sequence|fallback|parallel): (?P<parts>[^;]+)$")
_FAILED_PART = re.compile(r'^Subgoal \d+ of \d+ "(?P<goal>.*)" failed:', re.MULTILINE)


class Decider:
    """Decides about the goal of one request. Blocking: it embeds."""

    def __init__(
        self,
        similarity: Similarity,
        prompt: Prompt,
        tools: Sequence[ToolSpec],
        outputs: Sequence[ToolTurn] = (),
        weigh: Weigh | None = None,
        *,
        must_choose: bool = False,
    ) -> None:
        self._similarity = similarity
        self._goal = prompt.goal
        self._lessons = prompt.lessons
        self._must_choose = must_choose
        self._tools = {tool.name: tool for tool in tools}
        self._outputs = outputs
        self._tried = {one.name for one in outputs}
        self._chooser = Chooser(similarity, prompt, tools, weigh or self._weigh_prompt, self._tried)

    def _weigh_prompt(self, goal: str) -> Evidence:
        """What the lessons of the prompt say, where the request brings no evidence."""
        actions = [tool.as_action for tool in self._tools.values() if tool.name not in CONTROL_NAMES]
        return prompt_evidence(self._similarity, goal, self._lessons, actions)

    @cached_property
    def _ranked(self) -> list[Candidate]:
        return self._chooser.rank(self._goal)

    def decide(self) -> ModelTurn:
        """The next thing to do or say."""
        if self._outputs and self._answers(self._outputs[-1]):
            return ModelTurn(text=self._outputs[-1].content)
        parts = self._parts()
        if parts is not None:
            thought = f"The goal has {len(parts.parts)} parts that stand alone."
            return self._call(EXPAND, {"flow": parts.flow, "subgoals": list(parts.parts)}, thought)
        for candidate in self._ranked:
            if candidate.action not in self._tried and (candidate.is_sure or self._must_choose):
                return self._do(candidate)
        return self._look_up() or self._ask() or self._give_up()

    def _do(self, candidate: Candidate) -> ModelTurn:
        if candidate.action == ANSWER:
            return ModelTurn(text=candidate.text)
        lessons = candidate.belief - candidate.prior
        because = f" (lessons {lessons:+.2f})" if abs(lessons) >= 0.005 else ""
        thought = f"{candidate.action} fits best: {candidate.belief:.2f}{because}."
        return self._call(candidate.action, candidate.arguments, thought)

    def _call(self, tool: str, arguments: Mapping[str, object], thought: str = "") -> ModelTurn:
        call = ToolCall(id=f"offline-{len(self._outputs) + 1}", name=tool, arguments=arguments)
        return ModelTurn(text=thought, calls=(call,))

    def _answers(self, output: ToolTurn) -> bool:
        """Whether a tool's output is the answer. That of a search is compared with the question first."""
        if output.is_error or not output.content:
            return False
        if not self._chooser.is_search(output.name, self._goal):
            return True
        candidate = next(one for one in self._ranked if one.action == output.name)
        passages = [output.content, *re.split(r"\n\s*\n", output.content)]
        asked = [self._goal, *(value for value in candidate.arguments.values() if isinstance(value, str))]
        likeness = max(self._similarity.best(question, passages) for question in asked)
        return likeness >= (FOUND if candidate.is_sure else FOUND_UNASKED)

    def _parts(self) -> Split | None:
        if EXPAND not in self._tools or EXPAND in self._tried:
            return None
        if not self._chooser.may_expand(self._goal):
            parts = split(self._goal, self._is_known)
            return parts if parts is not None and self._are_taught(parts) else None
        ways = (split(self._goal, judge) for judge in (has_several_words, self._is_known))
        several = next((way for way in ways if way is not None and self._are_several(way)), None)
        return several or _approved_parts(self._chooser.repeated_steps(self._goal))

    def _is_known(self, goal: str) -> bool:
        """Whether it is sure what to do about it."""
        return self._best(goal) is not None

    def _are_taught(self, parts: Split) -> bool:
        """Whether people taught each of the parts, and none of them less surely than the whole."""
        bests = [self._best(part) for part in parts.parts]
        least = self._ranked[0].confidence if self._ranked else 0.0
        return all(best is not None and best.is_taught and best.confidence > least for best in bests)

    def _are_several(self, parts: Split) -> bool:
        """Whether the parts are more likely requests of their own than pieces of one, and want different things."""
        bests = [next(iter(self._chooser.rank(part)), None) for part in parts.parts]
        wanted = [(best.action, best.arguments, best.text) for best in bests if best is not None]
        if len(wanted) == len(bests) and all(one == wanted[0] for one in wanted):
            return False
        has_arguments = any(best is not None and best.arguments and best.is_sure for best in bests)
        return self._are_known(parts, bests) or (has_arguments and self._are_surer(parts, bests))

    def _are_known(self, parts: Split, bests: Sequence[Candidate | None]) -> bool:
        """Whether the parts look like several, by what people taught (measured: `tests/README.md`).

        The log odds, by logistic regression on labelled messages: parts are nearer to what was taught than the whole
        is, and unlike each other; something is believed of each of them; none is a mere word or two; a word joins them.
        """
        nearer = mean(map(self._chooser.nearest, parts.parts)) - self._chooser.nearest(self._goal)
        alike = mean(self._similarity.between(one, [other])[0] for one, other in pairwise(parts.parts))
        beliefs = [best.belief if best is not None else 0.0 for best in bests]
        words = min(_ENOUGH_WORDS, *(len(part.split()) for part in parts.parts))
        log_odds = 14 * nearer - 8.5 * alike + 6 * min(beliefs) + 1.2 * words - (4.5 if parts.is_said else 7.0)
        return log_odds > 0 and max(beliefs) >= ASKED_FROM

    def _are_surer(self, parts: Split, bests: Sequence[Candidate | None]) -> bool:
        """Whether the parts together, which is their geometric mean, are surer than the whole.

        That is for tools which find their arguments in a part: nobody needs to have taught them.
        """
        together = geometric_mean([max(ASKED_FROM, best.confidence if best else 0.0) for best in bests])
        whole = self._ranked[0].confidence if self._ranked else 0.0
        return together > whole * (1.0 if parts.is_said else _UNSAID)

    def _best(self, goal: str) -> Candidate | None:
        """The best of what can surely be done about a goal."""
        ranked = self._ranked if goal == self._goal else self._chooser.rank(goal)
        return next((candidate for candidate in ranked if candidate.is_sure), None)

    def _look_up(self) -> ModelTurn | None:
        """The last resort for a request nothing else fits: is it in the documents? What is found will be judged."""
        if not begins_a_request(self._goal) and not self._goal.endswith("?"):
            return None
        for candidate in self._ranked:
            tool = self._tools.get(candidate.action)
            is_open = candidate.is_search and candidate.action not in self._tried and candidate.belief >= 0
            if is_open and tool is not None and (_is_library(tool) or _KNOWLEDGE.search(tool.description)):
                where = "the documents do" if _is_library(tool) else "what is known about things does"
                thought = f"I know nothing that fits. Maybe {where}."
                return self._call(tool.name, candidate.arguments, thought)
        return None

    def _ask(self) -> ModelTurn | None:
        """Ask which of a few things is meant. Not after something was done: that it did not answer is told then."""
        is_first = all(self._chooser.is_search(output.name, self._goal) for output in self._outputs)
        if self._must_choose or not is_first or ASK not in self._tools:
            return None
        options = [self._offered(each) for each in self._chooser.to_ask_about(self._goal)]
        question = DID_YOU_MEAN if len(options) > 1 else DID_YOU_MEAN_THIS
        return self._call(ASK, {"question": question, "options": options}) if options else None

    @staticmethod
    def _offered(candidate: Candidate) -> dict[str, object]:
        """A candidate as `ask_person` takes it."""
        if candidate.action == ANSWER:
            return {"answer": candidate.text}
        return {"tool": candidate.action, "arguments": dict(candidate.arguments)}

    def _give_up(self) -> ModelTurn:
        reason = f"{self._failure() or f'{DOES_NOT_KNOW} {self._looked_at()}'} {HONEST}"
        if FAIL not in self._tools:
            return ModelTurn(text=reason)
        return self._call(FAIL, {"reason": reason})

    def _looked_at(self) -> str:
        lessons = self._chooser.lessons(self._goal)
        tools = len(self._tools.keys() - CONTROL_NAMES)
        looked_at = [
            f"{lessons} {'lesson' if lessons == 1 else 'lessons'} of people here" if lessons else "",
            f"{tools} {'tool' if tools == 1 else 'tools'}" if tools else "",
            "the documents" if any(_is_library(self._tools[each]) for each in self._tried & self._tools.keys()) else "",
        ]
        named = " and ".join(filter(None, looked_at))
        return f"I looked at {named}; nothing fits." if named else "Nobody has taught me anything yet."

    def _failure(self) -> str:
        """The failure of a subgoal or of a tool that fitted; empty without one."""
        for output in self._outputs:
            if output.name == EXPAND:
                failed = [match["goal"] for match in _FAILED_PART.finditer(output.content)]
                return f"I could not answer: {'; '.join(failed).rstrip('.?!')}." if failed else ""
            if output.is_error and not self._chooser.is_search(output.name, self._goal):
                return output.content
        return ""


def _is_library(tool: ToolSpec) -> bool:
    """Whether a tool looks into documents."""
    return _LIBRARY.search(f"{tool.name} {tool.description}") is not None


def _approved_parts(steps: str) -> Split | None:
    """The expansion of an approved lesson, unless its subgoals were shortened."""
    match = _STEPS.search(steps)
    if match is None or "…" in match["parts"]:
        return None
    parts = tuple(part.strip() for part in match["parts"].split(" | ") if part.strip())
    return Split(flow=match["flow"], parts=parts) if 2 <= len(parts) <= MOST_PARTS else None
