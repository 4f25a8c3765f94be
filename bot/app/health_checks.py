"""The checks of `goodbot doctor`. The code of a check never changes.

GB00x and GB01x are about this machine (GB013: servers of tools), GB02x about Slack, GB03x about Discord.
"""

import asyncio
import logging
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from bot.adapters.check_result import CheckResult, failed, passed, warning
from bot.app.processes.crash_report import last_report
from bot.app.processes.log_file import LogFile
from bot.app.wiring.build import open_memory, open_store
from bot.app.wiring.models import make_model, make_rewriter
from bot.app.wiring.slack_installations import installation_database
from bot.app.wiring.startup import make_embedder
from bot.config import Settings
from bot.config.mcp_settings import McpServer
from bot.conversation.counts import count
from bot.errors import BotError, ConfigError, ToolFailed
from memory.adapters.private_files import is_open_to_others, is_own, is_plain_file
from memory.adapters.system import utc_now
from memory.errors import MemoryFault
from memory.model import Incoming
from memory.rules.chat_settings import TEACHERS
from memory.services.settings.chat_settings import named_anywhere

log = logging.getLogger(__name__)

_BLIND = "could not look: "
_MOST_NAMED = 5


def _settings(settings: Settings) -> CheckResult:
    return passed("GB001", f"settings are valid; model {settings.model.name}")


def _database(settings: Settings) -> CheckResult:
    try:
        with open_memory(settings) as memory:
            names = memory.audit.workspaces()
    except MemoryFault as error:
        return failed("GB002", str(error), "see the message; DATABASE_URL names the database")
    return passed(
        "GB002", f"database {settings.storage.place} opens and is up to date, {count(len(names), 'workspace')}"
    )


def _log_agrees(settings: Settings) -> CheckResult:
    with open_memory(settings) as memory:
        found = memory.audit.check()
    if found:
        return failed("GB003", f"{len(found)} stored values are not what the event log says", "run `goodbot rebuild`")
    return passed("GB003", "everything stored is what the event log says")


def _embedder(settings: Settings) -> CheckResult:
    try:
        embedder = make_embedder(settings)
        embedder.embed(["ready?"])
    except MemoryFault as error:
        remedy = "reinstall goodbot, or set GOODBOT_EMBEDDER_NAME=hashing to go on without a model"
        return failed("GB004", str(error), remedy)
    return passed("GB004", f"embedder {embedder.name} works")


def _unfiled(settings: Settings) -> CheckResult:
    """Validated episodes whose vectors are missing or of another embedder cannot be recalled."""
    with open_memory(settings) as memory:
        lost = memory.audit.not_embedded(make_embedder(settings).name)
    if lost:
        what = f"{lost} lessons have no vector of this embedder"
        return failed("GB005", what, "run `goodbot reembed`, or go back to their embedder (GOODBOT_EMBEDDER_NAME)")
    return passed("GB005", "every lesson can be recalled")


def _model(settings: Settings) -> CheckResult:
    try:
        embedder = make_embedder(settings)
        make_rewriter(settings, embedder, make_model(settings, embedder))
    except ConfigError as error:
        return failed("GB006", str(error), "set GOODBOT_MODEL and its key")
    except BotError as error:
        return failed("GB006", str(error), "see the message")
    asked = "no request was sent" if settings.model.name != "offline" else "it is no language model"
    chain = ", else ".join([settings.model.name, *settings.model.fallbacks])
    return passed("GB006", f"model {chain} is configured ({asked})")


def _knowledge(settings: Settings) -> CheckResult:
    folder = settings.knowledge.folder
    if not folder:
        return passed("GB007", "no knowledge folder is set (optional)")
    if not Path(folder).is_dir():
        return failed("GB007", f"{folder} is no folder", "set GOODBOT_KNOWLEDGE_FOLDER to one")
    number = sum(path.suffix in (".md", ".txt") for path in Path(folder).rglob("*"))
    return passed("GB007", f"knowledge folder {folder} has {number} documents")


