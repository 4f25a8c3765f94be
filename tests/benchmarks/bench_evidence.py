"""The evidence rule and the threshold alone, replayed on a labelled set in seconds, without bot and database.

    python -m tests.benchmarks.bench_evidence --data FILE [--seeds 0 1 2] [--arm NAME ...] [--set sharpness=5 ...]

FILE is that of `goodbot bench learning`. Each arm is a row of the tables in `tests/README.md`: who reacts, taps and
corrects how often. `--set` changes a number of `EvidenceConfig` for this run: `--set sharpness=4`. The rule, its kernel
and the threshold are the product's; what a message is taken for, splitting, opposition and people are left out.
"""

import argparse
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bot.adapters.llm.offline.ranking import OFFERED_LIKE, Likelihood, on_offer
from bot.app.bench.embedding import PreparedEmbedder
from bot.app.bench.labelled import LabelledMessage, first_of_each, read_splits, read_texts
from bot.app.bench.people import AnswerWorth, Habits
from bot.app.bench.stream import shuffled
from bot.app.wiring.startup import make_embedder
from bot.config import load_settings
from memory.adapters.vectors.action_rows import FROM_ONE
from memory.model import MOST_OPTIONS
from memory.model.evidence import JudgementCount, confidence_in, is_sure, untaught_belief
from memory.rules.evidence.confusion import LeftOut, confusion
from memory.rules.evidence.posterior import EvidenceConfig, action_prior, learned_fits, posterior
from memory.rules.evidence.threshold import counted_threshold, newest_counted
from memory.rules.evidence.voices import NoisyVerdict
from memory.rules.evidence.weighing import SAME_QUESTION, WEIGHTS
from memory.rules.retrieval.consensus import ask_for_different_things

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.floating[Any]]

MESSAGES = 4500
_ASKER = "asker"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayArm:
    """What is tried out, and of which last messages the figures are told."""

    habits: Habits
    as_answers: bool = False
    must_choose: bool = False
    budget: float = 0.05
    taught: int = 0
    """Lessons of each label before the first message."""
    messages: int = MESSAGES
    last: int = 2000
    outside: bool = False


_SOME = Habits(reacted=0.2, tapped=0.7)
_THREE = ReplayArm(habits=Habits(reacted=0.0, tapped=0.0), as_answers=True, taught=3, last=MESSAGES, outside=True)
ARMS = {
    "reacted": ReplayArm(habits=Habits(), must_choose=True, last=1000),
    "corrected": ReplayArm(habits=Habits(corrected=0.3), must_choose=True, last=1000),
    "flipped": ReplayArm(habits=Habits(flipped=0.2), must_choose=True, last=1000),
    "rare": ReplayArm(habits=Habits(reacted=0.05), must_choose=True, last=1000),
    "all-2": ReplayArm(habits=Habits(), budget=0.02),
    "all-5": ReplayArm(habits=Habits()),
    "20-70": ReplayArm(habits=_SOME),
    "5-50": ReplayArm(habits=Habits(reacted=0.05, tapped=0.5)),
    "noise": ReplayArm(habits=replace(_SOME, flipped=0.1)),
    "nothing": ReplayArm(habits=replace(_SOME, corrected=0.3), as_answers=True),
    "three": _THREE,
    "three-tapped": replace(_THREE, habits=Habits(reacted=0.0)),
}
"""`reacted` to `rare` are made to choose; the numbers of the others say how many react and tap, or the budget;
`nothing` is taught answers from nothing, `three` has three lessons for each and nobody reacts."""


