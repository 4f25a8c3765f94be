"""Settings as the policies and configurations that memory takes."""

from datetime import timedelta

from bot.config import Settings
from memory.model import TeachingPolicy
from memory.model.teaching import EmojiMap
from memory.model.upkeep import UpkeepPolicy
from memory.rules.retrieval.config import RetrievalConfig


def upkeep_policy(settings: Settings) -> UpkeepPolicy:
    """The configured policy of the upkeep jobs."""
    upkeep = settings.upkeep
    return UpkeepPolicy(
        archive_strength=upkeep.archive_below,
        archive_salience=upkeep.archive_below,
        archive_idle=timedelta(days=upkeep.archive_after_days),
        pending_kept=timedelta(days=upkeep.unjudged_days),
        rule_from=upkeep.rule_from,
    )


def teaching_policy(settings: Settings) -> TeachingPolicy:
    """The configured policy of votes and verdicts."""
    teaching = settings.teaching
    return TeachingPolicy(
        quorum_up=teaching.quorum_up,
        quorum_down=teaching.quorum_down,
        votes_per_window=teaching.votes_per_window,
        promotions_per_window=teaching.promotions_per_window,
        window=timedelta(minutes=teaching.window_minutes),
        trust_agree=teaching.trust_agree,
        trust_disagree=teaching.trust_disagree,
        error_budget=settings.recall.error_budget,
        newcomer=timedelta(days=teaching.newcomer_days),
    )


def emoji_map(settings: Settings) -> EmojiMap:
    """What each configured emoji says of an answer."""
    return EmojiMap(settings.teaching.emoji_success, settings.teaching.emoji_failure)


def retrieval_config(settings: Settings) -> RetrievalConfig:
    """The bot's own pipeline: weighted context, soft gate, intent looked at before anything is cut."""
    recall = settings.recall
    return RetrievalConfig(
        env_threshold=recall.context_threshold,
        top_k=None,
        final_k=recall.final_k,
        env_weight=recall.context_weight,
        intent_weight=recall.intent_weight,
        min_intent=recall.min_similarity,
        soft_gate=True,
        element_weights=recall.element_weights,
        max_per_author=1,
        consensus=True,
    )
