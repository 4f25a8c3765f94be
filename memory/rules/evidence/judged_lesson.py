"""One lesson as the evidence rule looks at it: what it judges, and what that is worth."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from memory.rules.evidence.posterior import EvidenceConfig, NoisyVerdict, Voice
from memory.rules.retrieval.answer_words import AnswerWords, exact_part
from memory.rules.retrieval.consensus import ask_for_different_things

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


def replaces(new: JudgedLesson, old: JudgedLesson) -> bool:
    """Whether one lesson of a question makes another of the same question void."""
    # Nobody makes void what somebody else stands behind, too.
    is_one_voice = bool(old.author and old.author in new.people) or (new.is_own and old.is_own)
    is_changed = is_one_voice and new.approves and (new.decided_at, new.id) > (old.decided_at, old.id)
    if new.approves and old.approves:
        is_meant = is_changed and not new.speaks_of_the_same_as(old)
    elif new.approves != old.approves:
        # For oneself one decides alone; and whoever writes down what they refused before has come to think otherwise.
        is_meant = (new.is_own and not old.is_own) or (is_changed and new.is_written)
        is_meant = is_meant and new.speaks_of_the_same_as(old)
    else:
        is_meant = False
    return is_meant and not ask_for_different_things(new.goal, old.goal)
