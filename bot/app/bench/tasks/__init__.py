"""Office tasks of several steps in a scripted world, done by the whole bot: what tree and memories are worth."""
