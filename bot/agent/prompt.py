"""The prompts of a node: one system prompt, one opening turn. Pure text from plain values.

Everything a person, a tool or another node wrote stands inside a named block, neutralised so that it cannot close the
block, and the system prompt says that such blocks are data. The goal always comes last.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from bot.agent.prompts import sections_of
from bot.agent.record import Task
from bot.agent.textual import instructions
from bot.model import ToolSpec
from memory.library.working_memory import Observation
from memory.rules.retrieval.prompt import neutralise, one_line

ToolCalls: TypeAlias = Literal["native", "text"]
"""How the model acts: by tool calls of its own, or by the lines of `bot.agent.textual`."""

TOOL_OUTPUT_CHARACTERS = 8_000
_KEY_CHARACTERS = 100
_LINE_CHARACTERS = 300

_TEXT = sections_of("agent")


def system_prompt(
    tools: Sequence[ToolSpec],
    tool_calls: ToolCalls,
    *,
    can_expand: bool = True,
    has_conversation: bool = False,
    preferences: Sequence[str] = (),
    shows_answer: bool = False,
) -> str:
    """Who the bot is and how it decides. In the textual form the tools are part of it.

    `preferences` are instructions from a closed set, never words of a person.
    """
    names = {tool.name for tool in tools}
    parts = [_TEXT["role"], _TEXT["data"], _TEXT["lessons"]]
    if "recall" in names:
        parts.append(_TEXT["memory"])
    if has_conversation:
        parts.append(_TEXT["conversation"])
    parts.append(_TEXT["act"])
    if can_expand:
        parts.append(_TEXT["expand"])
    if tool_calls == "native":
        control = "think to reason, " + ("expand to split the goal, " if can_expand else "")
        parts.append(
            f"Besides the tools you have {control}ask_person to ask back when the goal is not clear, and fail to give "
            f"up. {_TEXT['shown_answer'] if shows_answer else 'Text without a tool call is your answer.'}"
        )
    else:
        parts.append(instructions(tools, can_expand=can_expand))
    parts.append(_TEXT["end"])
    if preferences:
        parts.append("\n".join([_TEXT["preferences"], *(f"- {each}" for each in preferences)]))
    return "\n\n".join(parts)


def node_prompt(
    task: Task, now: datetime, *, lessons: str = "", memory: Sequence[Observation] = (), conversation: str = ""
) -> str:
    """The opening turn: lessons, working-memory keys, conversation, situation, goal. Absent sections are left out.

    `now` is aware. `lessons` is the text of `memory.rules.retrieval.prompt.render_lessons`, `conversation` that of
    `bot.agent.conversation.render_conversation`; both are neutralised already.
    """
    blocks: list[str] = []
    if lessons:
        blocks.append(_block("lessons", lessons))
    if memory:
        blocks.append(_block("working-memory", "\n".join(_key_line(entry) for entry in memory)))
    if conversation:
        blocks.append(_block("conversation", conversation))
    blocks.append(_block("situation", "\n".join(_situation_lines(task, now))))
    blocks.append(_block("goal", neutralise(task.goal)))
    return "\n".join(blocks)


def tool_output(name: str, content: str) -> str:
    """What a tool returned, as the model reads it: neutralised, cut at `TOOL_OUTPUT_CHARACTERS`."""
    left_out = len(content) - TOOL_OUTPUT_CHARACTERS
    shown = content if left_out <= 0 else f"{content[:TOOL_OUTPUT_CHARACTERS]}… ({left_out} more characters)"
    safe_name = "".join(c for c in name if c.isalnum() or c in "_-.")[:64]
    return f'<tool-output name="{safe_name}">{neutralise(shown)}</tool-output>'


def _block(name: str, content: str) -> str:
    return f"<{name}>\n{content}\n</{name}>"


def _key_line(entry: Observation) -> str:
    source = f" (from node {entry.node})" if entry.node else ""
    return f"- {one_line(entry.key, _KEY_CHARACTERS)}{source}"


def _situation_lines(task: Task, now: datetime) -> list[str]:
    lines = [f"Now: {now:%Y-%m-%d %H:%M %Z} ({now:%A})"]
    if task.said_as:
        lines.append(f"Said as: {one_line(task.said_as, _LINE_CHARACTERS)}")
    if task.why:
        lines.append(f"This goal exists because: {one_line(task.why, _LINE_CHARACTERS)}")
    if task.flow:
        lines.append(f"Control flow: {task.flow}, subgoal {task.position} of {task.total}")
    if task.siblings:
        lines.append("Sibling goals: " + " | ".join(one_line(goal, _LINE_CHARACTERS) for goal in task.siblings))
    return lines
