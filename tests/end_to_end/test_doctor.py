"""`goodbot doctor` as people run it: the real process, with nothing, one or two platforms configured."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from bot.adapters.check_result import WARN, clock_result
from bot.app.wiring.build import open_memory
from bot.config import load_settings
from memory.adapters.system import utc_now
from memory.model import Incoming, Role, Scope
from tests.doubles.discord import DiscordServer
from tests.doubles.process import Home
from tests.doubles.slack import SlackThread

NOW = datetime(2025, 3, 14, 15, 9, 26, tzinfo=UTC)


@pytest.mark.process
def test_without_tokens_nobody_is_asked(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    done = Home(tmp_path).run("doctor", SLACK_API_URL=nowhere, DISCORD_API_URL=nowhere)
    assert done.code == 0, done.out
    assert "GB020 ok   Slack is not configured (optional)" in done.out
    assert "GB030 ok   Discord is not configured (optional)" in done.out


@pytest.mark.process
def test_both_platforms(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with SlackThread() as slack, DiscordServer() as discord:
        guild = discord.guild("Home")
        there = {
            **slack.do(slack.server.environment),
            "DISCORD_TOKEN": discord.token,
            "DISCORD_API_URL": discord.api_url,
            "GOODBOT_SLACK_ALLOWED_CHANNELS": slack.do(slack.server.channel, "general"),
            "GOODBOT_DISCORD_ALLOWED_CHANNELS": discord.channel(guild, "general").id,
        }
        good = home.run("doctor", **there)
        told = home.run("doctor", "--json", **there)
        slack.do(slack.server.revoke_tokens)
        discord.revokes_token()
        bad = home.run("doctor", **there)
    assert good.code == 0, good.out + good.err
    codes = [line.split()[0] for line in good.out.splitlines() if line.startswith("GB")]
    assert codes == [f"GB{number:03}" for number in (*range(1, 9), *range(10, 13), *range(20, 29), *range(30, 39))]
    assert "@goodbot in acme" in good.out
    assert "scope=bot+applications.commands" in good.out
    assert [finding["code"] for finding in told.json()] == codes
    assert all(set(finding) == {"code", "what", "ok", "remedy"} for finding in told.json())
    assert bad.code == 1
    assert "GB021 FAIL" in bad.out
    assert "GB030 FAIL" in bad.out
    for done in (good, told, bad):
        assert "Traceback" not in done.out + done.err
        assert not [name for name in there if "TOKEN" in name and there[name] in done.out + done.err]


@pytest.mark.process
def test_platforms_that_are_out_of_reach(tmp_path: Path) -> None:
    nowhere = {"SLACK_API_URL": "http://127.0.0.1:9/api/", "DISCORD_API_URL": "http://127.0.0.1:9/api/v10"}
    tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "DISCORD_TOKEN": "MTIz.a.b"}
    done = Home(tmp_path).run("doctor", **nowhere, **tokens)
    assert done.code == 1
    assert "GB021 FAIL" in done.out
    assert "GB030 FAIL" in done.out
    assert done.out.count("→ check the network") == 2
    assert "Traceback" not in done.out + done.err


@given(st.timedeltas(min_value=timedelta(days=-2), max_value=timedelta(days=2)))
def test_a_clock_is_judged_by_its_distance_alone(skew: timedelta) -> None:
    limit = timedelta(minutes=5)
    found = clock_result("GB026", "Slack", format_datetime(NOW, usegmt=True), NOW + skew, limit=limit)
    assert found.ok == (abs(skew) < limit)
    assert bool(found.remedy) == (abs(skew) > WARN)


@pytest.mark.parametrize("date", ["", "soon", "Fri, 99 Mar 2025 15:09:26 GMT"])
def test_a_date_that_cannot_be_read_is_no_fault(date: str) -> None:
    found = clock_result("GB026", "Slack", date, NOW)
    assert (found.ok, found.remedy) == (True, "")
    assert "not compared" in found.what


@pytest.mark.process
def test_what_is_wrong_with_the_database_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "other.db").write_text("no database", encoding="utf-8")
    done = Home(tmp_path).run("doctor", DATABASE_URL=f"sqlite:///{tmp_path / 'other.db'}")
    assert done.code == 1
    assert done.out.count("is not a Goodbot database") == 1
    blind = [line.split()[0] for line in done.out.splitlines() if "could not look: see GB002" in line]
    assert blind == ["GB003", "GB005", "GB010", "GB011"]


@pytest.mark.process
def test_who_was_named_in_chat_teaches_too(tmp_path: Path) -> None:
    with SlackThread() as slack, DiscordServer() as discord:
        guild = discord.guild("Home")
        nobody = dict.fromkeys(("SLACK_OWNERS", "SLACK_CREATORS", "DISCORD_MANAGERS", "DISCORD_MODERATORS"), "members")
        environment = {
            "DATABASE_URL": f"sqlite:///{tmp_path / 'goodbot.db'}",
            **slack.do(slack.server.environment),
            "DISCORD_TOKEN": discord.token,
            "DISCORD_API_URL": discord.api_url,
            **{f"GOODBOT_{name}": value for name, value in nobody.items()},
        }
        settings = load_settings(environment, config_path=None, cwd=tmp_path, data_dir=tmp_path)
        with open_memory(settings) as memory:
            for workspace, teacher in (
                (f"slack:{slack.server.workspace.id}", "U0TESS"),
                (f"discord:{guild.id}", "4242"),
            ):
                here = Scope(workspace=workspace, channel="c", person="root")
                memory.recording.accept(Incoming(scope=here, event_id="e", message_id="m", text="hi", at=utc_now()))
                memory.chat_settings.change(here, Role.ADMIN, "teachers", teacher)
        done = Home(tmp_path).run("doctor", **environment)
    assert "GB028 ok   teachers: U0TESS (named in chat)" in done.out, done.out
    assert "GB038 ok   teachers: 4242 (named in chat)" in done.out, done.out
