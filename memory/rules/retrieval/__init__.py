"""Choosing which validated episodes an agent is shown, and how they are worded."""
