"""Maintenance jobs, their lease, and what they do."""

from memory.services.upkeep.jobs import JOBS as JOBS, JobState as JobState, Upkeep as Upkeep
