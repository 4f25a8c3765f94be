"""Settings of tools: the knowledge base, web pages, rules."""

from typing import Annotated, Literal
from zoneinfo import available_timezones

from pydantic import Field, field_validator

from bot.config.section import Section, Texts, http_address, require_http
from bot.config.setting_errors import did_you_mean
from bot.config.tool_rules import read_rule


class KnowledgeSettings(Section):
    """`[knowledge]`."""

    folder: str = ""
    link: Annotated[str, http_address("https://wiki.example.org/handbook/")] = ""
    pages: Texts = ()
    refresh_minutes: float = Field(default=60.0, ge=1, le=10_080)

    @field_validator("pages")
    @classmethod
    def _are_http(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(require_http(url, "https://example.org/handbook.html") for url in urls)


class PageSettings(Section):
    """`[pages]`: web pages and web search."""

    fetch: Literal["on", "off"] = "off"
    search_url: Annotated[str, http_address("http://localhost:8888")] = ""
    max_bytes: int = Field(default=2_000_000, ge=1_000, le=50_000_000)
    timeout_s: float = Field(default=15.0, ge=0.1, le=120)
    allow_private: bool = False


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
