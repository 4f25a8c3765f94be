"""What `goodbot doctor` says of the configured MCP servers: of real processes, and of none."""

import pytest

from bot.adapters.check_result import CheckResult
from bot.app.health_checks import mcp_servers
from bot.config import Settings
from bot.config.mcp_settings import McpServer, McpSettings
from tests.bot.adapters.tools.test_mcp_servers import ENVIRON, local


def _status(result: CheckResult) -> str:
    return "FAIL" if not result.ok else "warn" if result.remedy else "ok"


def checked(*servers: McpServer, timeout_s: float = 15.0) -> list[str]:
    settings = Settings(mcp=McpSettings(servers=servers, timeout_s=timeout_s))
    return [f"{_status(each)} {each.what}" for each in mcp_servers(settings)]


@pytest.mark.process
def test_each_server_is_asked_for_its_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    found = checked(
        local(tools=("echo", "g*")), local(name="closed", tools=("x",)), McpServer(name="gone", command=("/no/such",))
    )
    assert found[:2] == [
        "ok the MCP server office offers 2 tools: office__echo, office__grow",
        "warn the MCP server closed offers no tool",
    ]
    assert found[2].startswith("FAIL the MCP server gone does not answer: FileNotFoundError")


def test_without_servers_nothing_is_said() -> None:
    assert checked() == []
