"""Maintenance: periodic jobs, leases, API keys, monitoring and re-embedding."""

from memory.services.upkeep.jobs import JOBS as JOBS, JobState as JobState, Upkeep as Upkeep
