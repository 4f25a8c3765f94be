"""Explains the evidence of an answer: what people's verdicts say, which lessons matter most, with the numbers."""

from collections.abc import Collection, Mapping, Sequence

from bot.conversation.messages import verdict_word
from bot.conversation.reply import short_id
from memory.model import Episode, Scope, Verdict
from memory.model.evidence import RIVAL_DISCOUNT, BeliefRecord, EvidenceRecord, WeightRecord
from memory.rules.audience import may_see
from memory.rules.evidence.judged_lesson import ANSWER
from memory.rules.retrieval.prompt import shown_line

_NEAR = 0.45
"""Cosine below which the nearest lesson is about something else."""
_FAINT = 0.05
"""A smaller belief, or change of one, is not mentioned in chat."""
_FITS = 0.2
"""The prior from which an action is said to fit by its description."""
_SHOWN = 3
"""How many beliefs, and lessons of each, are shown in chat. Administrators see all that are stored."""
_UNSEEN = "you cannot see here"


def explain_evidence(
    evidence: EvidenceRecord,
    lessons: Mapping[str, Episode],
    reader: Scope | None,
    shown: Collection[str] = (),
    *,
    has_numbers: bool = True,
) -> list[str]:
    """One sentence, then the numbers behind it as list items; on request only the sentence, without a number.

    `lessons` are the weighed lessons that still exist. Those that the reader may see, or that the answer has `shown`
    them, are quoted; the others are counted. No reader means an administrator, who may see all.
    """
    explanation = _EvidenceExplanation(evidence, lessons, reader, shown, has_numbers)
    return explanation.lines() if has_numbers else [explanation.sentence()]


class _EvidenceExplanation:
    def __init__(
        self,
        evidence: EvidenceRecord,
        lessons: Mapping[str, Episode],
        reader: Scope | None,
        shown: Collection[str],
        has_numbers: bool,
    ) -> None:
        self._evidence = evidence
        self._has_numbers = has_numbers
        self._there = lessons
        self._seen = {
            name: each for name, each in lessons.items() if reader is None or name in shown or may_see(reader, each)
        }
        self._most = None if reader is None else _SHOWN

    def lines(self) -> list[str]:
        lines = [self.sentence()]
        for belief in self._listed():
            lines.append(
                f"- {self._label(belief)}: belief {belief.value:.2f}, {belief.prior:.2f} without these lessons"
            )
            lines.extend(f"  - {line}" for line in self._reasons(belief.weights))
        lines.append(
            f"- confidence {round(self._evidence.confidence, 2) + 0.0:.2f} "  # never "-0.00"
            f"(the best belief less {RIVAL_DISCOUNT:g} of its best rival), {self._evidence.threshold:.2f} needed; "
            f"nearest {self._evidence.nearest:.2f}, lessons {self._evidence.lessons}"
        )
        return lines

    def _listed(self) -> Sequence[BeliefRecord]:
        """The strongest beliefs that matter, or all for an administrator."""
        beliefs = self._evidence.beliefs
        if self._most is None:
            return beliefs
        matter = (each for each in beliefs[1:] if max(each.value, abs(each.taught)) >= _FAINT)
        return [*beliefs[:1], *matter][: self._most]

    def _number(self, value: float, what: str = "") -> str:
        return f" ({what}{value:.2f})" if self._has_numbers else ""

    def sentence(self) -> str:
        """What people's verdicts say of the strongest candidate, and mostly why."""
        beliefs, nearest = self._evidence.beliefs, self._evidence.nearest
        subject = _subject(beliefs)
        if subject is None:
            if self._evidence.lessons and nearest >= _NEAR:
                text = f"{self._verdicts('change')} little{self._number(nearest, 'similarity up to ')}"
            else:
                text = "Nobody has taught me anything like this"
                text += self._number(nearest, "similarity up to ") if self._evidence.lessons else ""
            if beliefs and beliefs[0].prior >= _FITS:
                text += f"; by what it is for, {self._label(beliefs[0])} fits best{self._number(beliefs[0].value)}"
            return f"{text}."
        side = "for" if subject.taught > 0 else "against"
        text = f"{self._verdicts('speak')} {side} {self._label(subject)}{self._number(subject.value, 'belief ')}"
        text += self._mostly(subject)
        others = [each for each in beliefs if each is not subject and each.value >= _FAINT]
        if others:
            rank = "next best" if subject is beliefs[0] else "best"
            text += f"; {rank}: {self._label(others[0])}{self._number(others[0].value)}"
        return f"{text}."

    def _verdicts(self, verb: str) -> str:
        count = self._evidence.lessons
        if count == 1:
            return f"What people said of the most similar question {verb}s"
        return f"What people said of the {count} most similar questions {verb}s"

    def _mostly(self, belief: BeliefRecord) -> str:
        weight = next((each for each in belief.weights if each.effect * belief.taught > 0), None)
        if weight is None:
            return ""
        if lesson := self._seen.get(weight.episode_id):
            what = "something else was approved" if weight.is_for_another else f"it was {_judged(weight)}"
            return f", mostly because {what} for “{shown_line(lesson.goal, 60)}”"
        return f", mostly because of a lesson {_UNSEEN if weight.episode_id in self._there else 'that is gone'}"

    def _label(self, belief: BeliefRecord) -> str:
        """An action's name, or the answer in the words of the most influential lesson that the reader may see."""
        if belief.action != ANSWER:
            return shown_line(belief.action, 40)
        known = (self._seen[each.episode_id] for each in belief.weights if each.episode_id in self._seen)
        lesson = next(known, None)
        if lesson is not None:
            return f"“{shown_line(lesson.output, 80)}”"
        is_there = any(each.episode_id in self._there for each in belief.weights)
        return f"an answer {_UNSEEN}" if is_there else "an answer that is gone"

    def _reasons(self, weights: Sequence[WeightRecord]) -> list[str]:
        quoted = [each for each in weights if each.episode_id in self._seen]
        lines = []
        for weight in quoted[: self._most]:
            lesson = self._seen[weight.episode_id]
            lines.append(
                f"“{shown_line(lesson.goal, 60)}” {_judged(weight)} [{short_id(lesson.id)}]: "
                f"adds {weight.effect:+.2f} (weight {weight.weight:.2f})"
            )
        there = sum(each.episode_id in self._there for each in weights)
        counts = {
            "more": len(quoted) - len(lines),
            _UNSEEN: there - len(quoted),
            "gone": len(weights) - there,
        }
        if rest := [f"{count} {what}" for what, count in counts.items() if count]:
            lines.append(f"{'and ' if lines else ''}{', '.join(rest)}")
        return lines


def _subject(beliefs: Sequence[BeliefRecord]) -> BeliefRecord | None:
    """The belief that the sentence is about: the strongest if lessons moved it, else the one they moved most."""
    moved = [each for each in beliefs if abs(each.taught) >= _FAINT]
    if not moved or moved[0] is beliefs[0]:
        return next(iter(moved), None)
    return max(moved, key=lambda each: abs(each.taught))


def _judged(weight: WeightRecord) -> str:
    word = verdict_word(Verdict.SUCCESS if weight.approves else Verdict.FAILURE)
    return f"{word} for something else" if weight.is_for_another else word
