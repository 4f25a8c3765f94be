"""Rewrites a message to stand alone: one cheap request that makes "and of Spain?" a whole question.

Only a message that may refer to earlier ones is sent. It stays unchanged if the model fails, or if its reply is
unusable or says something else.
"""

import logging
import re

from bot.agent.conversation import ChatLine, render_conversation
from bot.agent.prompts import PROMPTS
from bot.agent.run import Halted, Run
from bot.errors import BudgetExceeded, ModelError
from bot.model import ModelRequest, UserTurn
from memory.rules.retrieval.prompt import neutralise

SYSTEM = PROMPTS["understanding"]

BUDGET_TOKENS = 600
"""The share of the conversation in this request: follow-ups refer to recent messages."""

_FEW_WORDS, _MANY_WORDS = 4, 30
_REFERS = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|hm+|right|alright|sure|fine|yes|thanks|thank you|cool|great|good|sorry)\W+)*+"
    r"(?:and|or|but|also|what about|how about|what if|same|instead|why|i mean|i meant|und|aber|was ist mit|et|mais)\b|"
    r"\b(?:it|its|he|him|his|she|her|they|them|their|theirs|this|that|these|those|there|one|ones|"
    r"same|other|others|another|else|instead|former|latter)\b",
    re.IGNORECASE,
)
_ASKS = re.compile("[?？؟]")
_WORD = re.compile(r"[^\W_]+")
_STEM = 4
_FUNCTION = (
    "and the for are was has can you but not how who what which when where why about with from does did then "
    "mean meant und die der das den dem ist mit für was wie les des est avec pour"
)
_FUNCTION_WORDS = frozenset(_FUNCTION.split())


def may_refer_back(message: str) -> bool:
    """Whether a message may depend on earlier ones: a very short question, or one that refers to something."""
    start = message[:1000]
    count = len(_WORD.findall(start))
    is_fragment = 0 < count <= _FEW_WORDS and _ASKS.search(start) is not None
    return is_fragment or (count <= _MANY_WORDS and _REFERS.search(start) is not None)


async def rewritten_question(run: Run, message: str, earlier: tuple[ChatLine, ...]) -> str:
    """The message rewritten to stand alone; unchanged if it already does, or if that fails."""
    if not any(each.speaker == "you" for each in earlier) or not may_refer_back(message):
        return message
    block = render_conversation(earlier, min(BUDGET_TOKENS, run.agent.conversation_budget_tokens))
    if not block:
        return message
    prompt = f"<conversation>\n{block}\n</conversation>\n<last-message>\n{neutralise(message)}\n</last-message>"
    request = ModelRequest(
        system=SYSTEM,
        turns=(UserTurn(text=prompt),),
        weigh=lambda goal: run.recall.weigh(run.scope, goal, run.tools.actions, run_id=run.run_id),
    )
    try:
        run.check()
        reply = await run.within((run.agent.rewriter or run.agent.model).reply(request))
        run.budget.spend(reply.usage)
    except (ModelError, Halted, BudgetExceeded) as error:
        logging.getLogger(__name__).info("run %s: a message is taken as it stands: %s", run.run_id, error)
        return message
    return usable_rewrite(message, reply.turn.text)


def usable_rewrite(message: str, reply: str) -> str:
    """The reply if it can be a rewritten message, else the message.

    It must be one paragraph of moderate length, and share a word with the message if that has any content words.
    """
    meant = reply.strip().strip('"“”').strip()
    is_long = len(meant) > 2 * len(message) + 400
    if not meant or is_long or "\n" in meant or _words(meant, 1) == _words(message, 1):
        return message
    mine = {word for word in _words(message, _STEM - 1) if not _REFERS.fullmatch(word)} - _FUNCTION_WORDS
    theirs = _words(meant, _STEM - 1)
    is_alike = any(one.startswith(other[:_STEM]) or other.startswith(one[:_STEM]) for one in mine for other in theirs)
    return meant if is_alike or not mine else message


def _words(text: str, at_least: int) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if len(word) >= at_least]
