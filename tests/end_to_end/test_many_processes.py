"""Several processes on one PostgreSQL: any of them takes an event, one of them answers it, and any of them may die."""

import signal
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memory.adapters.system import utc_now
from memory.model.upkeep import JobRun
from tests.doubles.crew import Crew, crew, live_and_die, stored
from tests.doubles.discord import DiscordServer
from tests.doubles.openai_server import OpenAIServer, hang, text
from tests.doubles.postgres import new_database
from tests.doubles.process import Chat, Home
from tests.doubles.seats import AtDiscord
from tests.doubles.slack.state import Message

pytestmark = pytest.mark.process

ANSWER = "Because of Rayleigh."


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as model:
        yield model


def with_model(folder: Path, model: OpenAIServer) -> Home:
    return Home(folder, GOODBOT_MODEL="openai:test", OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="k")


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "workspaces"), [("http", 1), ("socket", 1), ("socket", 3)])
def test_nothing_is_lost_or_doubled_when_any_of_four_processes_dies(tmp_path: Path, mode: str, workspaces: int) -> None:
    with crew(Home(tmp_path), 4, seed=1, mode=mode, workspaces=workspaces) as made:
        live_and_die(made, kills=10)
        made.assert_nothing_is_lost_or_doubled()


def test_any_process_stops_what_another_one_answers(tmp_path: Path, model: OpenAIServer) -> None:
    with crew(with_model(tmp_path, model), 2, seed=1) as made:
        model.script(hang())
        question = begin_at(made, 0, model)
        server, ana = made.slack.server, made.slack.server.person("ana")
        made.only(1)
        made.slack.do(lambda: ana.says(question.channel, "stop", thread_ts=question.ts))
        made.slack.wait_for(lambda: [one for one in server.ephemerals(ana) if "stop" in one.text.lower()])
        made.slack.wait_for(lambda: server.said_by_bot(question.channel, question.ts))
        assert "I had to stop" in server.said_by_bot(question.channel, question.ts)[-1].text
        ended = made.processes[0].signal(signal.SIGTERM)
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err


def test_a_message_waits_for_the_one_before_it_wherever_that_is_answered(tmp_path: Path, model: OpenAIServer) -> None:
    with crew(with_model(tmp_path, model), 2, seed=1) as made:
        server, ana = made.slack.server, made.slack.server.person("ana")
        model.script(hang(), *[text(ANSWER)] * 4)
        question = begin_at(made, 0, model)
        made.only(1)
        made.slack.do(lambda: ana.says(question.channel, "and the sea?", thread_ts=question.ts))
        made.until_taken_in()
        made.only(0)
        made.slack.do(lambda: ana.says(question.channel, "stop", thread_ts=question.ts))
        made.slack.wait_for(lambda: len(server.said_by_bot(question.channel, question.ts)) == 2)
        first, second = server.said_by_bot(question.channel, question.ts)
        assert "I had to stop" in first.text
        assert ANSWER in second.text
        with made.memory() as memory:
            one, other = stored(memory)
        assert one.held_by != other.held_by
        assert one.run_id < other.run_id


def test_what_a_killed_process_was_answering_is_answered_by_another(tmp_path: Path, model: OpenAIServer) -> None:
    with crew(with_model(tmp_path, model), 2, seed=1) as made:
        model.script(hang(), text(ANSWER))
        question = begin_at(made, 0, model)
        made.processes[0].kill()
        server = made.slack.server
        made.slack.wait_for(lambda: server.said_by_bot(question.channel, question.ts), 60)
        assert [each.text for each in server.said_by_bot(question.channel, question.ts)] == [ANSWER]
        with made.memory() as memory:
            # Jobs were run by one of the two; when one is due again, whoever is left runs it.
            an_hour_ago = utc_now() - timedelta(hours=2)
            with memory.store.write() as tx:
                tx.upkeep.put_job_run(JobRun(name="sweep", started_at=an_hour_ago, finished_at=an_hour_ago))
            made.until(lambda: any(s.job.name == "sweep" and s.due_at > utc_now() for s in memory.upkeep.states()))


def test_discord_is_taken_over_from_a_machine_that_is_gone(tmp_path: Path) -> None:
    url = new_database()
    with DiscordServer() as discord:
        seat = AtDiscord(discord)

        def start(machine: str) -> Chat:
            # No lock is shared between machines; only the database is.
            home = Home(tmp_path, DATABASE_URL=url, XDG_DATA_HOME=str(tmp_path / machine))
            place = {"DISCORD_TOKEN": discord.token, "DISCORD_API_URL": discord.api_url}
            command = (
                "import socket, sys; from bot.cli.root import main; "
                f"socket.gethostname = lambda: {machine!r}; sys.argv = ['goodbot', 'discord']; main()"
            )
            return Chat([sys.executable, "-c", command], home.folder, home.environment(place))

        with start("one") as first:
            seat.until_connected()
            with start("two") as second:
                second.wait_for_error("this one stands by")
                assert "5" in seat.asks("what is 2 + 3?")
                first.kill()
                second.wait_for_error("this one takes over")
                assert "9" in seat.asks("what is 4 + 5?")


def begin_at(made: Crew, number: int, model: OpenAIServer) -> Message:
    """Ana asks, and one process has begun to answer."""
    made.only(number)
    server, ana = made.slack.server, made.slack.server.person("ana")
    question = made.slack.do(lambda: ana.says(server.channel("general"), "why is the sky blue?"))
    assert model.waiting.wait(60)
    made.until_taken_in()
    return question
