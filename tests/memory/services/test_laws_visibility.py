"""A channel that changes who reads it: what was said in it is shown where the people of then and those of now read.

Histories of a whole team, looked at through every way there is to look. The oracle knows nothing of partitions: it
asks, of what the channel was then and of what it is now, whether a seat is among those who read.
"""

from contextlib import suppress
from dataclasses import replace

from hypothesis import given, settings, strategies as st

from memory.errors import InvalidInput, NotFound
from memory.model import Audience, Episode, Role, Scope, Visibility
from memory.rules.retrieval.config import RetrievalConfig
from memory.services.topics import FieldInput, Ingest
from tests.doubles.looking import QUESTION, Looking
from tests.doubles.memory_world import World, scope

PUBLIC, PRIVATE, SHARED, DIRECT = Visibility.PUBLIC, Visibility.PRIVATE, Visibility.SHARED, Visibility.DIRECT
WORKSPACES = ("terminal:w", "slack:w")
CHANNELS = ("c1", "c2")
ROLES = {"ana": Role.MEMBER, "bob": Role.MEMBER, "tea": Role.TEACHER, "eve": Role.GUEST}
INVITED = ("ana", "tea")
"""Who is in a channel while it is private."""
OUTSIDER = "eve"
"""Somebody of another organisation: she is in the channels that are shared, and writes no direct messages."""
EVERYTHING = RetrievalConfig(env_threshold=0.0, top_k=None, final_k=99, min_intent=0.0)

Act = tuple[str, str, str, str, int]
KINDS = [*["ask", "correct"] * 4, *["topic", "teach", "like"] * 2, "hate", "promote", "undo", "release"]
KINDS += ["turn", "rename", "leave", "upkeep"]


@st.composite
def histories(draw: st.DrawFn) -> list[Act]:
    """Much of it in one channel, which changes every few acts."""
    history: list[Act] = []
    for _ in range(draw(st.integers(2, 6))):
        for what in draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)):
            workspace = draw(st.sampled_from([*[WORKSPACES[0]] * 5, WORKSPACES[1]]))
            channel = draw(st.sampled_from([*["c1"] * 6, "c2", "dm"]))
            history.append((what, workspace, draw(st.sampled_from([*ROLES, "tea"])), channel, draw(st.integers(0, 5))))
        history.append(("turn", WORKSPACES[0], "tea", "c1", draw(st.integers(0, 2))))
    return history


def people_of(visibility: Visibility, author: str) -> set[str]:
    """Who reads a channel of this kind; of a direct message, who wrote it."""
    inside = set(ROLES) - {OUTSIDER}
    return {PUBLIC: inside, PRIVATE: set(INVITED), SHARED: set(ROLES), DIRECT: {author}}[visibility]


def is_a_reader(here: Scope, source: Scope, visibility: Visibility) -> bool:
    """Whether a seat is among those who read what was said at `source`, if that had only ever been of this kind."""
    if here.workspace != source.workspace:
        return False
    if visibility is PUBLIC:
        return here.visibility is not SHARED
    was_there = here.person in people_of(visibility, source.person)
    is_alone = here.visibility is DIRECT and (was_there or here.person == source.person)
    return is_alone or (here.channel, here.visibility) == (source.channel, visibility)


