"""`goodbot episodes ...`: administration of episodes."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path

import click

from bot.cli.output import deliver, print_episodes, require_own
from bot.cli.run_tree import print_run, print_why
from bot.cli.session import (
    Result,
    administrator,
    confirm,
    memory_command,
    memory_of,
    print_json,
    scope_in_terminal,
    settings_of,
    workspace_option,
    workspaces_named,
)
from bot.conversation.counts import count
from bot.conversation.messages import lesson_state
from memory.errors import InvalidInput
from memory.library.export import export_memories
from memory.model import Audience, Episode, EpisodeStatus, Role, Verdict
from memory.ports import EpisodeFilter
from memory.rules.retrieval.prompt import shown_line
from memory.services import Memory

_STATUSES = click.Choice([status.value for status in EpisodeStatus])
_VERDICTS = click.Choice([verdict.value for verdict in Verdict])
_LARGEST_IMPORT = 64 << 20
"""In bytes. Far more than a team teaches in years, and still fits into RAM."""
_REFUSALS_SHOWN = 10


@click.group()
def episodes() -> None:
    """See, grade, correct and export what was remembered."""


def _listed(memory: Memory, workspace: str, wanted: EpisodeFilter) -> list[Episode]:
    """Episodes of one or of all workspaces, newest first."""
    names = workspaces_named(memory, workspace)
    found = [episode for name in names for episode in memory.audit.episodes(name, wanted)]
    found.sort(key=lambda episode: (episode.created_at, episode.id), reverse=True)
    return found[: wanted.limit]


@episodes.command("list")
@workspace_option
@click.option("--channel", default="", help="Only this channel.")
@click.option("--person", default="", help="Only what this person asked or taught.")
@click.option("--status", type=_STATUSES, help="Only this status.")
@click.option("--verdict", type=_VERDICTS, help="Only this verdict.")
@click.option("--text", default="", help="Only with this text in question or answer.")
@click.option("--nodes", is_flag=True, help="Show every node, not only the answers.")
@click.option("--archived", is_flag=True, help="Show archived ones too.")
@click.option("--quarantined", is_flag=True, help="Only those held back until a teacher releases them.")
@click.option("--limit", type=click.IntRange(1, 1_000_000), default=50, show_default=True)
@memory_command
def list_(
    memory: Memory,
    *,
    workspace: str,
    channel: str,
    person: str,
    status: str | None,
    verdict: str | None,
    text: str,
    nodes: bool,
    archived: bool,
    quarantined: bool,
    limit: int,
) -> Result:
    """List episodes, newest first."""
    wanted = EpisodeFilter(
        channel=channel,
        person=person,
        status=EpisodeStatus(status) if status else None,
        verdict=Verdict(verdict) if verdict else None,
        text=text,
        roots_only=not nodes and not quarantined,
        include_archived=archived,
        quarantined_only=quarantined,
        limit=limit,
    )
    found = _listed(memory, workspace, wanted)
    return Result(found, lambda: print_episodes(found))


@episodes.command()
@click.argument("episode_id")
@memory_command
def show(memory: Memory, episode_id: str) -> Result:
    """Show the run an episode belongs to: the tree, each node's steps, verdict and votes, and the history."""
    episode = memory.audit.find(episode_id)
    view = memory.audit.run(episode.workspace, episode.run_id)
    return Result(view, lambda: print_run(view, focus=episode.id))


@episodes.command()
@click.argument("episode_id")
@memory_command
def why(memory: Memory, episode_id: str) -> Result:
    """Explain an answer (its lessons, and why they were shown) or a lesson (its votes, changes and uses)."""
    episode = memory.audit.find(episode_id)
    explanation = memory.explaining.answer(episode.workspace, episode.run_id)
    lesson = memory.explaining.lesson(episode.workspace, episode.id)
    lessons = {**explanation.weighed, **explanation.view.lessons}
    value = {"recalls": explanation.recalls, "lessons": lessons, "votes": explanation.votes, "exemplar": lesson}
    return Result(value, lambda: print_why(explanation, lesson))


def _decision(decide: Callable[..., tuple[Episode, str]]) -> Callable[..., None]:
    """A command that changes an episode. `decide` returns the changed episode and what was done."""

    @click.argument("episode_id")
    @memory_command
    @wraps(decide)
    def command(memory: Memory, episode_id: str, **options: object) -> Result:
        after, done = decide(memory, memory.audit.find(episode_id), **options)
        verdict = f"verdict {after.verdict.value}, status {after.status.value}"
        return Result(after, f"{after.id}: {done}; {verdict}; {lesson_state(after)}")

    return command


@episodes.command()
@click.option("--reason", default="", help="Why; shown to the agent with the lesson.")
@_decision
@click.argument("verdict", type=click.Choice(["success", "failure", "pending"]))
def grade(memory: Memory, episode: Episode, verdict: str, reason: str) -> tuple[Episode, str]:
    """Grade an episode, which overrides all votes; `pending` withdraws the grade."""
    grade = memory.teaching.grade
    graded = grade(episode.workspace, episode.id, Verdict(verdict), actor=administrator(), reason=reason)
    return graded, f"graded {verdict}"


@episodes.command()
@_decision
@click.argument("text")
def correct(memory: Memory, episode: Episode, text: str) -> tuple[Episode, str]:
    """Say what would have been right. It makes a lesson that counts for the whole channel at once."""
    scope = replace(episode.scope, person=administrator(), thread="")
    outcome = memory.teaching.correct(scope, episode.run_id, text, role=Role.ADMIN, at=memory.clock())
    if outcome is None:
        raise InvalidInput("this correction was taken in before")
    return outcome.lesson, f"lesson made for {outcome.failed.id}"