@dataclass(slots=True)
class Lessons:
    """What was judged so far; candidates are the numbers of labels."""

    vectors: "Matrix"
    """Room for all that can come."""
    goals: list[str] = field(default_factory=list)
    observations: list[NoisyVerdict] = field(default_factory=list)
    candidates: list[tuple[int, ...]] = field(default_factory=list)
    thumbs: set[int] = field(default_factory=set)
    """The places of those that are thumbs."""

    def observation(self, place: int, reliability: float) -> NoisyVerdict:
        """A verdict, given how far the thumbs of its person can be relied on."""
        found = self.observations[place]
        if place not in self.thumbs:
            return found
        return replace(found, noise=found.noise / reliability**2, reliability=reliability)

    def add(self, goal: str, vector: "Matrix", candidates: Sequence[int], *, approves: bool, noise: float) -> None:
        """One more verdict."""
        self.vectors[len(self.goals)] = vector
        self.goals.append(goal)
        self.observations.append(NoisyVerdict(approves, noise))
        self.candidates.append(tuple(candidates))

    def nearest(self, vector: "Matrix", count: int, without: int | None = None) -> tuple["Matrix", list[int]]:
        """The places of the nearest, and the cosines of the goal and of theirs with each other; without one of them."""
        cosines = self.vectors[: len(self.goals)] @ vector
        if without is not None:
            cosines[without] = -np.inf
            count = min(count, len(cosines) - 1)
        places = np.argsort(-cosines, kind="stable")[:count]
        rows = np.concatenate([vector[None], self.vectors[places]]).astype(np.float64)
        between = rows @ rows.T
        kept = self._valid(places.tolist(), between[1:, 1:])
        chosen = [0, *(n + 1 for n in kept)]
        return between[np.ix_(chosen, chosen)], [int(places[n]) for n in kept]

    def _valid(self, places: Sequence[int], between: "Matrix") -> list[int]:
        """Without what the asker approved first where they approved something else for the same question later."""
        replaced: set[int] = set()
        for one, other in np.argwhere(np.triu(between >= SAME_QUESTION, 1)).tolist():
            new, old = (one, other) if places[one] > places[other] else (other, one)
            both_approve = self.observations[places[new]].approves and self.observations[places[old]].approves
            differ = self.candidates[places[new]] != self.candidates[places[old]] and both_approve
            if differ and not ask_for_different_things(self.goals[places[new]], self.goals[places[old]]):
                replaced.add(old)
        return [n for n in range(len(places)) if n not in replaced]


