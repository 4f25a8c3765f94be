"""Implementations of the bot's ports: messengers and language models."""
