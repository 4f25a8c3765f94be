"""The composition root: builds the bot from its settings. Only this package uses concrete adapters."""
