"""Settings of the terminal, Slack, Discord and the web."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, field_validator

from bot.config.section import Section, Texts, http_address
from memory.model import Role

OwnAddress = Annotated[str, http_address("https://goodbot.example.org")]
MIN_KEY_CHARACTERS = 16
MIN_PASSWORD_CHARACTERS = 10
GROUP_ROLES: Mapping[str, Role] = MappingProxyType(
    {"admins": Role.ADMIN, "teachers": Role.TEACHER, "members": Role.MEMBER}
)
"""The role of the people of a platform's group (`owners`, `managers`, ...), by the value of its setting."""


class TerminalSettings(Section):
    """`[terminal]`."""

    person: str = Field(default="you", min_length=1, max_length=40)
    workspace: str = "terminal:local"
    channel: str = Field(default="terminal", min_length=1, max_length=80)

    @field_validator("workspace")
    @classmethod
    def _is_of_the_terminal(cls, name: str) -> str:
        prefix, _, rest = name.partition(":")
        if prefix != "terminal" or not rest or not rest.isprintable() or " " in rest:
            raise ValueError('must be "terminal:NAME", without spaces')
        return name

    @field_validator("person", "channel")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not name.isprintable() or "/" in name or name != name.strip():
            raise ValueError("must be printable, without a slash and without spaces around it")
        return name


_ENDS_WITH_SLASH = AfterValidator(lambda url: url if url.endswith("/") else f"{url}/")


class SlackSettings(Section):
    """`[slack]`. The tokens are checked when Slack is used, as the variables may be set for another program."""

    bot_token: SecretStr = SecretStr("")
    app_token: SecretStr = SecretStr("")
    signing_secret: SecretStr = SecretStr("")
    client_id: str = ""
    client_secret: SecretStr = SecretStr("")
    token_key: SecretStr = SecretStr("")
    public_url: Annotated[OwnAddress, AfterValidator(lambda url: url.rstrip("/"))] = ""
    api_url: Annotated[str, Field(min_length=1), http_address("https://slack.com/api/"), _ENDS_WITH_SLASH] = (
        "https://slack.com/api/"
    )
    mode: Literal["socket", "http"] = "socket"
    http_host: str = Field(default="127.0.0.1", min_length=1)
    http_port: int = Field(default=3000, ge=1, le=65_535)
    admins: Texts = ()
    teachers: Texts = ()
    owners: Literal["admins", "teachers", "members"] = "admins"
    creators: Literal["teachers", "members"] = "teachers"
    allowed_users: Texts = ()
    allowed_channels: Texts = ()
    command: str = "/goodbot"
    answers: Literal["stream", "post"] = "stream"
    max_wait_s: float = Field(default=30.0, ge=0, le=600)
    ping_interval_s: float = Field(default=10.0, ge=0.1, le=60)

    @field_validator("command")
    @classmethod
    def _is_a_slash_command(cls, command: str) -> str:
        if not command.startswith("/") or " " in command or len(command) < 2:
            raise ValueError('must be one word that begins with a slash, for example "/goodbot"')
        return command

    @field_validator("admins", "teachers", "allowed_users")
    @classmethod
    def _are_ids(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [name for name in names if not re.match(r"(T\w+/)?[UWS]", name)]
        if wrong:
            raise ValueError(
                f"must be ids of people (U... or W...) or user groups (S...), which {wrong[0]} is not; "
                "the workspace may come before it (T.../U...)"
            )
        return names


class DiscordSettings(Section):
    """`[discord]`. The token is checked when Discord is used."""

    token: SecretStr = SecretStr("")
    api_url: Annotated[
        str, http_address("https://discord.com/api/v10"), AfterValidator(lambda url: url.rstrip("/"))
    ] = ""
    admins: Texts = ()
    teachers: Texts = ()
    managers: Literal["admins", "teachers", "members"] = "admins"
    moderators: Literal["teachers", "members"] = "teachers"
    allowed_people: Texts = ()
    allowed_channels: Texts = ()
    reads: Literal["mentions", "everything"] = "mentions"
    answers: Literal["stream", "post"] = "stream"
    long_answers: Literal["thread", "file", "messages"] = "thread"
    command: str = "goodbot"
    shards: int = Field(default=1, ge=1, le=1000)
    heartbeat_timeout_s: float = Field(default=60.0, ge=0.1, le=600)
    identify_pause_s: float = Field(default=5.0, ge=0, le=60)
    max_wait_s: float = Field(default=60.0, ge=30, le=3600)

    @field_validator("admins", "teachers", "allowed_people", "allowed_channels")
    @classmethod
    def _are_ids(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [name for name in names if not name.isdecimal()]
        if wrong:
            raise ValueError(f"must be Discord's ids, which have digits only; {wrong[0]} is none")
        return names

    @field_validator("command")
    @classmethod
    def _is_a_command(cls, command: str) -> str:
        if not re.fullmatch(r"[-_a-z0-9]{1,32}", command):
            raise ValueError('must be one word of at most 32 small letters, without a slash, for example "goodbot"')
        return command


def _guarded(least: int, how: str = "") -> AfterValidator:
    """A validator of secrets that nobody may guess, if they are set; `how` says how to make one."""

    def checked(secret: SecretStr) -> SecretStr:
        if 0 < len(secret.get_secret_value()) < least:
            raise ValueError(f"must have at least {least} characters, so that nobody guesses it{how}")
        return secret

    return AfterValidator(checked)


class WebSettings(Section):
    """`[web]`: the HTTP interface and the pages."""

    host: str = Field(default="127.0.0.1", min_length=1)
    port: int = Field(default=8080, ge=0, le=65_535)
    api_key: Annotated[SecretStr, _guarded(MIN_KEY_CHARACTERS, ": make one with `openssl rand -hex 24`")] = SecretStr(
        ""
    )
    workspace: str = Field(default="terminal:local", min_length=1)
    requests_per_minute: int = Field(default=600, ge=1, le=1_000_000)
    pages: Literal["on", "off"] = "on"
    playground: Literal["on", "off"] = "on"
    password: Annotated[SecretStr, _guarded(MIN_PASSWORD_CHARACTERS)] = SecretStr("")
    accounts: Texts = ()
    url: OwnAddress = ""
    oidc_issuer: OwnAddress = ""
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr = SecretStr("")

    @field_validator("accounts")
    @classmethod
    def _names_everything(cls, accounts: Texts) -> Texts:
        for line in accounts:
            if not re.fullmatch(r"\S+ (viewer|teacher|admin) \S+( \$argon2\S+)?", line):
                raise ValueError(
                    "each must be NAME viewer|teacher|admin WORKSPACE [DIGEST], for example "
                    '"ana teacher slack:T024BE7LD $argon2id$..."; `goodbot password` makes the digest'
                )
        return accounts
