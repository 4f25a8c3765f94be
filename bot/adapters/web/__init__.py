"""The web server: HTTP interface, pages, health and metrics."""
