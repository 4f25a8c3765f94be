"""Tools from outside the bot: plugins, MCP servers, web pages and web search."""
