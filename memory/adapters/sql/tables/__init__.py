"""Definitions of tables, with their column types and dialects."""
