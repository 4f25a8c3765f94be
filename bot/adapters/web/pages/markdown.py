"""What the bot says, as HTML: emphasis, lists, tables and code. Everything else stays text, links and tags too."""

from markupsafe import Markup

from bot.adapters import commonmark
from bot.adapters.web.pages.rendering import plain_text

_MARKDOWN = commonmark.parser().disable(["link", "image", "autolink", "reference", "heading", "lheading"])
_MARKDOWN.options["breaks"] = True


def marked(text: str) -> str:
    """The text with its marks; what people wrote in it is escaped."""
    return Markup(_MARKDOWN.render(plain_text(text)))  # noqa: S704 - the renderer escapes every text
