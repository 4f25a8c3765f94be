"""Rewrites short follow-ups by rules: "and of Spain?" after "What is the capital of France?".

A message is a follow-up only if it is clearly no complete question: it opens like one ("and ...", "what about ...") and
has no verb, or is a fragment that fits a place in the last question, or asks about "it" and names nothing that "it"
could be. A complete question that opens like one, or asks about "the big one", is only ever rewritten to a known
question; so is one that opens in German or French. Everything else stays unchanged.

It becomes the known question that contains its words, if there is one; else the last question, with the follow-up in
place of its most similar phrase; else both, one after the other.
"""

import re
from collections.abc import Iterable

from bot.adapters.llm.offline.similarity import Similarity
from bot.adapters.llm.offline.tokenizer import request_words
from memory.rules.retrieval.similarity import words

MOST_WORDS = 9
_FEW = 2
_LONGEST_MESSAGE, _LONGEST_GOAL = 200, 300
_KNOWN = 0.62
"""The least similarity of a known question to the last question and the follow-up together."""
_LIKE = 0.05
"""The least similarity of two phrases, one of which replaces the other."""

_FILLERS = (
    r"ok(?:ay)?|all?\s?right|so|hm+|right|thanks|thank\s+you|thx|cool|oh|ah|"
    r"(?:great|good|fine|sure|yes|yeah|well|sorry)(?=[,.!]|\s+(?:and|but|or|what|how)\b)"
)
_OPENING = re.compile(
    rf"^\W*(?:(?:{_FILLERS}|and|but|then|or|also)\b[\s,.:!]*)*"
    r"(?P<about>(?:what|how)(?:['’]?s|\s+is)?\s+(?:about|of)\b|what\s+(?=if\b)|i\s+(?:mean|meant|was\s+asking\s+about)\b|"
    r"the\s+ones?\s+(?=(?:for|of|in|at|on|from|with|to|by)\b)|"
    r"(?:(?:the\s+)?same(?:\s+(?:question|thing|again|here))?|likewise)\s+(?:for|with|in|on|at|about)\b(?=\s))?[\s,:]*",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(rf"^\W*(?:(?:{_FILLERS})\b[\s,.:!]*)*(?:and|or|but|also|then)\b", re.I)
_OPENING_ELSEWHERE = re.compile(
    r"^\W*(?:(?:ok|okay|gut|danke|merci|bien|alors|also)\b[\s,.:!]*)*"
    r"(?:(?:und|aber|oder|et|mais|ou)\b\s*)?(?:was\s+ist\s+mit\b|wie\s+(?:ist|sieht|steht)\s+es\s+(?:mit|für)\b"
    r"|qu['’]en\s+est[\s-]il\s+(?:de|du|des|pour)\b)?",
    re.IGNORECASE,
)
"""Openings of follow-ups in German and French."""
_FUNCTION = (
    "der die das den dem des ein eine einen einem einer für mit in im am an auf bei beim zu zum zur von vom "
    "aus es le la les l du de d un une au aux pour par en dans avec sur à celle celui celles ceux"
)
_FUNCTION_WORDS = frozenset(_FUNCTION.split())
_CLOSING = re.compile(r"[\s,]*\b(?:then|too|as well|instead|please|though|pls)\b[\s.!?]*$|[\s.!?…]+$", re.IGNORECASE)
_VERBS = (
    "is are was were am be been do does did has have had can could will would shall should may might must "
    "isn't aren't wasn't weren't don't doesn't didn't hasn't haven't can't couldn't won't wouldn't shouldn't "
    "need needs want wants get gets got go goes make makes mean means work works know knows think say says tell "
    "let's lets i'm i've i'd we're we've it's that's there's who's what's where's"
)
_HAS_VERB = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, _VERBS.split()))})\b|['’](?:s|re|ll|d|ve)\s+(?:the|a|an|it|my)\b", re.I
)
_SUBJECT = re.compile(r"^(?:i|we|you|he|she|they|it|let)\b", re.IGNORECASE)
_PREPOSITION = (
    "of in for on at to from with about during by after before under over per within without near between inside "
    "outside into via as until since"
)
_STARTS_WITH_PREPOSITION = re.compile(rf"^(?P<p>{'|'.join(_PREPOSITION.split())})\b\s+(?P<rest>\S.*)", re.IGNORECASE)
_QUESTION_WORD = r"(?:what|which|who|whom|whose|when|where|why|how(?:\s+(?:much|many|long|often|far|big|old|late))?)"
_BARE_QUESTION = re.compile(
    rf"^(?:since\s+|until\s+|at\s+|by\s+|for\s+|to\s+|from\s+|with\s+)?{_QUESTION_WORD}"
    r"(?:\s+(?:not|exactly|come|time|else|one|ones|room|floor|day|days|cost|costs))?$",
    re.IGNORECASE,
)
_SAME = re.compile(r"^(?:(?:the\s+)?same\b|likewise\b).*\b(?P<p>for|with|in|on|at|about)$", re.IGNORECASE)
_OPERATION = re.compile(r"\b(?P<by>times|plus|minus|divided\s+by|percent\s+of)\s+-?\d[\d.,]*\b", re.IGNORECASE)
_THAT_ONE = re.compile(r"\b(?:an?|the|that|your|our)\s+(?:[\w-]+\s+){1,3}ones?\b", re.IGNORECASE)
_COURTESY = re.compile(
    r"(?:thanks?|thx|cheers|sorry|hello|hi|hey|bye|good|great|nice|cool|well|happy|yes|no|not|please|congrat\w*|wow|lol|ok)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\b(?-i:(?!IT\b))(?P<word>its|it|they|them|their|he|him|his|she|her|there|that|this|those|these|one)\b"
    r"(?!['’])(?P<behind>\s+\S+)?",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"^(?:{_QUESTION_WORD}|is|are|was|were|do|does|did|can|could|will|would|should|may|must|has|have|tell|explain|show)\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:it|that|this|there)\b.*\b(?:to|that|if|when|raining|snowing|sunny|cold|hot|warm|late|time|like\s+to)\b|"
    r"\b(?:what\s+time|how\s+late|what\s+day|what\s+date|which\s+day)\s+(?:is|does|was|will)\s+it\b|"
    r"\b(?:is|are|was|were|will|who['’]s|anyone|anybody|someone|somebody|everyone|everybody|you|out|over)\s+there\b|"
    r"\bthere\s+(?:is|are|was|were|a|an|any)\b|\bit\s+going\b|"
    r"\bit\b.*\b(?:lunchtime|weekend|morning|noon|evening|night|dark|early|holiday|true|just|me)\b",
    re.IGNORECASE,
)
_BEFORE_A_NOUN = re.compile(
    r"\s+(?!(?:is|are|was|were|do|does|did|open|opens|close|closes|cost|costs|mean|means|work|works|happen|happens|"
    r"end|ends|start|starts|begin|begins|take|takes|on|in|at|for|to|from|with|by|now|today|tomorrow|again|too|and|or|"
    r"please|right|then|apply|allowed|free|safe|valid|about|before|after|as|of)\b)[a-z]+",
    re.IGNORECASE,
)
_DETERMINED = re.compile(r"\b(?:the|a|an|my|our|your|any|some|every|each|all|no|another)\s+[a-z]", re.IGNORECASE)
_TIME = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|now|weekends?|weekdays?|holidays?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|"
    r"spring|summer|autumn|winter|(?:this|next|last)\s+(?:week|month|year|quarter|weekend)|\d{4})\b",
    re.IGNORECASE,
)
_DAYS = re.compile(r"^(?:weekends?|weekdays|holidays|public holidays|bank holidays|\w+days)$", re.IGNORECASE)
_RUN = re.compile(r"[^\s.,;:()][^.,;:()]*[^\s.,;:()]|[^\s.,;:()]")
_HYPHENATED = re.compile(r"[\w'’]+(?:-[\w'’]+)*+")
"""A word with its hyphens: the "on" of "on-call" is no word."""
_TOPIC = re.compile(r"(?:the|my|our|your|an?)\s[^.,;:()]*[^\s.,;:()]", re.IGNORECASE)
_ONE = re.compile(r"\bones?$", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?:if|while|once|because|when(?!\s+(?:is|are|was|were|do|does|did|will|can|could|should|has|have)\b))\s+\w", re.I
)
_DETERMINERS = frozenset(["the", "a", "an", "my", "our", "your", "their", "this", "that", "any"])
_ORDINALS = frozenset(["first", "second", "third", "fourth", "fifth", "next", "last", "upper", "lower", "other"])
_SUBJECTS = frozenset(["i", "you", "we", "they", "he", "she", "it", "who", "one"])
_AUXILIARIES = frozenset(
    ["do", "does", "did", "is", "are", "was", "were", "can", "could", "will", "would", "should", "may", "must", "has"]
)
_CAPITALISED = re.compile(r"[A-Z][a-z]")
_CONSENT = re.compile(r"(?:please\s+)?do\s+(?:it|that|this|so)(?:\s+(?:now|then|please))?[.!]*", re.IGNORECASE)
"""Consents to what was said, and asks nothing: repeated with it, "remind me to call Ben" would be done twice."""
_NOT_IN_A_SPAN = frozenset(
    f"{_VERBS} {_PREPOSITION} what which who whom whose when where why how much many long often far there it i you we "
    "they he she and or but not please tell me".split()
)


