"""What commands show while they work."""

import pytest

from bot.cli.output import progress


def test_a_bar_shows_how_much_there_is_from_the_beginning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with progress("lessons [of] ana", 7) as step:
        step(3, "of 7")
    shown = capsys.readouterr().err
    assert "lessons [of] ana" in shown
    assert "0/7" in shown
    assert "/100" not in shown
