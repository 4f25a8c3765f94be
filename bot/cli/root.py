"""`goodbot`: the group of all commands. Errors end here as one readable line."""

import gc
import io
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

from bot.errors import BotError, ConfigError
from memory.errors import MemoryFault

_EXPECTED = (BotError, MemoryFault, OSError, click.ClickException, click.exceptions.Exit, click.Abort)
"""The errors a command may end with, which are shown as one line."""

_COMMANDS = {
    "backup": ("bot.cli.transfer", "backup", "Copy the memory into a file, while it is used."),
    "bench": ("bot.cli.bench", "bench", "Measure the whole bot on labelled messages."),
    "chat": ("bot.cli.chat", "chat", "Talk with the bot in this terminal."),
    "doctor": ("bot.cli.doctor", "doctor", "Check the installation; every finding has a code and a remedy."),
    "episodes": ("bot.cli.episodes", "episodes", "See, grade, correct and export what was remembered."),
    "export": ("bot.cli.maintenance", "export", "Export everything about one person."),
    "forget": ("bot.cli.maintenance", "forget", "Erase everything about one person."),
    "handbook": ("bot.cli.handbook", "handbook", "Write what people taught to a file, as an FAQ."),
    "jobs": ("bot.cli.jobs", "jobs", "List the upkeep jobs, or run one now."),
    "keys": ("bot.cli.web", "keys", "Make and revoke keys of programs that use memory over HTTP."),
    "mcp": ("bot.cli.mcp", "mcp", "Let other agents use this memory (Model Context Protocol)."),
    "move": ("bot.cli.transfer", "move", "Copy everything into another database, and compare."),
    "learn": ("bot.cli.learning", "learn_", "Learn from an FAQ, or from an export of Slack or Discord."),
    "migrate": ("bot.cli.maintenance", "migrate", "Bring the database up to date."),
    "purge": ("bot.cli.maintenance", "purge", "Take back everything one person taught."),
    "gaps": ("bot.cli.query", "gaps", "Show what to teach next: questions that nobody could answer."),
    "query": ("bot.cli.query", "query", "Show which lessons a question would recall."),
    "rebuild": ("bot.cli.maintenance", "rebuild", "Recompute everything from the event log, or check that it agrees."),
    "review": ("bot.cli.review", "review", "See what was learned from files; approve, edit or reject it."),
    "replay": ("bot.cli.replay", "replay", "Check whether approved answers would still be given."),
    "reembed": ("bot.cli.transfer", "reembed", "Compute embeddings that are missing or from another embedder."),
    "run": ("bot.cli.serve", "run", "Run the bot on every platform that has a token, and the web if configured."),
    "slack": ("bot.cli.serve", "slack", "Run the bot on Slack alone."),
    "discord": ("bot.cli.serve", "discord", "Run the bot on Discord alone."),
    "web": ("bot.cli.web", "web", "Serve the pages and the HTTP interface."),
    "password": ("bot.cli.web", "password", "Make the digest of a password for [web] accounts."),
    "stats": ("bot.cli.query", "stats", "Count what is remembered."),
}


class LazyGroup(click.Group):
    """A group that imports a command only when it is used, so that `--help` is fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in alphabetical order."""
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of this name."""
        if cmd_name not in _COMMANDS:
            return None
        module, attribute, _ = _COMMANDS[cmd_name]
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)  # noqa: S101 - the table above is checked by a test
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed. A mistyped one is refused with the one that is meant, if that is likely."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as refused:
            from difflib import get_close_matches

            if meant := get_close_matches(args[0].lower(), _COMMANDS, n=1):
                raise click.UsageError(f"{refused.message} Did you mean {meant[0]!r}?", ctx) from None
            raise

    def invoke(self, ctx: click.Context) -> object:
        """Run a command. An unexpected error becomes one line, and its traceback is logged."""
        try:
            return super().invoke(ctx)
        except _EXPECTED:
            raise
        except Exception as error:
            from bot.cli.faults import unexpected

            raise unexpected(error) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their one-line descriptions."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name][2]) for name in self.list_commands(ctx)])


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        click.echo(f"goodbot {version('goodbot')}")
    except PackageNotFoundError:
        click.echo("goodbot, run from its sources without being installed")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", type=click.Path(dir_okay=False), help="Settings file; else config/goodbot.toml.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def goodbot(ctx: click.Context, config: str | None) -> None:
    """A chat bot that people teach with emoji."""
    ctx.obj = config


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 it failed, 2 wrong usage or settings, 130 interrupted."""
    # Imports leave few cycles; with Python's default thresholds the collector runs some 300 times meanwhile.
    gc.set_threshold(20_000, 20, 50)
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal whose encoding lacks emoji must not end a command.
            stream.reconfigure(errors="replace")
    try:
        goodbot.main(standalone_mode=False)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except ConfigError as error:
        click.echo(f"goodbot: {error}", err=True)
        sys.exit(2)
    except (BotError, MemoryFault) as error:
        click.echo(f"goodbot: {error}", err=True)
        sys.exit(1)
    except OSError as error:
        click.echo(f"goodbot: {error}", err=True)
        _drop_output()
        sys.exit(1)


def _open_missing_streams() -> None:
    """Open missing standard streams (`goodbot chat <&-`) on the null device.

    Otherwise the next opened file would get the number of the stream, for example the database's.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a number, for good
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - the same
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - the same


def _drop_output() -> None:
    """Discard unwritten output (the disk is full), so that it does not fail again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
