"""Chooses the validated episodes that an agent is shown, and renders them for its prompt."""
