"""Finds the exchange whose answer a message may judge. Pure."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

from bot.conversation.feedback.feedback_record import is_feedback, recorded_feedback
from bot.conversation.feedback.remarks import is_remark
from memory.model import Exchange, Incoming

_SKEW = timedelta(seconds=2)
"""How far the platform's clock may be behind the bot's."""


def judged_exchange(message: Incoming, exchanges: Sequence[Exchange], pause: timedelta) -> Exchange | None:
    """The asker's own exchange that a message judges: the one it replies to, else the last one within `pause`.

    Earlier feedback, and remarks such as "thanks", are skipped, because they are about the same answer.
    """
    replied = [each for each in exchanges if each.is_replied_to] if message.reply_to else exchanges
    for before, each in reversed([*pairwise([None, *replied])]):
        if each is None or each.person != message.scope.person or each.answered_at is None:
            return None
        is_aside = is_remark(each.text) and (before is None or "?" not in before.answer)
        if not is_aside and not is_feedback(each.understood):
            is_seen = each.answered_at <= message.at + _SKEW
            is_young = message.reply_to or message.at - each.answered_at <= pause
            return each if is_seen and is_young else None
    return None


def last_exchange(message: Incoming, exchanges: Sequence[Exchange]) -> Exchange | None:
    """Anybody's exchange before a message, or that it replies to, without feedback and remarks."""
    before = [each for each in exchanges if each.is_replied_to or not message.reply_to]
    return next((each for each in reversed(before) if not (is_remark(each.text) or is_feedback(each.understood))), None)


def is_judged(exchange: Exchange, exchanges: Sequence[Exchange]) -> bool:
    """Whether the asker already judged it in words: a "thanks" is then for the reply to that."""
    return any(each.at > exchange.at and recorded_feedback(each.understood) for each in exchanges)
