"""From a person's message to the answer they see: runs, questions with choices, tools' approvals, costs, recovery."""
