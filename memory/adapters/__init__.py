"""Implementations of the ports: stores and embedders. Imported by name, so that only what is used is loaded."""
