"""The pages of topics: facts with their history, to change, archive and restore."""

from collections.abc import Callable
from urllib.parse import quote

from starlette.responses import Response

from bot.adapters.web.numbers import whole_number
from bot.adapters.web.pages.access import WebRole
from bot.adapters.web.pages.cookies import Notice
from bot.adapters.web.pages.page import AdminPage, PageRoute, Visit
from bot.agent.tools.topic_words import shown_value
from memory.errors import InvalidInput
from memory.model import Audience, Scope, Visibility
from memory.model.topic import Topic
from memory.rules.audience import is_personal, visibility_of
from memory.services.topics import FieldInput, Ingest, Placement

PAGE_ROWS = 25
_HERE = "pages"
"""The channel of topics that are created here for everybody."""
_NAME_CHARACTERS, _VALUE_CHARACTERS = 200, 2000


def show(visit: Visit) -> Response:
    """Show a part of the list, by title."""
    text, after = visit.query.get("text", "").strip(), whole_number(visit.query.get("after", "")) or 0
    known, total = visit.memory.facts.every(
        visit.workspace, public_only=visit.public_only, after=after, limit=PAGE_ROWS, text=text
    )
    return visit.render(
        "topics.html",
        topics=known,
        total=total,
        text=text,
        next=after + PAGE_ROWS if total > after + PAGE_ROWS else 0,
        may_decide=visit.role >= WebRole.TEACHER,
        may_change=lambda topic: not is_personal(topic.partition, topic.person),
        value=shown_value,
    )


def trail(visit: Visit) -> Response:
    """Show the events of a topic, oldest first."""
    topic_id = visit.path["topic_id"]
    topic, events = visit.memory.facts.history(visit.workspace, topic_id, public_only=visit.public_only)
    return visit.render("topic_trail.html", topic=topic, events=events)


def change(visit: Visit) -> Response:
    """Change a property's value; the old one stays in its history."""
    return _give(visit, _found(visit), _text(visit, "name", _NAME_CHARACTERS), _text(visit, "value", _VALUE_CHARACTERS))


def _give(visit: Visit, topic: Topic, name: str, value: str) -> Response:
    revision = visit.memory.new_id() if value != visit.form.get("before") else ""
    field_input = FieldInput(
        name=name,
        value=value,
        provenance="pages",
        why_changed=visit.form.get("why", "").strip() or None,
        revision_id=revision,
    )
    wanted = Ingest(placement=Placement.VERSION_FIELD, topic_id=_name(visit, topic), fields=[field_input])
    done = visit.memory.world.ingest(_place(visit, topic), wanted)
    if not done.revised:
        return visit.back("topics", Notice(f"{name} was {value} already."[:400]), text=topic.title or "")
    fields = {"name": name, "revision": revision}
    notice = Notice(f"{name} is {value} from now on."[:400], undo=_address(visit, "undo", topic), fields=fields)
    return visit.back("topics", notice, text=topic.title or "")


def take_back(visit: Visit) -> Response:
    """Undo the account's own change, which restores the value before."""
    topic, name = _found(visit), _text(visit, "name", _NAME_CHARACTERS)
    revision = visit.form.get("revision", "")
    done = visit.memory.world.take_back(_place(visit, topic), _name(visit, topic), name, revision)
    text = f"{name} is what it was before." if done else f"{name} has another value by now, so nothing was taken back."
    return visit.back("topics", Notice(text, is_fault=not done), text=topic.title or "")


