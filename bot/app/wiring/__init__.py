"""A bot put together as its settings have it: memory, models, tools, documents, metrics, jobs on a clock."""
