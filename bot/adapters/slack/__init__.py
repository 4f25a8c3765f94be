"""Slack as a chat platform, through slack-bolt: Socket Mode or signed requests, reactions, buttons, modals, streams.

The modules that parse events and exports are imported without the library, which takes seconds to load.
"""
