"""Copies of whole databases: backups, and moves into another database."""
