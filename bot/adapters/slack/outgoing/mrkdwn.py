"""Converts CommonMark to Slack's mrkdwn, without mentions.

Messages carry their text in a `markdown` block, which Slack itself renders: headings, tables, nested lists and code
keep their form, and a block takes 12,000 characters where a section of mrkdwn takes 3,000. `to_mrkdwn` makes Slack's
own dialect for the places that have no such block: notification texts, modals, App Home, slash command replies.
"""

import re
from collections.abc import Iterable, Sequence

from markdown_it.token import Token

from bot.adapters.commonmark import INVISIBLE, RULE, code_and_prose, in_columns, outside_code, parser
from bot.adapters.link_labels import with_real_addresses

_OPEN, _CLOSE = r"(?:<|&lt;|&#0*60;|&#x0*3c;)", r"(?:>|&gt;|&#0*62;|&#x0*3e;)"
_CONTROL = re.compile(
    rf"{_OPEN}(?:!|@|&#33;|&#64;)(?P<target>[^<>|&\s]++)(?:\|(?P<label>(?:(?!{_CLOSE})[^<>\n])*+))?+(?P<end>{_CLOSE})?",
    re.IGNORECASE,
)
"""A mention or link. A match without an end is not one, and what begins within it is not one either."""
_CONTROL_LINK = re.compile(r"(?<=\]\()(?=<?(?:!(?:channel|here|everyone|subteam)\b|@[UW]\w{2}))", re.IGNORECASE)
"""Where the target of a link to `!channel` or `@U1` begins: Slack's dialect writes both as it writes a mention."""
_ABSOLUTE = re.compile(r"(?:[a-z][a-z0-9+.-]*://|mailto:|tel:)\S", re.IGNORECASE)
_BROADCAST = re.compile(r"[@＠](?=(?:everyone|here|channel|group)\b)", re.IGNORECASE)
_CODE_CONTROL = re.compile(
    rf"{_OPEN}(?=(?:!|&#33;)(?:channel|here|everyone|group|subteam|date)\b|(?:@|&#64;)(?-i:[UWB][A-Z0-9]{{2}}))",
    re.IGNORECASE,
)
_CODE_BROADCAST = re.compile(r"[@＠](?=(?:everyone|here|channel|group)\b(?![.(]))", re.IGNORECASE)
"""In code fewer things notify people: `@group.command()` and `List<@NonNull>` do not."""
_PARSER = parser()


def defuse_mentions(text: str) -> str:
    """The text with all defused that would notify people: `<!channel>`, `<@U1>`, `<!subteam^S1>`, `@everyone`."""
    return _CONTROL_LINK.sub(INVISIBLE, _quiet(text))


