"""Many lessons that say the same, as one line. Pure and deterministic: the same lessons make the same rules.

A rule is a list of lessons; its line is made of what they say at the moment it is read, so what is forgotten or
archived is never in it.
"""

import hashlib
from collections.abc import Iterable, Sequence

from memory.audience import partitions_of
from memory.model import Episode, Verdict
from memory.model.upkeep import Rule

GOALS_NAMED = 3
"""How many goals a line names."""


def same_goal(goal: str) -> str:
    """Goals that differ in case and spaces only are one goal."""
    return " ".join(goal.split()).casefold()


def said(lesson: Episode) -> tuple[str, str]:
    """What a lesson says to do: the words of a plain answer; of a tool its name and target, for its result varies."""
    if lesson.action in ("", "answer", "none"):
        return "answer", same_goal(lesson.output)
    return lesson.action, same_goal(lesson.action_target)


def rules_of(workspace: str, lessons: Iterable[Episode], at_least: int) -> list[Rule]:
    """The rules among these lessons: the same lesson for `at_least` different goals in one partition."""
    alike: dict[tuple[str, Verdict, tuple[str, str], str], list[Episode]] = {}
    for lesson in sorted(lessons, key=lambda lesson: (lesson.created_at, lesson.id)):
        for entry in partitions_of(lesson):
            what = (entry.partition, entry.verdict, said(lesson), same_goal(lesson.correction))
            alike.setdefault(what, []).append(lesson)
    found = [
        Rule(
            workspace=workspace,
            id=hashlib.sha256(repr(what).encode()).hexdigest()[:24],
            partition=what[0],
            verdict=what[1],
            lesson_ids=tuple(lesson.id for lesson in group),
        )
        for what, group in alike.items()
        if len({same_goal(lesson.goal) for lesson in group}) >= at_least
    ]
    return sorted(found, key=lambda rule: rule.id)


def line_of(rule: Rule, lessons: Sequence[Episode], at_least: int) -> str:
    """The rule in one line, made of those of its lessons that are still filed there; empty if they are too few."""
    living = [
        lesson
        for lesson in lessons
        if lesson.id in rule.lesson_ids
        and any((entry.partition, entry.verdict) == (rule.partition, rule.verdict) for entry in partitions_of(lesson))
    ]
    goals = list(dict.fromkeys(" ".join(lesson.goal.split()) for lesson in living))
    if len({same_goal(goal) for goal in goals}) < at_least:
        return ""
    named = ", ".join(f"“{goal}”" for goal in goals[:GOALS_NAMED])
    more = f" and {len(goals) - GOALS_NAMED} more" if len(goals) > GOALS_NAMED else ""
    return f"For {named}{more}: {_advice(living[-1], rule.verdict)}"


def _advice(lesson: Episode, verdict: Verdict) -> str:
    done = (
        lesson.output if lesson.action in ("", "answer", "none") else f"{lesson.action} {lesson.action_target}".strip()
    )
    done = " ".join(done.split())
    if verdict is Verdict.SUCCESS:
        return done
    instead = " ".join(lesson.correction.split())
    return f"not: {done}" + (f"; right: {instead}" if instead else "")