def rewrite_follow_up(message: str, last: str, similarity: Similarity, known: Iterable[str] = ()) -> str:
    """What `message` asks after the question `last`; the message itself if it stands alone.

    `known` are questions with taught answers. Blocking: it computes embeddings.
    """
    rest = without_opening(message, last)
    if "\n" in last.strip():
        return message
    joined = f"{last.strip()} {message.strip()}"
    if rest is None:
        bare = _if_known(message, last)
        return (_known_question(bare, last, joined, similarity, known) if bare else "") or message
    if question := _known_question(rest, last, joined, similarity, known):
        return question
    return _in_place(_with_its_preposition(rest, message, last), last, similarity) or joined


def may_follow(message: str, last: str) -> bool:
    """Whether a message may be a follow-up, and is worth comparing with known questions."""
    return without_opening(message, last) is not None or bool(_if_known(message, last))


def without_opening(message: str, last: str) -> str | None:
    """A follow-up without its opening; None for a message that stands alone."""
    if len(message) > _LONGEST_MESSAGE or len(last) > _LONGEST_GOAL or "\n" in message.strip():
        return None
    text = " ".join(message.split())
    if not text or len(words(text)) > MOST_WORDS:
        return None
    opening = _OPENING.match(text)
    rest = _CLOSING.sub("", _CLOSING.sub("", text[opening.end() :] if opening else text))
    is_opened = bool(opening and opening["about"]) or _CONJUNCTION.match(text) is not None
    if not rest or _CONSENT.fullmatch(rest):
        return None
    if _BARE_QUESTION.match(rest):
        return rest
    if is_opened and not _is_whole(rest) and ((opening and opening["about"]) or _goes_on(text, rest)):
        return rest
    if _refers(rest):
        return rest
    return rest if text.endswith("?") and _is_fragment(rest, last) else None


