"""The default model: not a language model, but a small deterministic one with the same interface.

It chooses tools and known answers by embedding similarity and by the lessons in its prompt, and says what it is. Like
other models it gets only the messages, tools and evidence of a request.
"""
