"""Answers accepted messages: queues, runs, progress and partial answers, choices, delivery."""
