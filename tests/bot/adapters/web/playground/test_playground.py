"""What can be done in the playground, who sees it, what it leaves alone, and hostile text in it."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from bot.adapters.web.playground.channel_messages import KEPT, KEPT_FILES, ChannelMessages, Shown
from bot.adapters.web.playground.persona import WORKSPACE, Persona
from bot.model import Attachment, BotMessage, Choice
from memory.errors import InvalidInput
from memory.model import Visibility
from memory.ports import EpisodeFilter
from tests.bot.adapters.web.pages.test_lists import HOSTILE
from tests.bot.adapters.web.playground.conftest import Playing
from tests.doubles.memory_world import World
from tests.doubles.pages import Visitor, site_parts
from tests.doubles.playground_driver import PAGE, make_messenger


async def test_an_answer_is_streamed_taught_and_explained(playing: Playing, monkeypatch: pytest.MonkeyPatch) -> None:
    playing.chat.oracle.answers["who owns it?"] = "word " * 200
    ana = await playing.tab("ana")

    async def until_seen(_: float) -> None:
        await ana.until_state("…</p>", growing.pop())

    show = playing.messenger.progress

    async def until_shown(workspace: str, channel: str, thread: str, text: str) -> None:
        await show(workspace, channel, thread, text)
        await ana.until_progress(text)  # a page is sent the newest state alone

    monkeypatch.setattr(playing.messenger, "progress", until_shown)
    growing = [1, 2, 3, 4, 5, 6][::-1]
    playing.messenger._sleep = until_seen
    answer = await playing.asks("who owns it?")
    assert growing == []
    await ana.until_card(answer, lambda html: "Why?" in html and "…" not in html)
    await ana.until_progress("")
    assert "thinking" in ana.progress

    await ana.does("correct", message=answer, text="the platform team", reason="wrong facts")
    assert "only ana sees this" in await ana.until("Saved as your lesson")
    assert playing.about("who owns it?").correction == "the platform team"
    await ana.does("why", message=answer)
    beside = await ana.until("Why</strong> “who owns it?”")
    assert f'data-beside="{answer}"' in beside


async def test_reactions_are_shown_with_who_put_them_there_and_make_lessons(playing: Playing) -> None:
    answer = await playing.asks("capital of France?")
    ana, ben = await playing.tab("ana"), await playing.tab("ben")
    for _ in range(2):  # a second press of the same button changes nothing
        await ana.does("react", message=answer, emoji="👍", added="yes")
    await ben.does("react", message=answer, emoji="👍", added="yes")
    assert re.search(r'aria-pressed="true" title="ana, ben">👍 2<', await ana.until('"ana, ben"'))
    assert "🧠" in ana.cards[answer]
    await ana.does("react", message=answer, emoji="👍", added="no")
    assert 'aria-pressed="false" title="ben"' in await ana.until('title="ben"')
    await ben.does("react", message=answer, emoji="👍", added="no")
    await ana.until_card(answer, lambda html: "🧠" not in html)


async def test_what_is_for_one_person_is_shown_to_them_alone(playing: Playing) -> None:
    answer = await playing.asks("capital of France?")
    ana, ben = await playing.tab("ana"), await playing.tab("ben")
    await ana.does("react", message=answer, emoji="👍")
    await ana.does("write", text="/memory")
    await ana.until("What I have learned")
    await ben.does("write", text="hello")
    await ben.until("the answer to hello")
    assert "What I have learned" not in "".join(ben.states)
    assert "/memory" not in "".join(ben.states)
    assert "What I have learned" not in (await ben.http.get(PAGE, params=ben.persona)).text


async def test_alone_with_the_bot_nobody_else_reads(playing: Playing) -> None:
    ana = await playing.tab("ana", channel="direct")
    await ana.does("write", text="my secret")
    await ana.until("the answer to my secret")
    ben = await playing.tab("ben", channel="direct")
    assert "my secret" not in await ben.open()
    [told] = playing.memory.memory.audit.episodes(WORKSPACE, EpisodeFilter(roots_only=True))
    assert (told.channel, told.person, told.visibility) == ("direct-ana", "ana", Visibility.DIRECT)


async def test_buttons_are_pressed_and_what_they_say_takes_their_place(playing: Playing) -> None:
    answer = await playing.asks("capital of France?")
    ana = await playing.tab("ana")
    await ana.does("react", message=answer, emoji="👍", added="yes")
    await ana.does("write", text="memory")
    card = await ana.until("Archive 1")
    (notice,) = re.findall(r'<li [^>]*id="m-([^"]+)"', card)
    await ana.does("choose", message=notice, number="0")
    await ana.until("Archived")
    assert "Archive 1" not in ana.cards[notice]
    assert (await ana.send("choose", message=notice, number="7")).status_code == 404
    assert (await ana.send("choose", message=notice, number="x")).status_code == 404


async def test_a_button_that_asks_for_text_brings_it(playing: Playing) -> None:
    playing.chat.oracle.unknown.add("who has the key?")
    await playing.asks("who has the key?")
    tom = await playing.tab("tom", role="teacher")
    await tom.does("write", text="/gaps")
    (notice,) = re.findall(r'<li [^>]*id="m-([^"]+)"', await tom.until("Answer 1: who has the key?"))
    await tom.does("choose", message=notice, number="0", text="Olga has it")
    await tom.until("Saved")
    assert playing.about("who has the key?").correction == "Olga has it"


async def test_a_file_is_for_whom_it_was_handed_to(playing: Playing) -> None:
    answer = await playing.asks("capital of France?")
    ana, ben = await playing.tab("ana"), await playing.tab("ben")
    await ana.does("react", message=answer, emoji="👍")
    await ana.does("write", text="/export json")
    card = await ana.until(" download>")
    (address,) = re.findall(r'href="([^"]+)" download', card)
    given = await ana.http.get(unescape(address))
    assert given.status_code == 200
    assert given.headers["content-disposition"].startswith("attachment;")
    assert given.headers["x-content-type-options"] == "nosniff"
    assert (await ben.http.get(unescape(address).replace("person=ana", "person=ben"))).status_code == 404


class _Tags(HTMLParser):
    """Notes what no page of ours has."""

    def __init__(self) -> None:
        super().__init__()
        self.foreign: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        address = given.get("src", given.get("href", given.get("action", "/")))
        if tag in ("b", "i", "svg", "iframe", "object") or not address.startswith(("/", "#")):
            self.foreign.add(self.get_starttag_text() or "")
        if (tag in ("script", "img") and "src" not in given) or any(name.startswith("on") for name in given):
            self.foreign.add(self.get_starttag_text() or "")


def foreign(html: str) -> set[str]:
    """Tags that somebody's text became."""
    parser = _Tags()
    parser.feed(html)
    return parser.foreign


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_text_stays_text(playing: Playing, text: str) -> None:
    playing.chat.oracle.answers[text] = f"{text}\n\n- **{text}** [x](javascript:alert(1)) <b>x</b>\n\n`{text}`"
    ana = await playing.tab("ana")
    ref = await playing.messenger.post(
        BotMessage(
            workspace=WORKSPACE,
            channel="general",
            text=text,
            is_answer=True,
            lessons=(text,),
            note=text,
            choices=(Choice(label=text, command="why"), Choice(label=text, command="teach")),
        )
    )
    await ana.does("write", text=text)
    await playing.chat.bot.idle()
    await ana.does("react", message=ref.message_id, emoji=text.strip("\u202e"), added="yes")
    await playing.messenger.progress(WORKSPACE, "general", "", text)
    await ana.does("write", text="last")
    await ana.until("the answer to last")
    for html in [*ana.states, (await ana.http.get(PAGE, params=ana.persona)).text]:
        assert foreign(html) == set()
        assert "\u202e" not in html
        assert ">49<" not in html


