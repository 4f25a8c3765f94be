"""Loads the settings: defaults, overridden by the file, overridden by the environment; validates them at the end."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr, ValidationError
from pydantic_core import ErrorDetails

from bot.config.setting_errors import allowed_values, shown_setting
from bot.config.settings import Settings
from bot.config.sources import RawSettings, expand_path, find_config_file, read_environment, read_file
from bot.errors import ConfigError


def load_settings(environ: Mapping[str, str], *, config_path: Path | None, cwd: Path, data_dir: Path) -> Settings:
    """Load the settings, with absolute paths.

    `config_path` is the file named on the command line. `data_dir` is the folder for the database and the log unless a
    setting names another; it need not exist. Raises `ConfigError` that lists all unknown and wrong settings.
    """
    raw = RawSettings()
    path = find_config_file(environ, config_path=config_path, cwd=cwd)
    if path is not None:
        read_file(path, raw)
    read_environment(environ, raw)
    problems = list(raw.problems)
    settings = Settings()
    try:
        settings = Settings.model_validate(raw.values)
    except ValidationError as exc:
        # `ConfigError` is raised below, without this cause, whose values may be secrets.
        problems += [_explain(error, raw) for error in exc.errors(include_url=False)]
    if problems:
        raise ConfigError("\n".join(["the settings are wrong, so nothing was started:", *(f"- {p}" for p in problems)]))
    return _with_paths(settings, cwd=cwd, data_dir=data_dir)


def _explain(error: ErrorDetails, raw: RawSettings) -> str:
    """A line about a wrong value: the setting, its source, the value, what is allowed."""
    section, *rest = (str(part) for part in error["loc"])
    own = error["ctx"]["error"] if error["type"] == "value_error" and "ctx" in error else None
    if not rest:
        origins = sorted({origin for (of, _), origin in raw.origins.items() if of == section})
        return f"[{section}] ({'; '.join(origins)}): {own or error['msg']}"
    key = rest[0]
    field = Settings.sections()[section].model_fields[key]
    origin = raw.origins.get((section, key), "default")
    found = shown_setting(field, raw.values.get(section, {}).get(key))
    if len(rest) > 2 or (isinstance(field.default, tuple) and _has_tables(raw.values.get(section, {}).get(key))):
        where = "".join(f"[{int(part) + 1}]" if part.isdigit() else f".{part}" for part in rest[1:])
        return f"{section}.{key}{where} ({origin}): {own or error['msg']}"  # without its value, which may hold a secret
    if own:
        return f"{section}.{key} ({origin}): {own}; found {found}"
    return f"{section}.{key} ({origin}): allowed is {allowed_values(field)}; found {found}"


def _has_tables(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


def _with_paths(settings: Settings, *, cwd: Path, data_dir: Path) -> Settings:
    """The settings with default files filled in and all paths absolute."""
    storage, log, knowledge, embedder = settings.storage, settings.log, settings.knowledge, settings.embedder
    if not storage.database_url.get_secret_value():
        url = SecretStr(f"sqlite:///{(data_dir / 'goodbot.db').absolute()}")
        storage = storage.model_copy(update={"database_url": url})
    storage = storage.within(data_dir)
    log_file = cwd / expand_path(log.file) if log.file else data_dir / "goodbot.log"
    log = log.model_copy(update={"file": str(log_file.absolute())})
    if knowledge.folder:
        folder = cwd / expand_path(knowledge.folder)
        knowledge = knowledge.model_copy(update={"folder": str(folder.absolute())})
    if embedder.cache:
        cache = cwd / expand_path(embedder.cache)
        embedder = embedder.model_copy(update={"cache": str(cache.absolute())})
    return settings.model_copy(update={"storage": storage, "log": log, "knowledge": knowledge, "embedder": embedder})
