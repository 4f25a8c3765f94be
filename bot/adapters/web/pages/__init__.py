"""The web pages: episodes, review, people, settings and the playground.

One module for each page, with a `PAGE` that says where it is, who may see it and what answers each of its addresses;
`site.PAGES` lists them in the order of the navigation. A page calls the same use cases of memory as chat, the command
line and `/v1`. Who may come in and what every response carries is decided in `site`, before a page runs.
"""
