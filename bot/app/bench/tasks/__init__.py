"""Office tasks of several steps in a scripted world, to measure what the agent tree and the memories are worth."""
