"""Discord behind the messenger port, through discord.py.

The gateway's payloads become events (`intake`, `interactions`); what the bot says goes out through `posting`. Inside
this package `import discord` is the library: imports are absolute.
"""
