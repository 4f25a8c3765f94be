"""The real `goodbot run` process on a local Slack: ask, reject, correct by word, ask again, approve, take it back."""

import signal
import sys
from pathlib import Path

import pytest

from tests.doubles.process import Chat, Home
from tests.doubles.slack.in_thread import SlackThread
from tests.doubles.slack.state import Message

pytestmark = pytest.mark.process


def whole(answers: list[Message]) -> list[Message]:
    """Those that are not being written any more."""
    return [answer for answer in answers if not answer.stream or answer.stream.state != "open"]


def test_the_loop_on_slack(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with SlackThread() as slack:
        server = slack.server
        environment = {name: value for name, value in server.environment().items() if name != "SLACK_SIGNING_SECRET"}
        command = [sys.executable, "-m", "bot", "run"]
        with Chat(command, home.folder, home.environment(environment)) as process:
            slack.run(server.connected(1))
            ana, general = slack.do(server.person, "ana"), slack.do(server.channel, "general")

            def ask(text: str) -> Message:
                question = slack.do(ana.says, general, text, mention=True)
                slack.wait_for(lambda: whole(server.said_by_bot(general, question.ts)), timeout_s=30)
                return server.said_by_bot(general, question.ts)[-1]

            unknown = ask("where is the spare key?")
            assert "I don't know that." in unknown.text
            slack.do(ana.reacts, unknown, "-1")
            slack.wait_for(lambda: server.ephemerals(ana), timeout_s=10)
            assert "brain" in unknown.reactions

            sums = ask("what is 6*7?")
            assert "6 * 7 = 42" in sums.text
            slack.do(ana.reacts, sums, "+1::skin-tone-3")
            slack.wait_for(lambda: "brain" in sums.reactions, timeout_s=10)
            slack.do(ana.unreacts, sums, "+1::skin-tone-3")
            slack.wait_for(lambda: "brain" not in sums.reactions, timeout_s=10)
            assert (server.slack.unknown_methods(), server.slack.complaints) == ([], [])
            process.signal(signal.SIGTERM)
            process.end()
    assert home.run("rebuild", "--check").code == 0
