"""The use cases of the bot: from a person's event to what the bot says and learns."""
