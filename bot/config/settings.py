"""Every setting with its type, range and default. What each one means is written once, in `config/goodbot.toml`."""

import math
import re
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, Self
from zoneinfo import available_timezones

from pydantic import BaseModel, Field, PrivateAttr, SecretStr, field_validator, model_validator

from bot.config.mcp_settings import McpSettings
from bot.config.platform_settings import DiscordSettings, SlackSettings, TerminalSettings, WebSettings
from bot.config.section import Section, Texts, http_address
from bot.config.setting_errors import did_you_mean
from bot.config.tool_rules import read_rule
from memory.model.spending import Cap, Spender
from memory.rules.chat_settings import CATALOGUE, names_of
from memory.rules.emoji import normalise

Share = Annotated[float, Field(ge=0, le=1)]
"""A part of a whole, 0..1."""
Dollars = Annotated[float, Field(ge=0, le=1_000_000)]
Tokens = Annotated[int, Field(ge=0, le=10**12)]
Weight = Annotated[float, Field(ge=0, le=100)]


def _qualified(name: str, *own: str) -> str:
    """The name of a model with its provider, or one of our own names."""
    provider, _, model = name.partition(":")
    if name not in own and not (provider.strip() and model.strip()):
        allowed = ", ".join(f'"{each}"' for each in own)
        hint = did_you_mean(name.casefold(), own)
        raise ValueError(f'must be {allowed} or "PROVIDER:NAME", for example "openai:gpt-5-mini"{hint}')
    return name


_SERVERS = ("postgresql", "postgres")
"""How addresses of PostgreSQL begin."""


class StorageSettings(Section):
    """`[storage]`. The URL is a secret because it may hold a password; `place` is fit to be shown."""

    database_url: SecretStr = SecretStr("")

    _data_dir: Path = PrivateAttr(default_factory=Path)

    @field_validator("database_url")
    @classmethod
    def _known_kind(cls, url: SecretStr) -> SecretStr:
        scheme = url.get_secret_value().partition(":")[0].partition("+")[0]
        if url.get_secret_value() and scheme not in ("sqlite", *_SERVERS):
            raise ValueError(
                "memory is kept in a SQLite file or in PostgreSQL: give a URL such as sqlite:///goodbot.db or "
                "postgresql://user:password@host/name"
            )
        return url

    def within(self, data_dir: Path) -> Self:
        """The same for a user whose data directory is this one."""
        own = self.model_copy()
        own._data_dir = data_dir
        return own

    @property
    def is_file(self) -> bool:
        """Whether the database is a file of this machine."""
        return not self.database_url.get_secret_value().startswith(_SERVERS)

    @property
    def beside(self) -> Path:
        """What this machine's files that go with the database are named after: its own, or one for each server's."""
        if self.is_file:
            return Path(self.place)
        return self._data_dir / f"postgresql-{re.sub('[^a-zA-Z0-9]+', '-', self.place)}"

    @property
    def place(self) -> str:
        """The database without user name, password or parameters: a file's path, or host and name."""
        address = self.database_url.get_secret_value().partition("?")[0].partition("://")[2]
        authority, _, path = address.partition("/")
        host = authority.rpartition("@")[2]
        return f"{host}/{path}" if host else path or "memory of this process"


