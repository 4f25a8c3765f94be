"""The playground: a messenger for test people in the browser, without a platform.

They talk to the real bot in test channels of a workspace of their own; what they teach counts in no other one. Its page
is `bot.adapters.web.pages.playground`.
"""
