"""Goodbot: a chat bot that people teach with emoji."""
