"""Exports a model in a process of its own: torch takes half a gigabyte, which only the end of a process gives back."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from memory.adapters.private_files import make_folder
from memory.errors import EmbeddingFailed

if TYPE_CHECKING:
    from memory.adapters.embedding.onnx_encoder import OnnxEncoder


def export_in_process(model: str, folder: Path) -> "OnnxEncoder":
    """Export a model into this folder, and load the export.

    Raises `EmbeddingFailed`, and starts no process if nothing can be written there: loading the model takes seconds.
    """
    from memory.adapters.embedding.onnx_export import load_export

    script = f"import sys; sys.path[:] = {[*map(str, sys.path)]!r}; from {__name__} import main; main()"
    try:
        make_folder(folder.parent)
        TemporaryFile(dir=folder.parent).close()
        # In a session of its own, as Ctrl+C in a terminal chat is for the chat.
        done = subprocess.run(  # noqa: S603 - this interpreter, and this module
            [sys.executable, "-c", script, model, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            check=False,
        )
    except OSError as exc:
        raise EmbeddingFailed(f"The embedder cannot be exported to {folder} ({exc}).") from exc
    exported = load_export(folder) if done.returncode == 0 else None
    if exported is None:
        *_, reason = ["", *done.stderr.decode(errors="replace").strip().splitlines()]
        raise EmbeddingFailed(reason or f"The embedder's export to {folder} ended with {done.returncode}.")
    return exported


def main() -> None:
    """Export the model that is named by the first argument into the folder that is the second."""
    from memory.adapters.embedding.onnx_export import export
    from memory.adapters.embedding.torch_encoder import TorchEncoder

    model, folder = sys.argv[1:]
    try:
        export(TorchEncoder.of(model), Path(folder))
    except EmbeddingFailed as exc:
        sys.exit(str(exc))
    except Exception as exc:  # errors of several libraries, which share no other root
        cause = f"{type(exc).__name__}: {' '.join(str(exc).split())}"
        raise SystemExit(f"The embedder {model} cannot be exported ({cause}).") from exc
