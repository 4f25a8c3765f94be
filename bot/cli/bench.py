"""`goodbot bench`: benchmarks of the whole bot on labelled messages."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from bot.cli.output import print_table, progress
from bot.cli.session import logged_settings, say
from memory.errors import InvalidInput
from memory.model import Role

if TYPE_CHECKING:
    from bot.app.bench.learning import Learning

_SHARE = click.FloatRange(0, 1)
_DATA = click.Path(exists=True, dir_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)
_MOST_SEEDS = 100


class _Habits(TypedDict):
    """The options that are fields of `Habits`."""

    reacted: float
    corrected: float
    tapped: float
    flipped: float
    people: int
    askers: int
    channels: int


@click.group(context_settings={"show_default": True})
def bench() -> None:
    """Measure the whole bot on labelled messages, in an empty memory that is deleted afterwards.

    FILE is JSON: {"test": [["how do you say fly in Italian", "translate"], ...]}.
    """


def _seeds(_: click.Context, __: click.Parameter, text: str) -> list[int]:
    """Parse a list of numbers: `0,1,5` or `0-4`."""
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, dash, last = part.strip().partition("-")
            seeds += range(int(first), int(last) + 1)[: _MOST_SEEDS + 1] if dash else [int(first)]
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no list of numbers; give 0,1,2 or 0-4") from error
    if not seeds or len(seeds) != len(set(seeds)) or len(seeds) > _MOST_SEEDS:
        raise click.BadParameter(f"{text!r} must name 1 to {_MOST_SEEDS} different numbers; give 0,1,2 or 0-4")
    return seeds


def _new_file(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a file in a missing folder before the measurement, not after it."""
    if path is not None and not path.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.absolute().parent}; make it first, or choose another")
    return path


@bench.command()
@click.option("--data", required=True, type=_DATA, metavar="FILE", help="The labelled messages.")
@click.option("--split", default="test", help="The list in the file that is sent.")
@click.option("--messages", type=click.IntRange(min=2), help="How many of them; all by default.")
@click.option("--seeds", default="0", callback=_seeds, help="Shuffles: 0,1,2 or 0-4.")
@click.option("--lessons", type=click.IntRange(min=0), default=0, help="Taught first, of each label.")
@click.option("--taught", default="train", help="The list in the file that is taught first.")
@click.option("--outside", help="A list of messages nothing is right for, asked at the end: oos_test.")
@click.option("--answers", is_flag=True, help="Labels are answers to be taught by corrections, not tools on offer.")
@click.option("--choose", is_flag=True, help='Never say "I don\'t know": take the best candidate, sure or not.')
@click.option("--reacted", type=_SHARE, default=1.0, help="Share of answers that get a thumb.")
@click.option("--corrected", type=_SHARE, default=0.0, help="Share of answers not right that are corrected.")
@click.option(
    "--tapped",
    type=_SHARE,
    default=1.0,
    help='Share of questions ("Did you mean ...?") that the asker taps: what is right, else "none of these".',
)
@click.option("--flipped", type=_SHARE, default=0.0, help="Share of thumbs that are wrong.")
@click.option(
    "--people",
    type=click.IntRange(1, 20),
    default=1,
    help="How many react to each answer: 1 is the asker, several are others.",
)
@click.option("--askers", type=click.IntRange(1, 1000), default=1, help="How many people ask, by chance.")
@click.option("--channels", type=click.IntRange(1, 1000), default=1, help="In how many channels they ask.")
@click.option("--teachers", is_flag=True, help="They are teachers, not members.")
@click.option("--pace", type=click.FloatRange(0.1, 1e6), default=120.0, help="Seconds between messages.")
@click.option("--baseline", is_flag=True, help="Run each shuffle without reactions too, and compare.")
@click.option("--json", "json_file", type=_FILE, callback=_new_file, help="Write every number to this file.")
@click.option("--plot", "plot_file", type=_FILE, callback=_new_file, help="Write the learning curve to this SVG file.")
def learning(
    *,
    data: Path,
    split: str,
    messages: int | None,
    seeds: list[int],
    lessons: int,
    taught: str,
    outside: str | None,
    answers: bool,
    choose: bool,
    teachers: bool,
    pace: float,
    baseline: bool,
    json_file: Path | None,
    plot_file: Path | None,
    **habits: Unpack[_Habits],
) -> None:
    """Send labelled messages through the whole bot and let people react: how often is it right at once?

    Uses the offline model, whatever the settings say; the other settings hold.
    """
    from bot.app.bench.labelled import read_splits, read_texts
    from bot.app.bench.learning import learn
    from bot.app.bench.people import Habits
    from bot.app.bench.stream import Arm

    settings = logged_settings()
    rows, to_teach = read_splits(data, split, taught) if lessons else (*read_splits(data, split), [])
    _has(data, split, rows, "--messages", messages)
    role = Role.TEACHER if teachers else Role.MEMBER
    arm = Arm(habits=Habits(role=role, **habits), as_answers=answers, must_choose=choose, pace=timedelta(seconds=pace))
    learned = learn(
        rows,
        arm,
        seeds=seeds,
        count=messages,
        with_baseline=baseline,
        to_teach=to_teach,
        of_each=lessons,
        outside=read_texts(data, outside) if outside else (),
        settings=settings,
        show=progress,
    )
    _show(learned, data.name, json_file, plot_file)


