"""Adapters for `bot.ports.LanguageModel`. Importing this package imports no vendor library."""
