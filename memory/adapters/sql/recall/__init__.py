"""The recall index with its in-process copies, and the cache of lessons for weighing evidence."""
