"""When the answer to one question replaces the answer to another."""

import numpy as np
import pytest

from memory.rules.retrieval.consensus import is_answered_anew
from tests.memory.adapters.store_samples import episode

ALIKE = {"e1": ("m", np.array([1.0, 0.0])), "e2": ("m", np.array([1.0, 0.0]))}
"""Embeddings that cannot tell two questions apart."""


def is_one(one: str, other: str, *, are_alike: bool = True) -> bool:
    first, second = episode("e1", goal=one), episode("e2", goal=other)
    there, back = (is_answered_anew(*pair, ALIKE if are_alike else {}) for pair in ((first, second), (second, first)))
    assert there is back
    return there


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("who is on call on Monday?", "who is on call on Tuesday?"),
        ("where is room 101?", "where is room 102?"),
        ("where is room 101?", "where is the room?"),
        ("who approves expenses?", "when approves expenses?"),
        ("where is the key?", "who has the key?"),
        ("may I cancel my order?", "may I not cancel my order?"),
        ("can I send it with a photo?", "can I send it without a photo?"),
        ("what do I do before the release?", "what do I do after the release?"),
        ("how do I get a virtual card?", "how do I get a card?"),
        ("wann ist die Kantine offen?", "wann ist die Bar offen?"),
        ("会議室はどこですか", "会議室は何時ですか"),
    ],
)
def test_questions_with_other_words_are_two_however_alike_their_embeddings_are(one: str, other: str) -> None:
    assert not is_one(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("how do I book a desk?", "please, how do I book a desk"),
        ("when is lunch?", "When is the lunch?"),
        ("where is room 101?", "room 101 is where?"),
    ],
)
def test_the_same_words_with_small_ones_between_are_one_question_if_embeddings_are_near(one: str, other: str) -> None:
    assert is_one(one, other)
    assert not is_one(one, other, are_alike=False)


def test_the_same_words_are_one_question_without_embeddings() -> None:
    assert is_one("When  is LUNCH?", "when is lunch?", are_alike=False)
