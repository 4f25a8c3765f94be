"""The library for other agents, which `from memory import ...` exports; its objects are bound to one scope."""