def _if_known(message: str, last: str) -> str:
    """A message that is a follow-up only if it leads to a known question, without its opening; else empty."""
    text = " ".join(message.split())
    if len(text) > _LONGEST_MESSAGE or len(last) > _LONGEST_GOAL or not text.endswith("?"):
        return ""
    rest = _CLOSING.sub("", text)
    is_bare = 0 < len(rest.split()) <= _FEW and not _is_whole(rest) and not _COURTESY.match(rest)
    is_joined = len(words(text)) <= MOST_WORDS and (_CONJUNCTION.match(text) or _THAT_ONE.search(text))
    elsewhere = _OPENING_ELSEWHERE.match(rest)
    if elsewhere and elsewhere[0].strip() and len(words(text)) <= MOST_WORDS:
        rest = " ".join(word for word in words(rest[elsewhere.end() :]) if word not in _FUNCTION_WORDS)
    elif not (is_bare or is_joined):
        return ""
    return rest if request_words(_without_pronouns(rest)) else ""


def _goes_on(text: str, rest: str) -> bool:
    """Whether the words after "and" ask something, and are no thanks or wish."""
    is_asked = text.endswith("?") or _STARTS_WITH_PREPOSITION.match(rest) is not None or _is_name(rest)
    conjunction = _CONJUNCTION.match(text)
    behind = text[conjunction.end() :].lstrip(" ,.:") if conjunction else rest
    return is_asked and not _COURTESY.match(behind)


def _is_whole(rest: str) -> bool:
    """Whether the text after the opening is a complete sentence."""
    if re.match(r"if\b|when\s+(?:i|we|you|they|it|he|she|the|my|a)\b", rest, re.IGNORECASE) and "," not in rest:
        return False
    return _HAS_VERB.search(rest) is not None or _SUBJECT.match(rest) is not None or _ASKS.match(rest) is not None


def _refers(rest: str) -> bool:
    """Whether it asks about "it" without naming anything that "it" could be."""
    pronoun = _PRONOUN.search(rest)
    if pronoun is None or not _ASKS.match(rest) or _EXPLETIVE.search(rest):
        return False
    word, before = pronoun["word"].casefold(), rest[: pronoun.start()]
    if word in ("this", "that", "these", "those") and _BEFORE_A_NOUN.match(pronoun["behind"] or ""):
        return False
    if word == "one" and pronoun["behind"]:
        return False
    names = re.search(r"(?<!^)\b[A-Z]\w+", rest[1:])
    return not _DETERMINED.search(rest) and len(request_words(before)) <= 1 and names is None


