"""The agent: a tree of nodes that reason, run tools and split goals until the question is answered or given up."""
