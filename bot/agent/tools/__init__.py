"""Tools: the registry that runs them, and the built-in ones, a file each."""
