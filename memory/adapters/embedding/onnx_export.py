"""Exports models to ONNX once, into a folder that all processes of the machine share.

An export is kept if its vectors for a set of probe texts differ by at most 1e-5 from those of the model. It is written
completely or not at all, and is not used if a checksum of its files is wrong.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from memory.adapters.embedding.onnx_encoder import MODEL, TOKENIZER, OnnxEncoder
from memory.adapters.private_files import make_folder
from memory.errors import EmbeddingFailed

if TYPE_CHECKING:
    from memory.adapters.embedding.torch_encoder import TorchEncoder

_MANIFEST = "export.json"
_SCRATCH = ".export-"
_LONGEST_S = 60.0
"""How long a process waits for another one's export, in seconds."""
_FORMAT = 2
_BLOCK = 1 << 20
_OPSET = 17
_TOLERANCE = 1e-5
_PROBES = (
    "how do I reset my password?",
    "the train to Lyon leaves at noon",
    "Wo finde ich den Ersatzschlüssel?",
    "会议几点开始？",
    "👍",
    "a",
    "nul \0 and \x07",
    "HTTP 500 on https://example.org/api?id=7&x=1",
    "one sentence after another. " * 200,
    "x" * 2_000,
    "def f(x):\n    return x ** 2\n",
    "…",
)
"""Texts of different lengths, scripts and kinds, on which an export is compared with its model."""


def export_folder(cache: Path, model: str, digest: str) -> Path:
    """The folder of this model's export. `digest` tells different weights of one model name apart."""
    return cache / "embedders" / hashlib.sha256(f"{_FORMAT}\n{model}\n{digest}".encode()).hexdigest()[:16]


def load_export(folder: Path) -> OnnxEncoder | None:
    """The export in this folder; None if there is none. Raises `EmbeddingFailed` if it cannot be used."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        if manifest != _checksums(folder):
            raise EmbeddingFailed(f"A file of the exported embedder in {folder} is not as it was written.")
        return OnnxEncoder(folder)
    except FileNotFoundError:
        return None
    except EmbeddingFailed:
        raise
    except Exception as exc:  # errors of several libraries, which share no other root
        raise EmbeddingFailed(f"The exported embedder in {folder} cannot be used ({exc}).") from exc


def export(encoder: "TorchEncoder", folder: Path) -> OnnxEncoder:
    """Export a model into this folder, replacing its content, and load the export.

    Raises `EmbeddingFailed`, and leaves nothing behind, if that fails.
    """
    from filelock import FileLock

    try:
        make_folder(folder.parent)
        with FileLock(folder.parent / "export.lock", timeout=_LONGEST_S), _scratch(folder.parent) as scratch:
            with suppress(EmbeddingFailed):
                if made := load_export(folder):  # by another process meanwhile
                    return made
            _write(encoder, scratch)
            exported = OnnxEncoder(scratch)
            farthest = float(np.abs(exported.encode(_PROBES) - encoder.encode(_PROBES)).max())
            if not farthest <= _TOLERANCE:
                raise EmbeddingFailed(f"The exported embedder's vectors differ by {farthest:.1e}.")
            (scratch / _MANIFEST).write_text(json.dumps(_checksums(scratch)), encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            scratch.rename(folder)
            return exported
    except EmbeddingFailed:
        raise
    except Exception as exc:  # errors of several libraries, which share no other root
        raise EmbeddingFailed(f"The embedder cannot be exported to {folder} ({exc}).") from exc


def _write(encoder: "TorchEncoder", folder: Path) -> None:
    import torch

    from memory.adapters.embedding.torch_encoder import quiet

    model = encoder.model
    with quiet(), torch.inference_mode():
        sample = dict(model.tokenizer(list(_PROBES[:2]), padding=True, return_tensors="pt"))
        names = list(sample)
        torch.onnx.export(
            encoder.unit_vectors_of(names),
            tuple(sample.values()),
            str(folder / MODEL),
            input_names=names,
            output_names=["vectors"],
            dynamic_axes={**{name: {0: "text", 1: "token"} for name in names}, "vectors": {0: "text"}},
            opset_version=_OPSET,
            dynamo=False,
        )
    tokenizer = model.tokenizer.backend_tokenizer
    tokenizer.enable_truncation(model.max_seq_length)
    tokenizer.enable_padding(pad_id=model.tokenizer.pad_token_id, pad_type_id=model.tokenizer.pad_token_type_id)
    tokenizer.save(str(folder / TOKENIZER))


@contextmanager
def _scratch(parent: Path) -> Iterator[Path]:
    """A temporary folder beside the exports, removed unless it was renamed. Removes those of killed processes too."""
    for left in parent.glob(f"{_SCRATCH}*"):
        shutil.rmtree(left, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _checksums(folder: Path) -> dict[str, int]:
    """CRC-32 of each file: enough to find damage, in a tenth of a cryptographic digest's time."""
    found: dict[str, int] = {}
    for name in (MODEL, TOKENIZER):
        value = 0
        with (folder / name).open("rb") as file:
            while block := file.read(_BLOCK):
                value = crc32(block, value)
        found[name] = value
    return found
