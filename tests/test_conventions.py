"""What every file of the project keeps to, checked by reading the files."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tests import CHECKOUT

SOURCES = [*sorted((CHECKOUT / "bot").rglob("*.py")), *sorted((CHECKOUT / "memory").rglob("*.py"))]
_PRODUCT = frozenset(SOURCES)
TESTS = sorted((CHECKOUT / "tests").rglob("*.py"))
_CONFIG = sorted(path for path in (CHECKOUT / "config").glob("*") if path.suffix != ".png")
TEXTS = [*SOURCES, *TESTS, *_CONFIG, CHECKOUT / "pyproject.toml", CHECKOUT / "Procfile"]

BOUNDARIES = {
    ("bot/adapters/tools/mcp_servers.py", "keep"),
    ("bot/adapters/tools/mcp_servers.py", "resources"),
    ("bot/adapters/tools/plugins.py", "_loaded"),
    ("bot/adapters/tools/plugins.py", "work"),
    ("memory/adapters/embedding/batching.py", "_run"),
    ("bot/app/wiring/build.py", "_warm_up"),
    ("bot/app/health_checks.py", "_results"),
    ("bot/app/processes/shards.py", "poll"),
    ("bot/cli/faults.py", "_noted"),
    ("bot/conversation/goodbot.py", "handle"),
    ("bot/conversation/goodbot.py", "_answer"),
    ("bot/conversation/answers/recovery.py", "_answer_unseen"),
    ("bot/conversation/answers/sharing.py", "poll"),
    ("memory/services/upkeep/jobs.py", "run"),
    ("memory/services/upkeep/workspaces.py", "each"),
}
"""The functions that may swallow any exception: an event, a job, a check or a command ends there."""


def name_of(path: Path) -> str:
    return path.relative_to(CHECKOUT).as_posix()


@dataclass(frozen=True, kw_only=True)
class Syntax:
    """What the tests ask of a file's syntax. The trees are not kept: every collection would look through them."""

    long: Sequence[str]
    """The functions that fit no screen."""
    swallowing: Sequence[str]
    """The functions that catch any exception and raise none."""
    exceptions: Sequence[str]
    """The public classes that are exceptions."""
    transactions: Sequence[int]
    """The lines where one of a store's is begun."""


_SCREEN = 60
_ASKED_FOR = re.compile(
    r"\bexcept\s*:|\bexcept\b[^:]*Exception\b|store\s*\.\s*(read|write)\b"
    r"|\bclass \w+\([^)]*\b(Exception|BaseException|BotError|MemoryFault|ValueError|RuntimeError)\b"
)
"""Where none of this is, the syntax tree has nothing of what is asked of sources but the lengths of functions."""


@cache
def syntax(path: Path) -> Syntax:
    """Of a test, its long functions alone. Most files need no parsing, which takes ten times as long as reading."""
    text, is_source = path.read_text(encoding="utf-8"), path in _PRODUCT
    if not _may_be_long(text) and not (is_source and _ASKED_FOR.search(text)):
        return Syntax(long=[], swallowing=[], exceptions=[], transactions=[])
    nodes = list(ast.walk(ast.parse(text)))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Syntax(
        long=[each.name for each in functions if (each.end_lineno or 0) - each.lineno >= _SCREEN],
        swallowing=[each.name for each in functions if is_source and any(map(_swallows, _own_handlers(each)))],
        exceptions=[node.name for node in nodes if isinstance(node, ast.ClassDef) and _is_public_exception(node)],
        transactions=[node.lineno for node in nodes if isinstance(node, ast.Attribute) and _begins_transaction(node)],
    )


def _may_be_long(text: str) -> bool:
    """Whether so many lines are between a function's first and the next definition that is no part of it."""
    begun: list[tuple[int, int]] = []  # the indents and first lines of definitions around a line
    lines = text.splitlines()
    for number, line in enumerate([*lines, "def"]):
        found = re.match(r"( *)(async def|def|class)\b", line)
        while found and begun and begun[-1][0] >= len(found[1]):
            if number - begun.pop()[1] > _SCREEN:
                return True
        if found:
            begun.append((len(found[1]), number))
    return False


def _swallows(handler: ast.ExceptHandler) -> bool:
    caught = ast.unparse(handler.type) if handler.type else "BaseException"
    return bool(re.search(r"\b(Base)?Exception\b", caught)) and not _raises(handler)


def _raises(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) for node in ast.walk(handler))


def _own_handlers(function: ast.AST) -> Iterator[ast.ExceptHandler]:
    """The handlers of a function, without those of functions inside it."""
    for child in ast.iter_child_nodes(function):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.ExceptHandler):
            yield child
        yield from _own_handlers(child)


def _is_public_exception(node: ast.ClassDef) -> bool:
    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
    known = {"Exception", "BaseException", "BotError", "MemoryFault", "ValueError", "RuntimeError"}
    return not node.name.startswith("_") and bool(bases & known)


