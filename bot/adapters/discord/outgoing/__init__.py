"""What the bot says on Discord: Markdown, posted once, streamed, long answers, signs that it works."""
