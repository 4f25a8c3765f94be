"""`goodbot mcp`: serves the memory to other agents over the Model Context Protocol."""

import asyncio

import click

from bot.app.mcp import serve_http, serve_streams
from bot.app.processes.log_file import start_log
from bot.app.wiring.build import open_memory
from bot.cli.session import say, scope_in_terminal, settings_of
from memory.model import Role


@click.command()
@click.option("--http", "over_http", is_flag=True, help="Serve at [web] host and port, for keys, not standard streams.")
@click.option("--workspace", default="", help="Whose memory; the terminal's by default.")
@click.option("--channel", default="", help="Where the person is; the terminal's channel by default.")
@click.option("--person", default="", help="For whom the agent works; the terminal's person by default.")
@click.option("--direct", "is_direct", is_flag=True, help="In a direct conversation, which nobody else is shown.")
@click.option("--teacher", is_flag=True, help="What the person approves or corrects counts for everybody there.")
def mcp(over_http: bool, workspace: str, channel: str, person: str, is_direct: bool, teacher: bool) -> None:
    """Let other agents recall, record and teach: Claude Code, an editor, or any other that speaks the protocol."""
    settings = settings_of()
    start_log(settings, to_stderr=True)
    scope = scope_in_terminal(workspace, channel, person, is_direct=is_direct)
    if over_http and (workspace or channel or person or is_direct or teacher):
        raise click.UsageError("over HTTP the key and the request say who and where; leave the other options out")
    with open_memory(settings) as memory:
        if over_http:
            asyncio.run(serve_http(settings, memory, lambda url: say(f"Serving at {url}. Ctrl-C ends it.")))
        else:
            asyncio.run(serve_streams(settings, memory, scope, Role.TEACHER if teacher else Role.MEMBER))
