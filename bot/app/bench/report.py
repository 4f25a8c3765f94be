"""The results of streams as numbers: shares, the worst window, times, the learning curve."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate

from bot.app.bench.people import AnswerWorth
from bot.app.bench.stream import StreamResult

WINDOW = 500
"""The number of messages in a window that is compared with the same one without reactions."""
_MOST_LAST = 1000
_POINTS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The shares of messages by the worth of their answers, which add up to 1."""

    right: float
    tap: float
    """The bot asked back, with the right option."""
    wrong: float
    neither: float
    """The bot asked back, without the right option."""
    unknown: float

    @property
    def wrong_of_answered(self) -> float:
        """The share of wrong answers among those that were given; 0 without any."""
        return self.wrong / (self.right + self.wrong or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Elapsed times in milliseconds."""

    median: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One stream, or the mean of several."""

    overall: Shares
    last: Shares
    """The shares among the last third of the messages, at most 1,000."""
    worst_window: float | None
    """The smallest difference, over windows of `WINDOW` messages, between the share of right answers and that of the
    same messages without reactions; None without a comparison."""
    message_ms: Times
    reaction_ms: Times
    outside: Shares | None = None
    """The shares among messages without a right answer; None without any."""
    wrong_of_answered: float = 0.0
    """The share of wrong answers among those given, including those to messages without a right answer."""


def last_count(messages: int) -> int:
    """How many of the messages count as the last ones."""
    return min(_MOST_LAST, max(1, messages // 3))


def summary(result: StreamResult, without: StreamResult | None = None) -> Summary:
    """The numbers of one stream; `without` is the same one without reactions."""
    answered = result.answered
    return Summary(
        overall=_shares(answered),
        last=_shares(answered[-last_count(len(answered)) :]),
        worst_window=None if without is None else worst_window(answered, without.answered),
        message_ms=times(result.message_ms),
        reaction_ms=times(result.reaction_ms),
        outside=_shares(result.outside) if result.outside else None,
        wrong_of_answered=_shares([*answered, *result.outside]).wrong_of_answered,
    )


def mean(summaries: Sequence[Summary]) -> Summary:
    """The mean of several streams; for the worst window the minimum."""
    outside = [each.outside for each in summaries if each.outside is not None]
    worst = [each.worst_window for each in summaries if each.worst_window is not None]
    return Summary(
        overall=_mean_shares([each.overall for each in summaries]),
        last=_mean_shares([each.last for each in summaries]),
        worst_window=min(worst, default=None),
        message_ms=_mean_times([each.message_ms for each in summaries]),
        reaction_ms=_mean_times([each.reaction_ms for each in summaries]),
        outside=_mean_shares(outside) if outside else None,
        wrong_of_answered=statistics.fmean(each.wrong_of_answered for each in summaries),
    )


def worst_window(answered: Sequence[AnswerWorth], without: Sequence[AnswerWorth], size: int = WINDOW) -> float:
    """The smallest difference in the share of right answers between two streams over `size` messages in a row."""
    size = min(size, len(answered))
    gains = (
        (one is AnswerWorth.RIGHT) - (other is AnswerWorth.RIGHT) for one, other in zip(answered, without, strict=True)
    )
    sums = list(accumulate(gains, initial=0))
    return min(later - earlier for earlier, later in zip(sums, sums[size:], strict=False)) / size


def curve(answered: Sequence[AnswerWorth]) -> list[tuple[int, float]]:
    """The learning curve: the number of messages sent, and the share of right answers among the latest tenth."""
    count = len(answered)
    window = min(WINDOW, max(20, count // 10))
    sums = list(accumulate((each is AnswerWorth.RIGHT for each in answered), initial=0))
    ends = sorted({round(count * point / _POINTS) for point in range(1, _POINTS + 1)} - {0})
    return [(end, (sums[end] - sums[max(0, end - window)]) / min(window, end)) for end in ends]


def mean_curve(curves: Sequence[Sequence[tuple[int, float]]]) -> list[tuple[int, float]]:
    """The mean of curves of the same length."""
    return [(points[0][0], statistics.fmean(share for _, share in points)) for points in zip(*curves, strict=True)]


def times(milliseconds: Sequence[float]) -> Times:
    """Median and 95th percentile; 0 of nothing."""
    if len(milliseconds) < 2:
        only = milliseconds[0] if milliseconds else 0.0
        return Times(median=only, p95=only)
    return Times(median=statistics.median(milliseconds), p95=statistics.quantiles(milliseconds, n=20)[-1])


def _shares(answered: Sequence[AnswerWorth]) -> Shares:
    return Shares(**{each.value: answered.count(each) / len(answered) for each in AnswerWorth})


def _mean_shares(shares: Iterable[Shares]) -> Shares:
    several = [asdict(each) for each in shares]
    return Shares(**{each.value: statistics.fmean(share[each.value] for share in several) for each in AnswerWorth})


def _mean_times(several: Sequence[Times]) -> Times:
    return Times(
        median=statistics.fmean(each.median for each in several), p95=statistics.fmean(each.p95 for each in several)
    )