class Play:
    """A history in which every text carries a mark of where it was said, and by whom."""

    def __init__(self) -> None:
        self.world = World(config=EVERYTHING)
        self.now: dict[tuple[str, str], Visibility] = {}
        self.names: dict[tuple[str, str], str] = {}
        self.silent: set[tuple[str, str]] = set()
        """Channels the bot has left."""
        self.said: dict[str, Scope] = {}
        self.made: list[Episode] = []

    def at(self, workspace: str, person: str, channel: str) -> Scope | None:
        """The seat of a person in a place as it is now; None where they are not, or the bot is not."""
        if channel == "dm" and person != OUTSIDER:
            return scope(person, workspace=workspace, channel=f"dm-{person}", visibility=DIRECT)
        visibility = self.now.get((workspace, channel), PUBLIC)
        if channel == "dm" or person not in people_of(visibility, ""):
            return None
        here = scope(person, workspace=workspace, channel=channel, visibility=visibility)
        return replace(here, place=self.names.get((workspace, channel), here.place))

    def mark(self, here: Scope) -> str:
        mark = f"mark{len(self.said):03}x"
        self.said[mark] = here
        return mark

    def do(self, act: Act) -> None:
        what, workspace, person, channel, which = act
        if what == "upkeep":
            for job in ("join", "consolidate", "archive", "topics"):
                assert self.world.memory.upkeep.run(job).error == ""
        elif what in ("turn", "rename", "leave"):
            if channel != "dm":
                self.change(what, (workspace, channel), which)
        else:
            here = self.at(workspace, person, channel)
            if here is not None and (workspace, channel) not in self.silent:
                self.act(what, here, which)

    def change(self, what: str, place: tuple[str, str], which: int) -> None:
        if what == "leave" and which < 2:
            self.silent ^= {place}  # and is invited again
        elif what == "rename":
            self.names[place] = f"#name{which}"
        elif (
            what == "turn" and place not in self.silent
        ):  # What becomes of a channel the bot is not in, nobody tells it.
            self.now[place] = (PUBLIC, PRIVATE, SHARED)[which % 3]
            seat = scope("tea", workspace=place[0], channel=place[1], visibility=self.now[place])
            self.world.memory.channels.note(seat)

    def act(self, what: str, here: Scope, which: int) -> None:
        role, memory = ROLES[here.person], self.world.memory
        goal = f"{QUESTION} {which}"
        match what:
            case "ask":
                self.made.append(self.world.ask(f"{goal} {self.mark(here)}", f"answer {self.mark(here)}", of=here))
            case "teach":
                lesson = memory.teaching.teach(
                    here,
                    f"{goal} {self.mark(here)}",
                    "press the button",
                    role=role,
                    audience=Audience.WORKSPACE,
                    at=self.world.clock.tick(),
                )
                assert lesson is not None
                self.made.append(lesson)
            case "topic":
                audience = (Audience.PERSONAL, Audience.CHANNEL, Audience.WORKSPACE)[which % 3]
                field = FieldInput(name="where", value=self.mark(here), why_changed=self.mark(here))
                with suppress(InvalidInput):  # what is private is not for the workspace
                    memory.world.ingest(here, Ingest(title=goal, audience=audience, fields=[field]))
            case "undo":
                memory.teaching.undo(here.workspace, here.person, at=self.world.clock.tick())
            case _:
                self.judge(what, here, role, which)

    def judge(self, what: str, here: Scope, role: Role, which: int) -> None:
        """About what was made in this channel at any time, and whatever the channel was then."""
        near = [each for each in self.made if (each.workspace, each.channel) == (here.workspace, here.channel)]
        if not near:
            return
        target, teaching = near[-1 - which % len(near)], self.world.memory.teaching
        match what:
            case "like" | "hate":
                self.world.react(target, "👍" if what == "like" else "👎", by=here.person, role=role)
            case "correct":
                with suppress(NotFound):
                    done = teaching.correct(
                        here,
                        target.run_id,
                        f"right {self.mark(here)}",
                        role=role,
                        at=self.world.clock.tick(),
                        reason=f"reason {self.mark(here)}",
                    )
                    assert done is not None
                    self.made.append(done.lesson)
            case "promote" | "release" if role.may_promote:
                looking = Looking(self.world.memory, here, role, self.made)
                with suppress(InvalidInput):
                    looking.command(what, target.id[-8:])
            case _:
                pass

    def may_be_shown(self, here: Scope, mark: str) -> bool:
        source = self.said[mark]
        now = self.now.get((source.workspace, source.channel), source.visibility)
        return is_a_reader(here, source, source.visibility) and is_a_reader(here, source, now)


@given(histories())
@settings(max_examples=settings().max_examples // 2)  # each looks from every seat at a whole team's history
def test_a_text_is_shown_only_where_the_people_of_then_and_of_now_could_read_it(history: list[Act]) -> None:
    play = Play()
    for act in history:
        play.do(act)
    for workspace in WORKSPACES:
        for person, role in ROLES.items():
            for channel in (*CHANNELS, "dm"):
                here = play.at(workspace, person, channel)
                if here is None:
                    continue
                shown = Looking(play.world.memory, here, role, play.made).everything()
                leaked = {
                    (way, mark, play.said[mark].visibility, play.said[mark].channel)
                    for way, text in shown.items()
                    for mark in play.said
                    if mark in text and not play.may_be_shown(here, mark)
                }
                assert leaked == set(), here
    assert play.world.memory.audit.check() == []
