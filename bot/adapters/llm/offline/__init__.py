"""The default model: no language model, but a small deterministic one in the same loop.

It picks tools and known answers by embedding similarity and by the lessons in its prompt, and says so plainly. Like any
other model it sees the messages and tool definitions of a request, nothing else.
"""
