"""All settings with their types, ranges and defaults. What they mean is written in `config/goodbot.toml`."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, PrivateAttr, SecretStr, field_validator

from bot.config.mcp_settings import McpSettings
from bot.config.memory_settings import ConversationSettings, RecallSettings, TeachingSettings, UpkeepSettings
from bot.config.model_settings import EmbedderSettings, GradingSettings, ModelSettings
from bot.config.platform_settings import DiscordSettings, SlackSettings, TerminalSettings, WebSettings
from bot.config.section import Section
from bot.config.tool_settings import KnowledgeSettings, PageSettings, ToolSettings
from memory.model.spending import Cap, Spender

Dollars = Annotated[float, Field(ge=0, le=1_000_000)]
Tokens = Annotated[int, Field(ge=0, le=10**12)]

_SERVERS = ("postgresql", "postgres")
"""URL schemes of PostgreSQL."""


_USER = re.compile(r"[^:/]*(:[^@]*)?@")


class StorageSettings(Section):
    """`[storage]`. The URL is secret as it may hold a password; `place` can be shown."""

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
        """A copy with this data directory."""
        own = self.model_copy()
        own._data_dir = data_dir
        return own

    @property
    def is_file(self) -> bool:
        """Whether the database is a file on this machine."""
        return not self.database_url.get_secret_value().startswith(_SERVERS)

    @property
    def beside(self) -> Path:
        """The path that files of this machine beside the database are named after, also for a database on a server."""
        if self.is_file:
            return Path(self.place)
        return self._data_dir / f"postgresql-{re.sub('[^a-zA-Z0-9]+', '-', self.place)}"

    @property
    def place(self) -> str:
        """The database without user name, password and parameters: a file's path, or host and name."""
        host, _, path = self._parts[1].partition("?")[0].partition("/")
        return f"{host}/{path}" if host else path or "memory of this process"

    @property
    def without_password(self) -> str:
        """The URL of a database on a server, as the server's own programs take it, without the password."""
        user, (address, _, query) = self._parts[0].partition(":")[0], self._parts[1].partition("?")
        options = "&".join(each for each in query.split("&") if each and not each.startswith("password="))
        return f"postgresql://{user}{'@' if user else ''}{address}{'?' if options else ''}{options}"

    @property
    def _parts(self) -> tuple[str, str]:
        """The URL's user with the password, and what follows them. Like the driver, a password may have all but `@`."""
        address = self.database_url.get_secret_value().partition("://")[2]
        user = found[0] if (found := _USER.match(address)) else ""
        return user.removesuffix("@"), address[len(user) :]


class AgentSettings(Section):
    """`[agent]`: the limits of one run, and approvals."""

    max_depth: int = Field(default=4, ge=1, le=10)
    max_decisions: int = Field(default=24, ge=1, le=1000)
    max_seconds: float = Field(default=90.0, ge=1, le=3600)
    max_tokens: int = Field(default=60_000, ge=100, le=10_000_000)
    max_cost_usd: float = Field(default=0.50, ge=0.0001, le=1000)
    tool_timeout_s: float = Field(default=20.0, ge=0.1, le=600)
    approvals: Literal["ask", "learned"] = "ask"
    approval_minutes: int = Field(default=60, ge=1, le=10_080)


class LimitSettings(Section):
    """`[limits]`: the size of a message, and how long the process may hang."""

    message_characters: int = Field(default=100_000, ge=100, le=10_000_000)
    frozen_after_s: float = Field(default=30.0, ge=0, le=3600)


class CapSettings(Section):
    """`[caps]`: the most that models may cost in a day; 0 is no cap."""

    person_usd: Dollars = 0.0
    person_tokens: Tokens = 0
    channel_usd: Dollars = 0.0
    channel_tokens: Tokens = 0
    workspace_usd: Dollars = 0.0
    workspace_tokens: Tokens = 0

    @property
    def caps(self) -> tuple[Cap, ...]:
        """The caps that are set."""
        every = (
            Cap(spender=each, usd=getattr(self, f"{each}_usd"), tokens=getattr(self, f"{each}_tokens"))
            for each in Spender
        )
        return tuple(cap for cap in every if cap.usd or cap.tokens)


class ListeningSettings(Section):
    """`[listening]`: which messages without a mention are for the bot, and whether it greets."""

    mode: Literal["mention", "threads", "always"] = "threads"
    welcome: Literal["on", "off"] = "on"


class LogSettings(Section):
    """`[log]`."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    file: str = ""


class TracingSettings(Section):
    """`[tracing]`: OpenTelemetry spans."""

    spans: Literal["off", "on", "texts"] = "off"


class Settings(Section):
    """All sections. Made by `load_settings`, with all paths filled in."""

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
        """The model of each section by name, in the order of the file."""
        return {name: type(field.default) for name, field in cls.model_fields.items()}
