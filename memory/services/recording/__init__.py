"""Records messages and their answers: runs, questions with choices, approvals of tools, costs, recovery."""
