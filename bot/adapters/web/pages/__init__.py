"""The web pages: episodes, review, people, settings and the playground.

Each page is a module with a `PAGE`, which has its addresses, handlers and the role it needs; `site.PAGES` lists them in
the order of the navigation. Pages use the same services of the memory as chat, command line and `/v1`. `site` checks
logins and forms, and sets the headers of responses.
"""