class ModelSettings(Section):
    """`[model]`."""

    name: str = "offline"
    openai_base_url: str = ""
    openai_api_key: SecretStr = SecretStr("")
    fallbacks: Texts = ()
    rewrite: str = "same"
    timeout_s: float = Field(default=60.0, ge=1, le=600)
    max_output_tokens: int = Field(default=1024, ge=16, le=100_000)
    temperature: float = Field(default=0.0, ge=0, le=2)
    tool_calls: Literal["native", "text"] = "native"

    @field_validator("name")
    @classmethod
    def _offline_or_qualified(cls, name: str) -> str:
        return _qualified(name, "offline")

    @field_validator("fallbacks")
    @classmethod
    def _each_offline_or_qualified(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_qualified(name, "offline") for name in names)

    @field_validator("rewrite")
    @classmethod
    def _same_offline_or_qualified(cls, name: str) -> str:
        return _qualified(name, "same", "offline")

    @field_validator("openai_base_url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        return http_address(url, "http://localhost:11434/v1")


class EmbedderSettings(Section):
    """`[embedder]`."""

    name: str = Field(default="packaged", min_length=1)
    cache: str = ""

    @field_validator("name")
    @classmethod
    def _not_misspelt(cls, name: str) -> str:
        own = ("packaged", "hashing")
        hint = did_you_mean(name.casefold(), own, cutoff=0.8)
        if hint and name not in own:
            raise ValueError(f'must be "packaged", "hashing" or the name of a sentence-transformers model{hint}')
        return name


class AgentSettings(Section):
    """`[agent]`: the budgets of one run."""

    max_depth: int = Field(default=4, ge=1, le=10)
    max_decisions: int = Field(default=24, ge=1, le=1000)
    max_seconds: float = Field(default=90.0, ge=1, le=3600)
    max_tokens: int = Field(default=60_000, ge=100, le=10_000_000)
    max_cost_usd: float = Field(default=0.50, ge=0.0001, le=1000)
    tool_timeout_s: float = Field(default=20.0, ge=0.1, le=600)
    approvals: Literal["ask", "learned"] = "ask"
    approval_minutes: int = Field(default=60, ge=1, le=10_080)


class LimitSettings(Section):
    """`[limits]`: what one message may cost, whatever the cause."""

    message_characters: int = Field(default=100_000, ge=100, le=10_000_000)
    frozen_after_s: float = Field(default=30.0, ge=0, le=3600)


class CapSettings(Section):
    """`[caps]`: what models may cost in a day; 0 sets no cap."""

    person_usd: Dollars = 0.0
    person_tokens: Tokens = 0
    channel_usd: Dollars = 0.0
    channel_tokens: Tokens = 0
    workspace_usd: Dollars = 0.0
    workspace_tokens: Tokens = 0

    @property
    def caps(self) -> tuple[Cap, ...]:
        """Those that are set."""
        every = (
            Cap(spender=each, usd=getattr(self, f"{each}_usd"), tokens=getattr(self, f"{each}_tokens"))
            for each in Spender
        )
        return tuple(cap for cap in every if cap.usd or cap.tokens)


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
        """Weight by kind of context element, the part of `channel:C1` before its colon."""
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
    """`[conversation]`: how much of what was said before a message a run is given."""

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
            both = sorted({normalise(e) for e in getattr(self, one)} & {normalise(e) for e in getattr(self, other)})
            if both:
                raise ValueError(f"{', '.join(both)} cannot be in both {one} and {other}")
        return self


class ListeningSettings(Section):
    """`[listening]`: what is meant for the bot without a mention, and whether it says hello."""

    mode: Literal["mention", "threads", "always"] = "threads"
    welcome: Literal["on", "off"] = "on"


class UpkeepSettings(Section):
    """`[upkeep]`."""

    jobs: Literal["on", "off"] = "on"
    archive_after_days: int = Field(default=30, ge=1, le=3650)
    archive_below: float = Field(default=0.05, ge=0, le=1)
    unjudged_days: int = Field(default=180, ge=1, le=36_500)
    rule_from: int = Field(default=3, ge=2, le=100)


class GradingSettings(Section):
    """`[grading]`: a model that judges answers nobody reacted to."""

    model: str = "off"
    idle_minutes: int = Field(default=30, ge=1, le=44_640)
    per_run: int = Field(default=10, ge=1, le=1000)

    @field_validator("model")
    @classmethod
    def _off_same_or_qualified(cls, name: str) -> str:
        return _qualified(name, "off", "same")


class KnowledgeSettings(Section):
    """`[knowledge]`."""

    folder: str = ""
    link: str = ""
    pages: Texts = ()
    refresh_minutes: float = Field(default=60.0, ge=1, le=10_080)

    @field_validator("link")
    @classmethod
    def _is_http(cls, url: str) -> str:
        return http_address(url, "https://wiki.example.org/handbook/")

    @field_validator("pages")
    @classmethod
    def _are_http(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(http_address(url, "https://example.org/handbook.html") for url in urls)


class PageSettings(Section):
    """`[pages]`: reading pages and searching the web."""

    fetch: Literal["on", "off"] = "off"
    search_url: str = ""
    max_bytes: int = Field(default=2_000_000, ge=1_000, le=50_000_000)
    timeout_s: float = Field(default=15.0, ge=0.1, le=120)
    allow_private: bool = False

    @field_validator("search_url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        return http_address(url, "http://localhost:8888")


class ToolSettings(Section):
    """`[tools]`."""

    only: Texts = ()
    time_zone: str = ""

    @field_validator("time_zone")
    @classmethod
    def _is_zone(cls, name: str) -> str:
        zones = available_timezones()
        if name and name not in zones:
            raise ValueError(f'must be an IANA time zone, for example "Europe/Berlin"{did_you_mean(name, zones)}')
        return name

    @field_validator("only")
    @classmethod
    def _are_rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            read_rule(rule)
        return rules


class LogSettings(Section):
    """`[log]`."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    file: str = ""


class TracingSettings(Section):
    """`[tracing]`: spans of OpenTelemetry."""

    spans: Literal["off", "on", "texts"] = "off"


class Settings(Section):
    """All sections. `load_settings` makes one with every path filled in."""

    storage: StorageSettings = StorageSettings()
    model: ModelSettings = ModelSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    agent: AgentSettings = AgentSettings()
    limits: LimitSettings = LimitSettings()
    caps: CapSettings = CapSettings()
    recall: RecallSettings = RecallSettings()
    conversation: ConversationSettings = ConversationSettings()
    teaching: TeachingSettings = TeachingSettings()
    listening: ListeningSettings = ListeningSettings()
    upkeep: UpkeepSettings = UpkeepSettings()
    grading: GradingSettings = GradingSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    tools: ToolSettings = ToolSettings()
    pages: PageSettings = PageSettings()
    mcp: McpSettings = McpSettings()
    terminal: TerminalSettings = TerminalSettings()
    slack: SlackSettings = SlackSettings()
    discord: DiscordSettings = DiscordSettings()
    web: WebSettings = WebSettings()
    tracing: TracingSettings = TracingSettings()
    log: LogSettings = LogSettings()

    @classmethod
    def sections(cls) -> dict[str, type[BaseModel]]:
        """Each section's model by name, in the order of the file."""
        return {name: type(field.default) for name, field in cls.model_fields.items()}
