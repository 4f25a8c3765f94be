"""The playground: a messenger whose platform is this process and whose people sit at a browser.

Test people in test channels of a workspace of their own talk to the real bot; what they teach reaches no other one.
`bot.adapters.web.pages.playground` is its page.
"""