class Stream:
    """One stream of messages to the rule, and what one asker does about its choices."""

    def __init__(
        self,
        arm: ReplayArm,
        config: EvidenceConfig,
        offered_like: float,
        descriptions: "Matrix",
        messages: int,
        seed: int,
    ) -> None:
        self._arm, self._config, self._offered_like = arm, config, offered_like
        self._descriptions = descriptions
        self._lessons = Lessons(
            np.zeros((2 * messages + arm.taught * len(descriptions), descriptions.shape[1]), np.float32)
        )
        self._sums = np.zeros_like(descriptions)
        self._approved = np.zeros(len(descriptions))
        self._judgements: list[JudgementCount] = []
        self._confusion = 1.0
        self._threshold = counted_threshold("", (), arm.budget)
        self._chance, self._tapping = random.Random(f"people {seed}"), random.Random(f"taps {seed}")

    def teach(self, goal: str, vector: "Matrix", label: int) -> None:
        """The asker writes down what is right."""
        self._learn(goal, vector, (label,), approves=True, noise=self._config.written_noise)

    def estimate_confusion(self) -> None:
        """Count the threshold by how often what was taught is confused, each lesson left out once."""
        labels = [candidates[0] for candidates in self._lessons.candidates]
        left_out: list[LeftOut] = []
        for place, label in enumerate(labels):
            if labels.count(label) > 1:
                values, priors, nearest = self.beliefs(self._lessons.vectors[place], without=place)
                best, second, *_ = np.argsort(-values.round(9), kind="stable").tolist()
                rival = max(untaught_belief(nearest), float(values[second]))
                sure = confidence_in(float(values[best]), float(priors[best]), rival)
                left_out.append(LeftOut(_ASKER, True, sure, best == label))
        self._confusion = confusion(left_out)
        self._threshold = counted_threshold("", (), self._arm.budget, self._confusion)

    def beliefs(self, vector: "Matrix", *, without: int | None = None) -> tuple["Matrix", "Matrix", float]:
        """In each label, the priors of these, and the cosine of the nearest lesson; one lesson may be left out."""
        cosines, places = self._lessons.nearest(vector, self._config.lessons, without)
        prior: Matrix = np.zeros((1 + len(places), len(self._descriptions)))
        if not self._arm.as_answers:
            rows = np.concatenate([vector[None], self._lessons.vectors[places]]).astype(np.float64)
            means = (self._sums @ vector) / np.maximum(self._approved, 1)
            approves = np.zeros((1 + len(places), len(self._descriptions)))
            for row, place in enumerate(places, 1):
                if self._lessons.observations[place].approves:
                    approves[row, self._lessons.candidates[place][0]] = 1
            described, of_one = rows @ self._descriptions.T, np.minimum(self._approved, FROM_ONE)
            prior = action_prior(learned_fits(described, of_one, means, cosines, approves, self._config), self._config)
        reliability = self._threshold.reliability.get(_ASKER, 1.0)
        observations = [self._lessons.observation(place, reliability) for place in places]
        judged = [self._lessons.candidates[place] for place in places]
        found = posterior(cosines, observations, judged, prior, self._config)
        return found.values, prior[0], float(cosines[0, 1:].max(initial=0.0))

    def ask(self, goal: str, vector: "Matrix", label: int | None) -> AnswerWorth:
        """What comes of a message, and what the asker does about it. Nothing is right for one without a label."""
        beliefs, priors, nearest = self.beliefs(vector)
        best, second, *_ = ranked = np.argsort(-beliefs.round(9), kind="stable").tolist()
        belief, prior = float(beliefs[best]), float(priors[best])
        rival = max(untaught_belief(nearest), float(beliefs[second]))
        confidence = confidence_in(belief, prior, rival)
        offered: Sequence[int] = []
        if self._arm.must_choose or is_sure(belief, prior, rival, self._threshold.value):
            outcome = AnswerWorth.RIGHT if best == label else AnswerWorth.WRONG
        else:
            like = self._likeness(vector)
            related = [each for each in ranked if max(like.get(each, [1.0])) >= self._offered_like][:MOST_OPTIONS]
            likeliest = [Likelihood(float(beliefs[each]), 0.0, len(like.get(each, ()))) for each in related]
            offered = related[: on_offer(likeliest)]
            outcome = (
                AnswerWorth.UNKNOWN if not offered else AnswerWorth.TAP if label in offered else AnswerWorth.NEITHER
            )
        if label is not None:
            self._react(goal, vector, label, outcome, best, offered, min(100, max(0, int(confidence * 100 + 1e-9))))
        return outcome

    def _likeness(self, vector: "Matrix") -> dict[int, list[float]]:
        """By label, the cosines of the nearest `WEIGHTS` goals that it was taught for; empty if labels are tools."""
        like: dict[int, list[float]] = {}
        if self._arm.as_answers:
            cosines, places = self._lessons.nearest(vector, self._config.lessons)
            for cosine, place in zip(cosines[0, 1:].tolist(), places, strict=True):
                for label in self._lessons.candidates[place] if self._lessons.observations[place].approves else ():
                    like.setdefault(label, []).append(cosine)
        return {label: cosines[:WEIGHTS] for label, cosines in like.items()}

    def _react(
        self,
        goal: str,
        vector: "Matrix",
        label: int,
        outcome: AnswerWorth,
        best: int,
        offered: Sequence[int],
        confidence: int,
    ) -> None:
        habits, config = self._arm.habits, self._config
        taps = bool(offered) and self._tapping.random() < habits.tapped
        reacts, corrects, flips = (
            self._chance.random() < each for each in (habits.reacted, habits.corrected, habits.flipped)
        )
        is_right, is_given = outcome is AnswerWorth.RIGHT, outcome in (AnswerWorth.RIGHT, AnswerWorth.WRONG)
        if taps and label in offered:
            self._learn(goal, vector, (label,), approves=True, noise=config.member_noise * config.tap_noise)
            self._judge(confidence, label == best)
        elif taps:
            self._judge(confidence, False)
        if reacts and is_given:
            self._lessons.thumbs.add(len(self._lessons.goals))
            self._learn(goal, vector, (best,), approves=is_right is not flips, noise=config.member_noise)
            self._judge(confidence, is_right is not flips)
        is_corrected = corrects and outcome not in (AnswerWorth.RIGHT, AnswerWorth.TAP)
        if is_corrected and is_given and not reacts:
            self._learn(goal, vector, (best,), approves=False, noise=config.member_noise)
        if outcome is AnswerWorth.NEITHER and (taps or is_corrected):
            self._learn(goal, vector, offered, approves=False, noise=config.member_noise)
        if is_corrected:
            self.teach(goal, vector, label)

    def _learn(self, goal: str, vector: "Matrix", candidates: Sequence[int], *, approves: bool, noise: float) -> None:
        self._lessons.add(goal, vector, candidates, approves=approves, noise=noise)
        if approves:
            self._sums[candidates[0]] += vector
            self._approved[candidates[0]] += 1

    def _judge(self, confidence: int, is_right: bool) -> None:
        self._judgements.append(JudgementCount(_ASKER, confidence, is_right, is_known=True))
        newest = self._judgements[-newest_counted(self._arm.budget) :]
        self._threshold = counted_threshold("", newest, self._arm.budget, self._confusion)