@episodes.command()
@_decision
def archive(memory: Memory, episode: Episode) -> tuple[Episode, str]:
    """Take an episode out of use without losing it."""
    return memory.curation.archive(episode.workspace, episode.id, actor=administrator()), "archived"


@episodes.command()
@_decision
def restore(memory: Memory, episode: Episode) -> tuple[Episode, str]:
    """Bring an archived episode back."""
    return memory.curation.restore(episode.workspace, episode.id, actor=administrator()), "restored"


@episodes.command()
@_decision
def release(memory: Memory, episode: Episode) -> tuple[Episode, str]:
    """Let a quarantined episode be used again; `episodes show` says why it was held back."""
    released = memory.curation.release(episode.workspace, episode.id, actor=administrator(), role=Role.ADMIN)
    return released, "released" if episode.quarantine else "was not in quarantine"


@episodes.command()
@_decision
@click.argument("question")
def restate(memory: Memory, episode: Episode, question: str) -> tuple[Episode, str]:
    """Give a new question to a lesson whose question was erased with its asker's data. Its author can do so in chat."""
    scope = replace(episode.scope, person=administrator())
    restated = memory.restating.restate(scope, episode.id, question, role=Role.ADMIN)
    return restated or episode, "restated"


@episodes.command()
@_decision
@click.argument("audience", type=click.Choice([audience.value for audience in Audience]))
def promote(memory: Memory, episode: Episode, audience: str) -> tuple[Episode, str]:
    """Share a lesson with the channel or the workspace; `personal` takes that back."""
    promote = memory.curation.promote
    promoted = promote(episode.workspace, episode.id, Audience(audience), actor=administrator(), role=Role.ADMIN)
    is_taken_back = promoted.promoted is None
    return promoted, "no longer promoted" if is_taken_back else f"promoted to {audience}"


@episodes.command()
@click.argument("episode_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
@memory_command
def delete(memory: Memory, episode_id: str, yes: bool) -> Result:
    """Erase one question with its answer, or one lesson, with its votes and history. Cannot be undone.

    Lessons and answers to others that repeat it stay: look for its words with `episodes list --text`. So do backups.
    """
    episode = memory.audit.find(episode_id)
    whole = count(len(memory.audit.nodes(episode.workspace, episode.run_id)), "episode")
    if not yes:
        who = shown_line(episode.author or episode.person, 40)
        confirm(f"Erase “{shown_line(episode.goal, 80)}” by {who} with its answer ({whole})?")
    erased = memory.privacy.erase_run(episode.workspace, episode.run_id, actor=administrator())
    return Result({"erased": erased}, f"Erased: {count(erased, 'episode')}.")


@episodes.command()
@workspace_option
@click.option("--format", "format_", type=click.Choice(["json", "csv", "prompt"]), default="json", show_default=True)
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file instead of the screen.")
@click.option("--archived", is_flag=True, help="Export archived ones too.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def export(*, workspace: str, format_: str, output: Path | None, archived: bool, as_json: bool) -> None:
    """Export every episode: json (whole), csv (for a spreadsheet) or prompt (the lessons as an agent reads them)."""
    if output is not None:
        require_own(output, settings_of())
    with memory_of() as memory:
        wanted = EpisodeFilter(include_archived=archived, limit=None, newest_first=False)
        narrow = _listed(memory, workspace, wanted)[::-1]
        whole = [
            node
            for episode in narrow
            if episode.is_root
            for node in memory.audit.run(episode.workspace, episode.run_id).nodes
        ]
    text = export_memories(whole, "json" if as_json else format_)  # type: ignore[arg-type]  # one of the choices
    if output is None and (as_json or format_ == "json"):
        print_json(whole)
    else:
        deliver(text, output, f"{len(whole)} episodes")


@episodes.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--workspace", default="", help="Into this workspace; the terminal's by default.")
@click.option("--person", default="", help="As what this person judged; the terminal's by default.")
@click.option("--channel", default="", help="Into this channel; the terminal's by default.")
@click.option("--direct", is_flag=True, help="As said in a direct message.")
@memory_command
def import_(memory: Memory, *, file: Path, workspace: str, person: str, channel: str, direct: bool) -> Result:
    """Import a json export. Known episodes stay unchanged; new ones count as judged by this person alone.

    Records that cannot be taken are named; if none of them could, the command fails.
    """
    from memory.library.episodic import EpisodicMemory
    from memory.library.lifecycle import import_memories

    text = _read(file)
    scope = scope_in_terminal(workspace, channel, person, is_direct=direct)
    try:
        report = import_memories(text, episodic=EpisodicMemory(memory, scope))
    except InvalidInput as error:
        raise InvalidInput(f"cannot import {file}: {error} (`goodbot episodes export` does)") from error
    lines = [f"{report.imported} added, {report.skipped} known already, {len(report.errors)} refused"]
    lines += [f"  record {each.position}: {shown_line(each.reason, 200)}" for each in report.errors[:_REFUSALS_SHOWN]]
    if len(report.errors) > _REFUSALS_SHOWN:
        lines.append(f"  and {len(report.errors) - _REFUSALS_SHOWN} more (all of them with --json)")
    has_failed = bool(report.errors) and not report.imported and not report.skipped
    return Result(report, "\n".join(lines), has_failed=has_failed)


def _read(path: Path) -> str:
    """The text of an export. Raises `InvalidInput` if it is too large, no UTF-8, or cannot be read."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_IMPORT + 1)
        if len(content) > _LARGEST_IMPORT:
            raise InvalidInput(f"{path} is larger than {_LARGEST_IMPORT >> 20} MiB; import it in parts")
        return content.decode("utf-8-sig")
    except OSError as exc:
        raise InvalidInput(f"cannot read {path}: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is no UTF-8 text; make an export with `goodbot episodes export`") from exc