def _begins_transaction(node: ast.Attribute) -> bool:
    return node.attr in ("read", "write") and ast.unparse(node.value).endswith("store")


def test_there_is_something_to_check() -> None:
    assert len(SOURCES) > 50
    assert len(TESTS) > 20


# A migration is one step, however many tables it makes.
IN_PARTS = [path for path in SOURCES if path.parent.name != "versions"]


@pytest.mark.parametrize(("paths", "limit"), [(IN_PARTS, 400), (TESTS, 550)], ids=["sources", "tests"])
def test_no_file_is_long(paths: list[Path], limit: int) -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert {name: length for name, length in lengths.items() if length > limit} == {}


def test_no_folder_holds_more_than_a_glance_takes_in() -> None:
    sizes = Counter(name_of(path.parent) for path in SOURCES if path.name != "__init__.py")
    assert {name: size for name, size in sizes.items() if size > 24} == {}


def test_every_folder_says_in_one_line_what_belongs_there() -> None:
    first_lines = {name_of(path): path.read_text(encoding="utf-8").partition("\n")[0] for path in SOURCES}
    inits = {name: line for name, line in first_lines.items() if name.endswith("__init__.py")}
    assert {name for name, line in inits.items() if not re.match(r'""".*\.(""")?$', line)} == set()


def test_every_function_fits_a_screen() -> None:
    long = [
        f"{name_of(path)}: {name}"
        for path in [*SOURCES, *TESTS]
        if "versions" not in path.parts
        for name in syntax(path).long
    ]
    assert long == []


def test_transactions_belong_to_memory() -> None:
    begun = [
        f"{name_of(path)}:{line}"
        for path in SOURCES
        if path.relative_to(CHECKOUT).parts[0] == "bot"
        and name_of(path) != "bot/app/bench/peers/own.py"  # it times the store
        for line in syntax(path).transactions
    ]
    assert begun == []


def test_nothing_is_explained_by_a_document_that_is_not_here() -> None:
    elsewhere = re.compile(r"\((design|seed) \d|reference\s+page|ambiguity A\d")
    assert [name_of(path) for path in SOURCES if elsewhere.search(path.read_text(encoding="utf-8"))] == []


def test_every_file_is_named_for_what_it_is() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "managers", "misc", "common", "base"}
    assert [name_of(path) for path in [*SOURCES, *TESTS] if path.stem in vague] == []


@pytest.mark.parametrize("package", ["memory", "bot"])
def test_the_tree_of_errors_is_drawn_as_it_is(package: str) -> None:
    """Every class, under its parent, with a star if it is worth trying again."""
    module = import_module(f"{package}.errors")
    classes = {each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__}
    real = {(each.__name__, each.__mro__[1].__name__, vars(module)[each.__name__].retryable) for each in classes}
    drawn: set[tuple[str, str, bool]] = set()
    parents: list[tuple[int, str]] = [(-1, "Exception")]
    for line in (module.__doc__ or "").splitlines():
        found = re.match(r"^(?P<indent>[ │├└─]{4,})(?P<name>[A-Z]\w+)(?P<star> \*)?(?: {2,}|$)", line)
        if found:
            depth = len(found["indent"])
            while parents[-1][0] >= depth:
                parents.pop()
            drawn.add((found["name"], parents[-1][1], found["star"] is not None))
            parents.append((depth, found["name"]))
    assert drawn == real


def test_every_exception_class_is_in_its_packages_errors() -> None:
    """Except signals within one module, which never leave it or its package."""
    allowed = {"bot/agent/run.py: Halted"}
    found = {
        f"{name_of(path)}: {name}" for path in SOURCES if path.name != "errors.py" for name in syntax(path).exceptions
    }
    assert found <= allowed


def test_any_exception_is_swallowed_only_at_the_named_boundaries() -> None:
    swallowing = {(name_of(path), name) for path in SOURCES for name in syntax(path).swallowing}
    assert swallowing == BOUNDARIES


def test_every_silenced_check_says_why() -> None:
    silent = [
        f"{name_of(path)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(r"#\s*(noqa|type:\s*ignore)", line)
        and not re.search(r"noqa: [A-Z]+\d+ - \S|type: ignore\[[\w, -]+\]  # \S", line)
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("a path of one machine", r"(?<![\w./])/(work|root|home|Users)/\w"),
        ("unfinished work", r"\b(TODO|FIXME|XXX|HACK)\b"),
        ("a conflict left over", r"^(<<<<<<<|>>>>>>>) "),
        ("a debugger", r"\bbreakpoint\(\)|\bpdb\b"),
    ],
)
def test_nothing_is_left_lying_about(what: str, pattern: str) -> None:
    left = [
        f"{name_of(path)}:{text.count(chr(10), 0, found.start()) + 1}: {what}"
        for path in TEXTS
        if path != Path(__file__) and path.is_file()
        for text in [path.read_text(encoding="utf-8")]
        for found in re.finditer(pattern, text, re.MULTILINE)
    ]
    assert left == []
