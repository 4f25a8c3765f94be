"""The messages that the bot sends unasked: welcomes, digests, reminders and teachers' decisions."""
