"""Implementations of the ports: stores and embedders. Each is imported by name, so that only used ones are loaded."""
