"""How well a tool's description fits a goal: their similarity, apart from the arguments.

"how late is it in Oslo" and the example "what time is it in Tokyo?" are compared with the same place in both, and
without places; otherwise the place would count more than the question. On the goals of the tests this raises "how late
is it in São Paulo right now?" from .48 to .67 and leaves "what time does the canteen open?" at .39.
"""

import re
from functools import lru_cache

from bot.adapters.llm.offline.arguments import FilledArguments, fill
from bot.adapters.llm.offline.similarity import Similarity
from bot.adapters.llm.offline.tokenizer import request_words, without_courtesy
from bot.model import ToolSpec

_UNEXPLAINED = 0.1
"""Subtracted for each word of the goal that is in neither the arguments nor the tool's description."""
_UNEXPLAINED_SEARCH = 0.05
"""The same for a search: people search for anything, and its result is checked."""
_OTHER_SUBJECT = 0.3
"""Subtracted if such a word is the subject: "what day is the party?" does not ask about the day."""
_MOST_UNEXPLAINED = 3
_NOT_OF_ASKER = 0.2
"""Subtracted if all questions of a tool's description are about what the asker did ("what did I say about the
deadline?"), and the goal is not ("tell me about the deadline")."""
_ASKER = re.compile(r"\b(?:I|we|my|our|conversation)\b", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:\b(?:is|are|was|were|does|do|did|will|has|have)|['’]s)\s+"
    r"(?:(?:the|our|my|your|their|a|an|this|that|next|last)\s+)*(?P<noun>[\w'’-]+)",
    re.IGNORECASE,
)
_EXAMPLES = re.compile(r"(?:for example|e\.g\.|examples?|such as)\b[:,]?\s*", re.IGNORECASE)
_SEPARATOR = re.compile(r"(?<=[.!?])[\s;|,]+|\n+|[;|]\s*|(?<=[\"”])\s*+(?:,\s*+)?(?:or\s++)?(?=[\"“])")


def fitness(similarity: Similarity, tool: ToolSpec, goal: str, filled: FilledArguments) -> float:
    """The fitness, at most 1: the best similarity to a sentence about the tool, or `filled.fit` if that is greater."""
    request = without_courtesy(goal)
    likeness = max(
        (_sentence_similarity(similarity, tool, request, filled, sentence) for sentence in sentences(tool)), default=0.0
    )
    of_others = _NOT_OF_ASKER if _is_about_asker(tool) and not _ASKER.search(request) else 0.0
    return max(filled.fit, likeness - _unrelated_penalty(tool, request, filled) - of_others)


def sentences(tool: ToolSpec) -> list[str]:
    """The sentences of a tool's description; each example is one."""
    parts = (part.strip().strip(" .\"“”'`") for part in _SEPARATOR.split(_EXAMPLES.sub("\n", tool.description)))
    return [part for part in parts if part]


def _is_about_asker(tool: ToolSpec) -> bool:
    questions = [sentence for sentence in sentences(tool) if sentence.endswith("?")]
    return bool(questions) and all(map(_ASKER.search, questions))


def compared_texts(tool: ToolSpec) -> list[str]:
    """The texts that goals are compared with for this tool, to be embedded in one batch."""
    examples = ((sentence, fill(tool.parameters, sentence)) for sentence in sentences(tool))
    return [_without(sentence, example) if example else sentence for sentence, example in examples]


def _sentence_similarity(
    similarity: Similarity, tool: ToolSpec, goal: str, filled: FilledArguments, sentence: str
) -> float:
    """The cosine of a goal with a sentence, with the words of their arguments made equal."""
    example = fill(tool.parameters, sentence)
    spans = example.spans if example else {}
    shared = filled.spans.keys() & spans.keys()
    bare = similarity.between(_without(goal, filled), [_without(sentence, example) if example else sentence])[0]
    if not shared:
        return max(bare, similarity.between(goal, [sentence])[0]) if not spans else bare
    same = goal
    for name in shared:
        same = same.replace(filled.spans[name], spans[name])
    return (bare + similarity.between(same, [sentence])[0]) / 2


def _without(text: str, filled: FilledArguments) -> str:
    for span in filled.spans.values():
        text = text.replace(span, "")
    return " ".join(text.split())


def _unrelated_penalty(tool: ToolSpec, goal: str, filled: FilledArguments) -> float:
    """The penalty for words of the goal that are not about the tool."""
    rest = _without(goal, filled)
    strange = _content(rest) - _content(f"{tool.name} {tool.description}")
    count = min(len(strange), _MOST_UNEXPLAINED)
    if filled.is_search:
        return _UNEXPLAINED_SEARCH * count
    subject = _SUBJECT.search(rest)
    is_other = subject is not None and bool(strange & _content(subject["noun"]))
    return _UNEXPLAINED * count + (_OTHER_SUBJECT if is_other else 0.0)


@lru_cache(maxsize=1024)
def _content(text: str) -> frozenset[str]:
    return frozenset(request_words(text))
