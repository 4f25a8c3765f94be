"""The web: an HTTP interface to memory, pages for people who would rather look than read, health and metrics."""
