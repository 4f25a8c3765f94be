"""Tools that reach outside the bot: other people's functions and servers, pages, searches."""
