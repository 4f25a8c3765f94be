"""Maintenance jobs, their lease, and what they do."""

from memory.services.upkeep.jobs import JOBS, Job, JobState, Upkeep

__all__ = ["JOBS", "Job", "JobState", "Upkeep"]
