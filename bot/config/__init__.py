"""Settings: their models (`settings`), sources (`sources`) and loading (`load`)."""

from bot.config.load import load_settings as load_settings
from bot.config.memory_settings import ConversationSettings as ConversationSettings
from bot.config.platform_settings import (
    GROUP_ROLES as GROUP_ROLES,
    DiscordSettings as DiscordSettings,
    SlackSettings as SlackSettings,
    TerminalSettings as TerminalSettings,
)
from bot.config.settings import Settings as Settings
