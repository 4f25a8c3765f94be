"""Converts CommonMark to Discord's Markdown, without mentions.

Discord's dialect (support.discord.com, "Markdown Text 101") has headings of three levels, lists, quotes, code, links.
It lacks tables, images, rules and deeper headings. It also formats text that is plain in CommonMark: mentions,
spoilers, underlined text, small print, quotes to the end of the message.
"""

import re

from bot.adapters.commonmark import FENCE, INVISIBLE, RULE, Fence, in_columns, outside_code
from bot.adapters.link_labels import with_real_addresses

_CONTROL = re.compile(r"<(?=@|#|:|a:|/|t:|id:)")
_BROADCAST = re.compile(r"[@＠](?=everyone|here)", re.IGNORECASE)
_IMAGE = re.compile(r"!\[(?P<label>[^\]\n]*+)(?P<target>\]\()?")
"""An image. A match without a target is not one, and what begins within it is not one either."""
_STRONG = re.compile(r"(?<![\w\\_])__(?=\S)(?P<text>[^\n]+?)(?<=\S)__(?![\w_])")
_STRONG_END = re.compile(r"(?<=\S)__(?![\w_])")
_BREAK = re.compile(r"<br\s*+/?>", re.IGNORECASE)
_DEEP_HEADING = re.compile(r"^(?P<indent> {0,3})#{4,6}\s++(?P<title>.*)$")
_RULE = re.compile(r"^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$")
_UNDERLINE = re.compile(r"^ {0,3}(?P<mark>=+|-+) *$")
_NO_TITLE = re.compile(r"^\s*(?:$|[#>|]|[-*+] |\d+[.)] )")
_ROW = re.compile(r"^ {0,3}\|?.+\|.*$")
_TABLE_LINE = re.compile(r"^ {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$")
_CELL_END = re.compile(r"(?<!\\)\|")
_WEB = re.compile(r"(?<![<\w])https?://[^\s<>\[\]]+")
_AFTER_A_WEB_ADDRESS = ".,:;!?'\"*_~|"


def to_discord(text: str) -> str:
    """CommonMark as Discord's dialect, with unsupported blocks replaced by similar ones. Code is unchanged."""
    shown: list[str] = []
    lines = text.split("\n")
    position = 0
    while position < len(lines):
        fence = FENCE.match(lines[position])
        if fence:
            position = _code_block(lines, position, fence, shown)
        elif _is_table(lines, position):
            position = _table(lines, position, shown)
        else:
            position = _prose(lines, position, shown)
    return "\n".join(shown)


def defuse_mentions(text: str) -> str:
    """The text with mentions, custom emoji and time stamps defused."""
    return _BROADCAST.sub(f"@{INVISIBLE}", _CONTROL.sub(f"<{INVISIBLE}", text))


def to_discord_quietly(text: str) -> str:
    """CommonMark as Discord's dialect, with web addresses in angle brackets, so that they get no preview.

    For replies to interactions, which cannot turn previews off.
    """
    shown: list[str] = []
    is_code = False
    for line in to_discord(text).split("\n"):
        is_fence = FENCE.match(line) is not None
        is_code ^= is_fence
        shown.append(line if is_fence or is_code else outside_code(line, lambda words: _WEB.sub(_quiet, words)))
    return "\n".join(shown)


def _quiet(found: re.Match[str]) -> str:
    """A web address in angle brackets, without the punctuation after it."""
    address = found[0]
    if found.string.startswith("](", found.end()):
        return address
    end, unopened = len(address), address.count(")") - address.count("(")
    while address[end - 1] in _AFTER_A_WEB_ADDRESS or unopened > 0:
        before = end - 1 if address[end - 1] in _AFTER_A_WEB_ADDRESS else address.rindex(")", 0, end)
        unopened += address.count("(", before, end) - address.count(")", before, end)
        end = before
    return f"<{address[:end]}>{address[end:]}"


def one_line(text: str, longest: int) -> str:
    """Text as one line without formatting and mentions, cut to `longest` characters."""
    words = defuse_mentions(" ".join(text.split()))
    shown = re.sub(r"([\\*_`~|])", r"\\\1", words)
    return shown if len(shown) <= longest else f"{shown[: longest - 1].rstrip(chr(92))}…"