def _is_fragment(rest: str, last: str) -> bool:
    """Whether it is a few words without a verb that clearly fit a place in the last question."""
    if _HAS_VERB.search(rest) or _ASKS.match(rest) or len(rest.split()) > 5:
        return False
    if _STARTS_WITH_PREPOSITION.match(rest) or _TIME.fullmatch(rest):
        return True
    if _is_name(rest):
        return re.search(r"(?<!^)(?<![.?!] )\b[A-Z][a-z]+", last) is not None
    same_kind = set(request_words(rest)) & set(request_words(last))
    is_kind = rest.split()[0].casefold() in _DETERMINERS | _ORDINALS or (
        re.search(r"\d", rest) and re.search(r"\d", last)
    )
    return bool(same_kind and is_kind)


def _is_name(text: str) -> bool:
    return all(re.fullmatch(r"\w*[A-ZÀ-Ý][\w-]*|of|the|de", word) for word in text.split()) and not text.islower()


def _with_its_preposition(rest: str, message: str, last: str) -> str:
    """The follow-up with the preposition of "the same for search?", if the last question has a "for" too."""
    opening = _OPENING.match(" ".join(message.split()))
    same = _SAME.search(opening["about"] or "") if opening else None
    return f"{same['p']} {rest}" if same and re.search(rf"\b{same['p']}\s", last, re.IGNORECASE) else rest


# What it means ------------------------------------------------------------------------------------------------------


def _known_question(rest: str, last: str, joined: str, similarity: Similarity, known: Iterable[str]) -> str:
    """The known question that has all words of the follow-up and continues the last question; empty if none does."""
    wanted, before = set(request_words(_without_pronouns(rest))), set(request_words(last)) - _FUNCTION_WORDS
    asked = "" if _CLAUSE.match(rest) else _asked_for(rest)
    found: list[str] = []
    for question in dict.fromkeys(known):
        has = set(request_words(question))
        is_other = question.casefold().strip(" ?!.") != last.casefold().strip(" ?!.")
        has_all = all(any(_alike(word, each) for each in has) for word in wanted)
        goes_on = any(_alike(word, each) for word in before - wanted for each in has) or not before
        fits = not asked or _asked_for(question) == asked
        if is_other and has_all and goes_on and fits and (wanted or asked):
            found.append(question)
    likeness = similarity.between(joined, found)
    best = max(zip(likeness, found, strict=True), default=(0.0, ""))
    return best[1] if best[0] >= _KNOWN else ""


def _asked_for(text: str) -> str:
    match = re.match(rf"\W*(?:\w+\s+)?({_QUESTION_WORD})\b", text, re.IGNORECASE)
    word = match[1].casefold() if match else ""
    return "" if word in ("what", "which", "how") else " ".join(word.split())


