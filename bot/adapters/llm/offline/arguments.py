"""Finds the arguments of a tool in a goal, by the names and types in the tool's schema.

Nothing is inferred: optional arguments that are not in the goal are left out; if a required one is missing, the tool
cannot be used for this goal.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.adapters.llm.offline.arithmetic import find_expression, without_expression
from bot.adapters.llm.offline.change import find_change
from bot.adapters.llm.offline.courtesy import find_courtesy
from bot.adapters.llm.offline.place import find_place
from bot.adapters.llm.offline.reminder_request import find_reminder
from bot.adapters.llm.offline.tokenizer import request_words

_NUMBER = re.compile(r"(?<![\w.])-?\d++(?:\.\d++)?(?!\.*+\w)")
_QUOTED = re.compile(r"[\"“«`]([^\"“«`”»]+)[\"”»`]|(?<!\w)'([^']+)'(?!\w)")

# Only the beginning of a request is matched; the rest is split at fixed words, in one pass over each text.
_PLEASE = r"(?:please\s+|can\s+you\s+|could\s+you\s+)*"
_REMEMBER = re.compile(
    rf"{_PLEASE}(?:remember|note|save|store|keep\s+in\s+mind|write\s+down|memori[sz]e)(?:\s+down)?(?:\s+that)?[\s:,]++",
    re.IGNORECASE,
)
_BE = re.compile(r"\s(?:is|are|was|were)\s|=|:\s", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|a|an|my|our|your)\s+", re.IGNORECASE)
_SEARCH = re.compile(
    rf"{_PLEASE}(?:search|look|find|check|query)(?:\s+(?:up|in|through|for|me))*"
    r"(?:\s+(?:the|our|this|my|your|all))?"
    r"(?:\s+(?:docs?|web|internet|documents?|documentation|knowledge(?:\s+base)?|handbook|wiki|notes|files|folder|conversation|chat|"
    r"channel|history|messages))+\s+(?:for|about|on|to\s+find)\s+(?=\S)",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\babout\s+(?:the\s+|our\s+|my\s+|a\s+)?(?=\w)", re.IGNORECASE)
_CANCELLED = re.compile(
    rf"{_PLEASE}(?:cancel|delete|remove|stop)\s+(?:the|my|that)?\s*reminder\s+(?:about|to|for|of|that)?\s*",
    re.IGNORECASE,
)
_COURTESY_FIT = 0.8
"""Below 1, so that a taught answer to such a message is preferred."""
_URL = re.compile(r"https?://[^\s<>\"'|()]++")
_CLOSING = re.compile(r"(?<![\s.!?])[\s.!?]++\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledArguments:
    """The arguments of a tool that were found in a goal."""

    arguments: Mapping[str, object] = field(default_factory=dict[str, object])
    spans: Mapping[str, str] = field(default_factory=dict[str, str])
    """The words of the goal that an argument was read from, by its name, if they are separable from the request."""
    fit: float = 0.0
    """1 if the goal is only a request with these arguments; 0 if that is unknown."""
    is_search: bool = False
    """Whether an argument is the whole question, so that the result need not answer it."""


_NOTHING = FilledArguments()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    value: object
    span: str = ""
    fit: float = 0.0
    is_search: bool = False


def fill(schema: Mapping[str, object], goal: str, keys: Sequence[str] = ()) -> FilledArguments | None:
    """The arguments for `schema` (type object), or None if a required one is not in the goal.

    `keys` are those of the working memory: a tool with a key but no value reads one of them.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return _NOTHING
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    reads_key = "key" in properties and "value" not in properties
    found: dict[str, _Found] = {}
    for name, described in properties.items():
        shape = described if isinstance(described, Mapping) else {}
        if name == "key" and reads_key:
            one = _listed_key(goal, keys)
        else:
            one = _find(name, shape, goal, is_needed=name in needed)
        if one is not None:
            found[name] = one
        elif name in needed:
            return None
    return FilledArguments(
        arguments={name: one.value for name, one in found.items()},
        spans={name: one.span for name, one in found.items() if one.span},
        fit=max((one.fit for one in found.values()), default=0.0),
        is_search=any(one.is_search for one in found.values()),
    )


def _find(name: str, shape: Mapping[str, object], goal: str, *, is_needed: bool) -> _Found | None:
    options = shape.get("enum")
    if isinstance(options, list):
        named = (option for option in options if isinstance(option, str) and _mentions(goal, option))
        return next((_Found(value=option) for option in named), None)
    match _type_of(shape):
        case "string":
            return _text(name, goal, is_needed=is_needed)
        case "integer" | "number" as kind:
            return _number(name, str(kind), goal, is_needed=is_needed)
        case "boolean":
            return _flag(name, goal)
        case _:
            return None


def _type_of(shape: Mapping[str, object]) -> object:
    """The type, also from `["string", "null"]` and `anyOf: [{type: string}, {type: null}]`."""
    alternatives = shape.get("anyOf")
    if isinstance(alternatives, list):
        kinds = [option.get("type") for option in alternatives if isinstance(option, Mapping)]
    else:
        kind = shape.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
    return next((kind for kind in kinds if kind != "null"), None)


def _flag(name: str, goal: str) -> _Found | None:
    words = name.replace("_", " ")
    if not _mentions(goal, words):
        return None
    return _Found(value=re.search(rf"\b(?:no|not|without)\s+{re.escape(words)}\b", goal, re.IGNORECASE) is None)


