"""What people read about a memory: why an answer is as it is, statistics, checks by the log, what to teach next."""
