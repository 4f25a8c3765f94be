"""The real `goodbot run` process on a local Slack and a local Discord at once, told only by environment variables."""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory.model import Progress
from tests.doubles.openai_server import OpenAIServer, hang, text
from tests.doubles.process import Chat, Home
from tests.doubles.seats import AtDiscord, AtSlack, PlatformRunner, both_platforms, environment

pytestmark = pytest.mark.process

RUN = [sys.executable, "-m", "bot", "run"]
IMPATIENT = [
    sys.executable,
    "-c",
    "import sys, bot.app.serve as serve; from bot.cli.root import main; "
    "serve.DRAIN_S = 0.2; sys.argv = ['goodbot', 'run']; main()",
]
"""The same, but for how long running answers may take to end."""

QUESTION, ANSWER = "why is the sky blue", "Because of Rayleigh."


@contextmanager
def running(home: Home, seats: tuple[AtSlack, AtDiscord], program: Sequence[str] = RUN) -> Iterator[Chat]:
    """The process, connected to both."""
    with Chat(program, home.folder, home.environment(environment(*seats))) as process:
        for seat in seats:
            seat.until_connected()
        yield process


def ends_well(process: Chat) -> str:
    """SIGTERM; returns what the process wrote to its log."""
    ended = process.signal(signal.SIGTERM)
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    return ended.err


def with_model(folder: Path, model: OpenAIServer) -> Home:
    return Home(folder, GOODBOT_MODEL="openai:test", OPENAI_BASE_URL=model.base_url, OPENAI_API_KEY="k")


def teach(seat: PlatformRunner, question: str, correction: str) -> None:
    unknown = seat.asks(question)
    assert "I don't know that." in unknown
    seat.corrects(unknown, correction)


def approve_and_take_back(seat: PlatformRunner) -> None:
    sums = seat.asks("what is 6*7?")
    assert "6 * 7 = 42" in sums
    seat.votes("👍🏽", on=sums, lesson=True)
    seat.unvotes("👍🏽", on=sums)


@pytest.mark.model
def test_both_platforms_in_one_process_learn_and_the_same_id_on_both_is_two_people(tmp_path: Path) -> None:
    home = Home(tmp_path, GOODBOT_EMBEDDER_NAME="packaged")
    with both_platforms() as seats, running(home, seats) as process:
        at_slack, at_discord = seats
        assert at_slack.ana.id == at_discord.ana.id
        teach(at_slack, "where is the spare key?", "In the blue box.")
        again = at_slack.asks("in which place do we keep the spare key?")
        assert "In the blue box." in again

        teach(at_discord, "where is the spare key?", "Under the mat.")
        again = at_discord.asks("in which place do we keep the spare key?")
        assert "Under the mat." in again
        assert "used lesson" in again
        assert "In the blue box." in at_slack.asks("the spare key, where is it?")
        for seat in seats:
            approve_and_take_back(seat)
        assert [seat.complaints() for seat in seats] == [[], []]
        ends_well(process)
    assert home.run("rebuild", "--check").code == 0


