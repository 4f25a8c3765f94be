"""A model exported to ONNX, run by onnxruntime: loads in a fraction of a second, in a third of torch's memory."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from memory.adapters.embedding.encoder import BATCH

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Encoding

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
_ERRORS_ONLY = 3
_MOST_PADDED = 1.25
"""The most tokens of a batch, as a multiple of its texts' tokens, plus `_FREE`: padding takes as long as text."""
_FREE = 16
"""The fixed cost of a batch, in tokens, roughly."""


@dataclass(frozen=True, slots=True)
class Padding:
    """The ids that pad a batch's shorter texts."""

    token: int
    type: int


class OnnxEncoder:
    """An `Encoder` from a folder that `onnx_export` wrote. Raises errors of onnxruntime and tokenizers."""

    def __init__(self, folder: Path) -> None:
        # Otherwise onnxruntime keeps an id of the machine in the user's cache folder, with events to report.
        os.putenv("ORT_DISABLE_TELEMETRY", "1")
        import onnxruntime
        from tokenizers import Tokenizer

        onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
        options = onnxruntime.SessionOptions()
        # One thread per batch, without busy waiting: there is other work on the machine.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(folder / MODEL), options, providers=["CPUExecutionProvider"])
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        given = self._tokenizer.padding or {}
        self._padding = Padding(int(given.get("pad_id", 0)), int(given.get("pad_type_id", 0)))
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """As `Encoder.encode`. Texts of similar length share a batch; batches run concurrently."""
        encodings = self._tokenizer.encode_batch_fast(list(texts))
        lengths = [len(each.ids) for each in encodings]
        order = sorted(range(len(lengths)), key=lengths.__getitem__)
        batches = list(_batches(order, lengths))
        if len(batches) == 1:
            rows = [self._run(encodings, batches[0])]
        else:
            with ThreadPoolExecutor(min(len(batches), os.cpu_count() or 1)) as pool:
                rows = list(pool.map(lambda batch: self._run(encodings, batch), batches))
        found = np.empty((len(order), rows[0].shape[1]), np.float32)
        found[order] = np.concatenate(rows)
        return found

    def _run(self, encodings: "Sequence[Encoding]", batch: Sequence[int]) -> "NDArray[np.float32]":
        some = [encodings[index] for index in batch]
        shape = (len(some), max(len(each.ids) for each in some))
        filled = {
            "input_ids": np.full(shape, self._padding.token, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.full(shape, self._padding.type, np.int64),
        }
        for row, each in enumerate(some):
            length = len(each.ids)
            filled["input_ids"][row, :length] = each.ids
            filled["attention_mask"][row, :length] = each.attention_mask
            filled["token_type_ids"][row, :length] = each.type_ids
        (rows,) = self._session.run(None, {name: filled[name] for name in self._inputs})
        return np.asarray(rows, np.float32)


def _batches(order: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Batches of text indexes with little padding. `order` has the shortest text first; `lengths` are in tokens."""
    batch: list[int] = []
    tokens = 0
    for index in order:
        padded = (len(batch) + 1) * lengths[index]
        if batch and (len(batch) == BATCH or padded > _MOST_PADDED * (tokens + lengths[index]) + _FREE):
            yield batch
            batch, tokens = [], 0
        batch.append(index)
        tokens += lengths[index]
    if batch:
        yield batch
