"""Renders exemplars for a prompt: the seed's REPEAT / AVOID format, within a token budget.

Texts of people and tools are untrusted data. They stay on one line or are indented below it, so that no stored text
looks like a line of the format, and `neutralise` keeps them from closing the block they are in.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal

from memory.model import Exemplar, Lesson, RuleLine, Step, StepKind, Verdict
from memory.model.evidence import Evidence
from memory.model.normal_form import shortened

HEADER = """\
# Lessons From Previous Attempt
These are results from a PREVIOUS attempt at this task.
- REPEAT: actions that worked before — do them again now
- AVOID: mistakes from before — do NOT repeat them"""

BY_A_MODEL = "Judged by a model, not by a person."
PROPOSED = "Proposed by people of this channel, decided by nobody."
"""The notes on lessons that a model judged, or that are only proposed."""

VERDICTS = "What people's verdicts say:"
"""Prefix of the line with the evidence of all lessons near the goal, if that is clear."""

CLEARLY_AGAINST = -0.2
"""The belief up to which that line says what not to do. A single member's vote does not reach it."""

RULES_HEADER = "# Rules From Several Lessons"
"""The header of the rules after the lessons."""

RULES_SHOWN = 3
"""The most rules of a prompt."""

CHARACTERS_PER_TOKEN = 4
"""The usual rough estimate, precise enough for a budget."""

_ACTION_CHARACTERS = 80
_GOAL_CHARACTERS = 300
_WRONG_ANSWER_CHARACTERS = 200
_STEP_CHARACTERS = 120
_RULE_CHARACTERS = 700
_MOST_AGAINST = 2
_VERDICTS_TOKENS = 80
"""The tokens reserved for the line of `verdicts_line`."""
_TAG = re.compile(
    r"<(?=\s*+(?:/\s*+)?(?:lessons|working-memory|situation|goal|tool-output|conversation|last-message)\b)",
    re.IGNORECASE,
)
_FORMAT = re.compile(
    r"^[ \t]*+(?:# lessons from previous attempt|# rules from several lessons|what people's verdicts say:"
    r"|\d{1,3}\. (?:repeat|avoid|disputed): )",
    re.I | re.M,
)
_JOINER = re.compile(r"(?<=[A-Za-z</\s-])[\u200d\ufe0f]+")
"""Joiners and variation selectors outside emoji, which are invisible inside a tag's name."""


def neutralise(text: str) -> str:
    """Untrusted text that cannot open or close a block of the prompt, without invisible characters."""
    return _TAG.sub("&lt;", _JOINER.sub("", without_invisible(text)))


def escapes(text: str) -> bool:
    """Whether a text imitates the prompt: a tag of a block, a header, or a numbered lesson."""
    return escapes_as_shown(without_invisible(text))


def escapes_as_shown(text: str) -> bool:
    """`escapes` for a text that is `without_invisible` already."""
    plain = text if text.isascii() else _JOINER.sub("", text)
    may_be_format = "#" in plain or ":" in plain
    return bool(("<" in plain and _TAG.search(plain)) or (may_be_format and _FORMAT.search(plain)))


def without_invisible(text: str) -> str:
    """The text without control and other invisible characters, safe for a person's screen."""
    if (text.replace("\n", "") if "\n" in text else text).isprintable():
        return text
    shown = {ord(each): _shown(each) for each in set(text)}  # texts have few distinct characters
    return text.translate(shown)


def _shown(character: str) -> str:
    """The character; a plain space for other kinds of space; empty for invisible characters."""
    if character in "\n\t\u200d\ufe0f" or character.isprintable():
        return character
    return " " if unicodedata.category(character) == "Zs" else ""


def one_line(text: str, limit: int) -> str:
    """Neutralised text on one line, with white space folded, cut at `limit` characters with the cut marked."""
    return shortened(neutralise(text), limit)


def shown_line(text: str, limit: int) -> str:
    """`one_line` for people: tags of the prompt are not escaped."""
    return shortened(without_invisible(text), limit)


