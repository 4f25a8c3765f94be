"""Imports discord.py without the warning that its voice part makes of Python's own `audioop` (3.11 and 3.12)."""

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "'audioop' is deprecated", DeprecationWarning)
    import discord
    from discord import app_commands, ui
    from discord.ext import commands
    from discord.gateway import DiscordWebSocket
    from discord.http import Route

__all__ = ["DiscordWebSocket", "Route", "app_commands", "commands", "discord", "ui"]
