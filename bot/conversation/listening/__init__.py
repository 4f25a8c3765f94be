"""Which messages the bot answers, and who may use it."""
