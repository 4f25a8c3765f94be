"""Measures one memory library in its own process: loading, searching, adding. Runs in a peer's environment too.

    python worker.py ENGINE FOLDER

It needs numpy and the engine's library, and Goodbot only for Goodbot's own engine. FOLDER has `data.json` and
`vectors.npy` (see `dataset`); the measurement is printed as one line of JSON.
"""

import gc
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np

K = 10


class Engine(Protocol):
    """The interface of a memory library in the comparison."""

    def load(self, people: Sequence[str]) -> None:
        """Add row `i` for `people[i]`, all at once."""

    def search(self, person: str, text: str) -> list[str]:
        """The names of the ten nearest of this person's rows, read from what is stored."""

    def add(self, person: str, text: str) -> None:
        """Add one row."""


class Vectors:
    """An embedder that looks up what was computed before: `t5` is row 5 of what is stored, `q5` of what is asked."""

    def __init__(self, matrix: Any, stored: int) -> None:  # noqa: ANN401 - numpy's, in any version
        self._matrix, self._stored = matrix, stored

    def of(self, text: str) -> Any:  # noqa: ANN401 - numpy's
        """The vector of a text."""
        return self._matrix[int(text[1:]) + (0 if text[0] == "t" else self._stored)]


class LangGraph:
    """SqliteStore, with its defaults."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        sqlite3, base = import_module("sqlite3"), import_module("langgraph.store.base")
        connection = sqlite3.connect(str(folder / "store.db"), check_same_thread=False, isolation_level=None)
        embed = lambda texts: [vectors.of(text).tolist() for text in texts]  # noqa: E731 - what the index wants
        index = {"dims": len(vectors.of("t0")), "embed": embed, "text_fields": ["text"]}
        self._put = base.PutOp
        self._store = import_module("langgraph.store.sqlite").SqliteStore(connection, index=index)
        self._store.setup()

    def load(self, people: Sequence[str]) -> None:
        """Five hundred at once."""
        for start in range(0, len(people), 500):
            named = enumerate(people[start : start + 500], start)
            self._store.batch([self._put((person,), f"t{row}", {"text": f"t{row}"}) for row, person in named])

    def search(self, person: str, text: str) -> list[str]:
        """In the person's namespace."""
        return [item.key for item in self._store.search((person,), query=text, limit=K)]

    def add(self, person: str, text: str) -> None:
        """One put."""
        self._store.put((person,), text, {"text": text})


class Chroma:
    """A collection on the disk, with its defaults."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        chroma, config = import_module("chromadb"), import_module("chromadb.config")
        settings = config.Settings(anonymized_telemetry=False)
        self._vectors = vectors
        self._rows = chroma.PersistentClient(str(folder / "chroma"), settings=settings).create_collection(
            "rows", metadata={"hnsw:space": "cosine"}
        )

    def load(self, people: Sequence[str]) -> None:
        """A thousand at once."""
        for start in range(0, len(people), 1000):
            some = people[start : start + 1000]
            names = [f"t{row}" for row in range(start, start + len(some))]
            self._rows.add(
                ids=names,
                embeddings=[self._vectors.of(name).tolist() for name in names],
                metadatas=[{"person": person} for person in some],
                documents=names,
            )

    def search(self, person: str, text: str) -> list[str]:
        """Where the metadata have the person."""
        found = self._rows.query(
            query_embeddings=[self._vectors.of(text).tolist()], n_results=K, where={"person": person}
        )
        return [str(each) for each in found["ids"][0]]

    def add(self, person: str, text: str) -> None:
        """One row."""
        vector = self._vectors.of(text).tolist()
        self._rows.add(ids=[text], embeddings=[vector], metadatas=[{"person": person}], documents=[text])


class LlamaIndex:
    """SimpleVectorStore, which is durable only once it is persisted: `add` does so."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self._schema, self._types = (
            import_module("llama_index.core.schema"),
            import_module("llama_index.core.vector_stores"),
        )
        self._vectors, self._file = vectors, str(folder / "vectors.json")
        self._store = self._types.SimpleVectorStore()

    def _node(self, person: str, text: str) -> object:
        vector = self._vectors.of(text).tolist()
        return self._schema.TextNode(id_=text, text=text, embedding=vector, metadata={"person": person})

    def load(self, people: Sequence[str]) -> None:
        """All at once, then persisted."""
        self._store.add([self._node(person, f"t{row}") for row, person in enumerate(people)])
        self._store.persist(self._file)

    def search(self, person: str, text: str) -> list[str]:
        """Where the metadata have the person."""
        own = self._types.MetadataFilters(filters=[self._types.MetadataFilter(key="person", value=person)])
        query = self._types.VectorStoreQuery(
            query_embedding=self._vectors.of(text).tolist(), similarity_top_k=K, filters=own
        )
        return list(self._store.query(query).ids or ())

    def add(self, person: str, text: str) -> None:
        """One row, persisted."""
        self._store.add([self._node(person, text)])
        self._store.persist(self._file)


