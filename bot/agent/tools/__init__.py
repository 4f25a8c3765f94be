"""Tools: the registry that runs them, and the built-in ones, one file each."""
