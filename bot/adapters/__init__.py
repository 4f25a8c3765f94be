"""Implementations of the bot's ports, and what the platforms share."""
