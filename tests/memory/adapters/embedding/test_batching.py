"""What threads want embedded at once goes through the model together, and everybody gets their own."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import pytest

from memory.adapters.embedding.batching import BatchedCalls


class Model:
    """Gives each text its length; the first call waits until it is let go."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.begun, self.go_on = Event(), Event()

    def encode(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        if len(self.calls) == 1:
            self.begun.set()
            assert self.go_on.wait(10)
        if "bad" in texts:
            raise ValueError("bad")
        if len(self.calls) == 2 and "end" in texts:
            raise SystemExit  # in whichever of the waiting threads calls it for all of them
        return np.array([[len(text)] for text in texts], np.float32)


def while_busy(model: Model, *requests: Sequence[str]) -> list[Any]:
    """What each of these gets that come while the model works on another one."""
    batches = BatchedCalls(model.encode)
    with ThreadPoolExecutor(1 + len(requests)) as pool:
        first = pool.submit(batches, ["first"])
        assert model.begun.wait(10)
        later = []
        for number, texts in enumerate(requests, start=1):
            later.append(pool.submit(batches, texts))
            while len(batches._waiting) < number:
                later[-1].done()
        model.go_on.set()
        assert first.result(10).tolist() == [[5]]
        return [each.exception(10) or each.result(10).tolist() for each in later]


def test_what_waits_goes_together() -> None:
    model = Model()
    assert while_busy(model, ["a", "bb"], ["ccc"], ["dddd"]) == [[[1], [2]], [[3]], [[4]]]
    assert model.calls == [["first"], ["a", "bb", "ccc", "dddd"]]


def test_one_call_does_not_grow_without_end() -> None:
    model = Model()
    while_busy(model, ["a"] * 40, ["b"] * 40, ["c"] * 10, ["d"] * 200)
    assert [len(call) for call in model.calls] == [1, 40, 50, 200]


def test_a_text_that_fails_fails_for_whoever_brought_it() -> None:
    model = Model()
    one, bad, other = while_busy(model, ["one"], ["bad"], ["other"])
    assert (one, other) == ([[3]], [[5]])
    with pytest.raises(ValueError, match="bad"):
        raise bad


def test_a_thread_that_ends_in_the_model_takes_nobody_elses_texts_with_it() -> None:
    model = Model()
    results = while_busy(model, ["end"], ["a", "bb"], ["ccc"])
    expected = [[[3]], [[1], [2]], [[3]]]
    ended = [number for number, each in enumerate(results) if isinstance(each, SystemExit)]
    assert len(ended) == 1
    assert [each for each in results if not isinstance(each, SystemExit)] == [
        rows for number, rows in enumerate(expected) if number not in ended
    ]
