"""Slack's mrkdwn of people's messages to plain text.

Slack escapes `&`, `<` and `>`, and puts everything special between angle brackets: `<@U1>`, `<#C1|general>`,
`<https://x.org|a label>`, `<!here>` (docs.slack.dev, "Formatting message text").
"""

import re

_SPECIAL = re.compile(r"<(?P<kind>[@#!]?)(?P<target>[^<>|\s][^<>|]*)(?:\|(?P<label>[^<>]*))?>")
_PERSON = re.compile(r"<@(?P<id>[UW][A-Z0-9]+)(?:\|[^<>]*)?>")
_NAMES_A_PERSON = re.compile(r"purge\b", re.IGNORECASE)
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def plain(text: str) -> str:
    """The text as it is read: labels instead of ids where there are any, no escapes."""
    shown = _SPECIAL.sub(_shown, text)
    for entity, character in _ENTITIES:
        shown = shown.replace(entity, character)
    return shown.strip()


def as_command(text: str) -> str:
    """The text as the words of a command: where one is about a person, by id, for two may have the same name."""
    return plain(_PERSON.sub(r"\g<id>", text) if _NAMES_A_PERSON.match(text.strip()) else text)


def mentions(text: str, user: str) -> bool:
    """Whether Slack's text names this user."""
    return re.search(rf"<@{re.escape(user)}(?:\|[^<>]*)?>", text) is not None


def without_mention(text: str, user: str) -> str:
    """Slack's text without the mentions of this user and the punctuation that set the first one off."""
    tag = rf"<@{re.escape(user)}(?:\|[^<>]*)?>"
    text = re.sub(rf"^\s*+{tag}\s*+[:,]?\s*+", "", text)
    return re.sub(rf"(?<![^\S\n])[^\S\n]*+{tag}", "", text).strip()


def _shown(found: re.Match[str]) -> str:
    kind, target, label = found["kind"], found["target"], found["label"] or ""
    if kind == "!":
        command, _, argument = target.partition("^")
        name = label or (argument if command == "subteam" else command)
        return name if command == "date" or name.startswith("@") else f"@{name}"
    if kind:
        return kind + (label or target)
    address = target.removeprefix("mailto:")
    if not label or label == address or address.split("://", 1)[-1].rstrip("/") == label.rstrip("/"):
        return address
    return f"{label} ({address})"
