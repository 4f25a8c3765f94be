"""Discord behind the messenger port, through discord.py.

`incoming` makes events of the gateway's payloads, `outgoing` posts the bot's messages. Inside this package `import
discord` is the library, as imports are absolute.
"""