def _log_file(settings: Settings) -> CheckResult:
    path = Path(settings.log.file)
    try:
        LogFile(path).close()
    except OSError as error:
        what = f"the log {path} cannot be written: {error.strerror}"
        return failed("GB008", what, "set GOODBOT_LOG_FILE to a file that can")
    return passed("GB008", f"log is written to {path}")


def _set_aside(settings: Settings) -> CheckResult:
    """Report messages that were set aside, by place and time, never by text, which may be private."""
    with open_memory(settings) as memory:
        aside = memory.recovering.set_aside()
    if not aside:
        return passed("GB010", "no message had to be set aside")
    named = "; ".join(map(_named, aside[:_MOST_NAMED]))
    more = f"; and {len(aside) - _MOST_NAMED} older" if len(aside) > _MOST_NAMED else ""
    report = last_report(settings.storage.beside)
    cause = f"where it was is in {report}" if report.exists() else "a kill without a crash is often a lack of memory"
    return warning(
        "GB010",
        f"{count(len(aside), 'message')} ended the process again and again and will not be tried any more: "
        f"{named}{more}",
        f"{cause}; install the newest Goodbot and have the question asked again",
    )


def _named(message: Incoming) -> str:
    place = " ".join(filter(None, message.scope.conversation[:3]))
    return (
        f"{message.event_id} in {place}, {message.at:%Y-%m-%d %H:%M} UTC "
        f"(crashes: {message.crashes}, kills: {message.kills})"
    )


_ROWS, _OPEN = "GB011", "GB012"
_ROWS_SHOWN = 20
"""How many damaged rows are listed."""


def _rows(settings: Settings) -> Iterator[CheckResult]:
    """Check that every row can be read. Yields a finding for each that cannot."""
    try:
        # A damaged row may keep memory from starting.
        with open_store(settings) as store:
            damaged = store.damage(limit=_ROWS_SHOWN)
    except (MemoryFault, OSError) as error:
        yield failed(_ROWS, f"{_BLIND}{error}", "mend GB002 first")
        return
    for row in damaged:
        yield failed(_ROWS, row.what, row.remedy)
    if not damaged:
        yield passed(_ROWS, "every stored row can be read")


def _private(settings: Settings) -> Iterator[CheckResult]:
    """Check whether other users of this machine can read the database, the log, or their folders."""
    database, log = (Path(each).expanduser().absolute() for each in (settings.storage.beside, settings.log.file))
    companions = [Path(f"{database}{ending}") for ending in ("-wal", "-shm", "-journal")]
    rotated = sorted(log.parent.glob(f"{log.name}.*"))
    files = [each for each in (database, *companions, log, *rotated) if is_open_to_others(each)]
    # A folder that belongs to another user is not checked.
    homes = dict.fromkeys(each.parent for each in (database, log) if is_plain_file(each))
    folders = [each for each in homes if is_own(each) and is_open_to_others(each)]
    remedies = []
    if files:
        remedies.append(f"run {shlex.join(['chmod', '600', *map(str, files)])}")
    if folders:
        remedies.append(f"run {shlex.join(['chmod', '700', *map(str, folders)])}, or use a folder for Goodbot alone")
    if not remedies:
        yield passed(_OPEN, "database and log are for this user alone")
        return
    named = ", ".join(map(str, (*files, *folders)))
    yield warning(_OPEN, f"other users of this machine can look into {named}", "; ".join(remedies))


_MCP = "GB013"
_TOOLS_SHOWN = 5
"""How many tools are listed."""


def mcp_servers(settings: Settings) -> Iterator[CheckResult]:
    """A result for each configured server."""
    if not settings.mcp.servers:
        return
    try:
        from bot.adapters.tools.mcp_servers import tool_names
    except ImportError as error:
        what = f"[mcp] servers needs a library that is not installed ({error.name or error})"
        yield failed(_MCP, what, "run pip install 'goodbot[mcp]'")
        return
    for server in settings.mcp.servers:
        try:
            names = asyncio.run(tool_names(server, environ=os.environ, timeout_s=settings.mcp.timeout_s))
        except ToolFailed as error:
            yield failed(_MCP, str(error), _remedy(server))
            continue
        if not names:
            yield warning(_MCP, f"the MCP server {server.name} offers no tool", "see its own settings")
            continue
        more = ", ..." if len(names) > _TOOLS_SHOWN else ""
        yield passed(
            _MCP,
            f"the MCP server {server.name} offers {count(len(names), 'tool')}: {', '.join(names[:_TOOLS_SHOWN])}{more}",
        )


