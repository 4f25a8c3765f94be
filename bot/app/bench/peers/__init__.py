"""`goodbot bench peers`: the same vectors in other memories, each in an environment of its own."""
