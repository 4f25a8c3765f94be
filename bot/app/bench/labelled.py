"""The labelled set: messages, and for each the one thing that is right."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory.errors import InvalidInput

_ROW = '["how do you say fly in Italian", "translate"]'
_LARGEST = 256 << 20
"""The largest file that is read, in bytes."""
_SYMBOLS = re.compile(r"[^A-Za-z0-9_-]+")
_SPACES = re.compile(r"[\W_]+")
_LONGEST_NAME = 60
_TAKEN = frozenset({"answer", "expand", "fail", "ask_person", "think", "none"})
"""Reserved names, which a tool cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What is right for some messages: a tool to use, or an answer to give."""

    label: str
    tool: str
    """The label as the name of a tool."""
    words: str
    """The label as people write it."""
    text: str
    """What the bot says when it uses this tool or gives this answer; unique to the label."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledMessage:
    """One message and the label that is right for it."""

    text: str
    label: Label


def read_split(path: Path, split: str) -> list[LabelledMessage]:
    """The messages of one split of a JSON file, in its order. Raises `InvalidInput`, which names row and remedy."""
    return read_splits(path, split)[0]


def read_splits(path: Path, *splits: str) -> list[list[LabelledMessage]]:
    """The messages of several splits, which share their labels. Raises `InvalidInput`."""
    content = _splits(path)
    pairs = [_pairs(content, path, split) for split in splits]
    labels = _labels(dict.fromkeys(label for each in pairs for _, label in each), path)
    return [[LabelledMessage(text=text, label=labels[label]) for text, label in each] for each in pairs]


def first_of_each(messages: Sequence[LabelledMessage], count: int) -> list[LabelledMessage]:
    """The first `count` messages of every label, in their order."""
    seen: Counter[str] = Counter()
    chosen: list[LabelledMessage] = []
    for message in messages:
        seen[message.label.label] += 1
        if seen[message.label.label] <= count:
            chosen.append(message)
    return chosen


def read_texts(path: Path, split: str) -> list[str]:
    """The messages of one split whose labels do not matter. Raises `InvalidInput`."""
    return [text for text, _ in _pairs(_splits(path), path, split)]


def _splits(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InvalidInput(f"{path} is larger than {_LARGEST >> 20} MiB; give a part of it")
        found = json.loads(content.decode("utf-8-sig"))
    except OSError as exc:
        raise InvalidInput(f"cannot read {path}: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is no UTF-8 text; save it as UTF-8") from exc
    except json.JSONDecodeError as exc:
        raise InvalidInput(
            f"{path} is no JSON: {exc.msg} in line {exc.lineno}, column {exc.colno}; mend it there, or get it anew"
        ) from exc
    except RecursionError as exc:
        raise InvalidInput(f"{path} is nested too deeply; give an object of lists: {_shape('test')}") from exc
    if not isinstance(found, dict):
        raise InvalidInput(f"{path} holds {_kind(found)}; give an object of lists: {_shape('test')}")
    return found


def _pairs(splits: dict[str, object], path: Path, split: str) -> list[tuple[str, str]]:
    rows = splits.get(split)
    if not isinstance(rows, list):
        lists = ", ".join(name for name, value in splits.items() if isinstance(value, list)) or "no list at all"
        raise InvalidInput(f"{path} has no list {split!r}; it has {lists}. Wanted is {_shape(split)}")
    if not rows:
        raise InvalidInput(f"{path}: {split!r} is empty; give rows such as {_ROW}")
    return [_pair(row, f"{path}: row {number} of {split!r}") for number, row in enumerate(rows, start=1)]


def _pair(row: object, where: str) -> tuple[str, str]:
    if not isinstance(row, list) or len(row) != 2:
        what = f"a list of {len(row)}" if isinstance(row, list) else _kind(row)
        raise InvalidInput(f"{where} is {what}; make it a pair of message and label, such as {_ROW}")
    for name, value in zip(("message", "label"), row, strict=True):
        if not isinstance(value, str):
            raise InvalidInput(f"{where}: the {name} is {_kind(value)}; make it a text, or take the row out")
        if not value.strip():
            raise InvalidInput(f"{where}: the {name} is empty; fill it in, or take the row out")
    text, label = row
    return text.strip(), label.strip()


def _labels(names: Sequence[str] | dict[str, None], path: Path) -> dict[str, Label]:
    """The labels, each once. Labels that would be equal by their words get numbers."""
    if len(names) < 2:
        raise InvalidInput(f"{path}: every message has the label {next(iter(names))!r}; give at least two labels")
    labels: dict[str, Label] = {}
    of_tool: dict[str, str] = {}
    for number, name in enumerate(sorted(names), start=1):
        tool = _SYMBOLS.sub("_", name).strip("_")[:_LONGEST_NAME]
        tool = f"{tool}_label" if tool in _TAKEN else tool or f"label_{number}"
        if tool in of_tool:
            raise InvalidInput(
                f"{path}: the labels {of_tool[tool]!r} and {name!r} would both be the tool {tool!r}; rename one of them"
            )
        of_tool[tool] = name
        words = _SPACES.sub(" ", name).strip() or name
        labels[name] = Label(label=name, tool=tool, words=words, text=f"{words}: entry {number}.")
    return labels


def _shape(split: str) -> str:
    return f'{{"{split}": [{_ROW}, ...]}}'


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
