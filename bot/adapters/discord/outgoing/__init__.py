"""Posts the bot's messages on Discord: Markdown, posting once, streaming, long answers, typing indicator."""
