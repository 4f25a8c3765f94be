"""The real `goodbot run` process for two workspaces that install it: what one is taught the other never hears of."""

import sys
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.doubles.process import Chat, Home
from tests.doubles.slack import Hang, Person, Workspace
from tests.doubles.slack.core import APP_TOKEN, CLIENT_ID, CLIENT_SECRET
from tests.doubles.slack.in_thread import SlackThread
from tests.doubles.slack.state import Message
from tests.doubles.slack_workspaces_driver import KEY, Browser, Page, free_port

pytestmark = pytest.mark.process

COMMAND = [sys.executable, "-m", "bot", "run"]


class Neighbours:
    """Two workspaces whose ids are all the same, and the bot that both install."""

    def __init__(self, slack: SlackThread, home: Home) -> None:
        self.slack, self.server, self.home = slack, slack.server, home
        self.port = free_port()
        """Where whoever is started next has its pages, and where people open them."""
        self.acme = self.server.workspace
        self.umbrella = slack.do(self.server.add_workspace, "T0002", "umbrella")
        self.ana = {workspace.id: self._person(workspace) for workspace in (self.acme, self.umbrella)}
        self.server.slack.redirect_url = f"http://127.0.0.1:{self.port}/slack/oauth_redirect"

    def _person(self, workspace: Workspace) -> Person:
        def arrives() -> Person:
            self.server.channel("general", workspace=workspace)
            return self.server.person("ana", workspace=workspace)

        return self.slack.do(arrives)

    def environment(self) -> dict[str, str]:
        """What the process is told."""
        return {
            "SLACK_API_URL": self.server.api_url,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_CLIENT_ID": CLIENT_ID,
            "SLACK_CLIENT_SECRET": CLIENT_SECRET,
            "GOODBOT_SLACK_TOKEN_KEY": KEY,
            "GOODBOT_SLACK_HTTP_PORT": str(self.port),
            "GOODBOT_SLACK_ANSWERS": "post",
        }

    def start(self) -> Chat:
        """The process, connected."""
        before = self.server.socket_mode.opened
        process = Chat(COMMAND, self.home.folder, self.home.environment(self.environment()))
        self.slack.wait_for(lambda: self.server.socket_mode.opened > before, timeout_s=30)
        return process

    def install(self, workspace: Workspace) -> Page:
        """As a person with a browser."""

        async def browse() -> Page:
            async with ClientSession() as session:
                return await Browser(session, f"http://127.0.0.1:{self.port}").install(workspace)

        return self.slack.run(browse())

    def channel(self, workspace: Workspace) -> str:
        return next(channel.id for channel in workspace.channels.values() if channel.name == "general")

    def asks(self, workspace: Workspace, text: str) -> Message:
        """Without waiting for an answer."""
        return self.slack.do(self.ana[workspace.id].says, self.channel(workspace), text, mention=True)

    def answer(self, workspace: Workspace, question: Message) -> Message:
        """The answer to it, once it is there."""
        channel = self.channel(workspace)
        self.slack.wait_for(lambda: workspace.said_by_bot(channel, question.ts), timeout_s=30)
        return workspace.said_by_bot(channel, question.ts)[-1]

    def ask(self, workspace: Workspace, text: str) -> Message:
        """Ask, and wait for the answer."""
        return self.answer(workspace, self.asks(workspace, text))

    def teach(self, wrong: Message, right: str) -> None:
        """In the first workspace: reject an answer, and say in its thread what would have been right."""
        ana = self.ana[self.acme.id]
        self.slack.do(ana.reacts, wrong, "-1")
        self.slack.wait_for(lambda: self.server.ephemerals(ana), timeout_s=10)
        self.slack.do(ana.says, wrong.channel, f"correct: {right}", mention=True, thread_ts=wrong.thread_ts)
        self.slack.wait_for(lambda: len(self.server.ephemerals(ana)) == 2, timeout_s=10)


def test_two_workspaces_in_one_process(tmp_path: Path) -> None:
    with SlackThread() as slack:
        both = Neighbours(slack, Home(tmp_path))
        acme, umbrella = both.acme, both.umbrella
        with both.start() as process:
            assert [both.install(workspace).status for workspace in (acme, umbrella)] == [200, 200]
            unknown = both.ask(acme, "where is the spare key?")
            assert "I don't know that." in unknown.text
            both.teach(unknown, "Under the red mat.")
            assert "Under the red mat" in both.ask(acme, "where is the spare key?").text
            assert "I don't know that." in both.ask(umbrella, "where is the spare key?").text

            both.server.faults.next("chat.postMessage", Hang(), times=2)
            questions = {workspace.id: both.asks(workspace, "what is 6*7?") for workspace in (acme, umbrella)}
            slack.wait_for(lambda: len([c for c in both.server.calls("chat.postMessage") if c.fault]) == 2)
            process.kill()
        with both.start() as process:
            for workspace in (acme, umbrella):
                assert "42" in both.answer(workspace, questions[workspace.id]).text
            slack.do(both.server.uninstall, umbrella)
            slack.wait_for(lambda: not both.server.deliveries.outstanding())
            assert "Under the red mat" in both.ask(acme, "where is the spare key?").text
            assert both.install(umbrella).status == 200
            assert "I don't know that." in both.ask(umbrella, "where is the spare key?").text
            assert (slack.server.slack.unknown_methods(), slack.server.slack.complaints) == ([], [])
    told = [file for file in tmp_path.rglob("*") if file.is_file() and b"xoxb-" in file.read_bytes()]
    assert told == []
    assert both.home.run("rebuild", "--check").code == 0


def test_a_key_that_is_missing_is_said_at_the_start(tmp_path: Path) -> None:
    done = Home(tmp_path).run(
        "run", SLACK_CLIENT_ID=CLIENT_ID, SLACK_CLIENT_SECRET=CLIENT_SECRET, SLACK_APP_TOKEN=APP_TOKEN
    )
    assert done.code != 0
    assert "GOODBOT_SLACK_TOKEN_KEY" in done.err
    assert "Traceback" not in done.err
