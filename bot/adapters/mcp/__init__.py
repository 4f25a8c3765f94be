"""Memory over the Model Context Protocol: other agents recall, record and teach what the chat does."""
