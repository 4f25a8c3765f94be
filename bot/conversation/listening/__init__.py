"""Which messages are for the bot, and from whom it takes any."""
