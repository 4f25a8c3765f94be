"""What the agent can do: the registry that runs tools, and the built-in ones, a file each."""
