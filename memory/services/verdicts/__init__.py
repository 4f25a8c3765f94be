"""What counts as a lesson, and for whom: votes, verdicts, a model's grades, quarantine, archive, channels."""
