"""Taking away what one person said or taught: a copy, erasure, purge."""
