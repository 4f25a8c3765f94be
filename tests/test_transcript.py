"""The conversations that `bot/README.md` shows are what people see today."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests import transcript

README = Path(__file__).parents[1] / "bot" / "README.md"


@pytest.mark.model
@pytest.mark.parametrize("platform", ["slack", "discord"])
async def test_what_the_readme_shows_is_what_is_said(platform: str, tmp_path: Path) -> None:
    shown = re.findall(r"```text\n(ana: @.*?)\n```", README.read_text(encoding="utf-8"), re.DOTALL)
    record: Callable[[Path], Awaitable[list[str]]] = getattr(transcript, f"on_{platform}")
    lines = await record(tmp_path)
    assert "\n".join(lines) in shown
    people = {"ana", "ben", "tess"}
    assert sum(line.strip().split(":")[0].split(" ")[0] in people for line in lines) >= 10
