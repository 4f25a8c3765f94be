"""The agent: a tree of nodes that think, act and expand until a goal is reached or given up."""
