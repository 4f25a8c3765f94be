"""Decides what counts as a lesson, and for whom: votes, verdicts, model grades, quarantine, archive, channels."""
