"""Slack as a chat platform, through slack-bolt: Socket Mode or signed requests, reactions, buttons, modals, streams.

What reads events and exports is imported without the library, which takes seconds.
"""