def begin(visit: Visit) -> Response:
    """Create a topic with a first value, or add to a known one, for a channel or for everybody."""
    title = _text(visit, "title", _NAME_CHARACTERS)
    name, value = _text(visit, "name", _NAME_CHARACTERS), _text(visit, "value", _VALUE_CHARACTERS)
    channel = visit.form.get("channel", "").strip()
    audience = Audience.CHANNEL if channel else Audience.WORKSPACE
    known = _known(visit, title, audience, channel)
    if known is not None:
        return _give(visit, known, name, value)
    scope = Scope(workspace=visit.workspace, channel=channel or _HERE, person=visit.actor, visibility=Visibility.PUBLIC)
    field = FieldInput(name=name, value=value, provenance="pages")
    outcome = visit.memory.world.ingest(scope, Ingest(title=title, audience=audience, fields=[field]))
    # If it was merged into a known topic, archiving that would undo too much.
    undo = "" if outcome.merged else visit.url(f"topics/{quote(outcome.topic_id, safe='')}/archive")
    return visit.back("topics", Notice(f"Noted: {title}.", undo=undo), text=title)


def _known(visit: Visit, title: str, audience: Audience, channel: str) -> Topic | None:
    """The topic of this title for the same people, or None."""
    facts = visit.memory.facts
    every, _ = facts.every(visit.workspace, public_only=visit.public_only, after=0, limit=PAGE_ROWS, text=title)
    for each in every:
        is_there = each.audience is audience and (audience is Audience.WORKSPACE or each.topic.channel == channel)
        if is_there and each.title.casefold() == title.casefold() and each.topic.archived_at is None:
            return facts.one(visit.workspace, each.topic.id, public_only=visit.public_only)
    return None


def archive(visit: Visit) -> Response:
    """Archive a topic."""
    return _set_archived(visit, visit.memory.world.archive, "Archived: it is told no more.", "restore")


def restore(visit: Visit) -> Response:
    """Restore a topic."""
    return _set_archived(visit, visit.memory.world.restore, "Restored.", "archive")


def _set_archived(visit: Visit, act: Callable[[Scope, str], None], text: str, undo: str) -> Response:
    topic = _found(visit)
    act(_place(visit, topic), _name(visit, topic))
    return visit.back(
        "topics",
        Notice(text, undo=_address(visit, undo)),
        text=topic.title or "",
    )


def _found(visit: Visit) -> Topic:
    topic = visit.memory.facts.one(visit.workspace, visit.path["topic_id"], public_only=visit.public_only)
    if is_personal(topic.partition, topic.person):
        raise InvalidInput("this is one person's own note: only they change it")
    return topic


def _name(visit: Visit, topic: Topic) -> str:
    """The topic's name for changes."""
    return visit.memory.facts.name_in(_place(visit, topic), topic.id)


def _place(visit: Visit, topic: Topic) -> Scope:
    """The scope of the topic: the account in its channel."""
    return Scope(
        workspace=visit.workspace, channel=topic.channel or _HERE, person=visit.actor, visibility=visibility_of(topic)
    )


def _address(visit: Visit, act: str, topic: Topic | None = None) -> str:
    topic_id = topic.id if topic is not None else visit.path["topic_id"]
    return visit.url(f"topics/{quote(topic_id, safe='')}/{act}")


def _text(visit: Visit, name: str, most: int) -> str:
    text = " ".join(visit.form.get(name, "").split())
    if not text or len(text) > most:
        raise InvalidInput(f"{name} is needed, with at most {most} characters")
    return text


PAGE = AdminPage(
    name="topics",
    title="Topics",
    routes=(
        PageRoute(path="topics", handler=show),
        PageRoute(path="topics/{topic_id:path}", handler=trail),
        PageRoute(path="topics", handler=begin, method="POST", needs=WebRole.TEACHER),
        PageRoute(path="topics/{topic_id:path}/change", handler=change, method="POST", needs=WebRole.TEACHER),
        PageRoute(path="topics/{topic_id:path}/undo", handler=take_back, method="POST", needs=WebRole.TEACHER),
        PageRoute(path="topics/{topic_id:path}/archive", handler=archive, method="POST", needs=WebRole.TEACHER),
        PageRoute(path="topics/{topic_id:path}/restore", handler=restore, method="POST", needs=WebRole.TEACHER),
    ),
)
