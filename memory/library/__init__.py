"""The doors for other agents: what `from memory import ...` gives an engineer, each bound to one scope."""