def _show(learned: "Learning", data: str, json_file: Path | None, plot_file: Path | None) -> None:
    """Print table, learning curves and calibration; write all numbers and the plot to files if wanted."""
    from bot.app.bench import calibration
    from bot.app.bench.plot import sparkline
    from bot.app.bench.report import mean_curve

    print_table(*learned.rows())
    for each in learned.curves():
        line = mean_curve(each.curves)
        say(f"{each.name:<14} {line[0][1]:.2f} {sparkline(line)} {line[-1][1]:.2f}")
    print_table(*calibration.rows(learned.calibration()))
    _write(json_file, {"data": data} | learned.plain())
    if plot_file is not None:
        plot_file.write_text(learned.picture(f"{data}: right among the latest messages"), encoding="utf-8")


@bench.command()
@click.option("--data", required=True, type=_DATA, metavar="FILE", help="The labelled messages.")
@click.option("--taught", default="train", help="The list in the file that is taught.")
@click.option("--split", default="test", help="The list in the file that is asked.")
@click.option(
    "--outside",
    default="",
    show_default=False,
    help="A list of messages that no lesson is about, for example oos_test.",
)
@click.option("--lessons", type=click.IntRange(min=2), help="How many are taught; all by default.")
@click.option("--messages", type=click.IntRange(min=2), help="How many are asked of each list; all by default.")
@click.option("--pace", type=click.FloatRange(0.001, 1e6), default=120.0, help="Seconds between lessons.")
@click.option("--json", "json_file", type=_FILE, callback=_new_file, help="Write every number to this file.")
def retrieval(
    *,
    data: Path,
    taught: str,
    split: str,
    outside: str | None,
    lessons: int | None,
    messages: int | None,
    pace: float,
    json_file: Path | None,
) -> None:
    """Teach one list of labelled messages, ask the other: does recall find the right answer, and how fast?"""
    from bot.app.bench.labelled import read_splits, read_texts
    from bot.app.bench.retrieval import retrieve
    from bot.app.bench.stream import shuffled

    settings = logged_settings()
    to_teach, to_ask = read_splits(data, taught, split)
    _has(data, taught, to_teach, "--lessons", lessons)
    _has(data, split, to_ask, "--messages", messages)
    found = retrieve(
        shuffled(to_teach, 0, lessons),
        shuffled(to_ask, 0, messages),
        read_texts(data, outside)[:messages] if outside else [],
        pace=timedelta(seconds=pace),
        settings=settings,
        show=progress,
    )
    print_table(*found.rows())
    _write(json_file, {"data": data.name} | asdict(found))


@bench.command()
@click.option("--data", required=True, type=_DATA, metavar="FILE", help="The labelled messages.")
@click.option("--taught", default="train", help="The list in the file that is taught.")
@click.option("--split", default="test", help="The list in the file that victims ask.")
@click.option("--labels", type=click.IntRange(1, 1000), default=50, help="How many are attacked.")
@click.option("--attackers", type=click.IntRange(1, 10), default=1, help="How many work together.")
@click.option("--newcomers", is_flag=True, help="They begin the day they come, not a month later.")
@click.option("--everywhere", is_flag=True, help="The same attack every label, not others each.")
@click.option("--refuse", is_flag=True, help="They refuse right answers, instead of teaching wrong ones.")
@click.option("--seeds", default="0", callback=_seeds, help="Shuffles: 0,1,2 or 0-4.")
@click.option("--json", "json_file", type=_FILE, callback=_new_file, help="Write every number to this file.")
def attack(
    *,
    data: Path,
    taught: str,
    split: str,
    labels: int,
    attackers: int,
    newcomers: bool,
    everywhere: bool,
    refuse: bool,
    seeds: list[int],
    json_file: Path | None,
) -> None:
    """Let a few people teach wrong answers or reject right ones, and measure what others who ask then get.

    Before, forty honest members taught every label, or a teacher did where answers are refused.
    """
    from bot.app.bench.attack import AttackArm, AttackKind, attack, rows
    from bot.app.bench.labelled import read_split

    settings = logged_settings()
    kind = AttackKind.REFUSE if refuse else AttackKind.POISON
    arm = AttackArm(kind=kind, attackers=attackers, newcomers=newcomers, everywhere=everywhere, labels=labels)
    lessons, asked = read_split(data, taught), read_split(data, split)
    results = attack(lessons, asked, arm, seeds=seeds, settings=settings, show=progress)
    print_table(*rows(results))
    _write(json_file, {"data": data.name, "arm": asdict(arm), "attacks": [asdict(each) for each in results]})


