"""What the Web API refuses, spelled as Slack spells it."""

from typing import Any


class SlackError(Exception):
    """A Web API method answers `{"ok": false, "error": code, ...}`."""

    def __init__(self, code: str, *problems: str, **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.body: dict[str, Any] = {"ok": False, "error": code, **extra}
        if problems:
            self.body["response_metadata"] = {"messages": [f"[ERROR] {problem}" for problem in problems]}


class CannotDo(Exception):
    """A person asked the double for something that no Slack client would let them do."""
