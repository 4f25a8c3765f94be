"""The texts behind `why`: for an answer, for its evidence, for a lesson."""
