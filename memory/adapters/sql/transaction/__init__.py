"""One transaction: its statements in the words of the driver, errors in those of memory, rows that cannot be read."""
