"""Language models behind `bot.ports.LanguageModel`. Importing this package loads no vendor library."""
