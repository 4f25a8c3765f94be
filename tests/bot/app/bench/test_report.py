"""The numbers of streams, and the pictures of them."""

from xml.etree import ElementTree

import pytest

from bot.app.bench.people import AnswerWorth
from bot.app.bench.plot import NamedCurves, sparkline, svg
from bot.app.bench.report import Shares, curve, last_count, mean, mean_curve, summary, worst_window
from bot.app.bench.stream import StreamResult

OF = {
    "r": AnswerWorth.RIGHT,
    "t": AnswerWorth.TAP,
    "w": AnswerWorth.WRONG,
    "n": AnswerWorth.NEITHER,
    "u": AnswerWorth.UNKNOWN,
}


def result(outcomes: str, seed: int = 0) -> StreamResult:
    answered = tuple(OF[letter] for letter in outcomes)
    return StreamResult(
        seed=seed, answered=answered, message_ms=tuple(map(float, range(len(answered)))), reaction_ms=()
    )


def test_shares_are_of_all_messages_and_of_the_last_ones() -> None:
    assert [last_count(messages) for messages in (2, 9, 1500, 4500)] == [1, 3, 500, 1000]
    found = summary(result("wwntuurrr"))
    assert found.overall == Shares(right=3 / 9, tap=1 / 9, wrong=2 / 9, neither=1 / 9, unknown=2 / 9)
    assert found.last == Shares(right=1.0, tap=0.0, wrong=0.0, neither=0.0, unknown=0.0)
    assert (found.worst_window, found.message_ms.median, found.reaction_ms.median) == (None, 4.0, 0.0)


def test_the_worst_window_is_where_most_was_lost_against_no_reactions() -> None:
    with_reactions, without = result("rrwwrr").answered, result("wwrrww").answered
    assert worst_window(with_reactions, without, size=2) == -1.0
    assert worst_window(with_reactions, without, size=3) == pytest.approx(-1 / 3)
    assert worst_window(with_reactions, without) == pytest.approx(1 / 3)  # all of them, for there are fewer than 500


def test_the_mean_of_several_keeps_the_worst_window_of_all() -> None:
    good, bad = result("rrrr"), result("wwww", seed=1)
    found = mean([summary(good, bad), summary(bad, good)])
    assert found.overall.right == 0.5
    assert found.worst_window == -1.0


def test_a_curve_ends_with_the_latest_messages() -> None:
    points = curve(result("w" * 300 + "r" * 300).answered)
    assert (points[0], points[-1]) == ((7, 0.0), (600, 1.0))
    assert sparkline(points)[0] == "▁"
    assert sparkline(points)[-1] == "█"
    assert len(sparkline(points)) <= 30
    assert curve(result("r").answered) == [(1, 1.0)]


def test_the_picture_shows_the_mean_and_the_spread_of_each_arm() -> None:
    curves = [curve(result("w" * 50 + "r" * 50).answered), curve(result("r" * 100, seed=1).answered)]
    assert mean_curve(curves)[0][1] == 0.5
    picture = svg("a < b", [NamedCurves(name="right", curves=curves), NamedCurves(name="none", curves=curves[:1])])
    root = ElementTree.fromstring(picture)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}polygon")) == 1
    assert "a < b" in "".join(root.itertext())
    assert {"right 1.00", "none 1.00"} <= set(root.itertext())