def replay(
    arm: ReplayArm,
    messages: Sequence[LabelledMessage],
    lessons: Sequence[LabelledMessage],
    outside: Sequence[str],
    embedder: PreparedEmbedder,
    config: EvidenceConfig,
    seed: int,
    offered_like: float = OFFERED_LIKE,
) -> tuple[list[AnswerWorth], list[AnswerWorth]]:
    """What came of each message, and of each that nothing is right for."""
    labels = sorted(
        {each.label.label: each.label for each in [*messages, *lessons]}.values(), key=lambda each: each.label
    )
    numbers = {label.label: number for number, label in enumerate(labels)}
    order = shuffled(messages, seed, arm.messages)
    descriptions = _rows(embedder, [label.words for label in labels])
    stream = Stream(arm, config, offered_like, descriptions, len(order), seed)
    asked = {each.text for each in order}
    taught = first_of_each([each for each in shuffled(lessons, seed, None) if each.text not in asked], arm.taught)
    for lesson in taught:
        stream.teach(lesson.text, _rows(embedder, [lesson.text])[0], numbers[lesson.label.label])
    stream.estimate_confusion()
    answered = [stream.ask(each.text, _rows(embedder, [each.text])[0], numbers[each.label.label]) for each in order]
    beside = outside if arm.outside else ()
    return answered, [stream.ask(text, _rows(embedder, [text])[0], None) for text in beside]


def _rows(embedder: PreparedEmbedder, texts: Sequence[str]) -> "Matrix":
    return np.array(embedder.embed(texts), np.float32)


def _shares(answered: Sequence[AnswerWorth], outside: Sequence[AnswerWorth], arm: ReplayArm) -> list[float]:
    """Right at once, within a tap, wrong of what was answered, asked about of what is outside, if any.

    Where it chose: right over all and of the last ones.
    """
    last = answered[-arm.last :]
    right = last.count(AnswerWorth.RIGHT) / len(last)
    if arm.must_choose:
        return [answered.count(AnswerWorth.RIGHT) / len(answered), right]
    given = [*last, *outside]
    wrong = given.count(AnswerWorth.WRONG)
    return [
        right,
        right + last.count(AnswerWorth.TAP) / len(last),
        wrong / max(1, wrong + given.count(AnswerWorth.RIGHT)),
        *([outside.count(AnswerWorth.NEITHER) / len(outside)] if outside else []),
    ]


def _config(changes: Sequence[str]) -> EvidenceConfig:
    pairs = dict(each.split("=", 1) for each in changes)
    return replace(
        EvidenceConfig(), **{name: type(getattr(EvidenceConfig(), name))(value) for name, value in pairs.items()}
    )


def main() -> None:
    """Print a row for each arm: the mean of its shuffles."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", default="test")
    parser.add_argument("--taught", default="train", help="taught first where an arm has lessons")
    parser.add_argument("--outside", default="oos_test", help="what nothing is right for")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--arm", nargs="+", choices=ARMS, default=list(ARMS))
    parser.add_argument(
        "--offered-like",
        type=float,
        default=OFFERED_LIKE,
        help="least cosine of the goal that an offered answer is for",
    )
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="numbers of EvidenceConfig")
    options = parser.parse_args()
    messages, lessons = read_splits(options.data, options.split, options.taught)
    outside = read_texts(options.data, options.outside) if any(ARMS[name].outside for name in options.arm) else []
    folder = Path(tempfile.gettempdir())
    embedder = PreparedEmbedder(make_embedder(load_settings({}, config_path=None, cwd=folder, data_dir=folder)))
    config = _config(options.set)
    for name in options.arm:
        arm = ARMS[name]
        figures = [
            _shares(*replay(arm, messages, lessons, outside, embedder, config, seed, options.offered_like), arm)
            for seed in options.seeds
        ]
        print(f"{name:12}" + " / ".join(f"{np.mean(each):.3f}" for each in zip(*figures, strict=True)), flush=True)


if __name__ == "__main__":
    main()
