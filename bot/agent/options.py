"""Questions to the person: options, their labels, and questions that are asked before the model."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bot.agent.decision import LABEL_CHARACTERS, Ask
from bot.agent.record import Task
from bot.agent.tools.registry import ToolRegistry
from bot.model import ToolSpec
from memory.model import MOST_OPTIONS, Option
from memory.model.evidence import Belief, Evidence
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.retrieval.prompt import shown_line

DISAGREEMENT = "People here disagree about that. Which of these do you mean?"
MAY_I = "Shall I do this? Only who asked, or a teacher, can let me."
MOST_SHOWN = 3_000
"""The most characters of a call that a person is asked to approve."""
_SHOWN_CHARACTERS = 200
"""Characters shown of an answer in a question."""
_QUESTION_CHARACTERS = 80
"""Characters shown of the question that an answer belongs to."""
_VALUE_CHARACTERS = 40
"""Characters shown of the arguments on the button of a tool call."""
_LEAST_QUESTION = 20
"""The least room, in characters, to show the question on the button of its answer."""


def answer_option(text: str, question: str = "") -> Option:
    """An answer as an option. Its label has the question it belongs to, if that fits: "Yes" alone says nothing."""
    answer = shown_line(text, LABEL_CHARACTERS)
    shown = shown_line(question, _QUESTION_CHARACTERS)
    room = LABEL_CHARACTERS - len(answer) - len(" ()")
    is_fitting = shown and room >= min(len(shown), _LEAST_QUESTION)
    label = f"{answer} ({shown_line(shown, room)})" if is_fitting else answer
    return Option(action=ANSWER, label=label, text=text, question=question[:_SHOWN_CHARACTERS])


def tool_option(tool: ToolSpec, arguments: Mapping[str, object]) -> Option:
    """A tool call as an option."""
    return Option(action=tool.name, label=tool_label(tool, arguments), arguments=arguments)


def tool_label(tool: ToolSpec, arguments: Mapping[str, object]) -> str:
    """The label of a tool call: the first sentence of its description, shortened for the arguments to fit."""
    values = shown_line(", ".join(str(value) for value in arguments.values()), _VALUE_CHARACTERS)
    described = tool.description.partition("\n")[0].partition(". ")[0].rstrip(".")
    room = LABEL_CHARACTERS - (len(values) + len(": ") if values else 0)
    what = _brief(described or tool.name.replace("_", " "), room)
    return f"{what}: {values}" if values else what


def _brief(sentence: str, length: int) -> str:
    """A sentence, without its last clauses if it is too long."""
    end = max(sentence.rfind(mark, 0, length) for mark in (",", ":", ";", " ("))
    return shown_line(sentence[:end] if len(sentence) > length and end >= length // 3 else sentence, length)


def call_in_full(tool: ToolSpec, arguments: Mapping[str, object]) -> str:
    """A call in full, for a person to read before approving it: as a code block, unprintable characters escaped."""
    shown = json.dumps(dict(arguments), ensure_ascii=False, indent=2, sort_keys=True, default=str)
    plain = "".join(each if each == "\n" or each.isprintable() else f"\\u{ord(each):04x}" for each in shown)
    fence = "`" * (max([2, *(len(run) for run in re.findall("`+", plain))]) + 1)
    return f"{fence}\n{tool.name} {plain}\n{fence}"


def approval_option(tool: ToolSpec, arguments: Mapping[str, object]) -> Option:
    """A call that waits for approval, as an option."""
    return replace(tool_option(tool, arguments), is_approval=True)


def approval_text(tool: ToolSpec, option: Option, task: Task) -> str:
    """The text that asks for approval of a call."""
    about = f"About “{shown_line(task.goal, _SHOWN_CHARACTERS)}”: " if task.parent_id else ""
    return f"{about}{MAY_I} {tool_label(tool, {})}:\n\n{call_in_full(tool, option.arguments)}"


def known_options(options: Iterable[Option], tools: ToolRegistry, evidence: Evidence | None) -> tuple[Option, ...]:
    """The options that can be carried out: tools with labels, answers with the ids of their lessons."""
    behind = {belief.text: belief for belief in evidence.beliefs if belief.text} if evidence else {}
    known: list[Option] = []
    for option in options:
        tool = tools.get(option.action)
        if option.action == ANSWER:
            belief = behind.get(option.text)
            known.append(_known_answer(option, belief) if belief else replace(option, lessons=()))
        elif tool is not None:
            label = option.label or tool_label(tool.spec, option.arguments)
            known.append(replace(option, label=label))
    return tuple(known[:MOST_OPTIONS])


def _known_answer(option: Option, belief: Belief) -> Option:
    """An answer with the ids of its lessons, and the question of the first of them that approves it.

    The asker may see all these lessons. A label that the model gave is kept.
    """
    approved = (each.goal for each in belief.weights if each.approves and each.episode_id in belief.sources)
    shown = answer_option(option.text, next(approved, ""))
    is_named = option.label != answer_option(option.text).label
    return replace(shown, label=option.label if is_named else shown.label, lessons=belief.sources)


def question_text(question: str, options: Sequence[Option], task: Task) -> str:
    """The text of a question and its options. In a subgoal it names the subgoal."""
    about = f"About “{shown_line(task.goal, _SHOWN_CHARACTERS)}”: " if task.parent_id else ""
    return "\n".join([f"{about}{question}", "", *[f"- {_in_full(each)}" for each in options]])


def _in_full(option: Option) -> str:
    """An option in the question's text, where there is more room than on a button."""
    if not option.text:
        return option.label
    answer = f"“{shown_line(option.text, _SHOWN_CHARACTERS)}”"
    return f"{answer} (for “{shown_line(option.question, _QUESTION_CHARACTERS)}”)" if option.question else answer


def where_lessons_disagree(evidence: Evidence, tools: ToolRegistry) -> Ask | None:
    """The question to ask instead of the model if lessons for several actions are each sure alone; else None.

    It offers only answers, and tools without arguments.
    """
    rivals = [_option(belief, tools) for belief in evidence.rivals]
    options = tuple(option for option in rivals if option is not None)
    return Ask(question=DISAGREEMENT, options=options[:MOST_OPTIONS]) if len(options) > 1 else None


def _option(belief: Belief, tools: ToolRegistry) -> Option | None:
    if belief.action == ANSWER:
        return answer_option(belief.text)
    tool = tools.get(belief.action)
    return tool_option(tool.spec, {}) if tool is not None and not tool.parameters.get("properties") else None
