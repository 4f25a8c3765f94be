"""What people (and other bots, webhooks, moderators) do with messages and reactions."""

from collections.abc import Sequence
from dataclasses import replace

from tests.doubles.discord.backstage import Backstage
from tests.doubles.discord.mentions import pings
from tests.doubles.discord.model import Channel, File, Json, Message, MessageFlag, Person
from tests.doubles.discord.permissions import Permission
from tests.doubles.discord.stage import on_loop


class People(Backstage):
    """Each method returns when it has happened, not when the bot has noticed."""

    @on_loop
    def says(
        self,
        person: Person,
        channel: Channel | str,
        content: str = "",
        *,
        reply_to: Message | str | None = None,
        ping: bool = True,
        files: Sequence[File] = (),
        kind: int | None = None,
    ) -> Message:
        """A person (or another bot, or the bot's own account elsewhere) posts a message.

        Mention the bot by writing `server.bot.mention` into the text. `ping` is the switch of a reply. `kind` is the
        type of a system message, for example 7 for a newcomer.
        """
        where = self._where(channel)
        may = self.state.permissions(person.id, where)
        assert may & Permission.VIEW_CHANNEL, f"{person.name} cannot see {where.name or where.id}"
        answered = self._current(reply_to) if reply_to else None
        composed = self.happenings.compose(where, person, content, reply_to=answered, reply_pings=ping)
        stored = tuple(self.state.store(where.id, file) for file in files)
        kind = composed.type if kind is None else kind
        return self.happenings.post(replace(composed, attachments=stored, type=kind))

    @on_loop
    def webhook_says(self, channel: Channel | str, content: str, *, name: str = "Webhook") -> Message:
        """A webhook posts."""
        where = self._where(channel)
        face = Person(id=self.state.new_id(), name=name, is_bot=True)
        composed = self.happenings.compose(where, face, content)
        return self.happenings.post(replace(composed, webhook_id=face.id))

    @on_loop
    def edits(self, message: Message | str, content: str) -> Message:
        """The author changes the text. Whom it mentions now is in the event too, though it rings no bell."""
        current = self._current(message)
        mentioned = current.pings | pings(content, None)
        return self.happenings.edit(replace(current, content=content, edited_at=self.state.clock(), pings=mentioned))

    @on_loop
    def unfurls(self, message: Message | str, url: str = "https://example.org/") -> Message:
        """Discord adds a preview of a link: an update of the message that nobody made, with the old edit time."""
        preview: Json = {"type": "link", "url": url, "title": "Example"}
        return self.happenings.edit(replace(self._current(message), embeds=(preview,)))

    @on_loop
    def deletes(self, *messages: Message | str) -> None:
        """The author or a moderator deletes; several messages at once are one event."""
        self.happenings.delete(*(self._current(message) for message in messages))

    @on_loop
    def reacts(self, person: Person, message: Message | str, emoji: str, *, burst: bool = False) -> None:
        """`emoji` is the character, with any skin tone, or a custom `name:id`. `burst` makes it a super reaction."""
        self.happenings.react(self._current(message), person, emoji, burst)

    @on_loop
    def unreacts(self, person: Person, message: Message | str, emoji: str) -> None:
        """The person, or a moderator for them, takes the emoji off."""
        self.happenings.unreact(self._current(message), person, emoji)

    @on_loop
    def clears_reactions(self, message: Message | str, emoji: str = "") -> None:
        """A moderator removes all reactions, or all of one emoji."""
        self.happenings.clear_reactions(self._current(message), emoji)

    @on_loop
    def suppresses_embeds(self, message: Message | str) -> Message:
        """A moderator hides the previews of a message."""
        current = self._current(message)
        return self.happenings.edit(replace(current, flags=current.flags | MessageFlag.SUPPRESS_EMBEDS))
