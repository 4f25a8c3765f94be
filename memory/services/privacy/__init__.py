"""Use cases of privacy: a copy of a person's data, its erasure, and the purge of what a person taught."""
