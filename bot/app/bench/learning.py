"""`goodbot bench learning`: one arm over several shuffles, optionally compared with the same without reactions."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from bot.app.bench.calibration import Bin, calibration
from bot.app.bench.embedding import prepared_embedder
from bot.app.bench.labelled import LabelledMessage, first_of_each
from bot.app.bench.people import AnswerWorth, Habits
from bot.app.bench.plot import NamedCurves, svg
from bot.app.bench.progress import ShowsStage, ShowsStep
from bot.app.bench.report import WINDOW, Shares, Summary, curve, last_count, mean, summary
from bot.app.bench.stream import Arm, StreamResult, shuffled, stream, texts_of
from bot.config import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """The streams of one arm."""

    arm: Arm
    embedder: str
    results: tuple[StreamResult, ...]
    without: tuple[StreamResult, ...]
    """The same shuffles without any reaction; empty if not requested."""

    @property
    def summaries(self) -> list[Summary]:
        """The numbers of each shuffle."""
        without = self.without or (None,) * len(self.results)
        return [summary(result, other) for result, other in zip(self.results, without, strict=True)]

    @property
    def messages(self) -> int:
        """How many messages each stream had."""
        return len(self.results[0].answered)

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Head and rows of a table: each shuffle, their mean, and that of the streams without reactions."""
        head = ["shuffle", "messages", "right", "one tap", "wrong", "neither", "unknown", "wrong of answered"]
        head += [*([f"worst {WINDOW}"] if self.without else []), "ms", "p95", "reaction", "p95"]
        named = [(str(result.seed), each) for result, each in zip(self.results, self.summaries, strict=True)]
        if len(named) > 1:
            named.append(("mean", mean(self.summaries)))
        if self.without:
            named.append(("no reactions", mean([summary(each) for each in self.without])))
        return head, [row for name, each in named for row in self._rows(name, each)]

    def _rows(self, name: str, of: Summary) -> list[list[str]]:
        """One row for all messages, one for the last ones, one for those that nothing is right for."""
        worst = ([""] if of.worst_window is None else [f"{of.worst_window:+.3f}"]) if self.without else []
        times = [f"{value:.1f}" for part in (of.message_ms, of.reaction_ms) for value in asdict(part).values()]
        rows = [
            [name, f"all {self.messages:,}", *_cells(of.overall, of.wrong_of_answered), *worst, *times],
            ["", f"last {last_count(self.messages):,}", *_cells(of.last, of.last.wrong_of_answered)],
        ]
        if of.outside is not None:
            rows.append(["", f"outside {len(self.results[0].outside):,}", *_cells(of.outside, 1.0)])
        return [row + [""] * (len(rows[0]) - len(row)) for row in rows]

    def calibration(self) -> list[Bin]:
        """Confidence against the share that was right, over all streams with reactions."""
        return calibration(self.results)

    def curves(self) -> list[NamedCurves]:
        """The learning curves, those with reactions first."""
        arms = [("right", self.results), ("no reactions", self.without)]
        return [
            NamedCurves(name=name, curves=[curve(each.answered) for each in results])
            for name, results in arms
            if results
        ]

    def picture(self, title: str) -> str:
        """The learning curves as SVG."""
        return svg(title, self.curves())

    def plain(self) -> dict[str, object]:
        """Everything as values for JSON; `outcomes` has one letter for each message: r, t, w, n or u."""
        arm = asdict(self.arm) | {"pace": self.arm.pace.total_seconds()}
        return {
            "messages": self.messages,
            "last": last_count(self.messages),
            "embedder": self.embedder,
            "arm": arm,
            "mean": asdict(mean(self.summaries)),
            "shuffles": [_plain(result, numbers) for result, numbers in zip(self.results, self.summaries, strict=True)],
            "calibration": [asdict(each) for each in self.calibration()],
            "no_reactions": [_plain(result, summary(result)) for result in self.without],
        }


def _cells(shares: Shares, wrong_of_answered: float) -> list[str]:
    return [f"{share:.3f}" for share in (*asdict(shares).values(), wrong_of_answered)]


def _plain(result: StreamResult, numbers: Summary) -> dict[str, object]:
    outcomes = "".join(each.value[0] for each in result.answered)
    return {"seed": result.seed, **asdict(numbers), "curve": curve(result.answered), "outcomes": outcomes}


def _shows_right(step: ShowsStep) -> Callable[[AnswerWorth], None]:
    """A function to call with each answer's worth, which shows the share of right ones so far."""
    done = right = 0

    def on_message(answered: AnswerWorth) -> None:
        nonlocal right, done
        done, right = done + 1, right + (answered is AnswerWorth.RIGHT)
        step(done, f"{right / done:.3f} right")

    return on_message


def learn(
    messages: Sequence[LabelledMessage],
    arm: Arm,
    *,
    seeds: Sequence[int],
    count: int | None,
    with_baseline: bool,
    to_teach: Sequence[LabelledMessage] = (),
    of_each: int = 0,
    outside: Sequence[str] = (),
    settings: Settings,
    show: ShowsStage,
) -> Learning:
    """Run the arm on the first `count` messages of every shuffle, after embedding all texts.

    Of those `to_teach`, the first `of_each` messages of every label, in the order of the shuffle, are taught before;
    `outside` are asked at the end.
    """
    labels = {message.label.label: message.label for message in [*messages, *to_teach]}.values()
    orders = {seed: shuffled(messages, seed, count) for seed in seeds}
    lessons = {seed: first_of_each(shuffled(to_teach, seed, None), of_each) for seed in seeds}
    texts = [
        *(text for each in (*orders.values(), *lessons.values()) for text in texts_of(each)),
        *outside,
        *(text for label in labels for text in (label.words, label.text)),
    ]
    embedder = prepared_embedder(settings, texts, show)

    def run(arm: Arm, seed: int, name: str) -> StreamResult:
        with show(name, len(orders[seed])) as step:
            return asyncio.run(
                stream(
                    orders[seed],
                    labels,
                    arm,
                    seed=seed,
                    settings=settings,
                    embedder=embedder,
                    on_message=_shows_right(step),
                    taught=lessons[seed],
                    outside=outside,
                )
            )

    silent = replace(arm, habits=Habits(reacted=0.0, corrected=0.0))
    return Learning(
        arm=arm,
        embedder=embedder.name,
        results=tuple(run(arm, seed, f"shuffle {seed}") for seed in seeds),
        without=tuple(run(silent, seed, f"shuffle {seed}, no reactions") for seed in seeds if with_baseline),
    )
