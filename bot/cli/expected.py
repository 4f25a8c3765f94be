"""The errors a command may end with, each shown to people as one line."""

import click

from bot.errors import BotError
from memory.errors import MemoryFault

EXPECTED = (BotError, MemoryFault, OSError, click.ClickException, click.exceptions.Exit, click.Abort)
