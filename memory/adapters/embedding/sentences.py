"""Embeddings by sentence-transformers models. The default one comes with the installation."""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Literal

import numpy as np

from memory.adapters.embedding.batching import BatchedCalls
from memory.adapters.embedding.encoder import PACKAGED, PACKAGED_SHA256, Encoder
from memory.adapters.embedding.hashing import VectorCache
from memory.errors import EmbeddingFailed

if TYPE_CHECKING:
    from memory.model import Vector

log = logging.getLogger(__name__)

LoadState = Literal["loading", "ready", "failed"]

_PACKAGED_NAME = f"all-MiniLM-L6-v2@{PACKAGED_SHA256[:8]}"
_PACKAGED_DIMENSION = 384
_LONGEST = 8_000
"""Characters of a text that are read. Models use only 256 to 512 tokens, but tokenise everything first."""


class SentenceTransformerEmbedder:
    """A sentence-transformers model on the CPU, loaded with the first text. Safe to share between threads.

    `model` is `packaged`, a folder, or a name that the library may download. With a `cache` folder the model is
    exported there to ONNX once, which takes seconds, and later loaded from there in a fraction of a second, with the
    same vectors to 1e-5. `on_load` is called with `loading`, then `ready` or `failed`, from the thread that loads. The
    vectors of the last `remembered` texts are cached.
    """

    def __init__(
        self,
        model: str = PACKAGED,
        *,
        cache: Path | None = None,
        on_load: Callable[[LoadState], None] | None = None,
        remembered: int = 4096,
    ) -> None:
        self._choice = model
        self._cache = cache
        self._on_load = on_load or (lambda state: None)
        self._vectors = VectorCache(remembered)
        self._model: BatchedCalls | None = None
        self._model_lock = RLock()
        self._dimension = _PACKAGED_DIMENSION if model == PACKAGED else 0

    @property
    def name(self) -> str:
        return _PACKAGED_NAME if self._choice == PACKAGED else self._choice

    @property
    def dimension(self) -> int:
        """The vectors' dimension. Known for the packaged model; any other model is loaded to find out."""
        if not self._dimension:
            with self._model_lock:
                self._dimension = len(self._encode(["dimension"])[0])
        return self._dimension

    @property
    def is_exported(self) -> bool:
        """Whether the cache folder has an export of the model."""
        return self._cache is not None and _folder(self._choice, self._cache).is_dir()

    def load_early(self) -> None:
        """Load the model, or make its export, before the first text. Without a cache folder it is left to that."""
        if self._cache is not None:
            with self._model_lock, suppress(EmbeddingFailed):  # the first text raises it again
                self._loaded()

    def embed(self, texts: Sequence[str]) -> "list[Vector]":
        # The tokeniser does not accept lone surrogates.
        heads = [text[:_LONGEST].encode(errors="replace").decode() for text in texts]
        found = self._vectors.find(heads)
        missing = [head for head in dict.fromkeys(heads) if head not in found and head.strip()]
        if missing:
            new = dict(zip(missing, self._encode(missing), strict=True))
            self._vectors.keep(new)
            found |= new
        return [found[head] if head in found else self._blank() for head in heads]

    def _blank(self) -> "Vector":
        vector = np.zeros(self.dimension, np.float32)
        vector.setflags(write=False)
        return vector

    def _encode(self, heads: Sequence[str]) -> "list[Vector]":
        with self._model_lock:
            batches = self._loaded()
        try:
            matrix = batches(heads)
        except Exception as exc:  # errors of several libraries, which share no other root
            raise EmbeddingFailed(
                f"The embedder {self.name} failed on {len(heads)} text(s): {exc}. Try again, or choose another one."
            ) from exc
        vectors = [np.array(row, np.float32) for row in matrix]
        for vector in vectors:
            vector.setflags(write=False)
        return vectors

    def _loaded(self) -> BatchedCalls:
        """The model, loaded if needed. The caller holds the lock."""
        if self._model is None:
            self._model = BatchedCalls(self._load().encode)
        return self._model

    def _load(self) -> Encoder:
        self._on_load("loading")
        is_loaded = False
        try:
            model = _load(self._choice, self._cache)
            is_loaded = True
            return model
        except EmbeddingFailed:
            raise
        except Exception as exc:  # errors of several libraries, which share no other root
            raise EmbeddingFailed(
                f"The embedder {self.name} cannot be loaded ({type(exc).__name__}: {exc}). "
                "Reinstall Goodbot, or choose another embedder in the settings."
            ) from exc
        finally:
            self._on_load("ready" if is_loaded else "failed")


def _load(choice: str, cache: Path | None) -> Encoder:
    """The model's export if there is a cache folder, else the model. The export is made if there is none."""
    from memory.adapters.embedding.torch_encoder import TorchEncoder

    if cache is None:
        return TorchEncoder.of(choice)
    from memory.adapters.embedding.export_process import export_in_process
    from memory.adapters.embedding.onnx_export import load_export

    folder = _folder(choice, cache)
    try:
        if exported := load_export(folder):
            return exported
    except EmbeddingFailed as exc:
        log.warning("%s It is made anew.", exc)
    try:
        return export_in_process(choice, folder)
    except EmbeddingFailed as exc:
        log.warning("%s It is loaded slowly each time.", exc)
        return TorchEncoder.of(choice)


def _folder(choice: str, cache: Path) -> Path:
    from memory.adapters.embedding.onnx_export import export_folder

    return export_folder(cache, choice, _digest_of(choice))


def _digest_of(choice: str) -> str:
    """A text that differs between weights of one name: the packaged model's digest, a folder's file sizes and times."""
    if choice == PACKAGED:
        return PACKAGED_SHA256
    files = sorted(each for each in Path(choice).rglob("*") if each.is_file()) if Path(choice).is_dir() else []
    return "\n".join(f"{each} {each.stat().st_size} {each.stat().st_mtime_ns}" for each in files)
