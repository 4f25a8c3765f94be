"""The composition root: builds the bot from its settings; the only package that names concrete adapters."""
