"""Settings of the memory: recall, conversation, teaching, upkeep."""

import math
from itertools import combinations
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from bot.config.section import Section, Texts
from memory.model.teaching import normalised_emoji
from memory.rules.chat_settings import CATALOGUE, names_of

Share = Annotated[float, Field(ge=0, le=1)]
"""A share, 0..1."""
Weight = Annotated[float, Field(ge=0, le=100)]


class RecallSettings(Section):
    """`[recall]`."""

    min_similarity: Share = 0.6
    context_threshold: Share = 0.5
    context_weight: Share = 0.65
    intent_weight: Share = 0.35
    candidates: int = Field(default=64, ge=1, le=10_000)
    final_k: int = Field(default=4, ge=1, le=50)
    lessons_budget_tokens: int = Field(default=1500, ge=100, le=100_000)
    known_answers: bool = False
    error_budget: float = Field(default=0.05, ge=0.01, le=0.5)
    control_arm: float = Field(default=0.0, ge=0, le=0.5)
    proposals: bool = True
    weight_platform: Weight = 1.0
    weight_channel: Weight = 3.0
    weight_person: Weight = 3.0
    weight_tool: Weight = 2.0
    weight_thread: Weight = 0.5

    @property
    def element_weights(self) -> dict[str, float]:
        """Weights of context elements by kind: the part of `channel:C1` before the colon."""
        return {
            "platform": self.weight_platform,
            "channel": self.weight_channel,
            "person": self.weight_person,
            "tool": self.weight_tool,
            "thread": self.weight_thread,
        }

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        total = self.context_weight + self.intent_weight
        if not math.isclose(total, 1.0, abs_tol=1e-6):
            raise ValueError(f"context_weight and intent_weight must add up to 1, and add up to {total:g}")
        if self.candidates < self.final_k:
            raise ValueError(f"candidates ({self.candidates}) must not be smaller than final_k ({self.final_k})")
        return self


class ConversationSettings(Section):
    """`[conversation]`: how much of the conversation before a message a run gets."""

    budget_tokens: int = Field(default=1500, ge=100, le=100_000)
    pause_hours: float = Field(default=4.0, ge=0, le=720)
    others: int = Field(default=0, ge=0, le=100)


class TeachingSettings(Section):
    """`[teaching]`."""

    quorum_up: int = Field(default=2, ge=1, le=100)
    quorum_down: int = Field(default=2, ge=1, le=100)
    ledger_days: int = Field(default=30, ge=1, le=3650)
    votes_per_window: int = Field(default=60, ge=1, le=100_000)
    promotions_per_window: int = Field(default=20, ge=1, le=100_000)
    window_minutes: int = Field(default=60, ge=1, le=44_640)
    trust_agree: float = Field(default=2.0, ge=1, le=100)
    trust_disagree: float = Field(default=1.0, ge=1, le=100)
    newcomer_days: int = Field(default=7, ge=0, le=3650)
    emoji_success: Texts = (
        "👍", "+1", "thumbsup", "✅", "white_check_mark", "✔️", "heavy_check_mark", "🎉", "tada", "💯", "100",
    )  # fmt: skip
    emoji_failure: Texts = ("👎", "-1", "thumbsdown", "❌", "x")
    emoji_mute: Texts = ("🤐", "zipper_mouth_face")
    emoji_save: Texts = ("📚", "books")
    digest: str = Field(default="dm", min_length=1, max_length=64)
    chat_settings: Texts = tuple(CATALOGUE)
    name_authors: bool = False

    @field_validator("chat_settings")
    @classmethod
    def _may_be_set_in_chat(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(each for each in CATALOGUE if each in names_of(names))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.quorum_down < self.quorum_up:
            raise ValueError(
                f"quorum_down ({self.quorum_down}) must not be smaller than quorum_up ({self.quorum_up}): "
                "rejecting needs the same or stronger evidence than approving"
            )
        names = ("emoji_success", "emoji_failure", "emoji_mute", "emoji_save")
        for one, other in combinations(names, 2):
            both = sorted(
                {normalised_emoji(e) for e in getattr(self, one)} & {normalised_emoji(e) for e in getattr(self, other)}
            )
            if both:
                raise ValueError(f"{', '.join(both)} cannot be in both {one} and {other}")
        return self


class UpkeepSettings(Section):
    """`[upkeep]`."""

    jobs: Literal["on", "off"] = "on"
    archive_after_days: int = Field(default=30, ge=1, le=3650)
    archive_below: float = Field(default=0.05, ge=0, le=1)
    unjudged_days: int = Field(default=180, ge=1, le=36_500)
    rule_from: int = Field(default=3, ge=2, le=100)