def _remedy(server: McpServer) -> str:
    if server.command:
        return "run its command by hand; variables that it needs are named in its `env`"
    return "check its url and token, and that it runs"


SLACK, DISCORD = "GB020", "GB030"


def _slack(settings: Settings) -> list[CheckResult]:
    slack = settings.slack
    secrets = (slack.bot_token, slack.app_token, slack.signing_secret)
    if not (slack.client_id or any(secret.get_secret_value() for secret in secrets)):
        return [passed(SLACK, "Slack is not configured (optional)")]
    try:
        from bot.adapters.slack.health_checks import SlackHealthChecks

        named = _teachers_in_chat(settings, "slack")
        several = slack.client_id and not slack.bot_token.get_secret_value()
        database = installation_database(settings.storage) if several else None
        checks = SlackHealthChecks(slack, clock=utc_now, named_in_chat=named, database=database)
        return asyncio.run(checks.results())
    except ImportError as error:
        return [_not_installed(SLACK, "slack", error)]


def _discord(settings: Settings) -> list[CheckResult]:
    if not settings.discord.token.get_secret_value():
        return [passed(DISCORD, "Discord is not configured (optional)")]
    try:
        from bot.adapters.discord.health_checks import DiscordHealthChecks
    except ImportError as error:
        return [_not_installed(DISCORD, "discord", error)]
    # A fault is reported as a result; the library's own log line would appear between the results.
    logging.getLogger("discord").addHandler(logging.NullHandler())
    named = _teachers_in_chat(settings, "discord")
    return asyncio.run(DiscordHealthChecks(settings.discord, clock=utc_now, named_in_chat=named).results())


def _teachers_in_chat(settings: Settings, platform: str) -> list[str]:
    """The teachers named in chat; empty if that has no effect, or the database cannot be read."""
    if TEACHERS not in settings.teaching.chat_settings:
        return []
    try:
        with open_store(settings) as store:
            return named_anywhere(store, platform, TEACHERS)
    except (MemoryFault, OSError):
        return []  # reported by the checks of the database


def _not_installed(code: str, platform: str, error: ImportError) -> CheckResult:
    what = f"{platform} needs a library that is not installed ({error.name or error})"
    return failed(code, what, f"run pip install 'goodbot[{platform}]'")


_ONE_EACH: Mapping[str, Callable[[Settings], CheckResult]] = {
    "GB001": _settings,
    "GB002": _database,
    "GB003": _log_agrees,
    "GB004": _embedder,
    "GB005": _unfiled,
    "GB006": _model,
    "GB007": _knowledge,
    "GB008": _log_file,
    "GB010": _set_aside,
}


def results(settings: Settings) -> Iterator[CheckResult]:
    """The results of all checks, in order of code. Platforms without a token are not contacted.

    What keeps several checks from looking is told once; the others name its check.
    """
    codes: dict[str, str] = {}
    for each in _results(settings):
        cause = each.what.removeprefix(_BLIND)
        first = codes.setdefault(cause, each.code)
        yield each if cause == each.what or first == each.code else replace(each, what=f"{_BLIND}see {first}")


def _results(settings: Settings) -> Iterator[CheckResult]:
    for code, check in _ONE_EACH.items():
        try:
            yield check(settings)
        except MemoryFault as error:
            yield failed(code, f"{_BLIND}{error}", "mend GB002 or GB011 first")
        except Exception as error:  # a failing check must not hide the others
            log.error("the check %s failed: %s", code, error, exc_info=error)
            yield failed(code, f"{_BLIND}{type(error).__name__}: {error}", "mend what else is wrong")
    for look in (_rows, _private, mcp_servers, _slack, _discord):
        yield from look(settings)


def wrong_settings(reason: str) -> CheckResult:
    """The only result if the settings cannot be read."""
    return failed("GB001", reason, "mend the settings named above")
