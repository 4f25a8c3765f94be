"""The bot's commands, which are the same on all platforms: a module for each, and what they share."""
