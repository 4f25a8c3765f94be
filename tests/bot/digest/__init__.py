"""Tests of what reaches teachers and what reaches authors, on both platforms."""
