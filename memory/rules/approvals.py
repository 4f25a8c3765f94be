"""Which actions an approval covers: those of the same tool with arguments of the same kind.

Arguments that name a target must be equal (a word, a name of a few words, an address, a path, a switch), also within a
sentence. Numbers must have the same sign and number of integer digits. The rest of sentences, and times, may differ.
"""

import json
import math
import re
from collections.abc import Mapping
from hashlib import sha256

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"
_TIME = re.compile(rf"\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_CLOCK}\s?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?|{_CLOCK}")
_LONGEST_NAME = 4
"""The most words of a name or a command; longer texts are sentences."""
_IN_TARGETS = "@/\\#"


def argument_kinds(arguments: Mapping[str, object]) -> str:
    """The kind of an action's arguments, as JSON text."""
    kinds = {str(name): _kind(value) for name, value in arguments.items()}
    return json.dumps(kinds, sort_keys=True, ensure_ascii=False)


def permission_key(channel: str, tool: str, arguments: Mapping[str, object]) -> str:
    """The key of a permission for one kind of action in one channel: 64 hexadecimal digits."""
    return sha256("\n".join((channel, tool, argument_kinds(arguments))).encode(errors="surrogatepass")).hexdigest()


def _kind(value: object) -> object:
    match value:
        case bool() | None:
            return value
        case float() if not math.isfinite(value):
            return f"number {value}"
        case int() | float():
            return f"number {'-' if value < 0 else ''}{len(str(abs(int(value))))}"
        case str():
            return _text_kind(value.strip())
        case Mapping():
            return {str(name): _kind(each) for name, each in value.items()}
        case list() | tuple():
            kinds = {json.dumps(_kind(each), sort_keys=True, ensure_ascii=False) for each in value}
            return ["list", "one" if len(value) == 1 else "several", *sorted(kinds)]
        case _:
            return type(value).__name__


def _text_kind(text: str) -> str:
    if _TIME.fullmatch(text):
        return "time"
    words = text.casefold().split()
    if len(words) <= 1 or (len(words) <= _LONGEST_NAME and text[-1] not in ".!?…"):
        return f"name {' '.join(words)}"
    targets = {word.strip(".,;:!?()\"'") for word in words if any(sign in word for sign in _IN_TARGETS)}
    return " ".join(["text", *sorted(targets)])
