"""What people wrote is shown as text: no control character, escape sequence or markup of theirs reaches a terminal."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.model import (
    Episode,
    Event,
    EventKind,
    Reaction,
    Role,
    Step,
    StepKind,
    Verdict,
    Verdicts,
    Vote,
)
from memory.ports import Transaction
from tests.doubles.process import GOODBOT, Home

pytestmark = pytest.mark.process

ID, RUN = "feedc0de0000000000000001", "feedc0de0000000000000002"
CLEAR, TITLE, CSI, BIDI = "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\u202e"
HOSTILE = f"{CLEAR}{TITLE}{CSI}{BIDI}\x08\x7f\u2028\r [bold]x[/] [/] [link=http://x]y[/link] :boom: </lessons>"
LONG = "w" * 5000
_ALLOWED = {"\n", "\t", "\u200d"}


def _hostile_home(folder: Path) -> Home:
    home = Home(folder, GOODBOT_TERMINAL_PERSON="ana")
    with home.memory() as memory, memory.store.write() as tx:
        _store(tx, datetime(2026, 11, 21, tzinfo=UTC))
    return home


def _store(tx: Transaction, now: datetime) -> None:
    workspace = f"terminal:{HOSTILE}"
    tx.episodes.put(
        Episode(
            id=ID,
            run_id=RUN,
            goal=f"goal {HOSTILE} {LONG}",
            workspace=workspace,
            channel=f"c{HOSTILE}",
            person=f"p{HOSTILE}",
            author=f"a{HOSTILE}",
            place=f"#{HOSTILE}",
            action="answer",
            output=f"line one {HOSTILE}\nline two {HOSTILE} {LONG}",
            correction=f"correction {HOSTILE}",
            outcome_reason=f"reason {HOSTILE}",
            verdicts=Verdicts(personal=Verdict.SUCCESS),
            model="offline",
            trajectory=(
                Step(kind=StepKind.THINK, text=f"think {HOSTILE}"),
                Step(kind=StepKind.ACT, tool=f"tool{HOSTILE}", arguments={f"k{HOSTILE}": HOSTILE}),
                Step(kind=StepKind.OBSERVE, text=HOSTILE),
                Step(kind=StepKind.EXPAND, flow="parallel", subgoals=(HOSTILE, LONG)),
            ),
            created_at=now,
        )
    )
    vote = Vote(
        workspace=workspace,
        run_id=RUN,
        actor=f"v{HOSTILE}",
        role=Role.MEMBER,
        value=1,
        at=now,
        source=f"emoji:{HOSTILE}",
    )
    tx.teaching.set_votes(workspace, RUN, [vote])
    tx.teaching.put_reaction(
        Reaction(
            workspace=workspace, channel="c", message_id="m", actor=vote.actor, source=vote.source, value=1, at=now
        )
    )
    tx.log.append(
        Event(
            workspace=workspace,
            episode_id=ID,
            kind=EventKind.CREATED,
            actor=f"e{HOSTILE}",
            at=now,
            detail={f"d{HOSTILE}": HOSTILE},
        )
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return _hostile_home(tmp_path_factory.mktemp("hostile"))


def test_no_command_prints_what_a_terminal_would_obey(home: Home) -> None:
    commands = {
        "list": ("episodes", "list"),
        "list --json": ("episodes", "list", "--json"),
        "show": ("episodes", "show", ID),
        "show --json": ("episodes", "show", ID, "--json"),
        "why": ("episodes", "why", ID),
        "export": ("episodes", "export"),
        "query": ("query", "goal", "--workspace", f"terminal:{HOSTILE}"),
        "stats": ("stats",),
        "gaps": ("gaps",),
        "stats --json": ("stats", "--json"),
        "check": ("rebuild", "--check"),
        "doctor": ("doctor",),
        "restore": ("episodes", "restore", ID),
    }
    done = home.run_all(commands)
    assert {each.code for name, each in done.items() if name not in ("check", "doctor")} == {0}
    for name, each in done.items():
        wrong = {c for c in each.out + each.err if not c.isprintable() and c not in _ALLOWED}
        assert wrong == set(), name
        assert "Traceback" not in each.err
    for name in ("list", "show"):
        assert "[bold]x[/] [/] [link=http://x]y[/link] :boom:" in " ".join(done[name].out.split()), name
    assert max(len(line) for line in done["list"].out.splitlines()) <= 200
    (listed,) = done["list --json"].json()
    assert listed["goal"] == f"goal {HOSTILE} {LONG}"
    assert done["show --json"].json()["nodes"][0]["output"] == f"line one {HOSTILE}\nline two {HOSTILE} {LONG}"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    "command", [("episodes", "list"), ("episodes", "show", ID), ("episodes", "export", "--format", "csv")]
)
def test_nor_on_a_real_terminal(home: Home, command: tuple[str, ...]) -> None:
    shown = _on_a_terminal(home, command)
    assert "goal " in shown
    for wrong in (CLEAR, TITLE[:4], CSI[:1], BIDI, "\x08", "\x7f", "\u2028"):
        assert wrong not in shown, repr(wrong)


def _on_a_terminal(home: Home, command: tuple[str, ...]) -> str:
    """What the command writes to a pseudo-terminal."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*GOODBOT, *command],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=home.folder,
        env=home.environment({"TERM": "xterm-256color"}),
    ) as process:
        os.close(theirs)
        chunks: list[bytes] = []
        try:
            while chunk := os.read(ours, 65_536):
                chunks.append(chunk)
        except OSError:  # Linux says so when the other end has closed.
            pass
        finally:
            os.close(ours)
    assert process.returncode == 0
    return b"".join(chunks).decode()


def test_a_csv_in_a_file_is_the_text_as_it_was_written(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "all.csv"
    assert home.run("episodes", "export", "--format", "csv", "--output", str(file)).code == 0
    assert CLEAR.encode() in file.read_bytes()
