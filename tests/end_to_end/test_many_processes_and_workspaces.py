"""Several processes on one PostgreSQL for several Slack workspaces: what one of them installs, all of them serve."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.doubles.postgres import files, new_database
from tests.doubles.process import Chat, Home
from tests.doubles.slack import Hang, Workspace
from tests.doubles.slack.core import SIGNING_SECRET
from tests.doubles.slack.in_thread import SlackThread
from tests.doubles.slack_workspaces_driver import Browser, Page, free_port
from tests.end_to_end.test_slack_oauth import COMMAND, Neighbours

pytestmark = pytest.mark.process


class ByRequests(Neighbours):
    """Signed requests come to the processes that are named."""

    def environment(self) -> dict[str, str]:
        requests = {"GOODBOT_SLACK_MODE": "http", "SLACK_SIGNING_SECRET": SIGNING_SECRET}
        return super().environment() | requests

    def start_at(self, port: int) -> Chat:
        """One more process."""
        self.port = port
        process = Chat(COMMAND, self.home.folder, self.home.environment(self.environment()))
        process.wait_for_error("connected to Slack")
        return process

    def only(self, port: int) -> None:
        """From now on events go there."""
        self.slack.do(self.server.deliver_to_any, [f"http://127.0.0.1:{port}/slack/events"])

    def begins_and_comes_back(self, workspace: Workspace, begins: int, comes_back: int) -> Page:
        """Somebody opens the page of one process, and is sent back to that of another."""
        self.server.slack.redirect_url = f"http://127.0.0.1:{comes_back}/slack/oauth_redirect"

        async def browse() -> Page:
            async with ClientSession() as session:
                return await Browser(session, f"http://127.0.0.1:{begins}").install(workspace)

        return self.slack.run(browse())


@dataclass(frozen=True)
class Pair:
    """Two processes, each at its port, and where more are started."""

    home: Home
    both: ByRequests
    stack: ExitStack
    ports: tuple[int, int]
    processes: tuple[Chat, Chat]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    home = Home(tmp_path, DATABASE_URL=new_database(), XDG_DATA_HOME=str(tmp_path / "data"))
    one, other = free_port(), free_port()
    with SlackThread() as slack, ExitStack() as stack:
        both = ByRequests(slack, home)
        first, second = (stack.enter_context(both.start_at(port)) for port in (one, other))
        yield Pair(home, both, stack, (one, other), (first, second))


def test_what_one_process_installs_is_served_by_all(pair: Pair) -> None:
    both, slack = pair.both, pair.both.slack
    acme, umbrella, (one, other), (first, second) = both.acme, both.umbrella, pair.ports, pair.processes
    assert both.begins_and_comes_back(acme, one, other).status == 200
    assert both.begins_and_comes_back(umbrella, one, one).status == 200
    for port, workspace in ((one, acme), (other, umbrella), (one, umbrella)):
        both.only(port)
        assert "42" in both.ask(workspace, "what is 6*7?").text

    # The second process never had anything of acme.
    both.only(one)
    both.server.faults.next("chat.postMessage", Hang())
    question = both.asks(acme, "what is 6*8?")
    slack.wait_for(lambda: [call for call in both.server.calls("chat.postMessage") if call.fault])
    first.kill()
    assert "48" in both.answer(acme, question).text
    both.only(other)
    assert "54" in both.ask(acme, "what is 6*9?").text

    third = pair.stack.enter_context(both.start_at(one))
    both.only(one)
    assert "56" in both.ask(umbrella, "what is 7*8?").text
    slack.do(both.server.uninstall, umbrella)
    third.wait_for_error("no longer serving workspace T0002")
    second.wait_for_error("another process removed its installation")
    assert both.begins_and_comes_back(umbrella, other, other).status == 200
    for port in (one, other):
        both.only(port)
        assert "63" in both.ask(umbrella, "what is 7*9?").text
    said = [[one.text for one in each.said_by_bot(both.channel(each))] for each in (acme, umbrella)]
    assert said[0] == ["6 * 7 = 42", "6 * 8 = 48", "6 * 9 = 54"]
    assert said[1] == ["6 * 7 = 42", "6 * 7 = 42", "7 * 8 = 56", "7 * 9 = 63", "7 * 9 = 63"]
    assert (both.server.slack.unknown_methods(), both.server.slack.complaints) == ([], [])
    pair.stack.close()
    assert b"xoxb-" not in files(pair.home.environment({})["DATABASE_URL"])
    assert list(pair.home.folder.rglob("*-slack*.db")) == []
    assert pair.home.run("rebuild", "--check").code == 0


def test_what_waits_in_a_workspace_that_removed_the_app_comes_to_its_end(pair: Pair) -> None:
    both, slack = pair.both, pair.both.slack
    acme, umbrella, (one, other), (first, second) = both.acme, both.umbrella, pair.ports, pair.processes
    assert [both.begins_and_comes_back(each, one, one).status for each in (acme, umbrella)] == [200, 200]
    both.only(one)
    both.server.faults.next("chat.postMessage", Hang())
    question, ana = both.asks(umbrella, "what is 6*8?"), both.ana[umbrella.id]
    slack.wait_for(lambda: [call for call in both.server.calls("chat.postMessage") if call.fault])
    slack.do(lambda: ana.says(question.channel, "what is 6*9?", mention=True, thread_ts=question.ts))
    deliveries = both.server.deliveries
    slack.wait_for(lambda: not deliveries.waiting and all(each.acked for each in deliveries.sent))
    first.kill()
    both.only(other)
    slack.do(both.server.uninstall, umbrella)
    second.wait_for_error("no longer serving workspace T0002")
    second.wait_for_error("the app is not installed there", times=2)
    assert "42" in both.ask(acme, "what is 6*7?").text
    assert umbrella.said_by_bot(question.channel) == []


def test_an_installation_is_finished_by_another_process_than_began_it(tmp_path: Path) -> None:
    """On one machine the pages have one port, which is the next process's when the one before it dies."""
    home = Home(tmp_path, DATABASE_URL=new_database(), XDG_DATA_HOME=str(tmp_path / "data"))
    with SlackThread() as slack, ExitStack() as stack:
        both = Neighbours(slack, home)
        first, second = (stack.enter_context(both.start()) for _ in range(2))
        second.wait_for_error("another process listens on 127.0.0.1")

        async def browse() -> Page:
            async with ClientSession() as session:
                browser = Browser(session, f"http://127.0.0.1:{both.port}")
                address = await browser.consent(both.acme)
                first.kill()
                second.wait_for_error("listening for Slack on")
                return await browser.get(address)

        assert slack.run(browse()).status == 200
        assert "42" in both.ask(both.acme, "what is 6*7?").text