async def test_seats_that_are_none_are_refused(playing: Playing) -> None:
    ana = await playing.tab("ana")
    for persona in ({"person": "<b>"}, {"channel": "direct-ben"}, {"person": "a" * 41}):
        assert (await ana.send("write", text="hi", **persona)).status_code == 422
        assert (await ana.http.get(PAGE, params={**ana.persona, **persona})).status_code == 422
    assert (await ana.send("write", text="x" * 33_000)).status_code == 422
    assert (await ana.send("react", message="nothing", emoji="👍")).status_code == 404
    assert (await ana.send("write", text="hi", token="guessed")).status_code == 403
    with pytest.raises(InvalidInput):
        Persona(person="")


async def test_nothing_leaks_into_a_real_workspace(playing: Playing) -> None:
    real = playing.memory.ask("capital of France?", "Paris, as everybody knows")
    playing.memory.react(real)
    answer = await playing.asks("capital of France?")
    ana = await playing.tab("ana")
    await ana.does("react", message=answer, emoji="👎", added="yes")
    await ana.does("write", text="/forget yes")
    await ana.until("orget")
    assert playing.memory.episode(real).verdict.value == "success"
    assert "everybody knows" not in "".join(ana.states)
    found = playing.memory.memory.audit.episodes(real.workspace, EpisodeFilter(roots_only=True))
    assert [each.id for each in found] == [real.id]


