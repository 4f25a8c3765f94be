"""Reads a folder of documents, and only what changed since the last time. Blocking."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from bot.agent.tools.chunks import Chunk, chunk_document
from bot.errors import ToolFailed

MAX_FILE_BYTES = 1_000_000
MAX_CONVERTED_BYTES = 20_000_000
"""The limit for files that are converted, of which text is a small part."""
MAX_FILES = 2_000
_SUFFIXES = {".md": True, ".markdown": True, ".txt": False}
"""Whether a file is Markdown, by suffix."""

Converters = Mapping[str, Callable[[bytes], str]]
"""Functions that convert a file's content to Markdown, by suffix. They raise `ToolFailed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file as it was last read. An unusable one has no chunks, and `problem` says why."""

    name: str
    """The path relative to the folder, with `/`."""
    mtime_ns: int
    size: int
    digest: str
    chunks: tuple[Chunk, ...] = ()
    problem: str = ""


def scan(folder: Path, known: Mapping[str, Document], converters: Converters) -> dict[str, Document]:
    """Documents below the folder, by name. Known ones are reused if time and size, or else the content, are the same.

    An unusable one is tried again once its time has changed. Hidden files and folders are left out, and links to
    outside the folder. Raises `OSError` if the folder cannot be read.
    """
    root = folder.resolve(strict=True)
    documents: dict[str, Document] = {}
    for path in _files(root, {*_SUFFIXES, *converters}):
        name = path.relative_to(root).as_posix()
        if len(documents) >= MAX_FILES:
            documents[name] = _unusable(name, 0, 0, f"beyond the first {MAX_FILES} files")
            continue
        documents[name] = _read(path, name, known.get(name), converters)
    return documents


def _files(root: Path, suffixes: set[str]) -> Iterator[Path]:
    """The files with these suffixes, sorted by name within each folder. A subfolder that cannot be read is left out."""

    def fail(error: OSError) -> None:
        if error.filename == str(root):
            raise error

    for folder, subfolders, names in os.walk(root, onerror=fail):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        for path in (Path(folder, name) for name in sorted(names) if not name.startswith(".")):
            if path.suffix.casefold() in suffixes and _is_inside(path, root):
                yield path


def _is_inside(path: Path, root: Path) -> bool:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a broken link, a link to itself
        return False
    return real.is_relative_to(root) and real.is_file()


def _read(path: Path, name: str, known: Document | None, converters: Converters) -> Document:
    try:
        status = path.stat()
        mtime_ns, size = status.st_mtime_ns, status.st_size
        if known is not None and (known.mtime_ns, known.size) == (mtime_ns, size):
            return known
        largest = MAX_CONVERTED_BYTES if path.suffix.casefold() in converters else MAX_FILE_BYTES
        if size > largest:
            return _unusable(name, mtime_ns, size, f"larger than {largest} bytes")
        content = path.read_bytes()
    except OSError as error:  # without time and size, as the file may be readable later and otherwise the same
        return _unusable(name, 0, 0, f"cannot be read: {error.strerror or error}")
    digest = sha256(content).hexdigest()
    if known is not None and known.digest == digest and not known.problem:
        chunks, problem = known.chunks, ""
    else:
        chunks, problem = _chunks(path, content, converters)
    return Document(name=name, mtime_ns=mtime_ns, size=size, digest=digest, chunks=chunks, problem=problem)


def _chunks(path: Path, content: bytes, converters: Converters) -> tuple[tuple[Chunk, ...], str]:
    if convert := converters.get(path.suffix.casefold()):
        try:
            return tuple(chunk_document(convert(content), is_markdown=True)), ""
        except ToolFailed as failure:
            return (), f"{failure} It is tried again once its time has changed (`touch`)."
    if b"\0" in content:
        return (), "not a text file"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return (), "not valid UTF-8"
    return tuple(chunk_document(text, is_markdown=_SUFFIXES[path.suffix.casefold()])), ""


def document_of(name: str, text: str) -> Document:
    """A document from the text of a page, as Markdown."""
    digest = sha256(text.encode()).hexdigest()
    chunks = tuple(chunk_document(text, is_markdown=True))
    return Document(name=name, mtime_ns=0, size=len(text), digest=digest, chunks=chunks)


def _unusable(name: str, mtime_ns: int, size: int, problem: str) -> Document:
    return Document(name=name, mtime_ns=mtime_ns, size=size, digest="", problem=problem)