def _number(name: str, kind: str, goal: str, *, is_needed: bool) -> _Found | None:
    """The number next to the argument's name; if there is none and it is required, the first number."""
    word, number = re.escape(name.replace("_", " ")), r"\d++(?:\.\d++)?"
    match = re.search(rf"\b{word}\D{{0,5}}(-?{number})|((?:-|(?<!\d)){number})\s+{word}s?\b", goal, re.IGNORECASE)
    if match is not None:
        text = match[1] or match[2]
    elif is_needed and (first := _NUMBER.search(goal)):
        text = first[0]
    else:
        return None
    value = float(text)
    if kind == "integer":
        return _Found(value=int(value)) if value.is_integer() else None
    return _Found(value=int(value) if value.is_integer() else value)


def _text(name: str, goal: str, *, is_needed: bool) -> _Found | None:
    if find := _BY_NAME.get(name.casefold()):
        return find(goal)
    quoted = _QUOTED.search(goal) if is_needed else None
    return _Found(value=quoted[1] or quoted[2]) if quoted else None


def _expression(goal: str) -> _Found | None:
    expression = find_expression(goal)
    if not expression:
        return None
    is_all = set(request_words(without_expression(goal))) <= _CALCULATING
    return _Found(value=expression, span=expression, fit=1.0 if is_all else 0.0)


_CALCULATING = frozenset(
    request_words("calculate compute evaluate solve work out result answer value equal make total sum add up")
)


def _place(goal: str) -> _Found | None:
    place = find_place(goal)
    return _Found(value=place, span=place) if place else None


def _topic(goal: str) -> _Found | None:
    goal = goal.strip()
    search = _SEARCH.match(goal)
    if search:
        topic = _unmarked(goal[search.end() :], ".!?")
        return _Found(value=topic, span=topic, is_search=True)
    about = _ABOUT.search(goal)
    return _Found(value=goal, span=_CLOSING.sub("", goal[about.end() :]) if about else "", is_search=True)


def _fact(goal: str) -> Mapping[str, str]:
    """The key and value to remember: "note that the door code is 4711" has "door code" and "4711"."""
    goal = goal.strip()
    request = _REMEMBER.match(goal)
    # The key has at least one character, so the separator is searched after it.
    between = _BE.search(goal, request.end() + 1) if request else None
    if request is None or between is None:
        return {}
    key, value = goal[request.end() : between.start()].strip(), goal[between.end() :].strip()
    return {"key": _ARTICLE.sub("", key), "value": _unmarked(value, ".!").strip()} if key and value else {}


def _unmarked(text: str, marks: str) -> str:
    """The text without these marks at its end, unless it has no other characters."""
    return text.rstrip(marks) or text[:1]


def _listed_key(goal: str, keys: Sequence[str]) -> _Found | None:
    """The working-memory key whose words are all in the goal; the longest of several."""
    asked = set(request_words(goal))
    mentioned = [key for key in keys if request_words(key) and set(request_words(key)) <= asked]
    if not mentioned:
        return None
    key = max(mentioned, key=lambda one: len(request_words(one)))
    is_all = asked <= set(request_words(key)) | _READING
    return _Found(value=key, fit=1.0 if is_all else 0.0)


_READING = frozenset(request_words("recall remember read look up note noted key value working memory again"))


def _mentions(goal: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", goal, re.IGNORECASE) is not None


def _reminder(goal: str) -> _Found | None:
    found = _CANCELLED.match(goal.strip())
    what = _unmarked(goal.strip()[found.end() :], ".!").strip(' "“”') if found else ""
    return _Found(value=what, fit=1.0) if what else None


def _courtesy(goal: str) -> _Found | None:
    kind = find_courtesy(goal)
    return _Found(value=kind, fit=_COURTESY_FIT) if kind else None


def _url(goal: str) -> _Found | None:
    found = _URL.search(goal)
    return _Found(value=found[0].rstrip(".,;:!?"), span=found[0], fit=1.0) if found else None


def _one_of(find: Callable[[str], Mapping[str, str]], name: str) -> Callable[[str], _Found | None]:
    """Finds one of several arguments that a goal has together."""

    def one(goal: str) -> _Found | None:
        found = find(goal)
        return _Found(value=found[name], fit=1.0 if all(found.values()) else _COURTESY_FIT) if found else None

    return one


_BY_NAME: Mapping[str, Callable[[str], _Found | None]] = {
    **dict.fromkeys(("expression", "formula", "calculation", "arithmetic"), _expression),
    **dict.fromkeys(("place", "zone", "timezone", "time_zone", "tz", "city", "location", "country", "where"), _place),
    **dict.fromkeys(("query", "text", "question", "topic", "search", "q", "about", "words", "subject", "for"), _topic),
    **dict.fromkeys(("key", "name", "label"), _one_of(_fact, "key")),
    **dict.fromkeys(("value", "content", "fact", "note"), _one_of(_fact, "value")),
    **{name: _one_of(find_change, name) for name in ("thing", "property", "new_value")},
    **{name: _one_of(find_reminder, name) for name in ("what", "when")},
    "url": _url,
    "reminder": _reminder,
    "courtesy": _courtesy,
}
