"""Files that lessons are learned from: what people wrote as questions with answers, and what platforms export."""
