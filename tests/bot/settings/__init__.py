"""Settings in chat, on the platforms."""
