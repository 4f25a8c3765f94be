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


def test_the_hashing_embedder_keeps_no_text() -> None:
    embedder, text = HashingEmbedder(), Text("where is the key?")
    [vector], there = embedder.embed([text]), weakref.ref(text)
    del text
    gc.collect()
    assert there() is None
    assert embedder.embed(["where is the key?"])[0] is vector
    assert embedder.embed(["where is the door?"])[0] is not vector


def test_the_embedder_of_a_model_keeps_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.adapters.embedding.sentences._load", lambda *_: Encoder())
    embedder = SentenceTransformerEmbedder("a model", remembered=2)
    [vector] = embedder.embed(["where is the key?"])
    assert embedder.embed(["where is the key?"])[0] is vector
    embedder.embed(["a", "bb", "ccc"])
    assert {type(each) for each in embedder._known} == {int}
    assert len(embedder._known) == 2
    assert embedder.embed(["where is the key?"])[0] is not vector
