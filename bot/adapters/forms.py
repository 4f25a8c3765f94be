"""What the forms of every platform share: the names of their fields, and the reasons to choose from."""

REASON, BETTER, AGAIN = "reason", "better", "again"
"""Of a correction."""
QUESTION, ANSWER, AUDIENCE = "question", "answer", "audience"
"""Of a lesson that nobody had asked for."""
REASONS = (
    "misunderstood me",
    "wrong facts",
    "wrong tool or approach",
    "incomplete",
    "style or format",
    "other",
)