def _write(json_file: Path | None, numbers: object) -> None:
    """Write every number to the file of `--json`, if there is one."""
    if json_file is not None:
        json_file.write_text(json.dumps(numbers), encoding="utf-8")


def _has(data: Path, split: str, rows: Sequence[object], option: str, wanted: int | None) -> None:
    if wanted is not None and wanted > len(rows):
        raise InvalidInput(f"{data} has {len(rows)} messages in {split!r}; give {option} {len(rows)} or fewer")


@bench.command()
@click.option("--rounds", type=click.IntRange(1, 20), default=3, help="How often all tasks are given.")
@click.option("--tasks", "count", type=click.IntRange(3, 72), help="How many of them; all 72 by default.")
@click.option("--seeds", default="0", callback=_seeds, help="Orders of the tasks: 0,1,2 or 0-4.")
@click.option("--json", "json_file", type=_FILE, callback=_new_file, help="Write every number to this file.")
@click.option("--plot", "plot_file", type=_FILE, callback=_new_file, help="Write the curves to this SVG file.")
def tasks(rounds: int, count: int | None, seeds: list[int], json_file: Path | None, plot_file: Path | None) -> None:
    """Give office tasks of several steps to a tree of agents and to a flat one, with and without their memories.

    The office is scripted, and a task is judged by what was done there. The asker reacts to each answer with a thumb,
    and after a thumb down with a tap on each part.
    """
    from bot.app.bench.tasks.arms import compare_arms, head, plain, plot
    from bot.app.wiring.startup import make_embedder

    settings = logged_settings()
    results = compare_arms(
        seeds=seeds,
        rounds=rounds,
        count=count,
        settings=settings,
        embedder=make_embedder(settings),
        show=lambda what: click.echo(what, err=True),
    )
    print_table(head(rounds), [each.row() for each in results])
    _write(json_file, plain(results))
    if plot_file is not None:
        plot_file.write_text(plot(results), encoding="utf-8")


@bench.command()
@click.option(
    "--rows",
    "sizes",
    type=click.IntRange(20, 10_000_000),
    multiple=True,
    help="Rows; may be repeated. 1,000 and 10,000.",
)
@click.option("--questions", type=click.IntRange(20, 100_000), default=200, help="Searches timed.")
@click.option("--peer", "names", multiple=True, help="Only this one: langgraph, chroma, llamaindex, mem0, none.")
@click.option("--cache", type=click.Path(file_okay=False, path_type=Path), help="Where their environments are kept.")
@click.option("--json", "json_file", type=_FILE, callback=_new_file, help="Write every number to this file.")
def peers(
    sizes: tuple[int, ...], questions: int, names: tuple[str, ...], cache: Path | None, json_file: Path | None
) -> None:
    """Time other memories on the same vectors: LangGraph's SqliteStore, Chroma, LlamaIndex and mem0.

    Each runs in an environment of its own, which is installed when it is first measured (about 1 GB for all). Every
    search is for the ten nearest rows of one person. Each time is shown with the share of them that was found, and with
    the processor's time of a search, which depends less on other work on the machine.
    """
    from platformdirs import user_cache_path

    from bot.app.bench.peers.comparison import HEAD, compare, table
    from bot.app.bench.peers.environments import PEERS

    known = [peer.name for peer in PEERS]
    if wrong := set(names) - {*known, "none"}:
        raise InvalidInput(f"there is no peer {min(wrong)}; there are {', '.join(known)}, and none")
    folder = cache or user_cache_path("goodbot", appauthor=False) / "peers"
    found = compare(
        sizes or (1_000, 10_000), questions, names or known, folder, lambda what: click.echo(what, err=True)
    )
    print_table(HEAD, table(found))
    _write(json_file, [asdict(each) for each in found])
