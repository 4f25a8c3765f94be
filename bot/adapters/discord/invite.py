"""The link that invites the bot to a server, with the permissions it uses and no more."""

import base64

import discord

RIGHTS = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    read_message_history=True,
    add_reactions=True,
    attach_files=True,
)

SCOPES = ("bot", "applications.commands")


def invite_link(token: str) -> str:
    """The invite link of the token's app; empty when the token does not look like one of Discord's."""
    application = _application_of(token)
    return invite_link_of(application) if application else ""


def invite_link_of(application: int) -> str:
    """The same from the id of the app."""
    return discord.utils.oauth_url(application, permissions=RIGHTS, scopes=SCOPES)


def right_names(rights: discord.Permissions) -> list[str]:
    """What Discord's own pages call these rights, as near as the library knows."""
    return [_WORDS.get(name, name.replace("_", " ")) for name, is_set in rights if is_set]


_WORDS = {
    "read_messages": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "read_message_history": "Read Message History",
    "add_reactions": "Add Reactions",
    "attach_files": "Attach Files",
}


def _application_of(token: str) -> int:
    """The id of the app, which is the first part of a token in base 64."""
    first = token.strip().partition(".")[0]
    try:
        written = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
    except ValueError:
        return 0
    return int(written) if written.isdecimal() else 0
