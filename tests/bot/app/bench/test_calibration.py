"""Calibration counts every message once, in the bin of its confidence."""

from bot.app.bench.calibration import calibration, rows
from bot.app.bench.people import AnswerWorth
from bot.app.bench.stream import StreamResult


def test_each_message_is_in_one_bin_and_only_answers_count_as_right_or_wrong() -> None:
    result = StreamResult(
        seed=0,
        answered=(AnswerWorth.RIGHT, AnswerWorth.WRONG, AnswerWorth.UNKNOWN, AnswerWorth.RIGHT, AnswerWorth.RIGHT),
        message_ms=(),
        reaction_ms=(),
        confidences=(0.2, 0.25, -0.1, 0.9, 0.6),
    )
    unsure, middle, sure = calibration([result])
    assert (unsure.at_least, unsure.messages, unsure.given, unsure.right) == (None, 1, 0, None)
    assert (middle.at_least, middle.messages, middle.right) == (0.2, 2, 0.5)
    assert (sure.at_least, sure.messages, sure.right) == (0.6, 2, 1.0)
    assert rows([unsure, sure])[1] == [["below 0.05", "1", "0", ""], ["from 0.6", "2", "2", "1.000"]]
