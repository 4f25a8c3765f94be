"""Transactions: execution of statements, translation of errors, and damaged rows."""
