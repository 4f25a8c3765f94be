"""What people and other bots do in a workspace, as methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tests.doubles.slack import events, interactive
from tests.doubles.slack.core import ResponseUrl, Slack
from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.errors import CannotDo, SlackError
from tests.doubles.slack.render import message_json, rich_text, view_json
from tests.doubles.slack.state import Channel, Ephemeral, HostedFile, Json, Message, User, View
from tests.doubles.slack.workspace import Workspace


@dataclass(frozen=True)
class Enclosed:
    """A file that goes with a message."""

    name: str
    content: bytes
    mimetype: str = "text/plain"


class Person:
    """Somebody at a Slack client. Every act changes the workspace first and then tells the app, as Slack does."""

    def __init__(self, slack: Slack, workspace: Workspace, user: User) -> None:
        self._slack = slack
        self.workspace = workspace
        self.user = user

    @property
    def id(self) -> str:
        """The user id."""
        return self.user.id

    @property
    def dm(self) -> str:
        """The id of the direct conversation with the bot."""
        return self.workspace.im(self.id).id

    # Messages --------------------------------------------------------------------------------------------------

    def says(
        self,
        channel: str,
        text: str,
        *,
        thread_ts: str = "",
        files: Sequence[Enclosed] = (),
        mention: bool = True,
        broadcast: bool = False,
    ) -> Message:
        """Post a message. In a channel it mentions the bot unless told otherwise, which makes two events of it.

        `broadcast` is "also send to channel" of a reply in a thread.
        """
        place = self._place(channel)
        tag = f"<@{self.workspace.bot.id}>"
        if mention and place.kind != "im" and tag not in text:
            text = f"{tag} {text}"
        message = self._new_message(place, text, thread_ts)
        message.client_msg_id = self._slack.stamps.id("client-msg-")
        message.blocks = rich_text(text, self._slack.stamps.id("b")) if text else []
        message.files = [self._hosted(enclosed, message) for enclosed in files]
        message.subtype = "file_share" if files else "thread_broadcast" if broadcast else ""
        self.workspace.keep(message)
        self._slack.emit(self.workspace, events.posted(self.workspace, place, message, self._slack.base_url), place)
        if tag in text and place.kind != "im":
            self._mention(place, message)
        return message

    def edits(self, message: Message, text: str, *, mentions_again: bool = False) -> Delivery | None:
        """Change the text of one's own message. `mentions_again`: Slack sends an `app_mention` for it once more."""
        if message.user != self.id:
            raise CannotDo(f"{self.user.name} cannot edit a message of {message.user}")
        place, before, ts = self._place(message.channel), self._json(message), self._slack.stamps.ts()
        message.edits.append(message.text)
        message.text = text
        message.blocks = rich_text(text, self._slack.stamps.id("b"))
        message.edited = {"user": self.id, "ts": ts.partition(".")[0] + ".000000"}
        event = events.changed(self.workspace, place, message, before, ts, self._slack.base_url)
        delivery = self._slack.emit(self.workspace, event, place)
        if mentions_again:
            self._mention(place, message)
        return delivery

    def deletes(self, message: Message) -> Delivery | None:
        """Delete a message. The root of a thread leaves a tombstone behind, which is a change, not a deletion."""
        if message.user != self.id and not self.user.admin:
            raise CannotDo(f"{self.user.name} cannot delete a message of {message.user}")
        place, before, ts = self._place(message.channel), self._json(message), self._slack.stamps.ts()
        if self.workspace.replies(message.channel, message.ts):
            message.edits.append(message.text)
            message.subtype, message.user, message.text = "tombstone", "USLACKBOT", "This message was deleted."
            message.blocks, message.files, message.bot_id = [], [], ""
            event = events.changed(self.workspace, place, message, before, ts, self._slack.base_url)
        else:
            self.workspace.drop(message)
            event = events.deleted(place, before, ts)
        return self._slack.emit(self.workspace, event, place)

    # Reactions -------------------------------------------------------------------------------------------------

    def reacts(self, message: Message, name: str) -> Delivery | None:
        """Add a reaction, by its Slack name: `+1`, `+1::skin-tone-3`, `partyparrot`."""
        users = message.reactions.setdefault(name, [])
        if self.id in users:
            raise CannotDo(f"{self.user.name} reacted with {name} already: a second click takes it away")
        users.append(self.id)
        return self._reaction(message, name, added=True)

    def unreacts(self, message: Message, name: str) -> Delivery | None:
        """Take a reaction back."""
        if self.id not in message.reactions.get(name, []):
            raise CannotDo(f"{self.user.name} did not react with {name}; there is {message.reactions}")
        message.reactions[name].remove(self.id)
        if not message.reactions[name]:
            del message.reactions[name]
        return self._reaction(message, name, added=False)

    # Clicks and modals -----------------------------------------------------------------------------------------

    def clicks(self, target: Message | Ephemeral | View, action_id: str, value: str | None = None) -> Delivery:
        """Use a button, a menu or checkboxes. `value` picks one of several buttons, or the option."""
        blocks = target.body.get("blocks", []) if isinstance(target, View) else target.blocks
        if isinstance(target, Ephemeral) and (target.gone or target.user != self.id):
            raise CannotDo(f"{self.user.name} does not see this ephemeral message")
        action = interactive.clicked(blocks, action_id, value, self._slack.stamps.ts())
        trigger = self._slack.new_trigger(self.workspace, self.id)
        payload = interactive.block_actions(self.workspace, self.user, target, action, trigger, self._slack.base_url)
        if not isinstance(target, View):
            payload["response_url"] = self._response_url(target.channel, target.thread_ts, target)
        return self._slack.interact(self.workspace, "interactive", payload)

    def rates(self, message: Message, *, good: bool) -> Delivery:
        """Press a thumb of the `feedback_buttons` under a message."""
        for block in message.blocks:
            for element in interactive.interactive_elements(block):
                if element["type"] == "feedback_buttons":
                    button = element["positive_button" if good else "negative_button"]
                    return self.clicks(message, element["action_id"], button["value"])
        raise CannotDo(f"no feedback_buttons under {message.text!r}; its blocks are {message.blocks}")

    def modal(self) -> View:
        """The modal in front of this person."""
        view = self.workspace.modal(self.id)
        if view is None:
            raise CannotDo(f"no modal is open for {self.user.name}")
        return view

    def submits(self, answers: Mapping[str, interactive.Answer], view: View | None = None) -> Delivery:
        """Fill in the modal in front (by action id or block id) and submit it.

        It closes when the app acknowledges without objection; errors, updates and pushes are applied to it.
        """
        front = view or self.modal()
        values = interactive.entered(front, answers)
        trigger = self._slack.new_trigger(self.workspace, self.id)
        payload = interactive.view_submission(self.workspace, self.user, front, values, trigger)
        return self._slack.interact(
            self.workspace, "interactive", payload, lambda answer: self._after_submission(front, answer)
        )

    def closes(self, view: View | None = None, *, all_of_them: bool = False) -> Delivery | None:
        """Cancel the modal in front. The app hears of it only if the view asked for it."""
        front = view or self.modal()
        for other in [v for v in self.workspace.views.values() if v.user == self.id and v.root_id == front.root_id]:
            if other is front or all_of_them:
                other.is_open = False
        if not front.body.get("notify_on_close"):
            return None
        payload = interactive.view_closed(self.workspace, self.user, front, cleared=all_of_them)
        return self._slack.interact(self.workspace, "interactive", payload)

    def opens_home(self, tab: Literal["home", "messages", "about"] = "home") -> Delivery | None:
        """Open the app's Home, or its Messages tab."""
        view = self.workspace.home(self.id)
        shown = view_json(self.workspace, view) if view is not None and tab == "home" else None
        event = events.home_opened(self.dm, self.id, tab, shown, self._slack.stamps.ts())
        return self._slack.emit(self.workspace, event)

    def uses_shortcut(self, message: Message, callback_id: str) -> Delivery:
        """Choose a message shortcut from the menu of any message."""
        trigger, ts = self._slack.new_trigger(self.workspace, self.id), self._slack.stamps.ts()
        payload = interactive.message_action(
            self.workspace, self.user, message, callback_id, trigger, ts, self._slack.base_url
        )
        payload["response_url"] = self._response_url(message.channel, message.thread_ts, None)
        return self._slack.interact(self.workspace, "interactive", payload)

    def commands(self, channel: str, command: str, text: str = "") -> Delivery:
        """Type a slash command. Slack delivers none that is typed in a thread."""
        place = self._place(channel)
        trigger = self._slack.new_trigger(self.workspace, self.id)
        url = self._response_url(place.id, "", None)
        payload = interactive.slash_command(self.workspace, self.user, place, command, text, trigger, url)
        return self._slack.interact(
            self.workspace, "slash_commands", payload, lambda answer: self._after_command(place, answer)
        )

    def stops(self, channel: str, thread_ts: str) -> Delivery | None:
        """Press the native stop button, which is there only while the agent's session is `processing`."""
        session = self.workspace.sessions.get((channel, thread_ts))
        if session is None or session.status != "processing":
            raise CannotDo(f"no stop button: the session in {channel} {thread_ts} is {session}")
        streams = [m for m in self.workspace.open_streams(channel) if m.thread_ts == thread_ts]
        for message in streams:
            if message.stream is not None:
                message.stream.state = "stopped_by_user"
        ts = self._slack.stamps.ts()
        event = events.session_stopped(channel, thread_ts, self.id, [m.ts for m in streams], ts)
        return self._slack.emit(self.workspace, event)

    # Coming and going ------------------------------------------------------------------------------------------

    def joins(self, channel: str, *, inviter: str = "") -> Delivery | None:
        """Join a channel, which also leaves a message there."""
        place = self.workspace.channel(channel)
        place.members.add(self.id)
        ts = self._slack.stamps.ts()
        note = events.channel_joined_message(self.workspace, place, self.user, ts)
        self.workspace.keep(Message(channel=place.id, ts=ts, user=self.id, text=note["text"], subtype="channel_join"))
        self._slack.emit(self.workspace, note, place)
        event = events.joined(self.workspace, place, self.id, self._slack.stamps.ts(), inviter=inviter)
        return self._slack.emit(self.workspace, event, place)

    def leaves(self, channel: str) -> Delivery | None:
        """Leave a channel."""
        place = self.workspace.channel(channel)
        place.members.discard(self.id)
        event = events.left(self.workspace, place, self.id, self._slack.stamps.ts())
        return self._slack.emit(self.workspace, event, place)

    # Inside ----------------------------------------------------------------------------------------------------

    def _place(self, channel: str) -> Channel:
        place = self.workspace.channel(channel)
        place.members.add(self.id)
        if place.archived:
            raise CannotDo(f"{channel} is archived: nobody can do anything there")
        return place

    def _new_message(self, place: Channel, text: str, thread_ts: str) -> Message:
        return Message(channel=place.id, ts=self._slack.stamps.ts(), user=self.id, text=text, thread_ts=thread_ts)

    def _hosted(self, enclosed: Enclosed, message: Message) -> HostedFile:
        file = HostedFile(
            id=self._slack.stamps.id("F"),
            name=enclosed.name,
            content=enclosed.content,
            mimetype=enclosed.mimetype,
            user=self.id,
            created=int(float(message.ts)),
            channel=message.channel,
            message_ts=message.ts,
        )
        self.workspace.files[file.id] = file
        return file

    def _mention(self, place: Channel, message: Message) -> None:
        event = events.mentioned(self.workspace, place, message, self._slack.base_url)
        self._slack.emit(self.workspace, event, place)

    def _json(self, message: Message) -> Json:
        return message_json(self.workspace, message, self._slack.base_url)

    def _reaction(self, message: Message, name: str, *, added: bool) -> Delivery | None:
        event = events.reaction(message, self.id, name, self._slack.stamps.ts(), added=added)
        return self._slack.emit(self.workspace, event, self.workspace.channel(message.channel))

    def _response_url(self, channel: str, thread_ts: str, origin: Message | Ephemeral | None) -> str:
        return self._slack.new_response_url(ResponseUrl(self.workspace, channel, self.id, thread_ts, origin))

    def _after_submission(self, view: View, answer: Json) -> None:
        action = answer.get("response_action")
        view.errors = {}
        if action == "errors":
            view.errors = dict(answer["errors"])
            unknown = view.errors.keys() - {block.get("block_id") for block in view.body["blocks"]}
            if unknown:
                self._slack.complaints.append(f"errors for blocks that the modal does not have: {sorted(unknown)}")
        elif action in ("update", "push"):
            self._show_next(view, answer["view"], on_top=action == "push")
        elif action == "clear":
            for other in self.workspace.views.values():
                other.is_open = other.is_open and other.user != self.id
        else:
            view.is_open = False

    def _show_next(self, view: View, body: Json, *, on_top: bool) -> None:
        try:
            accepted = self._slack.accept_view(body)
        except SlackError as exc:
            self._slack.complaints.append(f"unusable view in the answer to a submission: {exc.body}")
            return
        if not on_top:
            view.body, view.hash = accepted, self._slack.stamps.ts()
            return
        number = self._slack.stamps.id("V")
        self.workspace.views[number] = View(
            id=number,
            user=self.id,
            type="modal",
            hash=self._slack.stamps.ts(),
            body=accepted,
            root_id=view.root_id,
            previous_id=view.id,
        )

    def _after_command(self, place: Channel, answer: Json) -> None:
        if not answer.get("text") and not answer.get("blocks"):
            return
        ts, text, blocks = self._slack.stamps.ts(), answer.get("text", ""), answer.get("blocks", [])
        if answer.get("response_type") == "in_channel":
            bot = self.workspace.bot
            self.workspace.keep(
                Message(channel=place.id, ts=ts, user=bot.id, bot_id=bot.bot_id, text=text, blocks=blocks)
            )
        else:
            self.workspace.ephemerals.append(Ephemeral(channel=place.id, user=self.id, ts=ts, text=text, blocks=blocks))


class OtherBot:
    """Another app's bot that talks in the same channels."""

    def __init__(self, slack: Slack, workspace: Workspace, user: User) -> None:
        self._slack = slack
        self.workspace = workspace
        self.user = user

    def says(
        self, channel: str, text: str, *, thread_ts: str = "", mention: bool = True, classic: bool = False
    ) -> Message:
        """Post as a bot. `classic` is the old form: subtype `bot_message` and no user."""
        place = self.workspace.channel(channel)
        place.members.add(self.user.id)
        tag = f"<@{self.workspace.bot.id}>"
        if mention and tag not in text:
            text = f"{tag} {text}"
        message = Message(
            channel=place.id,
            ts=self._slack.stamps.ts(),
            user=self.user.id,
            text=text,
            thread_ts=thread_ts,
            bot_id=self.user.bot_id,
            subtype="bot_message" if classic else "",
        )
        self.workspace.keep(message)
        base = self._slack.base_url
        self._slack.emit(self.workspace, events.posted(self.workspace, place, message, base), place)
        if tag in text and place.kind != "im":
            self._slack.emit(self.workspace, events.mentioned(self.workspace, place, message, base), place)
        return message
