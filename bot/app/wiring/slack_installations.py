"""The database of the installations of several Slack workspaces, for each database of the bot."""

from typing import TYPE_CHECKING

from pydantic import SecretStr

from bot.config import Settings
from bot.config.settings import StorageSettings
from bot.errors import BotError, ConfigError

if TYPE_CHECKING:
    from bot.adapters.slack.installations.database import InstallationDatabase


def installation_database(storage: StorageSettings) -> "InstallationDatabase":
    """A file beside the bot's, or the server that several processes share."""
    from bot.adapters.slack.installations.database import InstallationFile, SharedInstallations

    if not storage.is_file:
        return SharedInstallations(storage.database_url)
    beside = storage.beside
    return InstallationFile(beside.with_name(f"{beside.stem}-slack{beside.suffix or '.db'}"))


def installed_workspaces(settings: Settings) -> int:
    """How many workspaces have the app by a token of their own. Raises `BotError`."""
    from bot.adapters.slack.installations.transfer import count_installations

    database = installation_database(settings.storage)
    try:
        return count_installations(database)
    except ImportError as error:
        raise ConfigError(
            f"{database.name} has tokens of Slack workspaces, and a library is not installed ({error.name or error}); "
            "run pip install 'goodbot[slack]'"
        ) from error


def move_installations(settings: Settings, target_url: str) -> None:
    """Copy them to where the bot looks for them when it uses another database. Raises `ConfigError`."""
    from bot.adapters.slack.installations.transfer import copy_installations

    try:
        if installed_workspaces(settings):
            target = settings.storage.model_copy(update={"database_url": SecretStr(target_url)})
            copy_installations(installation_database(settings.storage), installation_database(target))
    except BotError as error:
        raise ConfigError(
            f"everything is in the new database but the tokens of Slack workspaces: {error}. "
            "Then give the same command again, which goes on; nothing opens the new database before."
        ) from error
