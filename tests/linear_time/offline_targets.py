"""What reads somebody's text in the offline model, the agent with its tools, and the conversation."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import numpy as np
from pydantic_ai import messages as vendor

from bot.adapters.llm.dialogue import from_response
from bot.adapters.llm.offline.arguments import FilledArguments, fill
from bot.adapters.llm.offline.arithmetic import find_expression, without_expression
from bot.adapters.llm.offline.change import find_change
from bot.adapters.llm.offline.conversation_prompt import read_followed, read_last_message, read_last_question
from bot.adapters.llm.offline.courtesy import find_courtesy, without_greeting
from bot.adapters.llm.offline.decisions import Decider, refers_back
from bot.adapters.llm.offline.fitness import fitness, sentences
from bot.adapters.llm.offline.follow_ups import rewrite_follow_up
from bot.adapters.llm.offline.place import find_place
from bot.adapters.llm.offline.prompt_evidence import prompt_evidence
from bot.adapters.llm.offline.prompt_parser import Prompt, PromptLesson, read_output, read_prompt
from bot.adapters.llm.offline.ranking import Chooser
from bot.adapters.llm.offline.reminder_request import find_reminder
from bot.adapters.llm.offline.similarity import Similarity
from bot.adapters.llm.offline.splitting import begins_a_request, split
from bot.adapters.llm.offline.tokenizer import request_words, without_courtesy
from bot.adapters.tools.pages import KnownAddresses
from bot.agent.conversation import ChatLine, Speaker, render_conversation
from bot.agent.decision import clean_subgoals, decide, is_same_goal
from bot.agent.dialogue import node_prompt, tool_output
from bot.agent.record import Task
from bot.agent.textual import parse
from bot.agent.tools.calculator import calculate
from bot.agent.tools.chunks import chunk_document
from bot.agent.tools.time_zones import find_place as find_zone
from bot.agent.tools.topic_words import wanted_in
from bot.agent.tools.when import read_when
from bot.agent.understanding import may_refer_back, usable_rewrite
from bot.conversation.commands.lesson_lines import belief_line, review_line
from bot.conversation.commands.purge_command import read_argument
from bot.conversation.feedback.model_grading import read_guess, request_for
from bot.conversation.reply import item_reference, page_number
from bot.errors import ModelError, ToolRetry
from bot.model import ModelReply, ModelTurn, ToolCall, ToolTurn
from memory.library.working_memory import Observation
from memory.model import Audience, Episode, Lesson, Scope, Step, StepKind, Vector
from memory.model.evidence import Evidence
from memory.rules.retrieval.prompt import indented, one_line
from memory.rules.retrieval.similarity import are_opposed
from tests.bot.adapters.llm.offline_tools import CLOCK, OFFERED
from tests.linear_time.target import Target

_NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
_READER = Scope(workspace="w", channel="c", person="ana")
_SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "limit": {"type": "integer"},
        "days": {"type": "number"},
        "dry_run": {"type": "boolean"},
        "unit": {"type": "string", "enum": ["metre", "foot"]},
    },
    "required": ["title", "limit", "days"],
}
"""What no built-in tool asks for: a text by no known name, numbers, a flag, a choice."""


def _when(text: str) -> None:
    with suppress(ToolRetry):
        read_when(text, _NOW)


def _alike_or_not(texts: Sequence[str]) -> list[Vector]:
    """Vectors that cost nothing: two texts are the same or wholly different, by their length."""
    return [np.eye(2, dtype=np.float32)[len(text) % 2] for text in texts]


_SIMILARITY = Similarity(_alike_or_not)


def _unless(fault: type[Exception], run: Callable[[str], object]) -> Callable[[str], object]:
    """The same function, where a refusal with a reason is as good as a result."""

    def tried(text: str) -> None:
        with suppress(fault):
            run(text)

    return tried


def _line(text: str) -> ChatLine:
    return ChatLine(speaker=Speaker.OTHER, name=text, text=text, meant=text)


def _request(text: str) -> str:
    return f"<conversation>\n{text}\n</conversation>\n<last-message>\n{text}\n</last-message>"


def _decide(goal: str, *lessons: PromptLesson, outputs: Sequence[ToolTurn] = (), keys: tuple[str, ...] = ()) -> object:
    return Decider(_SIMILARITY, Prompt(goal=goal, lessons=lessons, keys=keys), OFFERED, outputs).decide()


def _rank(text: str) -> object:
    def weigh(goal: str) -> Evidence:
        return prompt_evidence(_SIMILARITY, goal, [_lesson(text)], [tool.as_action for tool in OFFERED])

    return Chooser(_SIMILARITY, Prompt(goal=text), OFFERED, weigh).rank(text)


def _lesson(text: str) -> PromptLesson:
    return PromptLesson(kind=Lesson.AVOID, action="answer", goal=text, wrong_answer=text, instead=text)


def _example(text: str) -> PromptLesson:
    return PromptLesson(kind=Lesson.REPEAT, action="expand", goal="where is it?", steps=text)


def _episode(text: str) -> Episode:
    steps = (
        Step(kind=StepKind.ACT, tool="clock", arguments={"place": text}),
        Step(kind=StepKind.OBSERVE, text=text),
        Step(kind=StepKind.EXPAND, flow="sequence", subgoals=(text, text)),
    )
    return Episode(
        id="e", workspace="w", run_id="r", goal=text, output=text, correction=text, trajectory=steps, created_at=_NOW
    )


def _prompted(text: str) -> object:
    observations = [Observation(key=text, value=text)]
    task = Task(goal=text, why=text, flow="sequence", position=1, total=2, siblings=(text,))
    lessons = f"1. REPEAT: answer: '{one_line(text, 300)}'\nAnswer: {indented(text)}"
    return read_prompt(node_prompt(task, _NOW, lessons=lessons, memory=observations))


def _native(text: str) -> object:
    call = vendor.ToolCallPart(tool_name="expand", args=text)
    reply = from_response(vendor.ModelResponse(parts=[call, vendor.TextPart(content=text)]), "m")
    return decide(reply)


def _expansion(text: str) -> object:
    call = ToolCall(id="1", name="expand", arguments={"flow": "sequence", "subgoals": text})
    return decide(ModelReply(turn=ModelTurn(text=text, calls=(call,)), model="m"))


TARGETS: tuple[Target, ...] = (
    # the offline model
    Target("place", find_place),
    Target("reminder", find_courtesy),
    Target("reminder", find_reminder),
    Target("addresses", lambda text: KnownAddresses().show("r", text)),
    Target("time of a reminder", _when),
    Target("follow-up", lambda text: rewrite_follow_up(text, "What is the capital of France?", _SIMILARITY)),
    Target("follow-up, last question", lambda text: rewrite_follow_up("and of Spain?", text, _SIMILARITY)),
    Target(
        "follow-up, known", lambda text: rewrite_follow_up("and of Spain?", "Capital of France?", _SIMILARITY, [text])
    ),
    Target("last message", lambda text: read_last_message(_request(text))),
    Target("last question", lambda text: read_last_question(_request(text))),
    Target("question gone on from", lambda text: read_followed(_request(text))),
    Target("message that may refer back", may_refer_back),
    Target("what a message means", lambda text: usable_rewrite(text, text[1:])),
    Target("conversation", lambda text: render_conversation([_line(text), _line(text)], 100)),
    Target("change of a fact", find_change),
    Target("question about a thing", wanted_in),
    Target("expression", find_expression),
    Target("without expression", without_expression),
    *(Target(f"arguments of {tool.name}", partial(fill, tool.parameters)) for tool in OFFERED),
    Target("arguments of other types", lambda text: fill(_SCHEMA, text)),
    Target("arguments, listed key", lambda text: fill(OFFERED[3].parameters, text, ["door code", text])),
    Target("split, parts stand alone", lambda text: split(text, lambda _: True)),
    Target("split, parts do not", lambda text: split(text, lambda _: False)),
    Target("begins a request", begins_a_request),
    Target("part that refers back", refers_back),
    Target("prompt as it is", read_prompt),
    Target("prompt's lessons", lambda text: read_prompt(f"<lessons>\n{text}\n</lessons>\n<goal>\na\n</goal>")),
    Target("prompt, written and read", _prompted),
    Target("tool's output", lambda text: read_output(tool_output("clock", text))),
    Target("tool's output as it is", read_output),
    Target("request words", request_words),
    Target("without courtesy", without_courtesy),
    Target("opposed to a lesson", lambda text: are_opposed(text, "When does the Berlin office open?")),
    Target("opposed to itself", lambda text: are_opposed(text, f"{text} Paris")),
    Target("without greeting", lambda text: without_greeting(f"hi {text}")),
    Target("fitness", lambda text: fitness(_SIMILARITY, CLOCK.spec, text, FilledArguments(spans={"place": "a"}))),
    Target("sentences about a tool", lambda text: sentences(replace(CLOCK.spec, description=text))),
    Target("tools and answers", _rank),
    Target("decision", _decide),
    Target("decision with a lesson", lambda text: _decide("where is it?", _lesson(text))),
    Target("decision with steps", lambda text: _decide("where is it?", _example(text))),
    Target("decision with a key", lambda text: _decide("recall the key", keys=(text,))),
    Target(
        "decision on a result",
        lambda text: _decide("where?", outputs=[ToolTurn(call_id="", name="search_knowledge", content=text)]),
    ),
    Target(
        "decision on a failure",
        lambda text: _decide("where?", outputs=[ToolTurn(call_id="", name="expand", content=text)]),
    ),
    # models that are asked
    Target("reply in words", parse),
    Target("reply in words, call", lambda text: parse(f"Act: calculator {text}")),
    Target("reply in words, parts", lambda text: parse(f"Expand: {text}")),
    Target("reply with a call", _unless(ModelError, _native)),
    Target("reply with subgoals", _expansion),
    Target("subgoals", lambda text: clean_subgoals([text, "a"])),
    Target("same goal", lambda text: is_same_goal(text, f"{text} ")),
    Target("guess of a grader", lambda text: read_guess(text, grader="m")),
    Target("question to a grader", lambda text: request_for([_episode(text)])),
    # tools
    Target("calculation", _unless(ToolRetry, calculate)),
    Target("calculation of the longest", _unless(ToolRetry, lambda text: calculate(text[:200]))),
    Target("zone of a place", _unless(ToolRetry, find_zone)),
    Target("Markdown document", lambda text: chunk_document(text, is_markdown=True)),
    Target("plain document", lambda text: chunk_document(text, is_markdown=False)),
    Target(
        "document with long headings", lambda text: chunk_document(f"# {text[:-99]}\n# a\n{text}", is_markdown=True)
    ),
    # what people are told, and what they point at
    Target("lesson that is listed", lambda text: belief_line(_episode(text), Lesson.AVOID, Audience.PERSONAL, _READER)),
    Target("lesson that waits", lambda text: review_line(_episode(text), _READER)),
    Target("item_reference", item_reference),
    Target("page", page_number),
    Target("whom to purge", read_argument),
)
