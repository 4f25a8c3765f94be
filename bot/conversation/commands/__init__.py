"""The bot's commands, which are the same words on every platform: one module for each, with what they share."""