def escaped(text: str) -> str:
    """Plain text escaped for mrkdwn."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def to_mrkdwn(text: str) -> str:
    """CommonMark as mrkdwn, with headings in bold, tables as code and images as links."""
    return "\n".join(_blocks(_PARSER.parse(_quiet(text)))).strip()


def _quiet(text: str) -> str:
    if "```" not in text and "~~~" not in text:
        return _quiet_words(text)
    return "".join(_quiet_code(part) if is_code else _quiet_words(part) for part, is_code in code_and_prose(text))


def _quiet_code(text: str) -> str:
    """Code in which an invisible character defuses what would notify people."""
    return _CODE_BROADCAST.sub(rf"\g<0>{INVISIBLE}", _CODE_CONTROL.sub(rf"\g<0>{INVISIBLE}", text))


def _quiet_words(text: str) -> str:
    if "](" in text:
        text = "\n".join(outside_code(line, with_real_addresses) for line in text.split("\n"))
    return _BROADCAST.sub(f"@{INVISIBLE}", _CONTROL.sub(_defused, text))


def _defused(found: re.Match[str]) -> str:
    if not found["end"]:
        return found[0]
    name = (found["label"] or found["target"].rpartition("^")[2]).lstrip("@")
    return f"@{INVISIBLE}{name}"


# Blocks -----------------------------------------------------------------------------------------------------------


def _blocks(tokens: Sequence[Token]) -> list[str]:
    lines: list[str] = []
    position = 0
    while position < len(tokens):
        end = _end(tokens, position)
        lines.extend(_block(tokens, position, end))
        if tokens[position].level == 0 and end + 1 < len(tokens):
            lines.append("")
        position = end + 1
    return lines


def _block(tokens: Sequence[Token], start: int, end: int) -> list[str]:
    """The lines of the block that begins at `start` and whose closing token is at `end`."""
    token, inside = tokens[start], tokens[start + 1 : end]
    match token.type:
        case "heading_open":
            title = escaped(_plain(inside[0].children or [])).replace("*", "∗")
            return [f"*{title}*"] if title else []
        case "fence" | "code_block":
            return ["```", *escaped(token.content.rstrip("\n")).split("\n"), "```"]
        case "hr":
            return [RULE]
        case "blockquote_open":
            return [f"> {line}" for line in _blocks(inside)]
        case "bullet_list_open" | "ordered_list_open":
            return _list(token, inside)
        case "table_open":
            return ["```", *_table(inside), "```"]
        case "inline":
            return _inline(token.children or []).split("\n")
        case _:
            return _blocks(inside)


def _list(token: Token, inside: Sequence[Token]) -> list[str]:
    lines: list[str] = []
    number = int(token.attrs.get("start", 1))
    position = 0
    while position < len(inside):
        end = _end(inside, position)
        first, *others = [line for line in _blocks(inside[position + 1 : end]) if line] or [""]
        lines.append(f"{f'{number}.' if token.type.startswith('ordered') else '•'} {first}")
        lines.extend(f"    {line}" for line in others)
        number, position = number + 1, end + 1
    return lines


def _table(inside: Sequence[Token]) -> list[str]:
    rows: list[list[str]] = []
    for token in inside:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(escaped(_plain(token.children or [])))
    return in_columns(rows)


def _end(tokens: Sequence[Token], start: int) -> int:
    """Where the block that begins at `start` ends: at its closing token, or where it began."""
    if tokens[start].nesting != 1:
        return start
    level = tokens[start].level
    return next(i for i in range(start + 1, len(tokens)) if tokens[i].nesting == -1 and tokens[i].level == level)


# Inside a line ----------------------------------------------------------------------------------------------------

_MARKS = {
    "strong_open": "*", "strong_close": "*", "em_open": "_", "em_close": "_", "s_open": "~", "s_close": "~",
    "softbreak": "\n", "hardbreak": "\n",
}  # fmt: skip


def _inline(tokens: Iterable[Token]) -> str:
    written: list[str] = []
    target = ""
    for token in tokens:
        match token.type:
            case "text":
                written.append(escaped(token.content))
            case "code_inline":
                written.append(f"`{escaped(token.content)}`")
            case "link_open":
                target = str(token.attrs.get("href", ""))
                written.append(_opening(target))
            case "link_close":
                written.append(_closing(target))
                target = ""
            case "image":
                source = str(token.attrs.get("src", ""))
                label = escaped(token.content).replace("|", "¦") or "image"
                written.append(label if target else f"{_opening(source)}{label}{_closing(source)}")
            case _:
                written.append(_MARKS.get(token.type, escaped(token.content)))
    return "".join(written)


def _opening(target: str) -> str:
    """The opening of a link. Only an address with a scheme is one: `<!channel|here>` would notify people."""
    return f"<{escaped(target).replace('|', '%7C')}|" if _ABSOLUTE.match(target) else ""


def _closing(target: str) -> str:
    return ">" if _ABSOLUTE.match(target) else f" ({escaped(target)})"


def _plain(tokens: Iterable[Token]) -> str:
    """The text of a line without formatting, for headings and columns."""
    return "".join(" " if token.type in ("softbreak", "hardbreak") else token.content for token in tokens)
