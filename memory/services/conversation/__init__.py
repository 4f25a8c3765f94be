"""Use cases around a conversation: its earlier exchanges and answers, reminders, and notices sent once."""
