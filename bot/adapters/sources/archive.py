"""Reads untrusted zip archives, within limits and without unpacking to disk."""

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, cast

from bot.adapters.sources.entries import LARGEST_FILE, FileFault
from memory.errors import InvalidInput

_MOST_FILES = 500_000
"""Enough for ten years of 100 channels with a file a day."""
_LARGEST_SUM = 32 << 30
"""Bytes of all files, unpacked."""
_HIGHEST_RATIO = 200
"""The highest compression ratio of a large file: text has 5 to 30, lists of zeros 1,000."""
_LARGE = 1 << 20
_MOST_FAULTS = 1000


def object_of(value: object) -> dict[str, Any]:
    """A JSON object; an empty one for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects_of(value: object) -> list[dict[str, Any]]:
    """The objects in a JSON list; none for any other value."""
    return [object_of(each) for each in value if isinstance(each, dict)] if isinstance(value, list) else []


@dataclass(slots=True)
class Archive:
    """An open archive of JSON files."""

    _zip: zipfile.ZipFile
    faults: list[FileFault] = field(default_factory=list[FileFault])
    _names: dict[str, zipfile.ZipInfo] = field(default_factory=dict[str, zipfile.ZipInfo])

    def __post_init__(self) -> None:
        every = self._zip.infolist()
        if len(every) > _MOST_FILES:
            raise InvalidInput(f"the archive has {len(every):,} files; {_MOST_FILES:,} are read")
        if sum(each.file_size for each in every) > _LARGEST_SUM:
            raise InvalidInput(f"the archive is larger than {_LARGEST_SUM >> 30} GiB unpacked; learn from it in parts")
        for each in every:
            if each.is_dir() or not each.filename.endswith(".json") or each.filename.startswith("__MACOSX/"):
                continue
            path = PurePosixPath(each.filename.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts:
                self.fault(each.filename, "its name leads out of the archive")
            else:
                self._names.setdefault(str(path), each)

    @property
    def names(self) -> list[str]:
        """The names of its JSON files, in alphabetical order."""
        return sorted(self._names)

    def fault(self, position: str, reason: str) -> None:
        """Note something that could not be read."""
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(FileFault(position=position[:200], reason=reason))

    def records(self, name: str) -> list[dict[str, Any]]:
        """The objects in a file with a list of them; empty, with a fault, for other content."""
        value = self.value(name) if name in self._names else []
        if value is None:
            return []
        if not isinstance(value, list):
            self.fault(name, "it is no list")
            return []
        found = objects_of(value)
        if len(found) < len(value):
            self.fault(name, f"{len(value) - len(found)} of its entries are no objects")
        return found

    def value(self, name: str) -> object:
        """The JSON value of a file; None, with a fault, if it cannot be read."""
        info = self._names[name]
        too_large = f"it is larger than {LARGEST_FILE >> 20} MiB"
        if info.file_size > LARGEST_FILE:
            self.fault(name, too_large)
            return None
        if info.file_size > _LARGE and info.file_size > _HIGHEST_RATIO * max(1, info.compress_size):
            self.fault(name, "it is packed suspiciously small")
            return None
        try:
            with self._zip.open(info) as file:
                # The declared size may be wrong.
                content = file.read(info.file_size + 1)
            if len(content) > info.file_size:
                raise zipfile.BadZipFile("it is larger than it says")
            return json.loads(content)
        except (ValueError, RecursionError, RuntimeError, NotImplementedError, OSError, EOFError) as error:
            self.fault(name, f"it cannot be read: {str(error)[:200]}")
        except zipfile.BadZipFile as error:
            self.fault(name, f"it is damaged: {str(error)[:200]}")
        return None


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Open an archive. Raises `InvalidInput` if it is none."""
    try:
        file = zipfile.ZipFile(path)
    except zipfile.BadZipFile as exc:
        raise InvalidInput(f"{path} is no zip archive, or a damaged one: {exc}") from exc
    except OSError as exc:
        raise InvalidInput(f"cannot read {path}: {exc.strerror or exc}") from exc
    with file:
        yield Archive(file)
