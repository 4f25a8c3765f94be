"""The sources of settings: a file and environment variables. Reads names and values, without validation."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.config.setting_errors import did_you_mean
from bot.config.settings import Settings
from bot.errors import ConfigError

Name = tuple[str, str]
"""The name of a setting: section and key."""

SHORT_NAMES: Mapping[str, Name] = {
    "DATABASE_URL": ("storage", "database_url"),
    "GOODBOT_MODEL": ("model", "name"),
    "OPENAI_API_KEY": ("model", "openai_api_key"),
    "OPENAI_BASE_URL": ("model", "openai_base_url"),
    "SLACK_BOT_TOKEN": ("slack", "bot_token"),
    "SLACK_APP_TOKEN": ("slack", "app_token"),
    "SLACK_SIGNING_SECRET": ("slack", "signing_secret"),
    "SLACK_CLIENT_ID": ("slack", "client_id"),
    "SLACK_CLIENT_SECRET": ("slack", "client_secret"),
    "SLACK_API_URL": ("slack", "api_url"),
    "DISCORD_TOKEN": ("discord", "token"),
    "DISCORD_API_URL": ("discord", "api_url"),
    "GOODBOT_API_KEY": ("web", "api_key"),
}
"""Variables that other tools and hosts use too. The long name of the same setting overrides them."""

CONFIG_VARIABLE = "GOODBOT_CONFIG"
_PREFIX = "GOODBOT_"


@dataclass(frozen=True, slots=True)
class RawSettings:
    """Values by section and key, their sources, and problems with names."""

    values: dict[str, dict[str, object]] = field(default_factory=dict)
    origins: dict[Name, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def put(self, name: Name, value: object, origin: str) -> None:
        """Set a value; a later one replaces an earlier one."""
        section, key = name
        self.values.setdefault(section, {})[key] = value
        self.origins[name] = origin


def known_names() -> dict[str, Name]:
    """All settings by dotted name (`recall.min_similarity`)."""
    return {
        f"{section}.{key}": (section, key)
        for section, model in Settings.sections().items()
        for key in model.model_fields
    }


def find_config_file(environ: Mapping[str, str], *, config_path: Path | None, cwd: Path) -> Path | None:
    """The settings file to use, or None. Raises `ConfigError` if a file that was named does not exist."""
    named = config_path or environ.get(CONFIG_VARIABLE, "").strip()
    if named:
        path = cwd / expand_path(named)
        if not path.exists():
            origin = "--config" if config_path else f"the environment variable {CONFIG_VARIABLE}"
            raise ConfigError(f"the settings file {path}, named by {origin}, does not exist: create it or name another")
        return path
    usual = (cwd / "config" / "goodbot.toml", cwd / "goodbot.toml")
    return next((path for path in usual if path.exists()), None)


def expand_path(path: Path | str) -> Path:
    """A path with `~` replaced by the home folder. Raises `ConfigError` if there is none, or for an invalid path."""
    if "\0" in str(path):
        raise ConfigError(f"{path!r} is no path: it has a NUL character; remove it")
    try:
        return Path(path).expanduser()
    except RuntimeError as exc:
        raise ConfigError(f"there is no home folder for {path}: write the whole path") from exc


def read_file(path: Path, raw: RawSettings) -> None:
    """Add the settings of a file. Raises `ConfigError` if it cannot be read as TOML."""
    try:
        # utf-8-sig: some editors on Windows begin a file with a byte order mark, which TOML does not allow.
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as exc:
        raise ConfigError(
            f"cannot read the settings file {path}: {exc.strerror or exc}; check its permissions"
        ) from exc
    except UnicodeDecodeError as exc:
        raise ConfigError(f"the settings file {path} is not UTF-8 text (byte {exc.start}): save it as UTF-8") from exc
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError(f"the settings file {path} is not valid TOML: {exc}") from exc
    except (ValueError, RecursionError) as exc:  # a number of thousands of digits, brackets in brackets without end
        raise ConfigError(f"the settings file {path} holds no settings: {str(exc).partition(';')[0]}") from exc
    sections = Settings.sections()
    for section, content in document.items():
        if section not in sections:
            hint = did_you_mean(section, sections)
            raw.problems.append(f"[{section}] (in {path}): there is no such section{hint}")
        elif not isinstance(content, dict):
            raw.problems.append(f"{section} (in {path}): must be a section with settings below it: [{section}]")
        else:
            _read_section(section, content, path, raw)


def _read_section(section: str, content: Mapping[str, object], path: Path, raw: RawSettings) -> None:
    known = known_names()
    for key, value in content.items():
        dotted = f"{section}.{key}"
        if dotted in known:
            raw.put(known[dotted], value, f"in {path}")
        else:
            raw.problems.append(f"{dotted} (in {path}): there is no such setting{did_you_mean(dotted, known)}")


def read_environment(environ: Mapping[str, str], raw: RawSettings) -> None:
    """Add the settings of environment variables. Empty ones count as unset; those of other programs are ignored.

    Blanks around a value are dropped: a secret that comes from a file often ends with a line break. Quotes are refused,
    as files of variables that no shell reads (Docker's) keep them in the value.
    """
    by_variable = dict(SHORT_NAMES) | {
        f"{_PREFIX}{section}_{key}".upper(): (section, key) for section, key in known_names().values()
    }
    for variable, name in by_variable.items():
        text = environ.get(variable, "").strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
            raw.problems.append(
                f"{variable} (environment variable): has quotes around its value; write it without them"
            )
        elif text:
            raw.put(name, _value(name, text), f"environment variable {variable}")
    for variable in sorted(environ):
        is_ours = variable.upper().startswith(_PREFIX)
        if is_ours and environ[variable].strip() and variable not in (*by_variable, CONFIG_VARIABLE):
            hint = did_you_mean(variable.upper(), [*by_variable, CONFIG_VARIABLE])
            raw.problems.append(f"{variable} (environment variable): there is no such setting{hint}")


_QUOTES = "\"'"
_SWITCH = {"true": True, "1": True, "false": False, "0": False}


def _value(name: Name, text: str) -> object:
    """The text of a variable as the setting's type. An unreadable text is returned as it is, for the validation."""
    section, key = name
    default = Settings.sections()[section].model_fields[key].default
    try:
        if isinstance(default, tuple):
            if text.startswith("["):
                return tomllib.loads(f"value = {text}")["value"]
            return [part.strip() for part in text.split(",") if part.strip()]
        if isinstance(default, bool):
            return _SWITCH.get(text.casefold(), text)
        if isinstance(default, int | float):
            return int(text) if isinstance(default, int) else float(text)
    except (ValueError, RecursionError):
        return text
    return text
