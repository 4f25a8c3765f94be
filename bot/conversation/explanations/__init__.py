"""The texts of the command `why`: for an answer, its evidence, a lesson."""
