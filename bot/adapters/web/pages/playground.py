"""The page of the playground: a chat with the bot as a test person."""

import json
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from anyio import from_thread
from starlette.responses import Response, StreamingResponse

from bot.adapters import forms
from bot.adapters.command_words import COMMANDS
from bot.adapters.web.numbers import whole_number
from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.page import AdminPage, PageRoute, Redirect, Visit
from bot.adapters.web.pages.rendering import marked, templates
from bot.adapters.web.playground.channel_messages import ChannelMessages
from bot.adapters.web.playground.intake import MAX_CHARACTERS, Intake
from bot.adapters.web.playground.messenger import PlaygroundMessenger
from bot.adapters.web.playground.persona import CHANNELS, DIRECT, PEOPLE, ROLES, WORKSPACE, Persona
from memory.errors import NotFound
from memory.model import Role

QUICK = ("👍", "👎")
"""Emoji with a button; any other can be typed."""
_LIVE = "live"
"""A form field that the page's script sets if it needs no redirect."""

Act = Callable[[Intake, Mapping[str, str]], Coroutine[Any, Any, None]]
"""An action of a test person by the fields of a form."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A visit to the playground as a persona."""

    visit: Visit
    messenger: PlaygroundMessenger
    persona: Persona

    @property
    def messages(self) -> ChannelMessages:
        """The messages of the test channels."""
        return self.messenger.messages

    @property
    def fields(self) -> dict[str, str]:
        """The persona as query and form fields."""
        return {"person": self.persona.person, "channel": self.persona.channel, "role": self.persona.role.value}

    def values(self) -> dict[str, Any]:
        """The values for the message templates."""
        visit = self.visit
        return {
            "url": visit.url,
            "token": visit.login.token,
            "persona": self.persona,
            "fields": self.fields,
            "quick": QUICK,
            "marked": marked,
            "reasons": forms.REASONS,
            "opens_a_form": forms.OPENS_A_FORM,
        }


def show(visit: Visit) -> Response:
    """Show the channel as the test person sees it."""
    if visit.workspace != WORKSPACE and visit.account.role_in(WORKSPACE) is not None:
        return Redirect(f"/w/{WORKSPACE}/{PAGE.name}", visit.login)
    place = _place(visit, visit.query)
    news = from_thread.run_sync(place.messages.seen, place.persona.channel_id, place.persona.person)
    return visit.render(
        "playground.html",
        messages=news.messages,
        progress=news.progress or "",
        after=_after(place, news.number),
        channels=(*CHANNELS, DIRECT),
        people=PEOPLE,
        roles=ROLES,
        commands=COMMANDS,
        most=MAX_CHARACTERS,
        **{name: value for name, value in place.values().items() if name not in ("url", "token")},
    )


def events(visit: Visit) -> Response:
    """Stream changes while the page is open, as server-sent events."""
    place = _place(visit, visit.query)
    return StreamingResponse(_stream(place, visit.query.get("after", "")), media_type="text/event-stream")


async def _stream(place: _Place, after: str) -> AsyncIterator[str]:
    """Yield events for messages and progress, and comments while nothing changes."""
    process, _, text = after.rpartition("-")
    number = whole_number(text)
    if process != place.messages.name or number is None:
        yield _event("restart", {}, after)
        return
    card = templates().get_template("playground_message.html")
    values = place.values()
    async for news in place.messages.follow(place.persona.channel_id, place.persona.person, number):
        at = _after(place, news.number)
        for message in news.messages:
            content = {"id": message.id, "beside": message.beside, "html": card.render(message=message, **values)}
            yield _event("message", content | {"is_growing": message.is_growing}, at)
        if news.progress is not None:
            yield _event("progress", {"text": news.progress}, at)
        if not news.messages and news.progress is None:
            yield ":\n\n"


def _event(kind: str, content: dict[str, object], after: str) -> str:
    # JSON has no line breaks, so that no text can forge a line of the stream.
    data = json.dumps(content | {"after": after})
    return f"event: {kind}\ndata: {data}\n\n"


def _after(place: _Place, number: int) -> str:
    return f"{place.messages.name}-{number}"


def file(visit: Visit) -> Response:
    """Download a file that the bot sent to the test person."""
    place = _place(visit, visit.query)
    message = from_thread.run_sync(place.messages.find, place.persona.channel_id, visit.path["message"])
    if message is None or message.file is None or message.private_to != place.persona.person:
        raise NotFound("this file is not kept any more")
    name = re.sub(r"[^\w.-]", "_", message.file.name, flags=re.ASCII)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(message.file.content, media_type=message.file.media_type, headers=headers)


def _doing(act: Act) -> Callable[[Visit], Response]:
    """The handler for an action of a test person."""

    def handler(visit: Visit) -> Response:
        place = _place(visit, visit.form)
        from_thread.run(act, Intake(place.messenger, place.persona), visit.form)
        if _LIVE in visit.form:
            return Response(status_code=204)
        return Redirect(visit.url(PAGE.name, **place.fields), visit.login)

    return handler


def _place(visit: Visit, fields: Mapping[str, str]) -> _Place:
    """The persona in a query or form. Raises `NotFound` if there is no playground."""
    messenger = visit.parts.playground
    if messenger is None or visit.workspace != WORKSPACE:
        raise NotFound("there is no playground here")
    role = fields.get("role", "") or Role.MEMBER.value
    persona = Persona(
        person=fields.get("person", "") or PEOPLE[0],
        channel=fields.get("channel", "") or next(iter(CHANNELS)),
        role=Role(role) if role in {each.value for each in ROLES} else Role.MEMBER,
    )
    return _Place(visit, messenger, persona)


def _number(text: str) -> int:
    """The index of a button; -1, which is none, for any other text."""
    number = whole_number(text)
    return -1 if number is None else number


_ACTS: dict[str, Act] = {
    "write": lambda intake, form: intake.write(form.get("text", "")),
    "react": lambda intake, form: intake.react(
        form.get("message", ""), form.get("emoji", "").strip(), added=form.get("added", "yes") == "yes"
    ),
    "choose": lambda intake, form: intake.choose(
        form.get("message", ""), _number(form.get("number", "")), form.get("text", "")
    ),
    "correct": lambda intake, form: intake.correct(
        form.get("message", ""), form.get("text", ""), form.get("reason", "")
    ),
    "why": lambda intake, form: intake.why(form.get("message", "")),
}

PAGE = AdminPage(
    name="playground",
    title="Playground",
    needs=WebRole.TEACHER,
    home=WORKSPACE,
    routes=(
        PageRoute(path="playground", handler=show),
        PageRoute(path="playground/events", handler=events),
        PageRoute(path="playground/file/{message}", handler=file),
        *(PageRoute(path=f"playground/{name}", handler=_doing(act), method="POST") for name, act in _ACTS.items()),
    ),
)
