"""Makes and changes messages from what the app sends."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from tests.doubles.discord.component_limits import walk
from tests.doubles.discord.errors import error
from tests.doubles.discord.happenings import Happenings
from tests.doubles.discord.mentions import pings
from tests.doubles.discord.message_limits import check_message
from tests.doubles.discord.model import Attachment, Channel, File, Json, Message, MessageFlag

_SETTABLE = (
    MessageFlag.SUPPRESS_EMBEDS | MessageFlag.SUPPRESS_NOTIFICATIONS | MessageFlag.COMPONENTS_V2 | MessageFlag.EPHEMERAL
)


class Forms:
    """The app's messages: checked, filled in, not yet posted."""

    def __init__(self, happenings: Happenings) -> None:
        self._state = happenings.state
        self._happenings = happenings

    def new(self, channel: Channel, form: Json, files: Sequence[File], reply_to: Message | None = None) -> Message:
        """A new message of the bot's."""
        check_message(form, files)
        composed = self._happenings.compose(
            channel,
            self._state.bot,
            str(form.get("content") or ""),
            reply_to=reply_to,
            allowed=form.get("allowed_mentions"),
        )
        return replace(
            composed,
            flags=MessageFlag(int(form.get("flags") or 0)) & _SETTABLE,
            embeds=_embeds(form),
            components=numbered(form.get("components") or ()),
            attachments=tuple(self._state.store(channel.id, file) for file in files),
            nonce=str(form.get("nonce") or ""),
        )

    def changed(self, message: Message, form: Json, files: Sequence[File]) -> Message:
        """A message with what the form names replaced. Raises 50006 if nothing is left to show."""
        flags = (MessageFlag(int(form.get("flags") or 0)) & _SETTABLE) | (message.flags & ~MessageFlag.SUPPRESS_EMBEDS)
        check_message({**form, "flags": int(flags)}, files, is_new=False)
        content = str(form.get("content") or "") if "content" in form else message.content
        allowed = form.get("allowed_mentions", message.allowed_mentions)
        edited = replace(
            message,
            content=content,
            flags=(flags if "flags" in form else message.flags) & ~MessageFlag.LOADING,
            embeds=_embeds(form) if "embeds" in form else message.embeds,
            components=numbered(form.get("components") or ()) if "components" in form else message.components,
            attachments=self._attachments(message, form, files),
            # An edit never notifies; who was notified once stays so.
            pings=message.pings if not message.is_loading else pings(content, allowed),
            allowed_mentions=allowed,
            edited_at=self._state.clock(),
        )
        if not (edited.content.strip() or edited.embeds or edited.components or edited.attachments):
            raise error(50006)
        return edited

    def _attachments(self, message: Message, form: Json, files: Sequence[File]) -> tuple[Attachment, ...]:
        kept = message.attachments
        if "attachments" in form:
            listed = {str(one.get("id")) for one in form["attachments"] or ()}
            kept = tuple(one for one in kept if one.id in listed)
        return (*kept, *(self._state.store(message.channel_id, file) for file in files))


def _embeds(form: Json) -> tuple[Json, ...]:
    return tuple({**embed, "type": "rich"} for embed in form.get("embeds") or ())


def numbered(components: Sequence[Any]) -> tuple[Json, ...]:
    """Components, each with the `id` that Discord gives to those that came without."""
    copied = [_copied(one) for one in components]
    everything = [one for _, one in walk(copied)]
    used = {one.get("id") for one in everything}
    free = (number for number in count(1) if number not in used)
    for one in everything:
        one["id"] = one.get("id") or next(free)
    return tuple(copied)


def _copied(component: Json) -> Json:
    copied = dict(component)
    if "components" in component:
        copied["components"] = [_copied(one) for one in component["components"]]
    copied |= {key: _copied(component[key]) for key in ("component", "accessory") if key in component}
    return copied
