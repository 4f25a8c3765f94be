"""`goodbot bench peers`: measures other memory libraries on the same vectors, each in its own environment."""
