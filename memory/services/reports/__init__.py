"""Use cases of reports: explanations, statistics, the check of stored values against the log, and knowledge gaps."""
