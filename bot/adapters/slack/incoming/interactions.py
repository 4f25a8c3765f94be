"""Handles interactions: buttons, modals, shortcuts and the slash command."""

import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from bot.adapters import forms
from bot.adapters.command_words import ParsedCommand, slash_command
from bot.adapters.private_reply import replying_to
from bot.adapters.slack.events import Json, Location, as_command, message_id_of, plain_text, time_of, without_mention
from bot.adapters.slack.incoming.acknowledgement import Ack, TimelyAcknowledgement
from bot.adapters.slack.incoming.context import HandlerContext
from bot.adapters.slack.outgoing import blocks
from bot.adapters.slack.outgoing.blocks import AnswerReference, pressed_command
from bot.adapters.slack.outgoing.posting import ask_privately, tell_privately
from bot.adapters.slack.outgoing.response_url import ResponseUrl
from bot.adapters.slack.web import NO_WAIT_S
from bot.errors import MessengerError
from bot.model import PersonRetry, PersonVote
from memory.model import Audience
from memory.model.saved_messages import FilledFrom

log = logging.getLogger(__name__)

_ASKED = "Noted. What would have been right?"
_NOT_ADMITTED = "I may not be used here, or not by you. Ask whoever installed me."
_NOT_OPENED = "Slack was too slow to open the form. Please try again."


