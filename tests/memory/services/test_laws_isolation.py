"""Nobody meets a text that was not said to them: whatever was taught where, by whom, and whichever way they look.

Ids of two workspaces are equal on purpose: channels, messages, people.
"""

from dataclasses import replace

from hypothesis import given, strategies as st

from bot.conversation.commands.lesson_access import LessonAccess, may_repeat
from bot.conversation.explanations.explanation import explain
from bot.conversation.messages import lesson_line
from memory.model import Audience, Episode, Origin, Role, Scope, Visibility
from memory.ports import Store
from memory.rules.retrieval.config import RetrievalConfig
from memory.rules.retrieval.prompt import render_lessons
from memory.services.topics import FieldInput, Ingest
from tests.doubles.memory_world import World, scope

PEOPLE = ("ana", "bob", "tea")
PLACES = (
    ("pub", Visibility.PUBLIC),
    ("pub2", Visibility.PUBLIC),
    ("priv", Visibility.PRIVATE),
    ("dm", Visibility.DIRECT),
    ("ext", Visibility.SHARED),
)
WORKSPACES = ("terminal:w", "slack:w")
EVERYTHING = RetrievalConfig(env_threshold=0.0, top_k=None, final_k=99, min_intent=0.0)
INSIDERS = {"priv": ("ana", "tea")}
"""Who reads the private channel. Everybody reads the public ones; a direct channel is its person's alone."""

seats = st.tuples(st.sampled_from(WORKSPACES), st.sampled_from(PEOPLE), st.sampled_from(PLACES))
PlatformRunner = tuple[str, str, tuple[str, Visibility]]
Act = tuple[str, PlatformRunner, int]
acts = st.lists(
    st.tuples(
        st.sampled_from(
            ["ask", "ask", "teach", "teach", "correct", "topic", "like", "like", "hate", "promote", "release", "upkeep"]
        ),
        seats,
        st.integers(0, 5),
    ),
    min_size=3,
    max_size=22,
)


def at(seat: PlatformRunner) -> Scope | None:
    """The scope of a person in a place; None where they are no member."""
    workspace, person, (channel, visibility) = seat
    if person not in INSIDERS.get(channel, PEOPLE):
        return None
    name = f"dm-{person}" if visibility is Visibility.DIRECT else channel
    return scope(person, workspace=workspace, channel=name, visibility=visibility)


def role_of(person: str) -> Role:
    return Role.TEACHER if person == "tea" else Role.MEMBER


