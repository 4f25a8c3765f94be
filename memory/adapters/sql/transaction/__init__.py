"""One transaction: its statements, the driver's errors in the words of memory, rows that cannot be read."""
