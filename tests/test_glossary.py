"""The words of the glossary are the words of the code, and words given up do not come back."""

import ast
import re
from importlib import import_module
from types import ModuleType

import pytest

from tests import CHECKOUT

GLOSSARY = (CHECKOUT / "memory" / "README.md").read_text(encoding="utf-8").partition("## Glossary")[2]
ROWS = [
    (words.split(", "), re.findall(r"`([\w.]+)`", names))
    for words, names in re.findall(r"^\| ([\w ,]+) \| [^|]+ \| (`[^|]+) \|$", GLOSSARY, re.MULTILINE)
]

RETIRED = {
    "aside", "asides", "beliefs", "checkup", "desk", "elsewhere", "fading", "finding", "growing", "guessing", "holding",
    "off_loop", "order", "pace", "pacing", "places", "proving", "recent", "rounds", "ruling", "settled", "shelf",
    "shelving", "speech", "spot", "storable", "taught", "trail", "turns", "unread", "use_cases", "uses", "wording",
    "asking", "said_before", "understood", "whose_words", "working", "world",
}  # fmt: skip
"""Names that say less than the field's own word for the thing."""


def find(name: str) -> object:
    """What a dotted name stands for. Raises `ImportError` or `AttributeError` where there is nothing."""
    first, *rest = name.split(".")
    found: object = import_module(first)
    for part in rest:
        if isinstance(found, ModuleType) and not hasattr(found, part):
            found = import_module(f"{found.__name__}.{part}")
        else:
            found = getattr(found, part)
    return found


def test_every_row_is_read() -> None:
    lines = [line for line in GLOSSARY.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    assert len(ROWS) == len(lines) - 1 > 20


@pytest.mark.parametrize("name", [name for _, names in ROWS for name in names])
def test_what_it_names_exists(name: str) -> None:
    assert find(name) is not None


@pytest.mark.parametrize(("words", "names"), ROWS, ids=lambda value: value[0])
def test_what_it_names_bears_the_word(words: list[str], names: list[str]) -> None:
    bare = [name.replace("_", "").lower() for name in names]
    assert [word for word in words if not any(word.replace(" ", "") in name for name in bare)] == []


def test_no_word_is_explained_twice() -> None:
    words = [word for row, _ in ROWS for word in row]
    assert sorted(set(words)) == sorted(words)


@pytest.mark.parametrize("package", ["bot", "memory", "tests"])
def test_no_module_bears_a_retired_name(package: str) -> None:
    paths = [path.relative_to(CHECKOUT) for path in (CHECKOUT / package).rglob("*.py")]
    found = {path.as_posix() for path in paths if RETIRED & {path.stem, *path.parts[:-1]}}
    assert found == set()


@pytest.mark.parametrize("package", ["bot", "memory"])
def test_no_name_is_a_bare_participle(package: str) -> None:
    """A name says what it holds, not that somebody said it."""
    bare = {"said", "told", "heard", "stands"}
    texts = {path: path.read_text(encoding="utf-8") for path in (CHECKOUT / package).rglob("*.py")}
    found = {
        f"{path.relative_to(CHECKOUT).as_posix()}: {name}"
        for path, text in texts.items()
        if re.search(r"(?i)(?<![a-z])(said|told|heard|stands)(?![a-z])", text)  # reading syntax takes longer
        for node in ast.walk(ast.parse(text))
        for name in (getattr(node, field, None) for field in ("name", "id", "arg", "attr"))
        if isinstance(name, str) and name.strip("_").lower() in bare
    }
    assert found == set()
