"""What the bot says without being asked: welcomes, digests, reminders, decisions."""
