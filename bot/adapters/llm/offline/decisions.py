"""Decides about a goal: split it, use a tool, give a known answer, ask, or give up."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from math import log
from statistics import geometric_mean, mean

from bot.adapters.llm.offline.courtesy import without_greeting
from bot.adapters.llm.offline.prompt_evidence import prompt_evidence
from bot.adapters.llm.offline.prompt_parser import Prompt
from bot.adapters.llm.offline.ranking import ASKED_FROM, EXPAND, SAME_GOAL, ActionCandidate, Chooser, Weigh
from bot.adapters.llm.offline.similarity import Similarity
from bot.adapters.llm.offline.splitting import MOST_PARTS, Split, begins_a_request, cuts, has_several_words, split
from bot.agent.decision import CONTROL_NAMES
from bot.model import ModelTurn, ToolCall, ToolSpec, ToolTurn
from memory.model import ASK
from memory.model.evidence import Evidence
from memory.rules.evidence.judged_lesson import ANSWER

FAIL = "fail"
FOUND = 0.35
"""The least similarity of a passage that answers a search."""
FOUND_UNASKED = 0.45
"""The same for a search that was made only because nothing else fitted."""
_UNJOINED = 1.5
"""How many times surer than the whole the parts must be if no word joins them: "I lost my card, what now?"; not for
several questions: "What time is it in Oslo? What time is it in Rome?"."""

_CERTAIN = 20.0
"""Log odds that count as certain."""
_CONDITION = re.compile(r"(?:if|unless|once|whenever|as\s+soon\s+as)\b", re.IGNORECASE)
"""Begins a condition, after which "then" joins no next step."""

_REFERS_BACK = re.compile(
    r"\b(?:it|its|this|that|these|those|them|they|their|he|she|his|her|him|ones?)\b|\bthere\W*+$"
    r"|^\W*+\w*+\W*+\w*+\W*+$",
    re.IGNORECASE,
)
"""In a part that may be about the one before: it has such a word, or only two."""
HONEST = (
    "I am the offline model: no language model, only my tools and what people here taught me. "
    "To teach me, react with 👎 and say what would have been right."
)
DID_YOU_MEAN = "I am not sure. Did you mean one of these?"
DID_YOU_MEAN_THIS = "I am not sure. Did you mean this?"
DOES_NOT_KNOW = "I don't know that."
LACKS = "I don't know:"
"""Begins the sentence that names the parts without an answer."""

_KNOWLEDGE = re.compile(r"knowledge", re.IGNORECASE)
_LIBRARY = re.compile(r"documents?\b|\bdocs\b|handbook|\bwiki\b|\bfaq\b|manual", re.IGNORECASE)
_STEPS = re.compile(r"(?:^|; )(?P<flow>sequence|fallback|parallel): (?P<parts>[^;]+)$")
_FOUND_PART = re.compile(r'^Subgoal \d+ of \d+ "(?P<goal>.*)" found:', re.MULTILINE)
_LEFT_PART = re.compile(r'^Subgoal \d+ of \d+ "(?P<goal>.*)" (?:failed:(?P<why>.*)|was not tried)', re.MULTILINE)


class Decider:
    """Decides about the goal of a request. Blocking: it computes embeddings."""

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
        self._lessons, self._siblings = prompt.lessons, prompt.siblings
        self._must_choose = must_choose
        self._tools = {tool.name: tool for tool in tools}
        self._outputs = outputs
        self._tried = {one.name for one in outputs}
        self._chooser = Chooser(similarity, prompt, tools, weigh or self._weigh_prompt, self._tried)
        self._goal = self._ungreeted(prompt.goal)

    def _ungreeted(self, goal: str) -> str:
        """The goal without a greeting, unless it is known with it: people asked before what is nearly the same."""
        request, nearest = without_greeting(goal), self._chooser.nearest
        was_asked_before = request != goal and nearest(goal) >= max(SAME_GOAL, nearest(request))
        return goal if was_asked_before and self._is_known(goal) else request

    def _weigh_prompt(self, goal: str) -> Evidence:
        """The evidence of the prompt's lessons, for a request without evidence."""
        actions = [tool.as_action for tool in self._tools.values() if tool.name not in CONTROL_NAMES]
        return prompt_evidence(self._similarity, goal, self._lessons, actions)

    @cached_property
    def _ranked(self) -> list[ActionCandidate]:
        return self._chooser.rank(self._goal)

    def decide(self) -> ModelTurn:
        """The next turn: a tool call or an answer."""
        if self._outputs and self._answers(self._outputs[-1]):
            return ModelTurn(text=self._outputs[-1].content)
        parts = self._parts()
        if parts is not None:
            thought = f"The goal has {len(parts.parts)} parts that stand alone."
            return self._expand(parts, thought)
        for candidate in self._ranked:
            if candidate.action not in self._tried and (candidate.is_sure or self._must_choose):
                return self._answer_known_part(candidate) or self._do(candidate)
        return self._look_up() or self._answer_known_part() or self._ask() or self._name_parts() or self._give_up()

    @property
    def impossible(self) -> frozenset[str]:
        """The tools that cannot be used for the goal."""
        return self._chooser.impossible(self._goal)

    def _do(self, candidate: ActionCandidate) -> ModelTurn:
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
        """Whether a tool's output is the answer. The output of a search must be similar to the question."""
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
        return self._several() or _approved_parts(self._chooser.repeated_steps(self._goal))

    def _several(self) -> Split | None:
        """The split that is most probably right, if any is probable."""
        whole = [split(self._goal, judge) for judge in (has_several_words, self._is_known)]
        ways = {way.parts: way for way in (*cuts(self._goal, self._is_known), *filter(None, whole))}
        # One batch is faster than embedding each part when it is compared.
        self._similarity.vectors([self._goal, *(part for way in ways for part in way)] if ways else [])
        judged = [(self._log_odds(way), way) for way in ways.values() if self._want_different_things(way)]
        odds, best = max(judged, key=lambda each: each[0], default=(0.0, None))
        return best if odds > 0 else next((way for _, way in judged if way in whole and self._are_surer(way)), None)

    def _is_known(self, goal: str) -> bool:
        """Whether there is a sure action for a goal."""
        return self._best(goal) is not None

    def _are_taught(self, parts: Split) -> bool:
        """Whether people taught all parts, each more surely than the whole."""
        bests = [self._best(part) for part in parts.parts]
        least = self._ranked[0].confidence if self._ranked else 0.0
        return all(best is not None and best.is_taught and best.confidence > least for best in bests)

    def _bests(self, parts: Split) -> list[ActionCandidate | None]:
        """The best action for each part, sure or not."""
        return [next(iter(self._chooser.rank(part)), None) for part in parts.parts]

    def _want_different_things(self, parts: Split) -> bool:
        bests = self._bests(parts)
        wanted = [(best.action, best.arguments, best.text) for best in bests if best is not None]
        return len(wanted) < len(bests) or any(one != wanted[0] for one in wanted)

    def _log_odds(self, parts: Split) -> float:
        """The log odds that the parts are separate requests.

        By logistic regression on labelled messages (measured: `tests/README.md`). In favour: the parts are nearer to
        lessons than the whole, are unlike each other, and together have the whole's meaning; each has an action with
        some belief; they begin like requests, and none is short; a word joins them, "then" most of all. A goal that
        nearly equals a taught one is one request; parts that all do are separate ones.
        """
        beliefs = [best.belief if best is not None else 0.0 for best in self._bests(parts)]
        nearest, nearest_of_parts = self._chooser.nearest(self._goal), list(map(self._chooser.nearest, parts.parts))
        nearer = mean(nearest_of_parts) - nearest
        if max(beliefs) < ASKED_FROM or (nearest >= SAME_GOAL and nearer < 0 and self._is_known(self._goal)):
            return -_CERTAIN
        alike = mean(self._similarity.between(one, [other])[0] for one, other in pairwise(parts.parts))
        of_meaning = 15.7 * self._similarity.to_sum(self._goal, parts.parts) - 10.1 * alike + 8.3 * nearer
        words = log(min(len(part.split()) for part in parts.parts))
        is_stepwise = parts.flow != "parallel" and not _CONDITION.match(self._goal)
        begin = 1.1 * begins_a_request(parts.parts[0]) + 1.2 * begins_a_request(parts.parts[-1])
        of_words = 1.3 * words + 1.1 * parts.is_said + 4.1 * is_stepwise + begin
        were_asked_before = min(nearest_of_parts) >= max(SAME_GOAL, nearest)
        return of_meaning + of_words + 3.8 * min(beliefs) - 18.1 + _CERTAIN * were_asked_before

    def _are_surer(self, parts: Split) -> bool:
        """Whether the parts, by the geometric mean of their confidence, are surer than the whole.

        For tools that find their arguments in a part, which need no lessons.
        """
        bests = self._bests(parts)
        if not any(best is not None and best.arguments and best.is_sure for best in bests):
            return False
        together = geometric_mean([max(ASKED_FROM, best.confidence if best else 0.0) for best in bests])
        whole = self._ranked[0].confidence if self._ranked else 0.0
        are_several = parts.is_said or all(part.endswith("?") for part in parts.parts[:-1])
        return together > whole * (1.0 if are_several else _UNJOINED)

    def _best(self, goal: str) -> ActionCandidate | None:
        """The best sure action for a goal; None if there is none."""
        return next((candidate for candidate in self._chooser.rank(goal) if candidate.is_sure), None)

    def _look_up(self) -> ModelTurn | None:
        """Search the documents for a request that nothing else fits. The result is compared with the question later."""
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

    def _answer_known_part(self, whole: ActionCandidate | None = None) -> ModelTurn | None:
        """Split a goal of which only a part is known, so that the answer says which part is not.

        If something is sure for the whole, only where that is what people taught for nearly the same as the known part.
        """
        if self._must_choose or EXPAND not in self._tools:
            return None
        if EXPAND in self._tried and whole is not None and self._has_done(whole):
            return self._give_up()
        parts = self._partly_known(self._goal, whole)
        if parts is None or not any(map(self._is_known, parts.parts)):
            return None
        if EXPAND in self._tried:
            return self._give_up()
        return self._expand(parts, "I know only a part of this.")

    def _name_parts(self) -> ModelTurn | None:
        """Split a goal of several requests of which none is known, so that each is named and can be taught alone."""
        if self._must_choose or EXPAND not in self._tools or EXPAND in self._tried:
            return None
        parts = self._partly_known(self._goal, None)
        return self._expand(parts, "I know none of this.") if parts is not None and parts.flow != "fallback" else None

    def _partly_known(self, goal: str, whole: ActionCandidate | None) -> Split | None:
        """The requests in a goal of which some are not known; None if it is one, or `whole` is sure for all of it."""
        parts = split(goal, self._is_known) if self._chooser.may_expand(goal) else None
        if parts is None or any(map(refers_back, parts.parts[1:])) or not all(map(begins_a_request, parts.parts)):
            return None
        known = [part for part in parts.parts if self._is_known(part)]
        is_of_part = whole is None or any(self._is_of_part(whole, goal, part) for part in known)
        return parts if is_of_part and len(known) < len(parts.parts) else None

    def _has_done(self, whole: ActionCandidate) -> bool:
        """Whether a part of the goal had this answer, or used this tool: a reminder is not to be set twice."""
        reports = [output.content for output in self._outputs if output.name == EXPAND]
        if whole.action == ANSWER:
            return any(whole.text in report for report in reports)
        found = (match["goal"] for report in reports for match in _FOUND_PART.finditer(report))
        return any(best.action == whole.action for best in map(self._best, found) if best is not None)

    def _expand(self, parts: Split, thought: str) -> ModelTurn:
        """Split the goal.

        A sequence ends at an unknown part, which is to withhold nothing that people taught, and no other unknown part.
        But if no part is known and the first can be asked about, one is asked about after the other.
        """
        if parts.flow != "fallback":
            parts = self._with_single_requests(parts)
        bests = [self._best(part) for part in parts.parts]
        is_told = None in bests and all(best is None or best.action == ANSWER for best in bests)
        is_told = is_told and (any(bests) or not self._chooser.to_ask_about(parts.parts[0]))
        flow = "parallel" if is_told and parts.flow == "sequence" else parts.flow
        return self._call(EXPAND, {"flow": flow, "subgoals": list(parts.parts)}, thought)

    def _with_single_requests(self, parts: Split) -> Split:
        """The split with parts that are partly known split, too, so that each unknown request is named."""
        single: list[str] = []
        for part in parts.parts:
            inner = self._partly_known(part, self._best(part))
            is_several = inner is not None and inner.flow != "fallback"
            single += self._with_single_requests(inner).parts if inner and is_several else [part]
        return replace(parts, parts=tuple(single)) if len(single) <= MOST_PARTS else parts

    def _is_of_part(self, whole: ActionCandidate, goal: str, part: str) -> bool:
        """Whether what is sure for a whole goal was taught for nearly this part, and not for nearly the whole."""
        best, nearest = self._best(part), self._chooser.nearest
        is_same = whole.action == ANSWER and best is not None and best.text == whole.text
        return is_same and nearest(goal) < SAME_GOAL <= nearest(part)

    def _ask(self) -> ModelTurn | None:
        """Ask which of a few actions is meant; not after a tool ran without an answer, which is reported instead."""
        is_first = all(self._chooser.is_search(output.name, self._goal) for output in self._outputs)
        if self._must_choose or not is_first or ASK not in self._tools:
            return None
        of_siblings = {
            best.text for best in map(self._best, self._siblings) if best is not None and best.action == ANSWER
        }
        options = [self._offered(each) for each in self._chooser.to_ask_about(self._goal, of_siblings)]
        question = DID_YOU_MEAN if len(options) > 1 else DID_YOU_MEAN_THIS
        return self._call(ASK, {"question": question, "options": options}) if options else None

    @staticmethod
    def _offered(candidate: ActionCandidate) -> dict[str, object]:
        """A candidate as an option of `ask_person`."""
        if candidate.action == ANSWER:
            return {"answer": candidate.text}
        return {"tool": candidate.action, "arguments": dict(candidate.arguments)}

    def _give_up(self) -> ModelTurn:
        reason = self._failure() or f"{DOES_NOT_KNOW} {self._looked_at()} {HONEST}"
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
        """The failure of subgoals or of a tool, for the answer; empty if there is none."""
        for output in self._outputs:
            if output.name == EXPAND:
                left = [(match["goal"], match["why"]) for match in _LEFT_PART.finditer(output.content)]
                failed = ", ".join(_named(part, why) for part, why in left if why is not None)
                untried = ", ".join(f"“{part}”" for part, why in left if why is None)
                return f"{LACKS} {failed}.{f' So I left out: {untried}.' if untried else ''}" if failed else ""
            if output.is_error and not self._chooser.is_search(output.name, self._goal):
                return output.content
        return ""


def refers_back(part: str) -> bool:
    """Whether a part of a message may be about the part before it."""
    return _REFERS_BACK.search(part) is not None


def _named(part: str, why: str) -> str:
    """A part without an answer, and why a tool failed on it."""
    reason = why.strip(" .")
    is_of_tool = reason and not reason.startswith((DOES_NOT_KNOW, LACKS))
    return f"“{part}” ({reason})" if is_of_tool else f"“{part}”"


def _is_library(tool: ToolSpec) -> bool:
    """Whether a tool searches documents."""
    return _LIBRARY.search(f"{tool.name} {tool.description}") is not None


def _approved_parts(steps: str) -> Split | None:
    """The expansion of an approved lesson; None if its subgoals were shortened."""
    match = _STEPS.search(steps)
    if match is None or "…" in match["parts"]:
        return None
    parts = tuple(part.strip() for part in match["parts"].split(" | ") if part.strip())
    return Split(flow=match["flow"], parts=parts) if 2 <= len(parts) <= MOST_PARTS else None