def indented(text: str) -> str:
    """Neutralised text with continuation lines indented by two spaces."""
    lines = neutralise(text).strip().splitlines() or [""]
    return "\n  ".join(lines)


def percent(score: float) -> int:
    """A score of 0..1 in percent, halves rounded up (the seed's 84.5 is 85)."""
    return int((Decimal(str(score)) * 100).quantize(Decimal(1), rounding=ROUND_HALF_UP))


def label(place: str, score: float | None) -> str:
    """`[#general 85%] `, without unknown parts; empty if both are unknown."""
    parts = [part for part in (one_line(place, 80), f"{percent(score)}%" if score is not None else "") if part]
    return f"[{' '.join(parts)}] " if parts else ""


def estimate_tokens(text: str) -> int:
    """The approximate number of tokens of a text, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def lesson_lines(
    number: int,
    lesson: Lesson,
    *,
    place: str,
    score: float | None,
    action: str,
    target: str,
    reason: str = "",
    correction: str = "",
    task_incomplete: str = "",
    extra: Iterable[str] = (),
) -> str:
    """One numbered lesson. Empty parts have no line (seed, "Prompt Format")."""
    act = f"{one_line(action, _ACTION_CHARACTERS)}: '{one_line(target, _GOAL_CHARACTERS)}'"
    lines = [f"{number}. {lesson.value}: {label(place, score)}{act}"]
    if reason:
        lines.append(f"{'This worked' if lesson is Lesson.REPEAT else 'This failed'}: {indented(reason)}")
    lines.extend(extra)
    if correction and lesson is Lesson.AVOID:
        lines.append(f"Do this instead: {indented(correction)}")
    if task_incomplete:
        lines.append(f"The task still failed because: {indented(task_incomplete)}")
    return "\n".join(lines)


def render_lessons(
    exemplars: Sequence[Exemplar], *, budget_tokens: int, evidence: Evidence | None = None
) -> tuple[str, tuple[Exemplar, ...]]:
    """The lessons' block for one node's prompt, and the exemplars that fitted, best first.

    An exemplar that does not fit is left out and the next one is tried. The block is empty if none fits. Below the
    header is the evidence on the shown exemplars (`verdicts_line`), if that is clear.
    """
    blocks: list[str] = []
    shown: list[Exemplar] = []
    length = len(HEADER)
    budget = budget_tokens - (_VERDICTS_TOKENS if verdicts_line(exemplars, evidence) else 0)
    for exemplar in exemplars:
        block = _render(len(blocks) + 1, exemplar)
        longer = length + len(block) + 1
        if -(-longer // CHARACTERS_PER_TOKEN) <= budget:
            length = longer
            blocks.append(block)
            shown.append(exemplar)
    line = verdicts_line(shown, evidence)
    return ("\n".join([HEADER, *([line] if line else []), *blocks]) if blocks else ""), tuple(shown)


def verdicts_line(exemplars: Sequence[Exemplar], evidence: Evidence | None) -> str:
    """The line `What people's verdicts say: use clock (0.82); not timer (-0.31)`; empty if nothing is clear.

    It covers only actions of the shown lessons. Answers are named by the number of their lesson.
    """
    if evidence is None:
        return ""
    weighed = [
        (number, each, each.belief)
        for number, each in enumerate(exemplars, start=1)
        if each.belief is not None and each.lesson is not Lesson.DISPUTED
    ]
    best = evidence.best.value if evidence.best is not None and evidence.is_sure else None
    right = [
        f"{_named(number, each, 'use', 'answer as in')} ({belief:.2f})"
        for number, each, belief in weighed
        if each.lesson is Lesson.REPEAT and best is not None and belief >= best
    ]
    wrong = [
        f"{_named(number, each, 'not', 'not as in')} ({belief:.2f})"
        for number, each, belief in weighed
        if each.lesson is Lesson.AVOID and belief <= CLEARLY_AGAINST
    ]
    parts = [*right[:1], *wrong[:_MOST_AGAINST]]
    return f"{VERDICTS} {'; '.join(parts)}" if parts else ""


def _named(number: int, exemplar: Exemplar, action: str, answer: str) -> str:
    """A lesson's action for `verdicts_line`: `use clock`, `answer as in 2`."""
    name = exemplar.named_action or exemplar.episode.action
    return f"{answer} {number}" if name == "answer" else f"{action} {one_line(name, _ACTION_CHARACTERS)}"


