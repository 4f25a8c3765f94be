"""Copies of whole databases: a backup, a move into another one."""