async def test_a_page_of_an_earlier_process_is_loaded_anew(playing: Playing) -> None:
    ana = await playing.tab("ana")
    for after in ("", "other-5", "id000001-x", f"id000001-{'9' * 5000}"):
        stream = await ana.http.get(f"{PAGE}/events", params={**ana.persona, "after": after})
        assert stream.text.startswith("event: restart")


async def test_without_a_program_in_the_browser_forms_lead_back(playing: Playing) -> None:
    ana = await playing.tab("ana")
    response = await ana.http.post(f"{PAGE}/write", data={"token": ana.token, **ana.persona, "text": "hi"})
    assert (response.status_code, response.headers["location"]) == (
        303,
        f"{PAGE.replace(':', '%3A')}?person=ana&channel=general&role=member",
    )
    await playing.chat.bot.idle()
    page = (await ana.http.get(PAGE, params=ana.persona)).text
    assert "the answer to hi" in page


async def test_when_the_bot_is_gone_it_is_told(playing: Playing) -> None:
    ana = await playing.tab("ana")
    await playing.messenger.close()
    refused = await ana.send("write", text="hi")
    assert (refused.status_code, "the playground is closed" in refused.text) == (503, True)


def test_who_may_play(world: World) -> None:
    world.ask("where is the key?")
    site = site_parts(
        world.memory,
        accounts=(f"tea teacher {WORKSPACE}", f"vic viewer {WORKSPACE}", "tom teacher terminal:w"),
        playground=make_messenger(),
    )
    visitor = Visitor(world.memory, site)
    assert visitor.http.get(PAGE).headers["location"] == "/login"
    for name, status in (("tea", 200), ("vic", 403), ("tom", 404), ("admin", 200)):
        visitor.log_in(name)
        assert visitor.http.get(PAGE).status_code == status, name
    assert f'href="{PAGE.replace(":", "%3A")}"' in visitor.page("overview")
    assert visitor.get("playground").headers["location"] == f"/w/{WORKSPACE}/playground"
    visitor.log_in("tom")
    assert "Playground" not in visitor.page("overview")


def test_first_of_all_there_is_the_playground() -> None:
    world = World()
    visitor = Visitor(world.memory, site_parts(world.memory, playground=make_messenger()))
    visitor.log_in()
    assert visitor.http.get("/").headers["location"] == PAGE
    without = Visitor(world.memory, site_parts(world.memory))
    without.log_in()
    assert without.http.get(PAGE).status_code == 404


def test_what_is_kept_has_bounds(world: World) -> None:
    messages = ChannelMessages()
    for number in range(KEPT + 5):
        messages.show(_shown(f"m{number}", world, file=Attachment(name="a", content=b"", media_type="text/plain")))
    seen = messages.seen("general", "ana").messages
    assert (len(seen), seen[0].id) == (KEPT, "m5")
    assert sum(each.file is not None for each in seen) == KEPT_FILES
    for number in range(60):
        messages.show(_shown("m", world, channel=f"direct-p{number}"))
    assert messages.seen("general", "ana").messages == ()


def _shown(id_: str, world: World, **more: object) -> Shown:
    known = {"id": id_, "channel": "general", "author": "", "text": "", "at": world.clock.now}
    return Shown(**{**known, **more})  # type: ignore[arg-type]
