"""Builds the parts of the bot from its settings: memory, models, tools, documents, metrics, periodic jobs."""
