"""Measures the whole bot on labelled messages, for `goodbot bench`: people ask, the bot answers, people react."""
