"""The web: an HTTP interface to memory, pages, health and metrics."""
