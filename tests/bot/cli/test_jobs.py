"""The list of jobs."""

from datetime import timedelta

from bot.cli.jobs import _span


def test_how_often_a_job_runs_is_told_in_minutes_or_hours() -> None:
    assert [_span(timedelta(minutes=n)) for n in (1, 10, 60, 90, 1440)] == ["1 min", "10 min", "1 h", "1.5 h", "24 h"]
