"""A caching embedder, so that the messages of a benchmark can be embedded before it begins."""

from collections.abc import Callable, Iterable, Sequence

from bot.app.bench.progress import ShowsStage
from bot.app.wiring.startup import make_embedder
from bot.config import Settings
from memory.model import Vector
from memory.ports import Embedder

_BATCH = 256


class PreparedEmbedder:
    """Caches all vectors of another embedder. Thread-safe."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[str, Vector] = {}
        self.late = 0
        """The number of texts that were embedded only when needed."""

    @property
    def name(self) -> str:
        """The other embedder's."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """The other embedder's."""
        return self._inner.dimension

    def prepare(self, texts: Iterable[str], on_progress: Callable[[int], None]) -> None:
        """Embed these texts now. `on_progress` is called with the number done."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(missing), _BATCH):
            self._learn(missing[start : start + _BATCH])
            on_progress(min(start + _BATCH, len(missing)))

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text. Raises `EmbeddingFailed`."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self.late += len(missing)
            self._learn(missing)
        return [self._known[text] for text in texts]

    def _learn(self, texts: list[str]) -> None:
        self._known.update(zip(texts, self._inner.embed(texts), strict=True))


def prepared_embedder(settings: Settings, texts: Iterable[str], show: ShowsStage) -> PreparedEmbedder:
    """The embedder of the settings, which has embedded these texts already."""
    embedder, distinct = PreparedEmbedder(make_embedder(settings)), dict.fromkeys(texts)
    with show("embedding", len(distinct)) as step:
        embedder.prepare(distinct, step)
    return embedder
