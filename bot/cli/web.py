"""`goodbot web`, `goodbot password` and `goodbot keys`: the HTTP interface and who may use it."""

import asyncio
import sys

import click

from bot.app.processes.log_file import start_log
from bot.app.web import password_digest, serve_web
from bot.app.wiring.build import open_memory
from bot.cli.output import print_table
from bot.cli.session import Result, administrator, memory_command, say, settings_of, workspaces_named
from bot.config.platform_settings import MIN_PASSWORD_CHARACTERS
from memory.errors import InvalidInput
from memory.model.api_key import ApiKey, Right
from memory.services import Memory


@click.command()
def web() -> None:
    """Serve the pages, the HTTP interface and health."""
    settings = settings_of()
    start_log(settings, to_stderr=True)
    with open_memory(settings) as memory:
        asyncio.run(serve_web(settings, memory, lambda url: say(f"Serving at {url}. Ctrl-C ends it.")))


@click.command("password")
@click.option("--password", help="Asked for if it is not given; of what is piped in, the first line is taken.")
def password(password: str | None) -> None:
    """Make the digest of a password, for a line of [web] accounts."""
    if password is None and sys.stdin.isatty():
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    elif password is None:
        password = sys.stdin.readline().rstrip("\r\n")
    if len(password) < MIN_PASSWORD_CHARACTERS:
        raise click.UsageError(f"a password has at least {MIN_PASSWORD_CHARACTERS} characters")
    if password.encode(errors="ignore").decode() != password:
        raise click.UsageError("this password is no UTF-8 text, so nobody could type it on the page")
    say(password_digest(password))


@click.group()
def keys() -> None:
    """Keys of programs that use memory over HTTP."""


_WORKSPACE = click.option("--workspace", default="", help="The key's workspace; [web] workspace by default.")


@keys.command("make")
@click.argument("name")
@_WORKSPACE
@click.option("--channel", default="", help="The only channel it may name.")
@click.option("--right", type=click.Choice([right.value for right in Right]), default="query", show_default=True)
@memory_command
def make(memory: Memory, name: str, workspace: str, channel: str, right: str) -> Result:
    """Make a key. It is shown once: only a digest of it is kept."""
    place = workspace or settings_of().web.workspace
    try:
        workspaces_named(memory, workspace)
    except InvalidInput as error:  # perhaps a slip of the pen, perhaps one that this program will fill
        remedy = f"`goodbot keys revoke {name} --workspace {place}` takes the key back"
        click.echo(f"goodbot: {error}; if that is not what you meant, {remedy}", err=True)
    key, secret = memory.api_keys.make(place, name, Right(right), by=administrator(), channel=channel)
    return Result({**_plain(key), "key": secret}, f"{secret}\nSend it as X-API-Key. It is not shown again.")


@keys.command("list")
@_WORKSPACE
@memory_command
def list_(memory: Memory, workspace: str) -> Result:
    """Show the keys of a workspace, revoked ones too."""
    found = memory.api_keys.within(workspace or settings_of().web.workspace)
    rows = [[key.name, key.right.value, key.channel or "every channel", _state(key)] for key in found]
    return Result([_plain(key) for key in found], lambda: print_table(["name", "right", "channel", "state"], rows))


@keys.command("revoke")
@click.argument("name")
@_WORKSPACE
@memory_command
def revoke(memory: Memory, name: str, workspace: str) -> Result:
    """Revoke a key: its next request is refused."""
    key = memory.api_keys.revoke(workspace or settings_of().web.workspace, name, by=administrator())
    return Result(_plain(key), f"{key.name}: revoked")


def _state(key: ApiKey) -> str:
    made = f"made {key.made_at:%Y-%m-%d} by {key.made_by}"
    return made if key.revoked_at is None else f"{made}, revoked {key.revoked_at:%Y-%m-%d} by {key.revoked_by}"


def _plain(key: ApiKey) -> dict[str, object]:
    names = ("workspace", "name", "right", "channel", "made_by", "made_at", "revoked_by", "revoked_at")
    return {name: getattr(key, name) for name in names}
