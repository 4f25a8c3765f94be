"""What `kill -9` leaves on the platforms: no line that says work goes on, and no stop button that does nothing."""

import signal
import sys
from pathlib import Path

import pytest

from tests.doubles.openai_server import OpenAIServer, hang, text
from tests.doubles.process import Chat, Home
from tests.doubles.seats import AtDiscord, AtSlack, both_platforms, environment

pytestmark = pytest.mark.process

QUICK_LINES = [
    sys.executable,
    "-c",
    "import sys, bot.adapters.discord.outgoing.typing_indicator as typing; from bot.cli.root import main; "
    "typing.LINE_AFTER_S = 0.01; sys.argv = ['goodbot', 'run']; main()",
]
ANSWER = "Because of Rayleigh."


def lines(seat: AtDiscord) -> list[str]:
    """The lines with a stop button in the channel."""
    return [message.content for message in seat.server.said(seat.general) if "goodbot:stop" in str(message.components)]


def status(seat: AtSlack, question: str) -> str:
    """What the thread says that the bot is doing."""
    return seat.slack.do(seat.server.workspace.status, seat.general, question)


def test_a_line_that_was_there_when_the_process_was_killed_goes_with_the_next_start(tmp_path: Path) -> None:
    with OpenAIServer() as model, both_platforms() as seats:
        home = Home(tmp_path, GOODBOT_MODEL="openai:test", OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="k")
        settings = home.environment(environment(*seats))
        at_slack, at_discord = seats
        model.script(hang(), hang(), text(ANSWER), text(ANSWER))
        with Chat(QUICK_LINES, home.folder, settings) as process:
            at_slack.until_connected()
            at_discord.until_connected()
            asked = []
            for seat in seats:
                model.waiting.clear()
                asked.append(seat.says("why is the sky blue"))
                assert model.waiting.wait(60)
            at_slack.slack.wait_for(lambda: at_slack.server.workspace.status(at_slack.general, asked[0]), 60)
            at_discord.server.wait_for(lambda: lines(at_discord), 60)
            process.kill()
        assert status(at_slack, asked[0]) == "processing"
        with Chat(QUICK_LINES, home.folder, settings) as process:
            at_slack.until_answered(asked[0])
            at_discord.until_answered(asked[1])
            at_discord.server.wait_for(lambda: not lines(at_discord), 60)
            at_slack.slack.wait_for(
                lambda: at_slack.server.workspace.sessions[at_slack.general, asked[0]].status == "active", 60
            )
            ended = process.signal(signal.SIGTERM)
            assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
            assert "connected to Discord as Goodbot" in ended.err


def test_a_session_of_an_answer_that_was_being_posted_ends_with_the_next_start(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats:
        settings = home.environment(environment(*seats))
        at_slack, _ = seats
        with Chat([sys.executable, "-m", "bot", "run"], home.folder, settings) as process:
            at_slack.until_connected()
            at_slack.hangs_posting()
            # Nor is it told that the work has ended.
            at_slack.slack.do(
                at_slack.server.faults.next,
                "agents.sessions.setStatus",
                at_slack._hang,
                times=None,
                where=lambda args: args["status"] == "active",
            )
            asked = at_slack.says("what is 6*7?")
            assert at_slack.is_posting()
            process.kill()
        at_slack.lets_go()
        with Chat([sys.executable, "-m", "bot", "run"], home.folder, settings):
            at_slack.until_answered(asked)
            sessions = at_slack.server.workspace.sessions
            at_slack.slack.wait_for(lambda: sessions[at_slack.general, asked].status == "active", 60)
