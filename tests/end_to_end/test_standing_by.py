"""Several `goodbot` processes on the same tokens and database: one of them is the bot, the others take over."""

import signal
import sys
from pathlib import Path

import pytest

from memory.model import Progress
from tests.doubles.openai_server import OpenAIServer, hang, text
from tests.doubles.process import Chat, Home
from tests.doubles.seats import both_platforms, environment

pytestmark = pytest.mark.process

ANSWER = "Because of Rayleigh."
STANDS_BY = "this one stands by"


def test_a_second_process_stands_by_and_answers_within_seconds_of_a_kill(tmp_path: Path) -> None:
    with OpenAIServer() as model, both_platforms() as seats:
        home = Home(tmp_path, GOODBOT_MODEL="openai:test", OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="k")
        settings = home.environment(environment(*seats))

        def start(command: str) -> Chat:
            return Chat([sys.executable, "-m", "bot", command], home.folder, settings)

        with start("run") as first:
            for seat in seats:
                seat.until_connected()
            # The whole Procfile.
            with start("run") as second, start("slack") as third:
                second.wait_for_error(STANDS_BY, times=2)
                third.wait_for_error(STANDS_BY)
                model.script(text(ANSWER), hang(), hang(), *[text(ANSWER)] * 8)  # a follow-up takes two
                at_slack, at_discord = seats
                assert at_slack.asks("why is the sky blue") == ANSWER
                asked = []
                for seat in seats:
                    model.waiting.clear()
                    asked.append(seat.says("and the sea"))
                    assert model.waiting.wait(60)
                first.kill()
                third.kill()
                for number, question in enumerate(asked):
                    seats[number].until_answered(question)
                    assert seats[number].answers_to(question) == [ANSWER]
                assert at_discord.asks("and the lake") == ANSWER
                ended = second.signal(signal.SIGTERM)
                assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
    with home.memory() as memory:
        assert [left.incoming.progress for left in memory.recording.unfinished()] == list[Progress]()


def test_a_process_that_stands_by_ends_when_it_is_told_to(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats:
        command, settings = [sys.executable, "-m", "bot", "run"], home.environment(environment(*seats))
        with Chat(command, home.folder, settings):
            for seat in seats:
                seat.until_connected()
            with Chat(command, home.folder, settings) as second:
                second.wait_for_error(STANDS_BY)
                ended = second.signal(signal.SIGTERM)
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
