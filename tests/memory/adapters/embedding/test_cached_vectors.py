"""Embedders cache vectors, but no texts of people, who may be forgotten."""

import gc
import weakref
from collections.abc import Sequence

import numpy as np
import pytest

from memory.adapters.embedding import HashingEmbedder, SentenceTransformerEmbedder


class Text(str):
    """A text of which one can tell whether somebody still has it."""

    __slots__ = ("__weakref__",)


class Encoder:
    """Stands in for a model."""

    def encode(self, texts: Sequence[str]) -> object:
        return np.array([[len(text), 1.0] for text in texts], np.float32)


def model(monkeypatch: pytest.MonkeyPatch) -> SentenceTransformerEmbedder:
    monkeypatch.setattr("memory.adapters.embedding.sentences._load", lambda *_: Encoder())
    return SentenceTransformerEmbedder("a model", remembered=2)


def test_no_embedder_keeps_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for embedder in (HashingEmbedder(), model(monkeypatch)):
        text = Text("where is the key?")
        [vector], there = embedder.embed([text]), weakref.ref(text)
        del text
        gc.collect()
        assert there() is None
        assert embedder.embed(["where is the key?"])[0] is vector
        assert embedder.embed(["where is the door?"])[0] is not vector


def test_the_texts_used_last_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = model(monkeypatch)
    first, second = embedder.embed(["a", "bb"])
    assert embedder.embed(["a"])[0] is first
    embedder.embed(["ccc"])
    assert embedder.embed(["a"])[0] is first
    assert embedder.embed(["bb"])[0] is not second


def test_a_text_that_is_twice_in_a_request_has_one_vector() -> None:
    first, other, again = HashingEmbedder().embed(["where is the key?", "at noon", "where is the key?"])
    assert first is again
    assert first is not other
