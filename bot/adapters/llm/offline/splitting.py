"""Splits goals that consist of several: "A and B", "A, then B", "A, or else B". By their words only.

A part may consist of several again: the node that pursues it splits it.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

MOST_PARTS = 8
"""A goal with more parts is not split."""
_MOST_PIECES = 2 * MOST_PARTS
"""A goal with more pieces between connectives is not split, as each piece may have to be judged by its meaning."""
_LONGEST = 1000
_MOST_CUTS = 8
"""The most places at which a goal is cut in two."""

IsRequest = Callable[[str], bool]
"""Whether a part is a request by itself, judged by more than its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A way to split a goal. The parts keep their words."""

    flow: str
    """`fallback`, `sequence` or `parallel`."""
    parts: tuple[str, ...]
    is_said: bool = True
    """Whether words such as "and" or the marks of a list join all parts, not only commas or ends of sentences."""


_BREAK = r"(?<![\s,;.?!])[\s,;.?!]++"
_FAILS = r"(?:that|this|it)\s+(?:fails|does\s*n[o'’]?t\s+work|is\s+not\s+possible)"
# Loosest first: "A and B, then C" is the sequence of "A and B" and "C".
_CONNECTIVES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (flow, re.compile(pattern, re.IGNORECASE))
    for flow, pattern in (
        (
            "fallback",
            rf"{_BREAK}(?:(?:and|or)[\s,]+)?(?:or\s+else|else|if\s+{_FAILS}|otherwise|failing\s+that)[\s,]+",
        ),
        (
            "sequence",
            rf"{_BREAK}(?:and|&)\s+(?:then|after\s+that|afterwards)[\s,]+|"
            r"[,;.?!]\s*(?:then|after\s+that|afterwards)[\s,]+|(?<!\s)\s++then\s+(?=\w)",
        ),
        (
            "parallel",
            rf"{_BREAK}(?:and|&)(?:\s+also)?[\s,]+|[?!.;]\s+(?=\S)|,\s+(?:also\s+)?(?=\w)|"
            r"(?<!\s)[^\S\n]*+\n\s*+(?=\S)",
        ),
    )
)
_COURTESY = r"(?:(?:please|also|kindly|now|(?:can|could|would|will)\s+you)\s+)*"
_QUESTION = re.compile(
    _COURTESY
    + r"(?:who|whom|whose|what|which|when|where|why|how|whats|hows|wheres|whos|is|are|am|was|were|do|does|did|"
    r"can|could|will|would|should|shall|may|has|have|had)\b(?:['’]\w+)?\s+\S",
    re.IGNORECASE,
)
_ORDER = re.compile(
    _COURTESY
    + r"(?:tell|show|give|find|look|search|list|calculate|compute|add|subtract|multiply|divide|convert|remember|"
    r"recall|remind|check|get|say|explain|describe|summari[sz]e|write|read|send|open|count|compare|translate|note|save|"
    r"store|forget|evaluate|solve|define|ask|work\s+out|figure\s+out)\b\s+\S",
    re.IGNORECASE,
)
_ERRAND = re.compile(
    _COURTESY
    + r"(?:add|apply|approve|arrange|block|book|bring|buy|call|cancel|change|clean|close|create|delete|deploy|disable|"
    r"enable|fix|help|increase|install|invite|lock|make|move|order|pay|play|post|print|raise|remove|renew|repair|"
    r"replace|report|request|reserve|reset|restart|schedule|set|share|sign|start|stop|submit|turn|unlock|update)\b"
    r"\s+(?!(?:it|this|that|them|him|her)\b)\S",
    re.IGNORECASE,
)
"""Begins like an order to others. Not with "it", which is about what was said before: "book a room and cancel it"."""
_QUOTED = re.compile(
    rf"\A{_COURTESY}(?:note|remember|remind|save|store|write)\b[^\n]*:(?:[^\S\n]*\n\s*+(?:[-*•]|\d{{1,2}}[.)])[^\n]*+)++|"
    r"(?<!\w)\"[^\"]*+(?:\"|\Z)|“[^“”]*+(?:[“”]|\Z)|„[^“”]*+(?:[“”]|\Z)|«[^»]*+(?:»|\Z)|"
    r"(?<!\w)`[^`]*+`|(?<!\w)'[^']*+'(?!\w)|‘[^‘’]*+’(?!\w)",
    re.IGNORECASE,
)
"""Quoted text, up to the end if it is not closed, code, and a list that is to be kept: "note that we need:". A mark of
inches (24") and an apostrophe open no quote."""
_LEFT_HANGING = re.compile(
    r"\b(?:who|whom|whose|what|which|when|where|why|how|to|of|in|on|at|for|with|from|by|the|a|an|my|our|your|their|his|"
    r"her|its|between|both|either|is|are|if)$|:$",
    re.IGNORECASE,
)
_PAIRED = re.compile(r"\b(?:between|both|either)\b", re.IGNORECASE)
_PAIR_ENDS = re.compile(r"\band\b|\s&\s|[.?!]", re.IGNORECASE)
_JOINING = re.compile(r"[^\W\d_]|&")
_LEADING = re.compile(r"^(?:(?:and|&|then|also|first|either|[-*•]|\d{1,2}[.)])[\s,]+)+", re.IGNORECASE)
"""What joins a part to the one before, or marks it in a list."""


def split(goal: str, is_request: IsRequest) -> Split | None:
    """Split the goal at its loosest connective; None if it is one request.

    A piece that is no request by itself ("rock and roll") stays with the piece before it, the first one with the next.
    `is_request` judges pieces that their words do not decide. Of alternatives, only one needs to be a request.
    """
    if len(goal) > _LONGEST:
        return None
    for flow, connective in _CONNECTIVES:
        pieces = _pieces(goal, connective)
        judge = is_request
        if flow == "fallback" and any(_is_request(goal[start:end], is_request) for start, end in pieces):
            # "or else" marks alternatives by itself; the first may be one that nobody can answer.
            judge = has_several_words
        parts = _joined(goal, pieces, flow, judge, is_request)
        if 2 <= len(parts) <= MOST_PARTS:
            is_said = all(_joins(goal, end, start) for (_, end), (start, _) in pairwise(parts))
            return Split(flow=flow, parts=tuple(_clean(goal[start:end]) for start, end in parts), is_said=is_said)
    return None


def cuts(goal: str, is_request: IsRequest) -> list[Split]:
    """The ways to cut the goal in two at one place, loosest connectives first; none if it has alternatives.

    Words decide less here than in `split`: a part may break off ("tell me where the bus is"), and `is_request` judges
    single words only. So the caller must judge the results.
    """
    (_, alternative), *connectives = _CONNECTIVES
    if len(goal) > _LONGEST or alternative.search(goal):
        return []
    found: dict[tuple[str, ...], Split] = {}
    for flow, connective in connectives:
        for (_, end), (start, _) in pairwise(_pieces(goal, connective)):
            before, after = _clean(goal[:end]), _clean(goal[start:])
            stand_alone = all(len(part.split()) > 1 or is_request(part) for part in (before, after) if part)
            if before and after and stand_alone and _are_no_pair(before, after, flow, is_request):
                parts = Split(flow=flow, parts=(before, after), is_said=_joins(goal, end, start))
                found.setdefault(parts.parts, parts)
    return list(found.values())[:_MOST_CUTS]


def begins_a_request(text: str) -> bool:
    """Whether the text begins like a question or an order, and does not break off."""
    return any(each.match(text) for each in (_QUESTION, _ORDER, _ERRAND)) and not _breaks_off(text)


def has_several_words(text: str) -> bool:
    """Whether the text may be a request by its words: it has at least two and does not break off."""
    return len(text.split()) >= 2 and not _breaks_off(text)


def _pieces(goal: str, connective: re.Pattern[str]) -> list[tuple[int, int]]:
    """The positions of the pieces between connectives; the whole text if there are too many.

    Quoted text is not split.
    """
    pieces: list[tuple[int, int]] = []
    start, quoted = 0, [each.span() for each in _QUOTED.finditer(goal)]
    for match in connective.finditer(goal):
        while quoted and quoted[0][1] <= match.start():
            del quoted[0]
        if not quoted or match.start() < quoted[0][0]:
            # A mark at the end of a sentence belongs to the piece before.
            pieces.append((start, match.start() + (match[0][0] in "?!")))
            start = match.end()
        if len(pieces) >= _MOST_PIECES:
            return [(0, len(goal))]
    return [*pieces, (start, len(goal))]


def _joined(
    goal: str, pieces: Iterable[tuple[int, int]], flow: str, judge: IsRequest, is_known: IsRequest
) -> list[tuple[int, int]]:
    """The positions of the parts that are requests; empty if there is no request."""
    parts: list[tuple[int, int]] = []
    begin, complete_to = 0, -1
    for start, end in pieces:
        piece = goal[start:end]
        is_request = partial(_is_request, judge=judge, is_last=end == len(goal))
        if complete_to >= 0 and _may_part(goal[begin:complete_to], piece, flow, is_known) and is_request(piece):
            parts.append((begin, complete_to))
            begin, complete_to = start, end
        elif complete_to >= 0 or is_request(piece) or is_request(goal[begin:end]):
            complete_to = end
    if complete_to < 0:
        return []
    return [*parts, (begin, len(goal))]


def _joins(goal: str, end: int, start: int) -> bool:
    """Whether a word or the mark of a list joins two parts."""
    return bool(_JOINING.search(goal, end, start) or _LEADING.match(goal[start:]))


def _is_request(text: str, judge: IsRequest, *, is_last: bool = False) -> bool:
    """Whether a piece is a request. A question at the end does not break off: "... and where do you come from"."""
    text = _clean(text)
    is_whole_question = is_last and _QUESTION.match(text) is not None
    return bool(text) and (is_whole_question or begins_a_request(text) or judge(text))


def _may_part(before: str, after: str, flow: str, is_known: IsRequest) -> bool:
    """Whether two parts may be separated. A part that `is_known` as a request is one, whatever its words.

    "How do I clean and store it" asks one thing with two verbs: after "and" alone, a bare order does not follow an open
    question. "the difference between what we say and what we do" is one thing, too.
    """
    before = _clean(before)
    is_whole = not _breaks_off(before) or is_known(before)
    return is_whole and _are_no_pair(before, _clean(after), flow, is_known)


def _are_no_pair(before: str, after: str, flow: str, is_known: IsRequest) -> bool:
    """Whether two cleaned parts may be separated, of which the first may break off."""
    if _PAIRED.search(_PAIR_ENDS.split(before)[-1]):
        return False
    if flow != "parallel":
        return True
    is_bare_order = _ORDER.match(after) and not _ORDER.match(before)
    is_one_question = is_bare_order and _QUESTION.match(before) and not before.endswith("?")
    return not is_one_question or (is_known(before) and is_known(after))


def _breaks_off(text: str) -> bool:
    return _LEFT_HANGING.search(text.rstrip(" ,.;!?")) is not None


def _clean(part: str) -> str:
    return _LEADING.sub("", part.strip(" ,;\n\t"))
