"""REST: the ways to answer an interaction, at once and later."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from tests.doubles.discord import payloads
from tests.doubles.discord.component_limits import check_modal
from tests.doubles.discord.errors import Problems, error
from tests.doubles.discord.forms import Forms, numbered
from tests.doubles.discord.happenings import Happenings
from tests.doubles.discord.interaction import Callback, Interaction, InteractionKind
from tests.doubles.discord.model import Intent, Json, Message, MessageFlag
from tests.doubles.discord.routing import Handler, Incoming

CHAT_INPUT_ANSWER, REPLY, MENU_ANSWER = 20, 19, 23
"""Message types of answers, by what was used."""


class InteractionRoutes:
    """These need no permissions and no token of the bot: the interaction's own token is the right to answer."""

    def __init__(self, happenings: Happenings, forms: Forms) -> None:
        self._state = happenings.state
        self._happenings = happenings
        self._forms = forms
        self._callbacks: Mapping[Callback, Callable[[Interaction, Incoming], None]] = {
            Callback.MESSAGE: self._answer,
            Callback.DEFERRED_MESSAGE: self._defer,
            Callback.DEFERRED_UPDATE: self._defer_update,
            Callback.UPDATE_MESSAGE: self._update,
            Callback.AUTOCOMPLETE: lambda *_: None,
            Callback.MODAL: self._open_modal,
        }

    def table(self) -> Mapping[str, Handler]:
        """Patterns and their handlers."""
        return {
            "POST /interactions/*/*/callback": self.callback,
            "POST /webhooks/*/*": self.follow_up,
            "GET /webhooks/*/*/messages/*": self.read,
            "PATCH /webhooks/*/*/messages/*": self.edit,
            "DELETE /webhooks/*/*/messages/*": self.delete,
        }

    # at once

    def callback(self, call: Incoming) -> Json | None:
        """The first answer. Raises 10062 for an interaction that is not there or too old, 40060 for a second answer."""
        found = self._state.interactions.get(call.params[1])
        if found is None or found.id != call.params[0] or found.expired:
            raise error(10062)
        if found.answer is not None:
            raise error(40060)
        kind = self._kind(found, call.form)
        self._callbacks[kind](found, call)
        found.answer = kind
        return self._told(found) if call.query.get("with_response") in ("1", "true") else None

    def _kind(self, interaction: Interaction, form: Json) -> Callback:
        problems = Problems()
        kind = form.get("type")
        needs_source = kind in (Callback.DEFERRED_UPDATE, Callback.UPDATE_MESSAGE)
        form_after_form = kind == Callback.MODAL and interaction.kind is InteractionKind.MODAL
        if kind not in self._callbacks or (needs_source and not interaction.source_id) or form_after_form:
            problems.add("type", "BASE_TYPE_CHOICES", "This answer is not possible here")
        problems.tell()
        return Callback(int(form["type"]))

    def _answer(self, interaction: Interaction, call: Incoming) -> None:
        message = self._reply(interaction, call.form.get("data") or {}, call)
        interaction.original_id = self._happenings.post(message).id

    def _reply(self, interaction: Interaction, form: Json, call: Incoming) -> Message:
        """A new message of this interaction, private if the form asks for it."""
        message = self._forms.new(interaction.channel, form, call.files)
        source = self._state.find(interaction.source_id)
        if interaction.kind is InteractionKind.COMMAND:
            kind = MENU_ANSWER if "target_id" in interaction.data else CHAT_INPUT_ANSWER
        else:
            kind = REPLY if source and not source.ephemeral_to else 0
        return replace(
            message,
            type=kind,
            reply_to=interaction.source_id if kind == REPLY else "",
            interaction_id=interaction.id,
            ephemeral_to=interaction.person.id if MessageFlag.EPHEMERAL in message.flags else "",
        )

    def _defer(self, interaction: Interaction, call: Incoming) -> None:
        asked = MessageFlag(int((call.form.get("data") or {}).get("flags") or 0))
        private = MessageFlag.EPHEMERAL in asked
        composed = self._happenings.compose(interaction.channel, self._state.bot, "")
        waiting = replace(
            composed,
            type=CHAT_INPUT_ANSWER if interaction.kind is InteractionKind.COMMAND else 0,
            flags=MessageFlag.LOADING | (MessageFlag.EPHEMERAL if private else MessageFlag.NONE),
            interaction_id=interaction.id,
            ephemeral_to=interaction.person.id if private else "",
        )
        interaction.original_id = self._happenings.post(waiting).id

    def _defer_update(self, interaction: Interaction, _: Incoming) -> None:
        interaction.original_id = interaction.source_id

    def _update(self, interaction: Interaction, call: Incoming) -> None:
        source = self._state.message(interaction.source_id)
        self._happenings.edit(self._forms.changed(source, call.form.get("data") or {}, call.files))
        interaction.original_id = source.id

    def _open_modal(self, interaction: Interaction, call: Incoming) -> None:
        form = call.form.get("data") or {}
        check_modal(form)
        interaction.modal = {**form, "components": list(numbered(form["components"]))}

    def _told(self, interaction: Interaction) -> Json:
        body: Json = {"id": interaction.id, "type": int(interaction.kind)}
        told: Json = {"interaction": body}
        if original := interaction.original:
            body["response_message_id"] = original.id
            body["response_message_loading"] = original.is_loading
            body["response_message_ephemeral"] = bool(original.ephemeral_to)
            if interaction.answer in (Callback.MESSAGE, Callback.UPDATE_MESSAGE):
                told["resource"] = {"type": int(interaction.answer), "message": self._seen(original)}
        return told

    # later

    def follow_up(self, call: Incoming) -> Json:
        """A further message. The first one after a deferred answer takes that answer's place and privacy."""
        interaction = self._answered(call)
        original = interaction.original
        if original and original.is_loading:
            # Whatever privacy it asks for, it gets the one it was deferred with.
            form = {**call.form, "flags": int(call.form.get("flags") or 0) & ~MessageFlag.EPHEMERAL}
            return self._seen(self._happenings.edit(self._forms.changed(original, form, call.files)))
        message = self._happenings.post(self._reply(interaction, call.form, call))
        interaction.followup_ids.append(message.id)
        return self._seen(message)

    def read(self, call: Incoming) -> Json:
        """The answer or a further message."""
        return self._seen(self._message(call))

    def edit(self, call: Incoming) -> Json:
        """A deferred answer stops loading with its first edit."""
        message = self._message(call)
        return self._seen(self._happenings.edit(self._forms.changed(message, call.form, call.files)))

    def delete(self, call: Incoming) -> None:
        """The answer or a further message goes."""
        self._happenings.delete(self._message(call))

    def _answered(self, call: Incoming) -> Interaction:
        """Raises 10015 before the first answer or for a foreign app, 50027 once the token is too old."""
        found = self._state.interactions.get(call.params[1])
        if call.params[0] != self._state.application_id or found is None or found.answer is None:
            raise error(10015)
        if found.expired:
            raise error(50027)
        return found

    def _message(self, call: Incoming) -> Message:
        interaction = self._answered(call)
        named = call.params[2]
        message_id = interaction.original_id if named == "@original" else named
        if message_id not in (interaction.original_id, *interaction.followup_ids) or not message_id:
            raise error(10008)
        return self._state.message(message_id)

    def _seen(self, message: Message) -> Json:
        """The app always sees its own words."""
        return payloads.message(self._state, message, Intent.MESSAGE_CONTENT)
