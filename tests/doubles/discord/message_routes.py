"""REST: messages, their reactions, typing."""

from collections.abc import Mapping

from tests.doubles.discord import payloads
from tests.doubles.discord.errors import Problems, error
from tests.doubles.discord.forms import Forms
from tests.doubles.discord.happenings import Happenings
from tests.doubles.discord.model import Channel, ChannelKind, Json, Message, Typing
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord.routing import Handler, Incoming

HISTORY_PAGE, MOST_HISTORY, MOST_BULK = 50, 100, 100


class MessageRoutes:
    """Everything here is done by the bot, and checked against its permissions."""

    def __init__(self, happenings: Happenings, forms: Forms) -> None:
        self._state = happenings.state
        self._happenings = happenings
        self._forms = forms

    def table(self) -> Mapping[str, Handler]:
        """Patterns and their handlers."""
        message, reactions = "/channels/*/messages/*", "/channels/*/messages/*/reactions"
        return {
            "GET /channels/*/messages": self.history,
            "POST /channels/*/messages": self.create,
            f"GET {message}": lambda call: self._seen(self._message(call)),
            f"PATCH {message}": self.edit,
            f"DELETE {message}": self.delete,
            "POST /channels/*/messages/bulk-delete": self.bulk_delete,
            f"PUT {reactions}/*/@me": self.react,
            f"DELETE {reactions}/*/@me": self.unreact,
            f"DELETE {reactions}/*/*": self.remove_reaction,
            f"GET {reactions}/*": self.reactors,
            f"DELETE {reactions}": self.clear_reactions,
            f"DELETE {reactions}/*": self.clear_reactions,
            "POST /channels/*/typing": self.typing,
        }

    # messages

    def create(self, call: Incoming) -> Json:
        """Post, unless the enforced nonce was used before: then the earlier message is the answer."""
        channel = self._channel(call)
        self._may_send(channel, with_files=bool(call.files))
        nonce = str(call.form.get("nonce") or "")
        if nonce and call.form.get("enforce_nonce") and (earlier := self._state.sent_before(channel.id, nonce)):
            return self._seen(earlier)
        reply_to = self._replied(channel, call.form.get("message_reference"))
        message = self._happenings.post(self._forms.new(channel, call.form, call.files, reply_to))
        if nonce:
            self._state.remember_nonce(message)
        return self._seen(message)

    def _may_send(self, channel: Channel, *, with_files: bool) -> None:
        if channel.kind is ChannelKind.DM:
            closed = [p for p in channel.recipients if not self._state.people[p].accepts_dms]
            if closed:
                raise error(50007)
        send = Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES
        self._state.require(self._state.bot.id, channel, send, *([Permission.ATTACH_FILES] if with_files else []))
        if channel.locked:
            raise error(50083)

    def _replied(self, channel: Channel, reference: Json | None) -> Message | None:
        if not reference:
            return None
        found = self._state.find(str(reference.get("message_id")))
        if found and found.channel_id == channel.id and not found.ephemeral_to:
            if not self._state.permissions(self._state.bot.id, channel) & Permission.READ_MESSAGE_HISTORY:
                raise error(160002)
            return found
        if reference.get("fail_if_not_exists", True):
            problems = Problems()
            problems.add("message_reference", "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
            problems.tell()
        return None

    def edit(self, call: Incoming) -> Json:
        """Only the bot's own messages."""
        message = self._message(call)
        if message.author.id != self._state.bot.id:
            raise error(50005)
        if self._state.channel(message.channel_id).archived:
            raise error(50083)
        return self._seen(self._happenings.edit(self._forms.changed(message, call.form, call.files)))

    def delete(self, call: Incoming) -> None:
        """Own messages always, others with the right to manage messages."""
        message = self._message(call)
        if message.author.id != self._state.bot.id:
            self._require(message, Permission.MANAGE_MESSAGES)
        self._happenings.delete(message)

    def bulk_delete(self, call: Incoming) -> None:
        """Several at once."""
        channel = self._channel(call)
        self._state.require(self._state.bot.id, channel, Permission.MANAGE_MESSAGES)
        problems = Problems()
        problems.count("messages", len(call.form["messages"]), MOST_BULK, 2)
        problems.tell()
        found = [self._state.find(str(message_id)) for message_id in call.form["messages"]]
        self._happenings.delete(*[message for message in found if message])

    def history(self, call: Incoming) -> list[Json]:
        """Newest first; empty without the right to read history."""
        channel = self._channel(call)
        self._state.require(self._state.bot.id, channel)
        if not self._state.permissions(self._state.bot.id, channel) & Permission.READ_MESSAGE_HISTORY:
            return []
        limit = int(call.query.get("limit", HISTORY_PAGE))
        problems = Problems()
        if not 1 <= limit <= MOST_HISTORY:
            problems.add("limit", "NUMBER_TYPE_MAX", f"int value should be between 1 and {MOST_HISTORY}.")
        problems.tell()
        return [self._seen(message) for message in self._page(channel, call.query, limit)]

    def _page(self, channel: Channel, query: Mapping[str, str], limit: int) -> list[Message]:
        there = self._state.messages_in(channel.id)
        if around := query.get("around"):
            older = sum(int(message.id) < int(around) for message in there)
            first = max(0, older - limit // 2)
            return there[first : first + limit][::-1]
        after, before = int(query.get("after", 0)), int(query.get("before", 1 << 64))
        fitting = [message for message in there if after < int(message.id) < before]
        # With `after`, the page begins next to it; otherwise at the newest message.
        chosen = fitting[:limit] if "after" in query else fitting[-limit:]
        return chosen[::-1]

    # reactions

    def react(self, call: Incoming) -> None:
        """Joining an emoji that is there needs no right to add reactions."""
        message, emoji = self._message(call), self._emoji(call)
        standing = {one.emoji for one in self._state.reactions.get(message.id, ())}
        needed = [Permission.READ_MESSAGE_HISTORY, *([] if emoji in standing else [Permission.ADD_REACTIONS])]
        self._require(message, *needed)
        self._happenings.react(message, self._state.bot, emoji)

    def unreact(self, call: Incoming) -> None:
        """The bot's own emoji; fine if it is not there."""
        self._happenings.unreact(self._message(call), self._state.bot, self._emoji(call))

    def remove_reaction(self, call: Incoming) -> None:
        """Somebody else's emoji."""
        message = self._message(call)
        self._require(message, Permission.MANAGE_MESSAGES)
        self._happenings.unreact(message, self._state.person(call.params[3]), self._emoji(call))

    def clear_reactions(self, call: Incoming) -> None:
        """All, or all of one emoji."""
        message = self._message(call)
        self._require(message, Permission.MANAGE_MESSAGES)
        self._happenings.clear_reactions(message, self._emoji(call) if len(call.params) == 3 else "")

    def reactors(self, call: Incoming) -> list[Json]:
        """Who used an emoji, by id, in pages."""
        message, emoji = self._message(call), self._emoji(call)
        burst = call.query.get("type") == "1"
        given = [r for r in self._state.reactions.get(message.id, ()) if r.emoji == emoji and r.burst == burst]
        people = sorted(int(one.person_id) for one in given)
        page = [one for one in people if one > int(call.query.get("after", 0))][: int(call.query.get("limit", 25))]
        return [payloads.user(self._state.people[str(one)]) for one in page]

    def _emoji(self, call: Incoming) -> str:
        """Custom ones must exist as `name:id`, others must not be plain letters. Raises 10014."""
        emoji = call.params[2]
        if ":" in emoji:
            known = {custom.partition(":")[2]: custom for all_of in self._state.emojis.values() for custom in all_of}
            if found := known.get(emoji.rpartition(":")[2]):
                return found
        elif emoji and not emoji.isascii():
            return emoji
        raise error(10014)

    def typing(self, call: Incoming) -> None:
        """Recorded, seen by nobody."""
        channel = self._channel(call)
        self._may_send(channel, with_files=False)
        self._state.typing.append(Typing(channel_id=channel.id))

    # shared

    def _channel(self, call: Incoming) -> Channel:
        return self._state.channel(call.params[0])

    def _message(self, call: Incoming) -> Message:
        """The message named, in a channel that the bot sees. What only one person sees is unknown here."""
        self._state.require(self._state.bot.id, self._channel(call))
        message = self._state.message(call.params[1], call.params[0])
        if message.ephemeral_to:
            raise error(10008)
        return message

    def _require(self, message: Message, *rights: Permission) -> None:
        self._state.require(self._state.bot.id, self._state.channel(message.channel_id), *rights)

    def _seen(self, message: Message) -> Json:
        """As the REST API shows it: what the portal grants decides about content."""
        return payloads.message(self._state, message, self._state.granted)