def _alike(one: str, other: str) -> bool:
    """Whether two words are equal, or one is the beginning of the other: "prod", "production"."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) if len(short) > 3 else long == short


def _without_pronouns(text: str) -> str:
    return _PRONOUN.sub(lambda found: found["behind"] or "", text)


def _in_place(rest: str, last: str, similarity: Similarity) -> str:
    """The last question with the follow-up in place of its most similar phrase; empty if no phrase is similar."""
    body = last.strip().rstrip("?!. ")
    if "?" in body or len(body.split()) > 25:
        return ""
    if _OPERATION.fullmatch(rest):
        return _calculated(rest, body)
    clause = re.search(rf"(?<=\s){re.escape(rest.split()[0])}\b", body, re.IGNORECASE) if _CLAUSE.match(rest) else None
    if clause:
        return f"{body[: clause.start()]}{(_with_topic(rest, body) or rest).rstrip('?')}?"
    if _BARE_QUESTION.match(rest) or _ASKS.match(rest) or _PRONOUN.search(rest):
        return _with_topic(rest, body) if _ASKS.match(rest) else ""
    leading = _STARTS_WITH_PREPOSITION.match(rest)
    if leading and (there := _phrase_with(leading["p"], leading["rest"], body, similarity)):
        return f"{body[: there[0]]}{rest}{body[there[1] :]}?"
    if leading:
        return f"{body} {rest}?"
    if _TIME.search(rest):
        there_now = _TIME.search(body)
        phrase = f"on {rest}" if _DAYS.match(rest) else rest
        if there_now is None:
            return f"{body} {phrase}?"
        return f"{body[: there_now.start()]}{rest}{body[there_now.end() :]}?"
    span = _like(rest, body, similarity)
    if span is None:
        return ""
    head = body[: span[1]].split()[-1]
    return f"{body[: span[0]]}{_ONE.sub(head, rest)}{body[span[1] :]}?"


def _calculated(rest: str, body: str) -> str:
    """The last calculation with another number; empty unless it had that operation exactly once."""
    (mine,), there = _OPERATION.findall(rest), list(_OPERATION.finditer(body))
    if len(there) != 1 or there[0]["by"].casefold() != mine.casefold():
        return ""
    return f"{body[: there[0].start()]}{rest}{body[there[0].end() :]}?"


def _with_topic(rest: str, body: str) -> str:
    """A question about "it" with the topic of the last question instead; empty if the topic is not clear."""
    pronoun = _PRONOUN.search(rest)
    topics = _TOPIC.findall(_masked(body))
    if pronoun is None or not topics or pronoun["word"].casefold() in ("there", "one"):
        return ""
    topic = topics[0].strip()
    owned = pronoun["word"].casefold() in ("its", "their", "his")
    start, end = pronoun.span("word")
    return f"{rest[:start]}{topic}{'’s' if owned else ''}{rest[end:]}?"


def _phrase_with(preposition: str, rest: str, body: str, similarity: Similarity) -> tuple[int, int] | None:
    """The position of the last question's phrase with this preposition that is most like the follow-up; or None."""
    others = "|".join([*_PREPOSITION.split(), "and", "or", "right now", "now", "today"])
    verbs = r"\w+ed|made|kept|written|held|done|taken|open|start|begin"
    ends = rf"(?=\s+(?:{others})\b|\s+(?:{verbs})$|$)"
    found = list(re.finditer(rf"\b{preposition}\s+(?P<what>\S.*?){ends}", body, re.IGNORECASE))
    likeness = similarity.between(rest, [match["what"] for match in found])
    best = max(zip(likeness, range(len(found)), strict=True), default=(0.0, -1))
    return found[best[1]].span() if best[1] >= 0 and (best[0] >= _LIKE or len(found) == 1) else None


def _like(rest: str, body: str, similarity: Similarity) -> tuple[int, int] | None:
    """The position of the phrase in the last question that is most like the follow-up; None if none is similar."""
    spans = [span for run in _RUN.finditer(_masked(body)) for span in _phrases(body, run.start(), run.end())]
    texts = [body[start:end] for start, end in spans]
    likeness = similarity.between(rest, texts)
    scored = [(like + _form(rest, text), span) for like, span, text in zip(likeness, spans, texts, strict=True)]
    best = max(scored, default=(0.0, (0, 0)))
    return best[1] if best[0] >= _LIKE else None


def _masked(body: str) -> str:
    """The text with words that belong to no phrase replaced by dots of the same length."""
    return _HYPHENATED.sub(
        lambda found: "." * len(found[0]) if found[0].casefold() in _NOT_IN_A_SPAN else found[0], body
    )


def _phrases(body: str, start: int, end: int) -> list[tuple[int, int]]:
    """The phrases in a run of words: from a determiner or the start to the end, without a verb; and single names."""
    places = [(word.start() + start, word.end() + start) for word in re.finditer(r"\S+", body[start:end])]
    before = (words(body[:start]) or [""])[-1]
    starts = [i for i, (a, b) in enumerate(places) if body[a:b].casefold() in _DETERMINERS]
    starts = starts or [1 if before in _SUBJECTS else 0]
    ends = [len(places) - 1]
    if before in _AUXILIARIES and len(places) > 1:
        ends.append(len(places) - 2)
    if len(places) > 2 and before in _AUXILIARIES:
        starts.append(len(places) - 1)  # the object of a verb in the middle
    found = [(places[i][0], places[j][1]) for i in starts for j in ends if i <= j]
    return [*found, *((a, b) for a, b in places if re.match(r"[A-Z][a-z]|\S*\d", body[a:b]) and a > 0)]


def _form(rest: str, text: str) -> float:
    """How similar the forms of two phrases are: determiner, name, number, last word."""
    first, other = rest.split()[0].casefold(), text.split()[0].casefold()
    mine, theirs = request_words(rest), request_words(text)
    form = 0.1 if (first in _DETERMINERS) == (other in _DETERMINERS) else -0.1
    form += 0.15 if first == other and first in _DETERMINERS else 0.0
    form += 0.15 if bool(_CAPITALISED.match(rest)) == bool(_CAPITALISED.match(text)) else -0.15
    form += 0.3 if mine and theirs and mine[-1] == theirs[-1] and mine != theirs else 0.0
    form += 0.1 if bool(re.search(r"\d", rest)) == bool(re.search(r"\d", text)) else -0.2
    return form - 0.35
