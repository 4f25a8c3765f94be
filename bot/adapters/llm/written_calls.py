"""Text of a model that is no answer: thoughts between tags, and tool calls that did not come as calls.

Models write so on servers that do not parse what the model's template prescribes.
"""

import json
import re
from collections.abc import Collection, Mapping

from pydantic_ai import messages as vendor

_THOUGHT = re.compile(r"\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)
_THOUGHT_BEGIN, _THOUGHT_END = "<think>", "</think>"
_ENDED = re.compile(r"^[^\S\n]*+</think>[^\S\n]*+$|</think>[^\S\n]*+\n[^\S\n]*+$", re.MULTILINE)
"""The end of thoughts, on a line of its own or before an empty one, as of models whose template opens them."""
_TEXT_ID = "content"
"""The id that the library gives to thoughts that it found in the text."""
_CALL, _CALL_END = "<tool_call>", "</tool_call>"
_AFTER_CALL = ("<tool_response>", "<|")
"""How a model goes on after a call that no server stopped there: it invents the result, or ends the turn."""
_FENCE = "```"
_LANGUAGE = re.compile(r"\w*")


def text_of(response: vendor.ModelResponse) -> str:
    """The text of a response without the thoughts at its beginning.

    For some providers the library looks for the tags itself, in a stream only for such as are a chunk of their own.
    """
    texts: list[str] = []
    for part in response.parts:
        if isinstance(part, vendor.TextPart):
            texts.append(part.content)
        elif isinstance(part, vendor.ThinkingPart) and part.id == _TEXT_ID:
            texts.append(part.content.partition(_THOUGHT_END)[2])
    text = "".join(texts)
    if thought := _THOUGHT.match(text):
        return text[thought.end() :]
    ended = _ENDED.search(text)
    return text[ended.end() :] if ended and _THOUGHT_BEGIN not in text[: ended.start()] else text


def calls_in(text: str, offered: Collection[str]) -> tuple[str, tuple[vendor.ToolCallPart, ...]]:
    """The text before the tool calls that are written in it, and these calls. No calls if no tools are offered.

    Calls stand between tags at the end of the text; or they are the whole text, as JSON with names of offered tools.
    Tags within code or before further words are an example in an answer.
    """
    if not offered:
        return text, ()
    before, *tagged = text.split(_CALL)
    written = [each.partition(_CALL_END) for each in tagged]
    if written and not before.count("`") % 2 and all(_is_call(inner, after) for inner, _, after in written):
        inners = [inner.strip() for inner, _, _ in written]
        return before.strip(), tuple(
            _call(_value(each)) or vendor.ToolCallPart(tool_name="tool_call", args=each) for each in inners
        )
    value = _value(_unfenced(text.strip()))
    calls = [_call(each) for each in (value if isinstance(value, list) else [value])]
    known = tuple(call for call in calls if call is not None and call.tool_name in offered)
    return ("", known) if known and len(known) == len(calls) else (text, ())


def _is_call(inner: str, after: str) -> bool:
    after = after.strip()
    return inner.lstrip().startswith("{") and (not after or after.startswith(_AFTER_CALL))


def _unfenced(text: str) -> str:
    """The text within the fence around all of it; without a fence, the text."""
    if not text.startswith(_FENCE) or not text.endswith(_FENCE) or len(text) < 2 * len(_FENCE):
        return text
    return _LANGUAGE.sub("", text[len(_FENCE) : -len(_FENCE)], count=1).strip()


def _value(text: str) -> object:
    try:
        return json.loads(text) if text.startswith(("{", "[")) else None
    except (ValueError, RecursionError):
        return None


def _call(value: object) -> vendor.ToolCallPart | None:
    if not isinstance(value, Mapping):
        return None
    name, arguments = value.get("name"), value.get("arguments", value.get("parameters"))
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return None
    return vendor.ToolCallPart(tool_name=name, args=dict(arguments))
