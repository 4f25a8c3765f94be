"""Rules: groups of lessons with the same advice, shown as one line. Deterministic.

A rule stores the ids of its lessons. Its line is made from the current lessons when it is read, so it never contains
forgotten or archived ones.
"""

import hashlib
from collections.abc import Iterable, Sequence

from memory.model import WORDY_ACTIONS, Episode, Verdict
from memory.model.normal_form import comparable, shortened
from memory.model.upkeep import Rule
from memory.ports import IndexEntry
from memory.rules.audience import partitions_of

GOALS_NAMED = 3
"""The most goals that a line names."""
GOAL_CHARACTERS = 60
"""The most characters of each."""
_ADVICE_CHARACTERS = 200


def advice_of(lesson: Episode) -> tuple[str, str]:
    """A lesson's advice as (action, text): an answer's words, or a tool's name and target, as its result varies."""
    if lesson.action in WORDY_ACTIONS:
        return "answer", comparable(lesson.output)
    return lesson.action, comparable(lesson.action_target)


def rules_of(workspace: str, lessons: Iterable[Episode], at_least: int) -> list[Rule]:
    """The rules among these lessons: the same advice and verdict for `at_least` different goals in one partition."""
    alike: dict[tuple[str, Verdict, tuple[str, str], str], list[Episode]] = {}
    for lesson in sorted(lessons, key=lambda lesson: (lesson.created_at, lesson.id)):
        for entry in partitions_of(lesson):
            what = (entry.partition, entry.verdict, advice_of(lesson), comparable(lesson.correction))
            alike.setdefault(what, []).append(lesson)
    found = [
        Rule(
            workspace=workspace,
            id=_id(*what),
            partition=what[0],
            verdict=what[1],
            lesson_ids=tuple(lesson.id for lesson in group),
        )
        for what, group in alike.items()
        if len({comparable(lesson.goal) for lesson in group}) >= at_least
    ]
    return sorted(found, key=lambda rule: rule.id)


def rule_id(entry: IndexEntry, lesson: Episode) -> str:
    """The id of the rule that a lesson supports by this index entry; ids are hashes of the rule's content."""
    return _id(entry.partition, entry.verdict, advice_of(lesson), comparable(lesson.correction))


def supports_now(rule: Rule, lesson: Episode) -> bool:
    """Whether the lesson's current index entries support the rule."""
    return any(
        (entry.partition, entry.verdict) == (rule.partition, rule.verdict) and rule.id == rule_id(entry, lesson)
        for entry in partitions_of(lesson)
    )


def could_support(rule: Rule, lesson: Episode, corrections: Iterable[str]) -> bool:
    """Whether the lesson could support the rule at some time, with one of these corrections; verdicts may change."""
    texts = {"", comparable(lesson.correction), *map(comparable, corrections)}
    return any(rule.id == _id(rule.partition, rule.verdict, advice_of(lesson), text) for text in texts)


def active_lessons(rule: Rule, lessons: Iterable[Episode]) -> list[Episode]:
    """The rule's lessons that still support it: not archived, quarantined, or judged or corrected differently since."""
    return [lesson for lesson in lessons if lesson.id in rule.lesson_ids and supports_now(rule, lesson)]


def rule_line(rule: Rule, lessons: Sequence[Episode], at_least: int) -> str:
    """The rule's line from its lessons; empty if they have fewer than `at_least` goals. Long texts are cut."""
    goals = list(dict.fromkeys(" ".join(lesson.goal.split()) for lesson in lessons))
    if len({comparable(goal) for goal in goals}) < at_least:
        return ""
    named = ", ".join(f"“{shortened(goal, GOAL_CHARACTERS)}”" for goal in goals[:GOALS_NAMED])
    more = f" and {len(goals) - GOALS_NAMED} more" if len(goals) > GOALS_NAMED else ""
    return f"For {named}{more}: {_advice(lessons[-1], rule.verdict)}"


def _advice(lesson: Episode, verdict: Verdict) -> str:
    done = lesson.output if lesson.action in WORDY_ACTIONS else f"{lesson.action} {lesson.action_target}".strip()
    done = shortened(done, _ADVICE_CHARACTERS)
    if verdict is Verdict.SUCCESS:
        return done
    instead = shortened(lesson.correction, _ADVICE_CHARACTERS)
    return f"not: {done}" + (f"; right: {instead}" if instead else "")


def _id(partition: str, verdict: Verdict, what: tuple[str, str], correction: str) -> str:
    return hashlib.sha256(repr((partition, verdict, what, correction)).encode()).hexdigest()[:24]
