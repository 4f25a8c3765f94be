"""A conversation as far as it is remembered: its questions and answers, its reminders, notices given once."""