class Mem0:
    """Memory with its default store, qdrant in the process, and `infer=False`: no language model is asked."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(folder))
        unused = {"provider": "openai", "config": {"api_key": "none"}}
        store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": len(vectors.of("t0"))}
        self._memory = import_module("mem0").Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "llm": unused,
                "embedder": unused,
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = self
        self._vectors = vectors

    def embed(self, text: str, *_: object) -> list[float]:
        """The vector of a text, as mem0 asks its embedder."""
        return [float(each) for each in self._vectors.of(text)]

    def embed_batch(self, texts: Sequence[str], *_: object) -> list[list[float]]:
        """The vectors of several texts."""
        return [self.embed(text) for text in texts]

    def load(self, people: Sequence[str]) -> None:
        """Straight into its store: one `add` after another would be measured below."""
        uuid = import_module("uuid")
        for start in range(0, len(people), 500):
            some = people[start : start + 500]
            names = [f"t{row}" for row in range(start, start + len(some))]
            self._memory.vector_store.insert(
                vectors=[self.embed(name) for name in names],
                payloads=[{"data": name, "user_id": who} for name, who in zip(names, some, strict=True)],
                ids=[str(uuid.uuid5(uuid.NAMESPACE_OID, name)) for name in names],
            )

    def search(self, person: str, text: str) -> list[str]:
        """Among the memories of the user, whatever their score."""
        found = self._memory.search(text, filters={"user_id": person}, top_k=K, threshold=0.0)
        return [each["memory"] for each in found["results"]]

    def add(self, person: str, text: str) -> None:
        """One memory as it is."""
        self._memory.add(text, user_id=person, infer=False)


ENGINES: dict[str, Callable[[Path, Vectors], Engine]] = {
    "langgraph": LangGraph,
    "chroma": Chroma,
    "llamaindex": LlamaIndex,
    "mem0": Mem0,
}


def measure(make: Callable[[Path, Vectors], Engine], folder: Path) -> dict[str, float]:
    """Measure the milliseconds of searches and adds, the recall of the ten nearest, and the resources used."""
    data = json.loads((folder / "data.json").read_text(encoding="utf-8"))
    people, asked, nearest = data["people"], data["asked"], data["nearest"]
    vectors = Vectors(np.load(folder / "vectors.npy", mmap_mode="r"), len(people))
    place = folder / "store"
    place.mkdir()
    engine = make(place, vectors)
    started = time.perf_counter()
    engine.load(people)
    loaded = time.perf_counter() - started
    gc.collect()
    gc.freeze()
    times, hits, wanted, own = [], 0, 0, time.process_time()
    for number, person in enumerate(asked):
        started = time.perf_counter()
        found = engine.search(person, f"q{number}")
        times.append(1000 * (time.perf_counter() - started))
        hits += len(set(found) & set(nearest[number]))
        wanted += len(nearest[number])
    own = 1000 * (time.process_time() - own) / len(asked)
    adds = []
    for row in range(len(people), len(people) + data["added"]):
        started = time.perf_counter()
        engine.add(asked[row % len(asked)], f"q{row - len(people)}")
        adds.append(1000 * (time.perf_counter() - started))
    return {
        "load_s": loaded,
        "search_ms": statistics.median(times),
        "search_p95_ms": statistics.quantiles(times, n=20)[-1],
        "search_own_ms": own,
        "recall": hits / wanted,
        "add_ms": statistics.median(adds),
        "rss_mib": most_memory(),
        "disk_mib": sum(each.stat().st_size for each in place.rglob("*") if each.is_file()) / 2**20,
    }


def most_memory() -> float:
    """The peak resident memory of this process in MiB."""
    status = Path("/proc/self/status")
    if status.is_file():  # `getrusage` includes the peak of the parent process
        return int(status.read_text(encoding="utf-8").split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure what the command line names."""
    print(json.dumps(measure(ENGINES[sys.argv[1]], Path(sys.argv[2]))))  # noqa: T201 - it is the result


if __name__ == "__main__":
    main()
