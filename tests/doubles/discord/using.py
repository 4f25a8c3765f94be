"""What people do with buttons, menus, forms and commands."""

from collections.abc import Mapping
from typing import Any

from tests.doubles.discord import payloads
from tests.doubles.discord.backstage import Backstage
from tests.doubles.discord.component_limits import BUTTON, SELECTS, walk
from tests.doubles.discord.filled_form import filled
from tests.doubles.discord.gateway import Event
from tests.doubles.discord.interaction import Interaction, InteractionKind
from tests.doubles.discord.model import Channel, ChannelKind, Intent, Json, Message, Person
from tests.doubles.discord.place_routes import CHAT_INPUT, MESSAGE_MENU
from tests.doubles.discord.slash import spoken
from tests.doubles.discord.stage import on_loop

_IN_GUILD, _IN_BOT_DM, _IN_PRIVATE = 0, 1, 2
_GUILD_INSTALL, _USER_INSTALL = "0", "1"


class Using(Backstage):
    """Each method returns a handle from which the app's answer can be read once it has come."""

    @on_loop
    def clicks(self, person: Person, message: Message | str, button: str) -> Interaction:
        """`button` is the custom id, the label, or the emoji of a button that stands on the message."""
        current = self._readable(person, message)
        found = self._component(current, button, BUTTON)
        data = {"component_type": BUTTON, "custom_id": found["custom_id"], "id": found["id"]}
        channel = self._where(current.channel_id)
        return self._begin(InteractionKind.COMPONENT, person, channel, data, source=current)

    @on_loop
    def selects(self, person: Person, message: Message | str, menu: str, *values: str) -> Interaction:
        """`menu` is the custom id or the placeholder of a select menu."""
        current = self._readable(person, message)
        found = self._component(current, menu, *SELECTS)
        offered = [option["value"] for option in found.get("options") or ()]
        assert set(values) <= set(offered) or not offered, f"the menu offers {offered}, not {values}"
        data = {
            "component_type": found["type"],
            "custom_id": found["custom_id"],
            "id": found["id"],
            "values": list(values),
        }
        channel = self._where(current.channel_id)
        return self._begin(InteractionKind.COMPONENT, person, channel, data, source=current)

    @on_loop
    def submits(self, opened: Interaction, answers: Mapping[str, str | bool | list[str]]) -> Interaction:
        """Fill in the form that an interaction opened and send it.

        Keys are custom ids or labels. Values: text, the value or label of a choice, a list of them for several, True
        or False for a checkbox. What is not named keeps its default. A form that Discord would not send fails here.
        """
        assert opened.modal, "that interaction opened no form"
        data: Json = {"custom_id": opened.modal["custom_id"], "components": filled(opened.modal, answers)}
        source = self.state.find(opened.source_id)
        return self._begin(InteractionKind.MODAL, opened.person, opened.channel, data, source=source)

    @on_loop
    def slash(
        self, person: Person, channel: Channel | str, command: str, options: Mapping[str, Any] | None = None
    ) -> Interaction:
        """Use a slash command by its full name (`goodbot memory`), as the app last synced it."""
        where = self._where(channel)
        root, _, rest = command.partition(" ")
        found = self._command(where, root, CHAT_INPUT)
        data = {
            "id": found["id"],
            "name": root,
            "type": CHAT_INPUT,
            **spoken(self.state, where.guild_id, found, rest.split(), options or {}),
        }
        return self._begin(InteractionKind.COMMAND, person, where, data)

    @on_loop
    def uses_menu(self, person: Person, message: Message | str, command: str) -> Interaction:
        """Choose a command from the context menu of a message. Its text is always shown to the app."""
        current = self._readable(person, message)
        where = self._where(current.channel_id)
        found = self._command(where, command, MESSAGE_MENU)
        data = {
            "id": found["id"],
            "name": command,
            "type": MESSAGE_MENU,
            "target_id": current.id,
            "resolved": {"messages": {current.id: payloads.message(self.state, current, Intent.MESSAGE_CONTENT)}},
        }
        return self._begin(InteractionKind.COMMAND, person, where, data)

    @on_loop
    def expires(self, interaction: Interaction) -> None:
        """Its time is over: three seconds without an answer, or fifteen minutes."""
        interaction.expired = True

    def _readable(self, person: Person, message: Message | str) -> Message:
        current = self._current(message)
        assert current.ephemeral_to in ("", person.id), f"{person.name} cannot see that message"
        return current

    @staticmethod
    def _component(message: Message, named: str, *kinds: int) -> Json:
        """A usable component by custom id, label, placeholder or emoji."""
        there: list[Json] = [one for _, one in walk(message.components) if one["type"] in kinds]
        for one in there:
            emoji = (one.get("emoji") or {}).get("name")
            if named in (one.get("custom_id"), one.get("label"), one.get("placeholder"), emoji):
                assert not one.get("disabled"), f"{named!r} is disabled"
                assert one.get("custom_id"), f"{named!r} is a link"
                return one
        names = [one.get("label") or one.get("custom_id") for one in there]
        raise AssertionError(f"no {named!r} on the message, only {names}")

    def _command(self, channel: Channel, name: str, kind: int) -> Json:
        synced = [*self.state.commands.get(channel.guild_id, ()), *self.state.commands.get("", ())]
        found: Json | None = next((one for one in synced if (one["name"], one["type"]) == (name, kind)), None)
        assert found, f"the app synced no command {name!r} of type {kind}, only {[one['name'] for one in synced]}"
        return found

    # the event

    def _begin(
        self, kind: InteractionKind, person: Person, channel: Channel, data: Json, source: Message | None = None
    ) -> Interaction:
        interaction = Interaction(
            state=self.state,
            id=self.state.new_id(),
            token=f"token-{self.state.new_id()}",
            kind=kind,
            person=person,
            channel=channel,
            data=data,
            at=self.state.clock(),
            source_id=source.id if source else "",
        )
        self.state.interactions[interaction.token] = interaction
        body = self._body(interaction, source)
        # Interactions are heard whatever the intents, and their content is never hidden.
        self.gateway.emit(Event(name="INTERACTION_CREATE", render=lambda _: body, guild_id=channel.guild_id))
        return interaction

    def _body(self, interaction: Interaction, source: Message | None) -> Json:
        person, channel = interaction.person, interaction.channel
        may = self.state.permissions(person.id, channel)
        bot_may = self.state.permissions(self.bot.id, channel)
        body: Json = {
            "id": interaction.id,
            "application_id": self.state.application_id,
            "type": int(interaction.kind),
            "token": interaction.token,
            "version": 1,
            "data": interaction.data,
            "channel_id": channel.id,
            "channel": {**payloads.channel(self.state, channel), "permissions": str(int(may))},
            "app_permissions": str(int(bot_may)),
            "locale": "en-US",
            "entitlements": [],
            "attachment_size_limit": payloads.ATTACHMENT_LIMIT_BYTES,
            **self._installed(interaction),
        }
        if source:
            body["message"] = payloads.message(self.state, source, Intent.MESSAGE_CONTENT)
        member = self.state.members.get((channel.guild_id, person.id))
        if member:
            body["member"] = {**payloads.member(self.state, member), "permissions": str(int(may))}
            body["guild_id"], body["guild_locale"] = channel.guild_id, "en-US"
            body["guild"] = {"id": channel.guild_id, "locale": "en-US", "features": []}
        else:
            body["user"] = payloads.user(person)
        return body

    def _installed(self, interaction: Interaction) -> Json:
        """Where it was used, and by whose installation the app is there."""
        channel = interaction.channel
        if channel.kind is ChannelKind.DM:
            with_bot = self.bot.id in channel.recipients
            return {
                "context": _IN_BOT_DM if with_bot else _IN_PRIVATE,
                "authorizing_integration_owners": (
                    {_GUILD_INSTALL: "0"} if with_bot else {_USER_INSTALL: interaction.person.id}
                ),
            }
        by_guild = self.state.guilds[channel.guild_id].has_bot
        owner = {_GUILD_INSTALL: channel.guild_id} if by_guild else {_USER_INSTALL: interaction.person.id}
        return {"context": _IN_GUILD, "authorizing_integration_owners": owner}
