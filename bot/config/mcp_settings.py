"""`[mcp]`: servers of the Model Context Protocol, whose tools the bot uses."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, SecretStr, field_validator, model_validator

from bot.config.section import Section, Texts, http_address


class McpServer(Section):
    """A server: a command to start, or the URL of a running one."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,19}$")
    command: Texts = ()
    url: Annotated[str, http_address("https://mcp.example.org/mcp")] = ""
    env: Texts = ()
    token: SecretStr = SecretStr("")
    tools: Texts = ("*",)
    reads: Texts = ()

    @model_validator(mode="after")
    def _is_somewhere(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError(f"the server {self.name} needs either a command or a url")
        return self

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        """The environment variables that the server gets, out of the bot's own."""
        return {name: own[name] for name in self.env if name in own}


class McpSettings(Section):
    """`[mcp]`."""

    servers: Annotated[tuple[McpServer, ...], Field(strict=False)] = ()
    timeout_s: float = Field(default=20.0, ge=0.1, le=600)

    @field_validator("servers")
    @classmethod
    def _have_names(cls, servers: tuple[McpServer, ...]) -> tuple[McpServer, ...]:
        names = [server.name for server in servers]
        if len(set(names)) < len(names):
            raise ValueError(f"two servers have the same name: {', '.join(sorted(names))}")
        return servers
