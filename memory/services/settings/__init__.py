"""What people chose of how the bot works: settings changed in chat, what it listens to, runs without lessons."""
