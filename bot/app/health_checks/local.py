"""The checks of what is on this machine: settings, database, memory, embedder, model, knowledge, log."""

from collections.abc import Callable
from pathlib import Path

from bot.adapters.check_result import CheckResult, fault, fine, warning
from bot.app.build import open_memory
from bot.app.crash_report import last_report
from bot.app.log_file import LogFile
from bot.app.models import make_model, make_rewriter
from bot.app.startup import make_embedder
from bot.config import Settings
from bot.conversation.counts import count
from bot.errors import BotError, ConfigError
from memory.errors import MemoryFault
from memory.model import Incoming

_MOST_NAMED = 5


def _settings(settings: Settings) -> CheckResult:
    return fine("GB001", f"settings are valid; model {settings.model.name}")


def _database(settings: Settings) -> CheckResult:
    try:
        with open_memory(settings) as memory:
            names = memory.audit.workspaces()
    except MemoryFault as error:
        return fault("GB002", str(error), "see the message; DATABASE_URL names the database")
    return fine("GB002", f"database {settings.storage.place} opens and is up to date, {count(len(names), 'workspace')}")


def _log_agrees(settings: Settings) -> CheckResult:
    try:
        with open_memory(settings) as memory:
            found = memory.audit.check()
    except MemoryFault as error:
        return fault("GB003", f"could not compare: {error}", "mend GB002 or GB011 first")
    if found:
        return fault("GB003", f"{len(found)} stored values are not what the event log says", "run `goodbot rebuild`")
    return fine("GB003", "everything stored is what the event log says")


def _embedder(settings: Settings) -> CheckResult:
    try:
        embedder = make_embedder(settings)
        embedder.embed(["ready?"])
    except MemoryFault as error:
        remedy = "reinstall goodbot, or set GOODBOT_EMBEDDER_NAME=hashing to go on without a model"
        return fault("GB004", str(error), remedy)
    return fine("GB004", f"embedder {embedder.name} works")


def _unfiled(settings: Settings) -> CheckResult:
    """Validated episodes whose vectors are missing or of another embedder cannot be recalled."""
    try:
        name = make_embedder(settings).name
        with open_memory(settings) as memory:
            lost = memory.audit.not_embedded(name)
    except MemoryFault as error:
        return fault("GB005", f"could not look: {error}", "mend GB002 or GB011 first")
    if lost:
        what = f"{lost} lessons have no vector of this embedder"
        return fault("GB005", what, "run `goodbot reembed`, or go back to their embedder (GOODBOT_EMBEDDER_NAME)")
    return fine("GB005", "every lesson can be recalled")


def _model(settings: Settings) -> CheckResult:
    try:
        embedder = make_embedder(settings)
        make_rewriter(settings, embedder, make_model(settings, embedder))
    except ConfigError as error:
        return fault("GB006", str(error), "set GOODBOT_MODEL and its key")
    except BotError as error:
        return fault("GB006", str(error), "see the message")
    asked = "no request was sent" if settings.model.name != "offline" else "it is no language model"
    chain = ", else ".join([settings.model.name, *settings.model.fallbacks])
    return fine("GB006", f"model {chain} is configured ({asked})")


def _knowledge(settings: Settings) -> CheckResult:
    folder = settings.knowledge.folder
    if not folder:
        return fine("GB007", "no knowledge folder is set (optional)")
    if not Path(folder).is_dir():
        return fault("GB007", f"{folder} is no folder", "set GOODBOT_KNOWLEDGE_FOLDER to one")
    number = sum(path.suffix in (".md", ".txt") for path in Path(folder).rglob("*"))
    return fine("GB007", f"knowledge folder {folder} has {number} documents")


def _log_file(settings: Settings) -> CheckResult:
    path = Path(settings.log.file)
    try:
        LogFile(path).close()
    except OSError as error:
        what = f"the log {path} cannot be written: {error.strerror}"
        return fault("GB008", what, "set GOODBOT_LOG_FILE to a file that can")
    return fine("GB008", f"log is written to {path}")


def _set_aside(settings: Settings) -> CheckResult:
    """Identifies messages by place and time, never by text: they may be private."""
    try:
        with open_memory(settings) as memory:
            aside = memory.recovering.set_aside()
    except MemoryFault as error:
        return fault("GB010", f"could not look: {error}", "mend GB002 first")
    if not aside:
        return fine("GB010", "no message had to be set aside")
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


CHECKS: tuple[Callable[[Settings], CheckResult], ...] = (
    _settings, _database, _log_agrees, _embedder, _unfiled, _model, _knowledge, _log_file,
    _set_aside,
)  # fmt: skip
