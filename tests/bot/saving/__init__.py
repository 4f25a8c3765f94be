"""Tests of saving a person's message as a lesson, on both platforms."""