# Blocks -----------------------------------------------------------------------------------------------------------


def _code_block(lines: list[str], start: int, fence: re.Match[str], shown: list[str]) -> int:
    """A code block with three backticks, the only fence Discord knows, and without a list's indentation."""
    lead, opened = fence["lead"], Fence(fence["lead"], fence["mark"], fence["info"])
    found = ((number, FENCE.match(lines[number])) for number in range(start + 1, len(lines)))
    end = next((number for number, line in found if line and opened.is_closed_by(line)), len(lines))
    margin = re.compile("" if ">" in lead else rf"^[ \t]{{0,{len(lead)}}}")
    shown.append(f"{lead.replace('+', '-')}```{opened.info.strip()}")
    shown.extend(margin.sub("", line, count=1).replace("```", f"``{INVISIBLE}`") for line in lines[start + 1 : end])
    shown.append(f"{re.sub(r'[^ >]', ' ', lead) if '>' in lead else ''}```")
    return end + 1


def _is_table(lines: list[str], start: int) -> bool:
    has_two = start + 1 < len(lines)
    return has_two and bool(_ROW.match(lines[start])) and bool(_TABLE_LINE.match(lines[start + 1]))


def _table(lines: list[str], start: int, shown: list[str]) -> int:
    """A table in columns of plain text, as code."""
    end = start
    while end < len(lines) and _ROW.match(lines[end]):
        end += 1
    rows = [_cells(line) for number, line in enumerate(lines[start:end]) if number != 1]
    shown += ["```", *(line.replace("```", f"``{INVISIBLE}`") for line in in_columns(rows)), "```"]
    return end


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _CELL_END.split(inner)]


def _prose(lines: list[str], position: int, shown: list[str]) -> int:
    line = lines[position]
    following = lines[position + 1] if position + 1 < len(lines) else ""
    underline = _UNDERLINE.match(following)
    if underline and not _NO_TITLE.match(line) and not _RULE.match(line):
        shown.append(f"{'#' if underline['mark'][0] == '=' else '##'} {_inline(line.strip())}")
        return position + 2
    if _RULE.match(line):
        shown.append(RULE)
    elif heading := _DEEP_HEADING.match(line):
        title = _inline(_without_closing(heading["title"])).replace("**", "")
        shown.append(f"{heading['indent']}**{title}**" if title else "")
    else:
        shown.append(_line_start(_inline(line)))
    return position + 1


def _without_closing(title: str) -> str:
    """The text of a heading without closing `#` signs."""
    words = title.rstrip()
    opened = words.rstrip("#")
    return opened.rstrip() if opened[-1:].isspace() else words


def _line_start(line: str) -> str:
    """The beginning of a line in Discord's Markdown."""
    line = re.sub(r"^(\s*)\+ ", r"\1- ", line)
    line = re.sub(r"^(\s*[-*] )\[ \] ", r"\1☐ ", line)
    line = re.sub(r"^(\s*[-*] )\[[xX]\] ", r"\1☑ ", line)
    line = re.sub(r"^( {0,3})>(?: ?>)+ ?", r"\1> ", line)
    return re.sub(r"^(\s*)-#", r"\1\\-#", line)


# Inside a line ----------------------------------------------------------------------------------------------------


def _inline(line: str) -> str:
    return outside_code(line, _words)


def _words(text: str) -> str:
    text = _IMAGE.sub(_image, _BREAK.sub("\n", text))
    text = with_real_addresses(text) if "](" in text else text
    text = "\n".join(map(_strong, text.split("\n")))
    return defuse_mentions(re.sub(r"(?<!\\)\|\|", r"\\|\\|", text))


def _image(found: re.Match[str]) -> str:
    return f"[{found['label'] or 'image'}](" if found["target"] else found[0]


def _strong(line: str) -> str:
    """The line with `__bold__` as `**bold**`, because `__` underlines text in Discord."""
    end = max((found.end() for found in _STRONG_END.finditer(line)), default=0)
    return _STRONG.sub(r"**\g<text>**", line[:end]) + line[end:]
