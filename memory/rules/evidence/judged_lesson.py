"""A lesson as input of the evidence rule: the candidates it judges, its verdict, and the noise of that."""

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
    """An action or an answer that can be approved or refused."""

    action: str
    text: str = ""
    """The answer, if the action is `answer`."""
    exact: int | None = None
    """A digest of what must be equal in answers that say the same (`exact_part`); None for other actions."""

    @classmethod
    def of(cls, action: str, text: str) -> "Candidate":
        """The candidate for an action, or for an answer."""
        return cls(action, text, exact_part(text) if text or action == ANSWER else None)

    @property
    def core(self) -> int:
        """What else must be equal (`AnswerWords.core`). Not stored, as it takes reading all words."""
        return AnswerWords.of(self.text).core

    def says_the_same_as(self, other: "Candidate") -> bool:
        """Whether two answers say the same."""
        return AnswerWords.of(self.text).says_the_same_as(AnswerWords.of(other.text))


class JudgedLesson(NamedTuple):
    """A lesson with one verdict, as input of the rule."""

    id: str
    goal: str
    action: str
    """One of the agent's actions, `answer`, or for a question the action of asking."""
    candidates: tuple[Candidate, ...]
    """The approved or refused candidate, or all refused options of a question."""
    observation: NoisyVerdict
    """The verdict. It has voices if members other than the asker are behind it and it is not trusted."""
    decided_at: datetime
    """The time of the first vote for this verdict; without votes, when it was decided."""
    people: tuple[str, ...] = ()
    """All voters for this verdict; without votes, the lesson's author."""
    is_own: bool = False
    """Whether it is found in the asker's personal audience."""
    is_question: bool = False
    """Whether it is a question by the bot."""
    is_written: bool = False
    """Whether a person wrote it as the right answer, instead of judging an answer of the bot."""
    is_counted: bool = True
    """Whether `ActionFit` counts it, if it approves: its verdict is decided as a success."""

    @property
    def approves(self) -> bool:
        """Whether the verdict was a success."""
        return self.observation.approves

    def speaks_of_the_same_as(self, other: "JudgedLesson") -> bool:
        """Whether both judge the same candidate, in the same words or others."""
        if self.candidates == other.candidates:
            return True
        (mine, *more), (theirs, *others) = self.candidates, other.candidates
        is_alike = mine.action == theirs.action and mine.exact == theirs.exact is not None
        return is_alike and not more and not others and mine.says_the_same_as(theirs)

    @property
    def author(self) -> str:
        """The only person behind the verdict; empty if there are several or none."""
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
    """The noise variance of a verdict. If it `is_biased`, the biases of its voices come on top (`voices`).

    It is trusted if a teacher or administrator is behind it, or if it holds for the workspace; written if the asker
    wrote it as the right answer; tapped if a person behind it chose it among options. `reliability` is the joint
    reliability of all behind it.
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
    """The places of lessons that another lesson for the same question replaces.

    `alike` has the shape (n, n): whether two lessons are for the same question. A question that many people ask has
    many pairs, so impossible ones are excluded by matrix operations, and equal comparisons are made once.
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


def refused_places(lessons: Sequence[JudgedLesson], as_asked: Sequence[int]) -> set[int]:
    """The places of approvals, for whatever question, of an answer that the asker refused for exactly the asked one.

    `as_asked` has the places of the lessons for exactly that question. Others' approvals and the asker's earlier ones
    are void then, as by the rule a refusal weighs less than what was written or taught for a question as near as these.
    """
    refusals = [each for each in map(lessons.__getitem__, as_asked) if each.is_own and not each.approves]
    return {
        place
        for place, each in enumerate(lessons if refusals else ())
        if each.approves
        for refusal in refusals
        if (not each.is_own or _when(each) < _when(refusal)) and refusal.speaks_of_the_same_as(each)
    }


def _when(lesson: JudgedLesson) -> tuple[datetime, str]:
    return lesson.decided_at, lesson.id


def _may_replace(lessons: Sequence[JudgedLesson]) -> "Bools":
    """Shape (n, n): whether the row's lesson may replace the column's for the same question, by people and times.

    - The asker's own lesson replaces opposite verdicts of others, and their own earlier ones: who refuses what they
      once taught or approved is not told it again.
    - A later approval replaces an earlier approval, and a later written one also an earlier refusal, if the only person
      behind the earlier one is behind the later one, too, or if both are the asker's own.

    `replaced_places` compares what they judge. Verdicts of several people are only replaced by the asker's own.
    """
    import numpy as np

    approves, is_own, is_written = np.array([(each.approves, each.is_own, each.is_written) for each in lessons]).T
    order = np.argsort(sorted(range(len(lessons)), key=lambda place: _when(lessons[place])))
    is_later = order[:, None] > order
    people = dict.fromkeys(chain(*[each.people for each in lessons]))
    column_of = {person: column for column, person in enumerate(people)}
    speaks = np.zeros((len(lessons), len(people) + 1), np.bool_)
    for row, each in enumerate(lessons):
        speaks[row, [column_of[person] for person in each.people]] = True
    # The last column is always False; it is used for lessons with several people.
    is_one_voice = speaks[:, [column_of[each.author] if each.author else -1 for each in lessons]]
    is_changed = (is_one_voice | (is_own[:, None] & is_own)) & approves[:, None] & is_later
    is_opposite = approves[:, None] != approves
    is_by_asker = is_own[:, None] & (~is_own | is_later)
    is_taken_back = is_opposite & (is_by_asker | (is_changed & is_written[:, None]))
    may_replace: Bools = is_taken_back | (is_changed & approves)
    return may_replace