def test_what_is_taught_on_one_platform_never_answers_on_the_other(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats, running(home, seats) as process:
        at_slack, at_discord = seats
        teach(at_slack, "where is the spare key?", "In the blue box.")
        assert "In the blue box." in at_slack.asks("where is the spare key now?")
        assert "I don't know that." in at_discord.asks("where is the spare key?")
        assert "blue" not in "".join(message.content for message in at_discord.server.messages(at_discord.general))
        ends_well(process)


@pytest.mark.parametrize("gone", [0, 1], ids=["slack", "discord"])
def test_a_platform_whose_token_is_revoked_leaves_the_other_working_and_one_line(tmp_path: Path, gone: int) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats, running(home, seats) as process:
        seats[gone].revokes()
        other = seats[1 - gone]
        assert "6 * 7 = 42" in other.asks("what is 6*7?")
        log = ends_well(process)
    wrong = [line for line in log.splitlines() if " ERROR " in line]
    assert len(wrong) == 1, log
    assert ("Slack" if gone == 0 else "DISCORD_TOKEN") in wrong[0]


def test_a_platform_that_refuses_the_token_from_the_start_leaves_the_other_working(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats:
        settings = {**environment(*seats), "DISCORD_TOKEN": "wrong"}
        with Chat(RUN, home.folder, home.environment(settings)) as process:
            seats[0].until_connected()
            assert "6 * 7 = 42" in seats[0].asks("what is 6*7?")
            log = ends_well(process)
    wrong = [line for line in log.splitlines() if " ERROR " in line]
    assert len(wrong) == 1, log
    assert "set DISCORD_TOKEN" in wrong[0]


def test_if_no_platform_takes_its_token_that_is_told_once_and_logged(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats:
        settings = {**environment(*seats), "SLACK_BOT_TOKEN": "xoxb-wrong", "DISCORD_TOKEN": "wrong"}
        with Chat(RUN, home.folder, home.environment(settings)) as process:
            ended = process.wait()
    log = home.log.read_text(encoding="utf-8")
    for token in ("SLACK_BOT_TOKEN", "set DISCORD_TOKEN"):
        assert (ended.err.count(token), log.count(token)) == (1, 1), ended.err
    assert ended.code == 1


def test_when_every_platform_is_gone_the_process_says_so_and_fails(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats, running(home, seats) as process:
        for seat in seats:
            seat.revokes()
        ended = process.wait()
    assert ended.code != 0
    assert "slack has ended" in ended.err
    assert "Traceback" not in ended.err


def ask_all(seats: Sequence[PlatformRunner], model: OpenAIServer) -> list[str]:
    """Ask on each platform; returns the questions once the model thinks about them all."""
    asked = []
    for seat in seats:
        model.waiting.clear()
        asked.append(seat.says(QUESTION))
        assert model.waiting.wait(60)
    return asked


def answers(seats: Sequence[PlatformRunner], asked: Sequence[str]) -> list[list[str]]:
    """What the bot said to each question."""
    return [seat.answers_to(question) for seat, question in zip(seats, asked, strict=True)]


def unfinished(home: Home) -> list[Progress]:
    with home.memory() as memory:
        return [left.incoming.progress for left in memory.recording.unfinished()]


def test_what_was_accepted_before_a_kill_is_answered_once_after_the_restart(tmp_path: Path) -> None:
    with OpenAIServer() as model, both_platforms() as seats:
        home = with_model(tmp_path, model)
        model.script(hang(), hang(), *[text(ANSWER)] * 6)  # a follow-up takes two
        with running(home, seats) as process:
            asked = ask_all(seats, model)
            process.kill()
        assert unfinished(home) == [Progress.ACCEPTED] * 2
        with running(home, seats) as process:
            wait_for_answers(seats, asked)
            # What comes later is answered last: nothing of the earlier questions is still to come.
            assert ANSWER in seats[0].asks("and the sea")
            assert answers(seats, asked) == [[ANSWER]] * 2
            ends_well(process)
        assert unfinished(home) == []


def wait_for_answers(seats: Sequence[PlatformRunner], asked: Sequence[str]) -> None:
    for seat, question in zip(seats, asked, strict=True):
        seat.until_answered(question)


def test_an_answer_that_was_being_posted_when_the_process_was_killed_is_there_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats:
        with running(home, seats) as process:
            for seat in seats:
                seat.hangs_posting()
            asked = [seat.says("what is 6*7?") for seat in seats]
            assert all(seat.is_posting() for seat in seats)
            process.kill()
        assert unfinished(home) == [Progress.ANSWERED] * 2
        for seat in seats:
            seat.lets_go()
        with running(home, seats) as process:
            for seat in seats:
                seat.until_answered(asked[seats.index(seat)])
                assert "3 * 3 = 9" in seat.asks("what is 3*3?")
            for number, [answer] in enumerate(answers(seats, asked)):
                seats[number].votes("👍", on=answer, lesson=True)
            ends_well(process)
        assert unfinished(home) == []
    assert home.run("rebuild", "--check").code == 0


def test_sigterm_lets_a_running_answer_end(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with both_platforms() as seats, running(home, seats) as process:
        for seat in seats:
            seat.hangs_posting()
        asked = [seat.says("what is 6*7?") for seat in seats]
        assert all(seat.is_posting() for seat in seats)
        process.send(signal.SIGTERM)
        for seat in seats:
            seat.lets_go()
        ended = process.wait()
        assert ended.code == 0, ended.err
        assert [len(each) for each in answers(seats, asked)] == [1, 1]
    assert unfinished(home) == []


def test_an_answer_that_does_not_end_after_sigterm_is_given_by_the_next_start(tmp_path: Path) -> None:
    with OpenAIServer() as model, both_platforms() as seats:
        home = with_model(tmp_path, model)
        model.script(hang(), hang(), text(ANSWER), text(ANSWER))
        with running(home, seats, IMPATIENT) as process:
            asked = ask_all(seats, model)
            log = ends_well(process)
        assert "left to the next start" in log
        assert unfinished(home) == [Progress.ACCEPTED] * 2
        with running(home, seats) as process:
            wait_for_answers(seats, asked)
            ends_well(process)
        assert answers(seats, asked) == [[ANSWER]] * 2


def test_a_platform_alone_without_its_token_says_which_one_is_missing(tmp_path: Path) -> None:
    ended = Home(tmp_path).run("slack", DISCORD_TOKEN="of-another-platform")
    assert ended.code == 2
    assert "slack is not configured: set SLACK_BOT_TOKEN" in ended.err
