"""The rules behind recalled lessons: many lessons that say the same, as one line for one asker."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from memory.model import Episode, EventKind, Exemplar, Lesson, RuleLine, Scope, Verdict
from memory.model.upkeep import Rule
from memory.ports import Transaction
from memory.rules.audience import nearest_entry, partitions_for, partitions_of
from memory.rules.consolidation import active_lessons, advice_of, could_support, rule_id, rule_line

LESSONS_READ = 20
"""How many lessons of one rule are read for its line at most."""

_LESSONS = {Lesson.REPEAT: Verdict.SUCCESS, Lesson.AVOID: Verdict.FAILURE}


def rule_lines(
    tx: Transaction,
    scope: Scope,
    exemplars: Sequence[Exemplar],
    unsettled: Collection[str],
    at_least: int,
    stored: Mapping[str, Episode],
) -> tuple[RuleLine, ...]:
    """The rules that at least one of these exemplars supports, those of the best exemplars first.

    A line is made only of lessons that still say it, in a partition the asker may search, and with the same verdict in
    the asker's most specific partition. `unsettled` lessons (overruled or disputed in this recall) are left out. The
    correction in a line is that of the best exemplar, as the asker may see it. Of a rule's lessons the exemplars and
    the oldest others are read, `LESSONS_READ` in all. `stored` are episodes that were read already.
    """
    resting = {exemplar.episode.id: exemplar for exemplar in exemplars if exemplar.lesson in _LESSONS}
    if not resting:
        return ()
    named = partitions_for(scope)
    order = {episode_id: place for place, episode_id in enumerate(resting)}
    found: list[tuple[tuple[int, int], tuple[object, ...], RuleLine]] = []
    for rule in tx.upkeep.rules(scope.workspace, _ids(_as_stored(tx, scope.workspace, resting, stored), named)):
        behind = [
            each for each in rule.lesson_ids if each in resting and _LESSONS[resting[each].lesson] is rule.verdict
        ]
        if not behind:
            continue
        alive = _active(tx, scope, rule, behind, unsettled)
        best = min(behind, key=lambda each: order[each])
        if best not in {each.id for each in alive}:
            continue
        vetted = [replace(each, correction=resting[best].episode.correction) for each in alive]
        line = rule_line(rule, vetted, at_least)
        if line:
            ids, goals = tuple(each.id for each in alive), tuple(each.goal for each in alive)
            place = (order[best], named.index(rule.partition))
            rule_shown = RuleLine(rule_id=rule.id, line=line, lesson_ids=ids, goals=goals)
            found.append((place, (rule.verdict, advice_of(alive[-1])), rule_shown))
    # The same advice may be a rule in several partitions: the first one is kept.
    distinct: dict[tuple[object, ...], RuleLine] = {}
    for _, what, line_found in sorted(found, key=lambda each: (each[0], each[2].rule_id)):
        distinct.setdefault(what, line_found)
    return tuple(distinct.values())


def _active(
    tx: Transaction, scope: Scope, rule: Rule, behind: Sequence[str], unsettled: Collection[str]
) -> list[Episode]:
    """The rule's lessons that still say it to the asker: those `behind` it in this recall and the oldest others."""
    looked_at = [*behind, *(each for each in rule.lesson_ids if each not in behind)][:LESSONS_READ]
    lessons = tx.episodes.get_many(scope.workspace, set(looked_at) - set(unsettled))
    ordered, named = [lessons[each] for each in rule.lesson_ids if each in lessons], partitions_for(scope)
    return [
        each
        for each in active_lessons(rule, ordered)
        if (entry := nearest_entry(each, named)) is not None and entry.verdict is rule.verdict
    ]


def _as_stored(
    tx: Transaction, workspace: str, resting: Mapping[str, Exemplar], stored: Mapping[str, Episode]
) -> list[Episode]:
    """The exemplars' episodes as stored: a mistake has its own correction, not only what the asker may see."""
    mistakes = [episode_id for episode_id, exemplar in resting.items() if exemplar.lesson is Lesson.AVOID]
    stored = {**stored, **tx.episodes.get_many(workspace, [each for each in mistakes if each not in stored])}
    return [stored.get(episode_id, exemplar.episode) for episode_id, exemplar in resting.items()]


def _ids(lessons: Iterable[Episode], named: Sequence[str]) -> set[str]:
    """The ids of the rules that these lessons may support, in these partitions."""
    return {rule_id(entry, lesson) for lesson in lessons for entry in partitions_of(lesson) if entry.partition in named}


def invalid_rules(tx: Transaction, workspace: str, rules: Iterable[Rule]) -> list[Rule]:
    """Stored rules that the job cannot have written: a lesson is missing, or cannot ever have supported the rule.

    A rule that is only out of date is valid: its line is made from its lessons as they are now.
    """
    wrong: list[Rule] = []
    for rule in rules:
        lessons = tx.episodes.get_many(workspace, rule.lesson_ids)
        is_complete = len(lessons) == len(set(rule.lesson_ids)) > 0
        if not is_complete or not all(could_support(rule, each, _corrections(tx, each)) for each in lessons.values()):
            wrong.append(rule)
    return wrong


def _corrections(tx: Transaction, lesson: Episode) -> list[str]:
    log = tx.log.of_episode(lesson.workspace, lesson.id)
    return [str(each.detail.get("text", "")) for each in log if each.kind is EventKind.CORRECTED]


def drop_invalid_rules(tx: Transaction, workspace: str) -> int:
    """Delete invalid rules and return their number. The job makes them again from the lessons that are left."""
    stored = tx.upkeep.rules(workspace)
    wrong = {rule.id for rule in invalid_rules(tx, workspace, stored)}
    if wrong:
        tx.upkeep.set_rules(workspace, [rule for rule in stored if rule.id not in wrong])
    return len(wrong)