def with_rules(lessons: str, rules: Sequence[RuleLine], *, budget_tokens: int) -> tuple[str, tuple[RuleLine, ...]]:
    """The block of `render_lessons` followed by rules, and the rules that fitted, at most `RULES_SHOWN`.

    Rules get the rest of the lessons' budget; without lessons there are no rules.
    """
    text = lessons
    shown: list[RuleLine] = []
    for rule in rules[:RULES_SHOWN] if lessons else ():
        header = "" if shown else f"\n{RULES_HEADER}"
        longer = f"{text}{header}\n- {one_line(rule.line, _RULE_CHARACTERS)}"
        if estimate_tokens(longer) <= budget_tokens:
            text = longer
            shown.append(rule)
    return text, tuple(shown)


def _render(number: int, exemplar: Exemplar) -> str:
    episode = exemplar.episode
    if exemplar.lesson is Lesson.DISPUTED:
        return _disputed(number, exemplar)
    extra = [BY_A_MODEL] if exemplar.is_guess else [PROPOSED] if exemplar.is_proposed else []
    steps = _steps(episode.trajectory)
    if steps:
        extra.append(f"Steps: {steps}")
    if exemplar.named_action:
        extra.append(f"A person said: {one_line(episode.output, _WRONG_ANSWER_CHARACTERS)}")
    elif exemplar.verdict is Verdict.SUCCESS and episode.output:
        extra.append(f"Answer: {indented(episode.output)}")
    elif episode.output and episode.action == "answer":
        extra.append(f"That answer was wrong: {one_line(episode.output, _WRONG_ANSWER_CHARACTERS)}")
    return lesson_lines(
        number,
        exemplar.lesson,
        place=episode.place,
        score=exemplar.relevance,
        action=exemplar.named_action or episode.action or "answer",
        target=episode.goal,
        reason=episode.outcome_reason,
        correction=episode.correction,
        task_incomplete=episode.task_incomplete,
        extra=extra,
    )


def _disputed(number: int, exemplar: Exemplar) -> str:
    """A disputed lesson: its answer, and that people disagree, without an instruction to follow it."""
    episode = exemplar.episode
    act = f"{one_line(episode.action or 'answer', _ACTION_CHARACTERS)}: '{one_line(episode.goal, _GOAL_CHARACTERS)}'"
    answer = one_line(episode.output, _WRONG_ANSWER_CHARACTERS) or _steps(episode.trajectory)
    return (
        f"{number}. {exemplar.lesson.value}: {label(episode.place, exemplar.relevance)}{act}\n"
        f"People disagree here, so do not take this for settled: {answer}"
    )


def _steps(trajectory: Sequence[Step]) -> str:
    """The steps, shortened: `clock(zone="Europe/Paris")`, `parallel: first | second`."""
    done: list[str] = []
    for step in trajectory:
        if step.kind is StepKind.ACT and step.tool:
            done.append(one_line(step.call, _STEP_CHARACTERS))
        elif step.kind is StepKind.EXPAND:
            subgoals = " | ".join(one_line(goal, _STEP_CHARACTERS) for goal in step.subgoals)
            done.append(f"{one_line(step.flow, _ACTION_CHARACTERS)}: {subgoals}")
    return "; ".join(done)


def replace_unstorable(text: str) -> str:
    """The text with NUL and lone surrogates, which no store accepts, replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", "\ufffd")
