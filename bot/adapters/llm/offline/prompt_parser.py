"""Parses a node's prompt: goal, lessons, working-memory keys. The inverse of `memory.rules.retrieval.prompt`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory.model import Lesson
from memory.rules.retrieval.prompt import RULES_HEADER

_GOAL_BEGINS, _GOAL_ENDS = "<goal>\n", "\n</goal>"
_FIRST_LINE = re.compile(r"\d+\. (?P<lesson>REPEAT|AVOID|DISPUTED): (?:\[.*?\] )?(?P<action>[\w.-]+): '(?P<goal>.*)")
_FIELD = re.compile(
    r"(?P<name>This worked|This failed|Steps|Answer|That answer was wrong|Do this instead|"
    r"The task still failed because|A person said): ?(?P<text>.*)"
)
_KEY = re.compile(r"- (?P<key>.+?)(?: \(from node [\w.]+\))?")
_SIBLINGS = "Sibling goals: "
_OUTPUT = re.compile(r"\s*<tool-output[^>\n]*>\n?(.*?)\n?</tool-output>\s*", re.DOTALL)
_NEUTRALISED = re.compile(
    r"&lt;(?=\s*+/?\s*+(?:lessons|working-memory|situation|goal|tool-output|conversation|last-message)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLesson:
    """A lesson in a prompt."""

    kind: Lesson
    action: str
    """A tool's name, `answer`, `expand` or `none`."""
    goal: str
    answer: str = ""
    """The approved answer, in full."""
    wrong_answer: str = ""
    """The start of a rejected answer."""
    instead: str = ""
    """The correction."""
    steps: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A parsed prompt."""

    goal: str
    lessons: tuple[PromptLesson, ...] = ()
    keys: tuple[str, ...] = ()
    """The keys of the working memory."""
    siblings: tuple[str, ...] = ()
    """The goals of the other parts of a split goal."""
    last_goal: str = ""
    """The question that the goal continues, if it does: answers to that one are no answers to this one."""


def read_prompt(text: str) -> Prompt:
    """Parse a node's opening turn. A text without blocks is a goal."""
    begin, end = text.find(_GOAL_BEGINS), len(text.rstrip()) - len(_GOAL_ENDS)
    goes_from = begin + len(_GOAL_BEGINS)
    if begin < 0 or end < goes_from or not text.startswith(_GOAL_ENDS, end):
        return Prompt(goal=text.strip())
    before = text[:begin]
    siblings = [line for line in lines_within("situation", before) if line.startswith(_SIBLINGS)]
    keys = (_KEY.fullmatch(line) for line in lines_within("working-memory", before))
    return Prompt(
        goal=unescaped(text[goes_from:end]),
        lessons=tuple(_read_lessons(lines_within("lessons", before))),
        keys=tuple(unescaped(key["key"]) for key in keys if key),
        siblings=tuple(unescaped(goal) for line in siblings for goal in line.removeprefix(_SIBLINGS).split(" | ")),
    )


def read_output(text: str) -> str:
    """The output of a tool without its block."""
    wrapped = _OUTPUT.match(text)
    return unescaped(wrapped[1] if wrapped else text)


def lines_within(block: str, text: str) -> list[str]:
    """The lines inside a block; empty if there is no such block."""
    begin = re.search(rf"^<{block}>\n", text, re.MULTILINE)
    end = re.compile(rf"\n</{block}>$", re.MULTILINE).search(text, begin.end()) if begin else None
    return text[begin.end() : end.start()].split("\n") if begin and end else []


def _read_lessons(lines: Iterable[str]) -> list[PromptLesson]:
    """Parse numbered lessons. The header before them and the rules after them, which repeat lessons, are skipped."""
    found: list[tuple[re.Match[str], dict[str, list[str]]]] = []
    field: list[str] = []
    for line in lines:
        if line == RULES_HEADER:
            break
        if line.endswith("'") and (first := _FIRST_LINE.fullmatch(line[:-1])):
            found.append((first, {}))
            field = []
        elif found and (match := _FIELD.fullmatch(line)):
            field = found[-1][1].setdefault(match["name"], [])
            field.append(match["text"])
        else:
            # Continuation lines are indented by two spaces, which are not part of the text.
            field.append(line.removeprefix("  "))
    # Disputed lessons are for models that can weigh them; they are not to be followed.
    return [_prompt_lesson(first, fields) for first, fields in found if first["lesson"] != Lesson.DISPUTED]


def _prompt_lesson(first: re.Match[str], fields: dict[str, list[str]]) -> PromptLesson:
    def text(name: str) -> str:
        return unescaped("\n".join(fields.get(name, ())))

    return PromptLesson(
        kind=Lesson(first["lesson"]),
        action=first["action"],
        goal=unescaped(first["goal"]),
        answer=text("Answer"),
        wrong_answer=text("That answer was wrong"),
        instead=text("Do this instead"),
        steps=text("Steps"),
    )


def unescaped(text: str) -> str:
    """The text as it was before it was neutralised."""
    return _NEUTRALISED.sub("<", text.strip())
