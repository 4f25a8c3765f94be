"""Recall: the lessons nearest to a goal, their evidence, and the rules they support."""
