"""One lesson as the evidence rule looks at it: what it judges, and what that is worth."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from memory.rules.evidence.posterior import EvidenceConfig
from memory.rules.evidence.voices import NoisyVerdict, Voice
from memory.rules.retrieval.answer_words import AnswerWords, exact_part
from memory.rules.retrieval.consensus import ask_for_different_things

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Bools

ANSWER = "answer"


class Candidate(NamedTuple):
    """What can be approved or refused."""

    action: str
    text: str = ""
    """The answer, where that is the action."""
    exact: int | None = None
    """What must be alike in answers that say the same (`exact_part`)."""

    @classmethod
    def of(cls, action: str, text: str) -> "Candidate":
        """An action, or an answer."""
        return cls(action, text, exact_part(text) if text or action == ANSWER else None)

    @property
    def core(self) -> int:
        """What else must be alike (`AnswerWords.core`), found when it is asked for: all words are read for it."""
        return AnswerWords.of(self.text).core

    def says_the_same_as(self, other: "Candidate") -> bool:
        """Whether two answers do."""
        return AnswerWords.of(self.text).says_the_same_as(AnswerWords.of(other.text))


class JudgedLesson(NamedTuple):
    """One lesson as the rule looks at it."""

    id: str
    goal: str
    action: str
    """One of the actions, or `answer`; of a question, that."""
    candidates: tuple[Candidate, ...]
    """What was approved or refused: one, or all that a question offered in vain."""
    observation: NoisyVerdict
    """The verdict. The voices are the members behind it, where they are others than the asker and it is not trusted."""
    decided_at: datetime
    """When the first of those behind it said so, whatever others said since; when it was decided, if nobody voted."""
    people: tuple[str, ...] = ()
    """Everybody whose verdict it is; whoever made it, where nobody voted."""
    is_own: bool = False
    """Whether it is a lesson of the asker's own scope."""
    is_question: bool = False
    """Whether it is a question of the bot's own."""
    is_written: bool = False
    """Whether somebody wrote it down as what is right, and did not only judge it."""
    is_counted: bool = True
    """Whether it is among the lessons that `ActionFit` counts, if it approves: those that were decided."""

    @property
    def approves(self) -> bool:
        """Whether the verdict was a success."""
        return self.observation.approves

    def speaks_of_the_same_as(self, other: "JudgedLesson") -> bool:
        """Whether another one judges what it judges, in the same words or others."""
        if self.candidates == other.candidates:
            return True
        (mine, *more), (theirs, *others) = self.candidates, other.candidates
        is_alike = mine.action == theirs.action and mine.exact == theirs.exact is not None
        return is_alike and not more and not others and mine.says_the_same_as(theirs)

    @property
    def author(self) -> str:
        """The only person whose verdict it is; empty where there are several."""
        return self.people[0] if len(self.people) == 1 else ""


def noise_of(
    config: EvidenceConfig,
    voices: Sequence[Voice] = (),
    *,
    is_trusted: bool = False,
    is_written: bool = False,
    is_tapped: bool = False,
    is_biased: bool = False,
    reliability: float = 1.0,
) -> float:
    """Variance of a verdict without the biases of its voices, where it `is_biased`.

    It is trusted if a teacher or an administrator is behind it, or all of the workspace; written, if the asker wrote
    down what is right, and did not only judge it; tapped, if somebody behind it chose it among several. `reliability`
    is that of all behind it together.
    """
    if is_trusted:
        noise = config.trusted_noise
    elif is_written:
        noise = config.written_noise
    else:
        of_one = config.biased_noise if is_biased else config.member_noise
        noise = of_one / (sum([voice.weight for voice in voices]) or 1.0) / reliability**2
    return noise * config.tap_noise if is_tapped else noise


def replaced_places(lessons: Sequence[JudgedLesson], alike: "Bools") -> set[int]:
    """The places of the lessons that another one for the same question makes void; `alike` tells of which two it is.

    Of a question that many ask each lesson has all others beside it, so what cannot be is ruled out for all at once,
    and what is compared is compared once.
    """
    import numpy as np

    places = np.flatnonzero(np.count_nonzero(alike, axis=1) > 1).tolist()  # each is like itself
    if not places:
        return set()
    some = [lessons[place] for place in places]
    number_of = {judged: number for number, judged in enumerate(dict.fromkeys([each.candidates for each in some]))}
    numbers = [number_of[each.candidates] for each in some]
    speaks_of_the_same: dict[tuple[int, int], bool] = {}
    ask_for_others = cache(ask_for_different_things)
    replaced: set[int] = set()
    for new, old in np.argwhere(alike[np.ix_(places, places)] & _may_replace(some)).tolist():
        if places[old] in replaced:
            continue
        both, one, other = (numbers[new], numbers[old]), some[new], some[old]
        if both not in speaks_of_the_same:
            speaks_of_the_same[both] = one.speaks_of_the_same_as(other)
        is_meant = speaks_of_the_same[both] is not (one.approves is other.approves)
        if is_meant and not ask_for_others(one.goal, other.goal):
            replaced.add(places[old])
    return replaced


def _may_replace(lessons: Sequence[JudgedLesson]) -> "Bools":
    """Shape (n, n): whether the first makes the second void, if they are for one question, by who said so, and when.

    Who approves something else later has come to think otherwise, and so has who writes down what they refused before;
    and for oneself one decides alone. Nobody makes void what somebody else stands behind, too.
    """
    import numpy as np

    approves, is_own, is_written = np.array([(each.approves, each.is_own, each.is_written) for each in lessons]).T
    order = np.argsort(sorted(range(len(lessons)), key=lambda place: (lessons[place].decided_at, lessons[place].id)))
    is_later = order[:, None] > order
    people = dict.fromkeys(chain(*[each.people for each in lessons]))
    column_of = {person: column for column, person in enumerate(people)}
    speaks = np.zeros((len(lessons), len(people) + 1), np.bool_)
    for row, each in enumerate(lessons):
        speaks[row, [column_of[person] for person in each.people]] = True
    # Nobody speaks in the last column, which is that of lessons of several.
    is_one_voice = speaks[:, [column_of[each.author] if each.author else -1 for each in lessons]]
    is_changed = (is_one_voice | (is_own[:, None] & is_own)) & approves[:, None] & is_later
    is_opposite = approves[:, None] != approves
    is_taken_back = is_opposite & ((is_own[:, None] & ~is_own) | (is_changed & is_written[:, None]))
    may_replace: Bools = is_taken_back | (is_changed & approves)
    return may_replace