class Interactions:
    """Turns interactions into events for the sink."""

    def __init__(self, context: HandlerContext, in_time: TimelyAcknowledgement) -> None:
        self._context = context
        self._in_time = in_time
        self._responder = ResponseUrl(context.web)

    async def take(self, ack: Ack, body: Json, act: Callable[[Json], Coroutine[Any, Any, None]]) -> None:
        """Handle an interaction and acknowledge it in time. Nothing is done for people who may not use the bot here."""
        if await self._context.roles.admits(_location(body)):
            await self._in_time(ack, act(body))
        elif "command" in body:
            await ack(_NOT_ADMITTED)  # Otherwise the command would vanish without a word.
        else:
            await ack()

    # Thumbs and corrections ---------------------------------------------------------------------------------------

    async def vote(self, body: Json) -> None:
        """A thumb under an answer. The vote is stored first; after 👎 a modal or a message asks for a correction."""
        context, action = self._context, body["actions"][0]
        location, answer = _location(body), _answer(body)
        await context.sink(
            PersonVote(
                event_id=f"vote/{answer.channel}/{answer.ts}/{location.user}/{action['action_ts']}",
                scope=await context.channels.scope(location),
                message_id=answer.ts,
                value=1 if action["value"] == blocks.VOTE_UP else -1,
                at=time_of(str(action["action_ts"])),
                role=await context.roles.of(location),
            )
        )
        if action["value"] == blocks.VOTE_DOWN and not await self._open(body, blocks.correction_view(answer)):
            try:
                await ask_privately(context.web, location.user, _ASKED, answer)
            except MessengerError as error:
                log.warning("could not ask %s for a correction: %s", location.user, error)

    async def question_button(self, body: Json) -> None:
        """A button of the question that follows a 👎 reaction."""
        action = body["actions"][0]
        answer = AnswerReference.unpacked(action["value"])
        if action["action_id"] == blocks.TELL:
            if not await self._open(body, blocks.correction_view(answer)):
                return  # The question stays, so that its button can be pressed once more.
        elif action["action_id"] == blocks.RETRY:
            await self._retry(body, answer, str(action["action_ts"]))
        if url := body.get("response_url"):
            await self._responder.change(str(url), delete_original=True)

    async def correction(self, body: Json) -> None:
        """The correction modal was submitted."""
        context, view = self._context, body["view"]
        answer, location, fields = await self._submitted(body)
        if event := forms.correction_event(
            fields,
            event_id=f"correction/{view['id']}",
            scope=await context.channels.scope(location),
            at=context.clock(),
            role=await context.roles.of(location),
            message_id=answer.ts,
        ):
            await context.sink(event)
        if forms.AGAIN in fields:
            await self._retry(body, answer, str(view["id"]))
        elif event is None:
            try:
                await tell_privately(context.web, location.user, forms.NO_TEXT, answer)
            except MessengerError as error:
                log.warning("could not tell %s that no correction was saved: %s", location.user, error)

    async def _submitted(self, body: Json) -> tuple[AnswerReference, Location, dict[str, str]]:
        """What a modal is about, who used it there, and the entered fields, with names in place of mentions."""
        view, named = body["view"], self._context.mentions.in_text
        about = AnswerReference.unpacked(view["private_metadata"])
        fields = {name: await named(text, about.channel) for name, text in blocks.entered_values(view).items()}
        return about, _at(body, about), fields

    async def _retry(self, body: Json, answer: AnswerReference, occasion: str) -> None:
        context = self._context
        thread = answer.thread or await context.threads.of(answer.channel, answer.ts)
        location = _at(body, AnswerReference(channel=answer.channel, ts=answer.ts, thread=thread))
        context.threads.asked(location.channel, location.thread, answer.ts, location.user)
        await context.sink(
            PersonRetry(
                event_id=f"{occasion}/{message_id_of(answer.channel, answer.ts)}",
                scope=await context.channels.scope(location),
                message_id=answer.ts,
                at=context.clock(),
                role=await context.roles.of(location),
            )
        )

    # Commands -----------------------------------------------------------------------------------------------------

    async def choice(self, body: Json) -> None:
        """A command that the bot offered as a button. The reply replaces a message that the presser alone sees."""
        action, container = body["actions"][0], body["container"]
        thread = str(container.get("thread_ts") or "")
        location = replace(_location(body), thread=thread)
        typed = pressed_command(action)
        if typed.name == forms.OPENS_A_FORM:
            about = AnswerReference(channel=location.channel, ts=typed.argument, thread=thread)
            label = str(action.get("text", {}).get("text", ""))
            found = await forms.prefilled(self._waiting(location, typed.argument), ("", ""))
            if found and await self._open(body, blocks.answer_view(about, found[0] or label, found[1])):
                return
        is_private = bool(container.get("is_ephemeral")) or location.channel.startswith("D")
        is_replaced = is_private and not typed.keeps_message
        private_reply = self._responder.private_reply(str(body["response_url"]), replaces=is_replaced)
        with replying_to(location.user, private_reply):
            await self._context.command(
                typed,
                location,
                event_id=f"choice/{location.channel}/{container['message_ts']}/{location.user}/{action['action_ts']}",
                at=time_of(str(action["action_ts"])),
            )
        if typed.refuses_all:
            await self._open(body, blocks.correction_view(_answer(body)))

    async def _waiting(self, location: Location, named: str) -> tuple[str, str] | None:
        """The question that the form is for, and the text of its lesson; None if it does not wait any more."""
        context = self._context
        scope, role = await context.channels.scope(location), await context.roles.of(location)
        return await context.queries.form_for(scope, role, named)

    async def answer(self, body: Json) -> None:
        """The form for the answer to one question was submitted."""
        about, pressed, fields = await self._submitted(body)
        await self._context.command(
            forms.answer_command(fields, about.ts),
            replace(pressed, thread=about.thread),
            event_id=f"answer/{body['view']['id']}",
            at=self._context.clock(),
        )

    # Teaching and explaining --------------------------------------------------------------------------------------

    async def teach(self, body: Json) -> None:
        """The shortcut "Teach the bot..." on a message: in a thread the answer, else the question if it asks."""
        message = body["message"]
        thread = str(message.get("thread_ts") or "")
        channel, ts = _location(body).channel, str(message["ts"])
        question, asker = "", ""
        if thread and thread != ts:
            question, asker = await forms.prefilled(self._asked(channel, thread), ("", ""))
        answer_text, author = await self._plain(message, channel), self._author(message)
        if not (thread and thread != ts) and forms.is_question(answer_text):
            question, asker, answer_text, author = answer_text, author, "", ""
        place = AnswerReference(channel=channel, ts=ts, thread=thread, by=(asker, author))
        if not await self._open(body, blocks.teaching_view(place, question, answer_text)):
            await self._responder.change(
                str(body["response_url"]), response_type="ephemeral", replace_original=False, text=_NOT_OPENED
            )

    async def _asked(self, channel: str, thread: str) -> tuple[str, str]:
        """The first message of a thread, and its author."""
        root = await self._context.threads.root(channel, thread)
        return await self._plain(root, channel), self._author(root)

    def _author(self, message: Json) -> str:
        """Who wrote a message; empty for the bot itself."""
        author = str(message.get("user") or "")
        return "" if author == self._context.identity.user else author

    async def _plain(self, message: Json, channel: str) -> str:
        """The text of a message without the bot's mention, and with names in place of other mentions."""
        text = without_mention(str(message.get("text") or ""), self._context.identity.user)
        return plain_text(await self._context.mentions.labelled(text, channel))

    async def teaching(self, body: Json) -> None:
        """The teaching modal was submitted."""
        context = self._context
        about, location, fields = await self._submitted(body)
        (asker, author), texts = about.by, blocks.filled_in(body["view"])
        asked_in = (about.thread or about.ts) if texts.get(forms.QUESTION) else ""
        answered_in = about.ts if texts.get(forms.ANSWER) else ""
        is_wide = fields.get(forms.AUDIENCE) == Audience.WORKSPACE
        await context.sink(
            forms.teaching_event(
                fields,
                event_id=f"teaching/{body['view']['id']}",
                scope=await context.channels.scope(location),
                at=context.clock(),
                role=await context.roles.of(location, is_wide=is_wide),
                filled_from=[
                    FilledFrom(message_id=asked_in, person=asker, text=texts.get(forms.QUESTION, "")),
                    FilledFrom(message_id=answered_in, person=author, text=texts.get(forms.ANSWER, ""), is_answer=True),
                ],
            )
        )

    async def why(self, body: Json) -> None:
        """The shortcut "Why this answer?" on any message."""
        message, location = body["message"], _location(body)
        with replying_to(location.user, self._responder.private_reply(str(body["response_url"]))):
            await self._context.command(
                ParsedCommand("why"),
                location,
                event_id=f"why/{message_id_of(location.channel, str(message['ts']))}/{body['trigger_id']}",
                at=self._context.clock(),
                about=str(message["ts"]),
            )

    async def slash(self, body: Json) -> None:
        """The slash command with one of the bot's words."""
        location = Location(channel=str(body["channel_id"]), user=str(body["user_id"]))
        text = await self._context.mentions.labelled(str(body.get("text") or ""), location.channel)
        with replying_to(location.user, self._responder.private_reply(str(body["response_url"]))):
            await self._context.command(
                slash_command(as_command(text)),
                location,
                event_id=f"slash/{body['trigger_id']}",
                at=self._context.clock(),
            )

    async def _open(self, body: Json, view: blocks.Block) -> bool:
        """Open a modal. False if Slack was too slow for it; what the person did counts anyway."""
        web = self._context.web
        try:
            await web.call_once(
                web.client.views_open, about="a modal", max_wait_s=NO_WAIT_S, trigger_id=body["trigger_id"], view=view
            )
        except MessengerError as error:
            log.warning("could not open a modal: %s", error)
            return False
        return True