class Play:
    """A history in which every text carries a mark of where it was said."""

    def __init__(self, store: Store | None = None) -> None:
        self.world = World(store, config=EVERYTHING)
        self.world.actions = ()
        self.said: list[tuple[str, Scope]] = []
        """Each mark with the scope it was said in."""
        self.made: list[Episode] = []

    def mark(self, here: Scope) -> str:
        mark = f"mark{len(self.said):03}x"
        self.said.append((mark, here))
        return mark

    def do(self, act: Act) -> None:
        what, seat, which = act
        here = at(seat)
        if here is None:
            return
        match what:
            case "upkeep":
                for job in ("join", "consolidate", "archive"):
                    assert self.world.memory.upkeep.run(job).error == ""
            case "ask" | "teach" | "topic":
                self.say(what, here, which)
            case _:
                self.judge(what, here, which)

    def say(self, what: str, here: Scope, which: int) -> None:
        memory, goal = self.world.memory, f"where is the key {which} {self.mark(here)}"
        audience = (Audience.PERSONAL, Audience.CHANNEL, Audience.WORKSPACE)[which % 3]
        if what == "ask":
            self.made.append(self.world.ask(goal, f"answer {self.mark(here)}", of=here))
        elif what == "teach":
            lesson = memory.teaching.teach(
                here, goal, "press the button", role=role_of(here.person), audience=audience, at=self.world.clock.tick()
            )
            assert lesson is not None
            self.made.append(lesson)
        elif audience is not Audience.WORKSPACE or here.visibility is Visibility.PUBLIC:
            field = FieldInput(name="where", value=self.mark(here), why_changed=self.mark(here))
            memory.world.ingest(here, Ingest(title=goal, audience=audience, fields=[field]))

    def judge(self, what: str, here: Scope, which: int) -> None:
        """About what was made where this person is."""
        near = [
            each
            for each in self.made
            if (each.workspace, each.channel, each.visibility) == (here.workspace, here.channel, here.visibility)
        ]
        if not near:
            return
        target, role, teaching = near[-1 - which % len(near)], role_of(here.person), self.world.memory.teaching
        curation = self.world.memory.curation
        match what:
            case "like" | "hate":
                self.world.react(target, "👍" if what == "like" else "👎", by=here.person, role=role)
            case "correct" if target.origin is Origin.RUN:
                self.world.clock.tick()
                done = teaching.correct(
                    here, target.run_id, f"right {self.mark(here)}", role=role, at=self.world.clock()
                )
                assert done is not None
                self.made.append(done.lesson)
            case "promote" if role.may_promote:
                audience = Audience.CHANNEL if here.visibility is not Visibility.PUBLIC else Audience.WORKSPACE
                curation.promote(here.workspace, target.id, audience, actor=here.person, role=role)
            case "release" if role.may_promote:
                curation.release(here.workspace, target.id, actor=here.person, role=role)

    def shown(self, here: Scope) -> str:
        """Everything this person can be shown from this place, in one text."""
        memory = self.world.memory
        recollection = memory.recalling.recall(here, "where is the key")
        seen = LessonAccess(memory)
        pages = range(1, seen.believed(here, 1).last + 1)
        beliefs = [belief.episode for number in pages for belief in seen.believed(here, number).items]
        texts = [
            repr([(e.episode.goal, e.episode.output, e.episode.correction) for e in recollection.exemplars]),
            render_lessons(recollection.exemplars, budget_tokens=100_000)[0],
            repr([rule.line for rule in recollection.rules]),
            repr([(each.goal, each.output, each.correction) for each in seen.as_seen_by(here, beliefs)]),
            repr([seen.find(here, role_of(here.person), each.id[-8:]) for each in self.made if self.is_open(here)]),
            repr(memory.world.query(here, {"q": "where is the key", "explain": True, "top_k": 99, "reinforce": False})),
        ]
        texts += [self.why(here, each) for each in self.made if each.origin is Origin.RUN]
        return "\n".join(texts)

    def why(self, here: Scope, answer: Episode) -> str:
        """What `why` tells this person about an answer, as far as it tells them anything."""
        if answer.workspace != here.workspace or not may_repeat(here, self.world.episode(answer)):
            return ""
        story = self.world.memory.explaining.answer(here.workspace, answer.run_id)
        (root,) = LessonAccess(self.world.memory).as_seen_by(here, [story.view.root])
        return explain(replace(story, view=replace(story.view, nodes=(root, *story.view.nodes[1:]))), here)

    def believed_answers(self, here: Scope) -> list[str]:
        """What an agent might repeat there, strongest first."""
        evidence = self.world.memory.recalling.weighing.weigh(here, "where is the key", ())
        return [belief.text for belief in evidence.beliefs if belief.text][:3]

    def is_open(self, here: Scope) -> bool:
        """A teacher reviews what is said in public, lesson or not: that is tested where it is done."""
        return not role_of(here.person).may_promote


def may_know(here: Scope, source: Scope) -> bool:
    """Whether a text said at `source` may reach somebody at `here`, at the very most."""
    if here.workspace != source.workspace:
        return False
    if here.visibility is Visibility.SHARED:
        return (here.channel, here.visibility) == (source.channel, source.visibility)
    match source.visibility:
        case Visibility.PUBLIC:
            return True
        case Visibility.PRIVATE | Visibility.SHARED:
            among = here.person in INSIDERS.get(source.channel, PEOPLE) and here.visibility is Visibility.DIRECT
            return among or (here.channel, here.visibility) == (source.channel, source.visibility)
        case Visibility.DIRECT:
            return here.person == source.person and here.visibility is Visibility.DIRECT


@given(acts)
def test_nobody_is_shown_a_text_that_was_said_where_they_are_not(history: list[Act]) -> None:
    play = Play()
    for act in history:
        play.do(act)
    play.do(("upkeep", (WORKSPACES[0], "ana", PLACES[0]), 0))
    for workspace in WORKSPACES:
        for person in PEOPLE:
            for place in PLACES:
                here = at((workspace, person, place))
                if here is None:
                    continue
                shown = play.shown(here)
                leaked = [(mark, source) for mark, source in play.said if mark in shown and not may_know(here, source)]
                assert leaked == [], here
    assert play.world.memory.audit.check() == []


@given(acts, seats)
def test_what_an_answer_says_it_rests_on_was_said_where_it_is_given(history: list[Act], seat: PlatformRunner) -> None:
    play, here = Play(), at(seat)
    for act in history:
        play.do(act)
    if here is None:
        return
    for text in play.believed_answers(here):
        answer = play.world.ask("where is the key", text, of=here)
        lines = [lesson_line(each, here) for each in play.world.lessons_used(answer)]
        told = "\n".join([text, *lines, play.why(here, answer)])
        assert [(mark, source) for mark, source in play.said if mark in told and not may_know(here, source)] == []
