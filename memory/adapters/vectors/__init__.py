"""Vector search in this process: exact, and by sign-bit planes in large partitions."""
