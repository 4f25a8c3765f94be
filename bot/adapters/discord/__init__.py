"""Discord behind the messenger port, through discord.py.

The gateway's raw payloads become events (`intake`, `uses`); what the bot says goes out through `posting`. Inside this
package `import discord` is the library: imports are absolute.
"""
