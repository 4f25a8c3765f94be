"""Settings: what they are (`settings`), where they come from (`sources`), and how they are put together (`load`)."""

from bot.config.load import load_settings
from bot.config.memory_settings import ConversationSettings
from bot.config.platform_settings import DiscordSettings, SlackSettings, TerminalSettings
from bot.config.settings import Settings
from bot.config.sources import default_config_text, find_config_file

__all__ = [
    "ConversationSettings",
    "DiscordSettings",
    "Settings",
    "SlackSettings",
    "TerminalSettings",
    "default_config_text",
    "find_config_file",
    "load_settings",
]