def _location(body: Json) -> Location:
    """Who acted where: on a message, with a shortcut, in a modal (whose payload has no channel) or by a command."""
    if "channel_id" in body:
        return Location(channel=str(body["channel_id"]), user=str(body["user_id"]))
    message, user = body.get("message") or {}, body["user"]
    channel = body.get("channel") or {}
    container = body.get("container") or {}
    ts = container.get("message_ts") or message.get("ts") or ""
    return Location(
        channel=str(channel.get("id") or container.get("channel_id") or _modal_channel(body)),
        user=str(user["id"]),
        thread=str(container.get("thread_ts") or message.get("thread_ts") or ts),
        team=str(user.get("team_id") or ""),
    )


def _modal_channel(body: Json) -> str:
    metadata = (body.get("view") or {}).get("private_metadata")
    return AnswerReference.unpacked(metadata).channel if metadata else "D"


def _at(body: Json, answer: AnswerReference) -> Location:
    """The person who used a modal, at the location of the answer that it is about."""
    user = body["user"]
    thread = answer.thread or answer.ts
    return Location(channel=answer.channel, user=str(user["id"]), thread=thread, team=str(user.get("team_id") or ""))


def _answer(body: Json) -> AnswerReference:
    """The answer that a button belongs to."""
    location = _location(body)
    return AnswerReference(channel=location.channel, ts=str(body["container"]["message_ts"]), thread=location.thread)
