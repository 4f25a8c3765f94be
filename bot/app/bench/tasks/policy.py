"""The model for the tasks: it splits and chooses as the offline model does.

It sees only its prompt: lessons, tools, and what was done so far. If it may split a goal, each part gets its own node.
If not (the flat agent), it does the same parts one after another in its one context, and takes from each lesson which
tool did which part. "That person" is the one found by the part before: the flat agent finds it in its context, a node
in working memory.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bot.adapters.llm.offline.prompt_evidence import prompt_evidence
from bot.adapters.llm.offline.prompt_parser import Prompt, PromptLesson, read_output, read_prompt
from bot.adapters.llm.offline.ranking import EXPAND, ActionCandidate, Chooser
from bot.adapters.llm.offline.similarity import Embed, Similarity
from bot.adapters.llm.offline.splitting import Split, split
from bot.agent.decision import CONTROL_NAMES
from bot.app.bench.tasks.task_set import THAT_PERSON
from bot.model import ModelReply, ModelRequest, ModelTurn, ToolCall, ToolSpec, ToolTurn, UserTurn
from memory.model import Lesson
from memory.model.evidence import Evidence

_FAIL, _RECALL = "fail", "recall"
_NOTES = frozenset({_RECALL, "remember"})


class TaskModel:
    """A model that always does what fits best, sure or not. Counts its decisions."""

    name = "offline"

    def __init__(self, embed: Embed) -> None:
        self._similarity = Similarity(embed)
        self.decisions = 0

    async def warm_up(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to close."""

    async def reply(self, request: ModelRequest) -> ModelReply:
        """One decision."""
        self.decisions += 1
        return ModelReply(turn=await asyncio.to_thread(self._decide, request), model=self.name)

    def _decide(self, request: ModelRequest) -> ModelTurn:
        opening = next(turn.text for turn in request.turns if isinstance(turn, UserTurn))
        outputs = [
            replace(turn, content=read_output(turn.content)) for turn in request.turns if isinstance(turn, ToolTurn)
        ]
        return _Decision(self._similarity, read_prompt(opening), request.tools, outputs).make()


class _Decision:
    """One decision about one goal."""

    def __init__(
        self, similarity: Similarity, prompt: Prompt, tools: Sequence[ToolSpec], outputs: Sequence[ToolTurn]
    ) -> None:
        self._similarity = similarity
        self._prompt = replace(prompt, lessons=tuple(by_part(prompt.lessons)))
        self._names = {tool.name for tool in tools}
        self._tools = [tool for tool in tools if tool.name not in CONTROL_NAMES | _NOTES]
        self._outputs = outputs

    def make(self) -> ModelTurn:
        """Decide what to do or say next."""
        parts = _parts(self._prompt.goal)
        if parts is not None and EXPAND in self._names:
            if self._outputs:  # the parts came to nothing
                return _fail(self._outputs[-1].content)
            return _call(EXPAND, {"flow": parts.flow, "subgoals": list(parts.parts)})
        noted = [output.content for output in self._outputs if output.name == _RECALL]
        can_ask = THAT_PERSON in self._prompt.goal and parts is None and self._prompt.keys and _RECALL in self._names
        if can_ask and not noted:
            return _call(_RECALL, {"key": self._prompt.keys[-1]})
        return self._next_part(self._prompt.keys[-1] if noted else "", noted[-1] if noted else "")

    def _next_part(self, asked: str, found: str) -> ModelTurn:
        """Do the first part that was not done yet; once all parts of one way are done, say what they found."""
        left = [output for output in self._outputs if output.name not in _NOTES]
        for way in ways(self._prompt.goal):
            before, results = (asked, found), list[str]()
            for part in way:
                meant = self._meant(part, *before)
                if not left:
                    return self._do(meant)
                output = left.pop(0)
                if output.is_error:
                    break
                results.append(output.content)
                before = self._with_person(meant, output.content) or before
            else:
                return ModelTurn(text="\n\n".join(results))
        return _fail(self._outputs[-1].content)

    def _meant(self, part: str, asked: str, found: str) -> str:
        """The part with "that person" replaced by the name in the result that is not in its question."""
        named = [each for each in self._people if each in found and each not in asked]
        return part.replace(THAT_PERSON, named[0]) if named else part

    def _with_person(self, asked: str, found: str) -> tuple[str, str] | None:
        """A question and its result, if the result names another person."""
        return (asked, found) if any(each in found and each not in asked for each in self._people) else None

    @property
    def _people(self) -> list[str]:
        """The people known to the tools, from their schemas."""
        shapes = [properties(tool).get("person") for tool in self._tools]
        named = next((shape.get("enum") for shape in shapes if isinstance(shape, Mapping)), None)
        return [str(each) for each in named] if isinstance(named, list) else []

    def _do(self, part: str) -> ModelTurn:
        ranked = self._ranked(part)
        return _call(ranked[0].action, ranked[0].arguments) if ranked else _fail(f"Nothing fits: {part}.")

    def _ranked(self, part: str) -> list[ActionCandidate]:
        actions = [tool.as_action for tool in self._tools]

        def weigh(goal: str) -> Evidence:
            return prompt_evidence(self._similarity, goal, self._prompt.lessons, actions)

        ranked = Chooser(self._similarity, self._prompt, self._tools, weigh).rank(part)
        return [each for each in ranked if not each.text]


def properties(tool: ToolSpec) -> Mapping[str, object]:
    """The parameters of a tool, by name."""
    found = tool.parameters.get("properties")
    return found if isinstance(found, Mapping) else {}


def _parts(goal: str) -> Split | None:
    """Split a goal by its words alone, as nothing is known of a part before it is pursued."""
    return split(goal, lambda part: False)


def ways(goal: str) -> list[tuple[str, ...]]:
    """The ways to a goal, each as its parts in order: one, unless there are alternatives."""
    found = _parts(goal)
    if found is None:
        return [(goal,)]
    below = [ways(part) for part in found.parts]
    if found.flow == "fallback":
        return [way for each in below for way in each]
    return [tuple(part for each in below for part in each[0])]


def by_part(lessons: Iterable[PromptLesson]) -> Iterable[PromptLesson]:
    """Split each approved lesson about several parts into one per part, with the tool that did it; keep the others."""
    for lesson in lessons:
        parts = [part for way in ways(lesson.goal) for part in way]
        done = [step.partition("(")[0] for step in lesson.steps.split("; ") if "(" in step]
        if len(parts) < 2 or len(done) < 2 or lesson.kind is not Lesson.REPEAT:
            yield lesson
            continue
        for part, tool in zip(parts, done, strict=False):
            yield replace(lesson, goal=part, action=tool, answer="", steps="")


def _call(tool: str, arguments: Mapping[str, object]) -> ModelTurn:
    return ModelTurn(calls=(ToolCall(id=f"task-{tool}", name=tool, arguments=arguments),))


def _fail(reason: str) -> ModelTurn:
    return _call(_FAIL, {"reason": reason})
