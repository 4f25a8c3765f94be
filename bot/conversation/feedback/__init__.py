"""Feedback on answers by emoji, buttons and words, and the lessons it makes."""
