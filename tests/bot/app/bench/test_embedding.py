"""The embedder of a benchmark: nothing is embedded twice, and what was not prepared is counted."""

from collections.abc import Sequence

from bot.app.bench.embedding import PreparedEmbedder
from memory.adapters.embedding import HashingEmbedder
from memory.model import Vector


class Counting(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.embedded += texts
        return super().embed(texts)


def test_prepared_texts_are_embedded_once() -> None:
    inner, done = Counting(), list[int]()
    embedder = PreparedEmbedder(inner)
    texts = [f"text {number}" for number in range(300)]
    embedder.prepare([*texts, *texts], done.append)
    found = embedder.embed([texts[7], "late", texts[7]])
    assert (found[0] == found[2]).all()
    assert (found[0] == HashingEmbedder().embed([texts[7]])[0]).all()
    assert inner.embedded == [*texts, "late"]
    assert (done, embedder.late) == ([256, 300], 1)
    assert (embedder.name, embedder.dimension) == (inner.name, inner.dimension)
