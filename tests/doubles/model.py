"""Doubles that several tests share: a scripted language model, fixed clocks and ids, canned recall."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from bot.agent.dialogue import ToolCalls
from bot.agent.run import Limits, Recall
from bot.agent.tools.registry import Tool, ToolRegistry
from bot.agent.tree import AgentTree
from bot.config.tool_rules import ToolRule
from bot.model import ModelReply, ModelRequest, ModelTurn, ToolCall
from bot.ports import LanguageModel
from memory.model import Audience, Episode, Exemplar, Recollection, Scope, StageCounts, Usage, Verdict, Verdicts
from memory.model.evidence import ActionText, Evidence
from memory.ports import Clock, NewId

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
SCOPE = Scope(workspace="terminal:local", channel="C1", person="ana", place="#general")

Reply = ModelReply | Exception | Callable[[ModelRequest], ModelReply]


class ReadyModel:
    """What a model has to be beside its replies: it is ready at once, and closes nothing."""

    name = "double"

    async def warm_up(self) -> None:
        return

    async def close(self) -> None:
        return


class ScriptedModel(ReadyModel):
    """Answers with the replies it was given, in order, and keeps every request. One request too many fails the test."""

    def __init__(self, replies: Iterable[Reply], *, name: str = "scripted") -> None:
        self._replies = iter(replies)
        self.name = name
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        reply = next(self._replies, None)
        assert reply is not None, f"request {len(self.requests)} was not expected: {request.turns[-1]}"
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, ModelReply) else reply(request)

    @property
    def is_used_up(self) -> bool:
        return next(self._replies, None) is None


class ByGoal(ReadyModel):
    """Answers each node by its goal, whatever order concurrent nodes come in: one list of replies per goal."""

    name = "by-goal"

    def __init__(self, replies: Mapping[str, Sequence[Reply]]) -> None:
        self._models = {goal: ScriptedModel(each) for goal, each in replies.items()}
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        return await self._models[goal_of(request)].reply(request)

    def requests_for(self, goal: str) -> list[ModelRequest]:
        return self._models[goal].requests


def opening(request: ModelRequest) -> str:
    """The first turn of a request."""
    first = request.turns[0]
    assert not isinstance(first, ModelTurn)
    return first.text if hasattr(first, "text") else first.content


def goal_of(request: ModelRequest) -> str:
    """The goal of the node that asks."""
    return opening(request).rpartition("<goal>\n")[2].removesuffix("\n</goal>")


_call_ids = itertools.count(1)


def answer(text: str, *, usage: Usage | None = None) -> ModelReply:
    """Plain text: the answer."""
    return ModelReply(turn=ModelTurn(text=text), usage=usage or Usage())


def calls(*wanted: ToolCall, text: str = "") -> ModelReply:
    """Several calls in one reply."""
    return ModelReply(turn=ModelTurn(text=text, calls=wanted))


def tool_call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(id=f"call-{next(_call_ids)}", name=name, arguments=arguments)


def call(name: str, **arguments: object) -> ModelReply:
    """One tool call."""
    return calls(tool_call(name, **arguments))


def broken_call(name: str, raw: str) -> ModelReply:
    """One tool call whose arguments were no JSON object."""
    return calls(ToolCall(id=f"call-{next(_call_ids)}", name=name, arguments=None, raw=raw))


def expand(flow: str, *subgoals: str, **more: object) -> ModelReply:
    """An expansion."""
    return call("expand", flow=flow, subgoals=list(subgoals), **more)


def fail(reason: str) -> ModelReply:
    """An honest failure."""
    return call("fail", reason=reason)


def counting_ids(prefix: str = "id") -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"{prefix}{next(numbers):04}"


class CannedRecall:
    """Gives each goal its exemplars, and keeps what was asked."""

    def __init__(self, by_goal: dict[str, tuple[Exemplar, ...]] | None = None) -> None:
        self._by_goal = by_goal or {}
        self.asked: list[tuple[str, frozenset[str]]] = []

    async def __call__(
        self,
        scope: Scope,
        goal: str,
        *,
        run_id: str,
        context: frozenset[str],
        actions: Sequence[ActionText],
    ) -> Recollection:
        self.asked.append((goal, context))
        exemplars = self._by_goal.get(goal, ())
        return Recollection(retrieval_id=f"R{goal}", goal=goal, exemplars=exemplars, counts=StageCounts())

    def weigh(self, scope: Scope, goal: str, actions: Sequence[ActionText], *, run_id: str) -> Evidence:
        raise AssertionError(f"{goal!r} was weighed, though recall brings no evidence here")


def exemplar(episode_id: str, goal: str, output: str, *, verdict: Verdict = Verdict.SUCCESS) -> Exemplar:
    """A lesson for one goal."""
    episode = Episode(id=episode_id, goal=goal, output=output, action="answer", verdicts=Verdicts(personal=verdict))
    return Exemplar(
        episode=episode,
        verdict=verdict,
        audience=Audience.PERSONAL,
        context_score=1.0,
        intent_score=0.9,
        relevance=0.9,
    )


def make_tree(
    model: LanguageModel,
    *tools: Tool,
    recall: Recall | None = None,
    limits: Limits | None = None,
    tool_calls: ToolCalls = "native",
    monotonic: Callable[[], float] = lambda: 0.0,
    lessons_budget_tokens: int = 2_000,
    timeout_s: float = 30.0,
    new_id: NewId | None = None,
    clock: Clock = lambda: NOW,
    known_answers: bool = False,
    asks_first: bool = False,
    rules: Sequence[ToolRule] = (),
) -> AgentTree:
    """A tree with everything around it fixed."""
    return AgentTree(
        model=model,
        tools=ToolRegistry(tools, timeout_s=timeout_s, rules=rules),
        recall=recall or CannedRecall(),
        limits=limits or Limits(),
        clock=clock,
        monotonic=monotonic,
        new_id=new_id or counting_ids(),
        lessons_budget_tokens=lessons_budget_tokens,
        tool_calls=tool_calls,
        known_answers=known_answers,
        asks_first=asks_first,
    )
