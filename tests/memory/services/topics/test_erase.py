"""Forgetting takes a person's words out of the topics, and nothing that anybody else gave."""

import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, strategies as st

from memory.adapters.sql import SqlStore
from memory.errors import NotFound
from memory.model import Audience, Scope, Visibility
from memory.model.topic import Revision, TopicField
from memory.ports import Store
from memory.services.topics import FieldInput, Ingest, Placement, Related
from memory.services.topics.query import Bundle
from tests.doubles.attack_world import Attacked
from tests.doubles.memory_world import World, scope
from tests.doubles.stores import content, open_file

W = "terminal:w"
GONE = "quokka"
PEOPLE = (GONE, "robert", "cyrus")  # long enough not to stand among random bytes by chance


def extend(world: World, who: str, topic_id: str, *fields: FieldInput, related: tuple[Related, ...] = ()) -> None:
    world.clock.tick()
    given = Ingest(placement=Placement.EXTEND_TOPIC, topic_id=topic_id, fields=fields, related=related)
    world.memory.world.ingest(scope(who), given)


def opened(world: World, who: str, title: str | None = None, topic_id: str = "", **more: str) -> str:
    world.clock.tick()
    new = Ingest(title=title, audience=Audience.CHANNEL, topic_id=topic_id, **more)  # type: ignore[arg-type]
    return world.memory.world.ingest(scope(who), new).topic_id


def seen(world: World, of: Scope) -> list[Bundle]:
    """Every topic that is active and found here, with its whole history and links."""
    with world.memory.store.read() as tx:
        ids = [name for topic in tx.topics.within(W) for name in (topic.id, topic.public_id)]
    asked = {"q": "", "topic_ids": ids, "reinforce": False, "stages": ["temporal", "structural"], "explain": True}
    return list({each.topic_id: each for each in world.memory.world.query(of, asked).candidates}.values())


def held(world: World, of: Scope | None = None) -> list[tuple[str | None, dict[str, object]]]:
    """(title, current values) of each topic that has a value."""
    found = [
        (each.title, {f.name: f.current.value for f in each.fields if f.current is not None})
        for each in seen(world, of or scope("cyrus"))
    ]
    return [each for each in found if each[1]]


def bytes_left(store: Store, words: list[str]) -> list[str]:
    """Which of these words the store still holds anywhere."""
    held = content(store)
    return [word for word in words if word.encode() in held]


class TestForgetting(Attacked):
    def test_what_others_gave_goes_on_without_the_persons_words(self, world: World) -> None:
        said = "zyzzyva"
        topic = opened(world, GONE, f"{said} title", f"{said}-id", summary=f"{said} summary", topic_kind=f"{said} kind")
        mine = FieldInput(name="owner", value=said, why_changed=said, provenance=said, revision_id=f"{said}-1")
        extend(world, GONE, topic, mine, FieldInput(name=said, value=said))
        extend(world, "robert", topic, FieldInput(name="owner", value=said, revision_id=""))  # only confirmed
        extend(world, "robert", topic, FieldInput(name="owner", value="Priya"), FieldInput(name="where", value="loft"))
        extend(world, "cyrus", topic, FieldInput(name="where", value="attic"))
        bobs = opened(world, "robert", "other", "b")
        extend(
            world,
            "robert",
            bobs,
            FieldInput(name="of", value=1, ref_topic_id=topic),
            related=(Related(topic_id=topic),),
        )
        world.memory.privacy.forget(W, GONE)
        assert held(world) == [("other", {"of": 1}), (None, {"owner": "Priya", "where": "attic"})]
        other, new = seen(world, scope("cyrus"))
        assert (new.neighbors, other.neighbors) == ((("b", "other"),), ((new.topic_id, None),))
        assert next(each for each in other.fields if each.name == "of").ref_topic_id == new.topic_id
        assert world.memory.world.topic(scope("robert"), new.topic_id).person == "robert"
        assert bytes_left(world.memory.store, [said, GONE]) == []
        world.memory.privacy.forget(W, "robert")
        assert held(world) == [(None, {"where": "attic"})]
        world.memory.privacy.forget(W, "cyrus")
        with world.memory.store.read() as tx:
            assert tx.topics.within(W) == []

    def test_what_only_they_brought_up_goes_entirely(self, world: World) -> None:
        topic = opened(world, GONE, "alone")
        extend(world, GONE, topic, FieldInput(name="owner", value="me"))
        world.memory.world.archive(scope("robert"), topic)
        world.memory.world.restore(scope("robert"), topic)
        world.memory.privacy.forget(W, GONE)
        with world.memory.store.read() as tx:
            assert tx.topics.within(W) == []

    def test_a_topic_that_was_only_linked_stays_for_its_link(self, world: World) -> None:
        topic, bobs = opened(world, GONE, "theirs"), opened(world, "robert", "bobs")
        extend(world, "robert", bobs, related=(Related(topic_id=topic),))
        world.memory.privacy.forget(W, GONE)
        assert {each.title: [title for _, title in each.neighbors] for each in seen(world, scope("robert"))} == {
            None: ["bobs"],
            "bobs": [None],
        }

    def test_one_that_another_gave_the_same_title_keeps_it_and_is_found_by_it(self, world: World) -> None:
        topic = opened(world, GONE, "deploy the site", "a")
        extend(world, "cyrus", topic, FieldInput(name="owner", value="Priya"))
        assert opened(world, "robert", "deploy the site", "b") == "a"
        extend(world, "robert", "b", FieldInput(name="where", value="loft"))
        world.memory.privacy.forget(W, GONE)
        assert held(world) == [("deploy the site", {"owner": "Priya", "where": "loft"})]
        found = world.memory.world.query(scope("cyrus"), {"q": "deploy the site"}).candidates
        assert [(each.title, each.similarity) for each in found] == [("deploy the site", 1.0)]
        assert world.memory.world.topic(scope("robert"), "b").person == "robert"

    def test_joined_topics_of_others_say_what_they_said(self, world: World) -> None:
        opened(world, "robert", "deploy", "b")
        extend(world, "robert", "b", FieldInput(name="owner", value="old"))
        opened(world, "cyrus", "deploy", "c")
        with world.memory.store.write() as tx:  # said of a duplicate before it was joined
            topic = tx.topics.get(W, "c")
            assert topic is not None
            tx.topics.put_field(TopicField(workspace=W, topic_id="c", name="owner", person="cyrus"))
            later = world.clock.tick()
            new = Revision(
                workspace=W, topic_id="c", name="owner", id="n", person="cyrus", value="new", valid_from=later
            )
            tx.topics.add_revision(new)
        opened(world, GONE, "deploy", "a")
        assert held(world) == [("deploy", {"owner": "new"})]
        world.memory.privacy.forget(W, GONE)
        assert held(world) == [("deploy", {"owner": "new"})]

    def test_one_that_stands_for_itself_again_is_found_as_before(self, world: World) -> None:
        opened(world, "robert", "deploy", "b")
        extend(world, "robert", "b", FieldInput(name="owner", value="Priya"))
        world.memory.world.archive(scope("robert"), "b")
        opened(world, GONE, "deploy", "a")
        assert held(world) == [("deploy", {"owner": "Priya"})]
        world.memory.privacy.forget(W, GONE)
        assert held(world) == [("deploy", {"owner": "Priya"})]

    def test_where_a_channel_narrowed_nobody_comes_to_see_more(self, world: World) -> None:
        private = scope("cyrus", visibility=Visibility.PRIVATE)
        topic = opened(world, GONE, "plan")
        extend(world, "robert", topic, FieldInput(name="owner", value="Priya"))
        world.memory.channels.note(private)
        new = FieldInput(name="where", value="secret")
        world.memory.world.ingest(private, Ingest(placement=Placement.EXTEND_TOPIC, topic_id=topic, fields=[new]))
        alone = scope("robert", channel="D-robert", visibility=Visibility.DIRECT)
        assert held(world, alone) == []
        world.memory.privacy.forget(W, GONE)
        assert held(world, alone) == []
        assert held(world, private) == [(None, {"owner": "Priya", "where": "secret"})]
        for who in ("robert", "cyrus"):
            world.memory.privacy.forget(W, who)
        with world.memory.store.read() as tx:
            assert tx.topics.within(W) == []


WHATS = ("open", "open", "say", "say", "say", "say", "link", "refer", "archive", "restore", "join", "purge")
Act = tuple[str, str, int, int]
acts = st.lists(
    st.tuples(st.sampled_from(WHATS), st.sampled_from(PEOPLE), st.integers(0, 4), st.integers(0, 3)),
    min_size=4,
    max_size=22,
)


@dataclass
class History:
    """People who say things of topics; each text of theirs, but for titles they share, has a mark of its own."""

    world: World
    ids: list[str] = field(default_factory=list)
    marks: int = 0

    def say(self, who: str) -> str:
        self.marks += 1
        return f"{who}said{self.marks:03}zyzzy"

    def do(self, what: str, who: str, which: int, variant: int) -> None:
        self.world.clock.tick(minutes=1)
        if what == "open":
            title = self.say(who) if variant == 3 else f"title {variant % 2}"
            topic_id = f"{'zam'[which % 3]}{self.say(who)}"  # before and after others' in the order of ids
            kind, audience = self.say(who), Audience.PERSONAL if which == 4 else Audience.CHANNEL
            new = Ingest(topic_id=topic_id, title=title, summary=self.say(who), topic_kind=kind, audience=audience)
            self.world.memory.world.ingest(scope(who), new)
            self.ids.append(topic_id)
        elif what == "join":
            self.world.memory.world.revise(W)
        elif what == "purge":
            self.world.memory.purging.purge(W, who, actor="owner", at=self.world.clock())
        else:
            self._about(what, who, which, variant)

    def _about(self, what: str, who: str, which: int, variant: int) -> None:
        here = [each for each in self.ids if self._finds(who, each)]
        if not here:
            return
        topic_id, other = here[which % len(here)], here[variant % len(here)]
        match what:
            case "say":
                extend(self.world, who, topic_id, self._value(who, ("owner", "where")[variant % 2]))
            case "link":
                extend(self.world, who, topic_id, related=(Related(topic_id=other, kind=self.say(who)),))
            case "refer":
                extend(self.world, who, topic_id, FieldInput(name=self.say(who), ref_topic_id=other))
            case _:
                getattr(self.world.memory.world, what)(scope(who), topic_id)

    def _value(self, who: str, name: str) -> FieldInput:
        said = [self.say(who) for _ in range(5)]
        return FieldInput(
            name=name,
            value=said[0],
            why_changed=said[1],
            provenance=said[2],
            impact_expected=said[3],
            revision_id=said[4],
        )

    def _finds(self, who: str, topic_id: str) -> bool:
        try:
            return bool(self.world.memory.world.topic(scope(who), topic_id))
        except NotFound:
            return False

    def told(self, who: str) -> tuple[list[set[object]], set[object]]:
        """What others than the one to be forgotten said, as this person finds it: what holds of each topic, and all."""
        current, every = list[set[object]](), set[object]()
        for bundle in seen(self.world, scope(who)):
            holds = {(f.name, f.current.value) for f in bundle.fields if f.current and f.current.value is not None}
            current.append({each for each in holds if GONE not in str(each[1])})
            given = {(f.name, each.value) for f in bundle.fields for each in f.history if each.value is not None}
            every |= {each for each in given if GONE not in str(each[1])}
        return [each for each in current if each], every


def stored(world: World) -> set[object]:
    """Every value, edge and reference of others in the store."""
    with world.memory.store.read() as tx:
        ids = [each.id for each in tx.topics.within(W)]
        values = {(each.person, str(each.value), each.valid_from) for each in tx.topics.revisions(W, ids)}
        edges = {(each.person, each.kind) for each in tx.topics.links(W, ids)}
        refs = {(each.person, each.name) for each in tx.topics.fields(W, ids) if each.ref_topic_id in ids}
        return {each for each in values | edges | refs if each[0] not in (GONE, "") and GONE not in str(each[1])}


def whole(world: World) -> object:
    with world.memory.store.read() as tx:
        topics = tx.topics.within(W)
        ids = [each.id for each in topics]
        trails = [tx.topics.event_log(W, each) for each in ids]
        return (topics, tx.topics.fields(W, ids), tx.topics.revisions(W, ids), tx.topics.links(W, ids), trails)


def forgets(store: Store, history: list[Act]) -> None:
    play = History(World(store))
    for act in history:
        play.do(*act)
    before = {who: play.told(who) for who in ("robert", "cyrus", "zoe")}
    kept = stored(play.world)
    play.world.memory.privacy.forget(W, GONE)
    assert bytes_left(store, [GONE]) == []
    assert play.world.memory.audit.check() == []
    assert play.world.memory.privacy.personal_data(W, GONE).is_empty
    assert stored(play.world) >= kept
    for who, (current, every) in before.items():
        now, all_now = play.told(who)
        assert all(any(holds <= each for each in now) for holds in current)
        assert every <= all_now
    once = whole(play.world)
    play.world.memory.privacy.forget(W, GONE)
    assert whole(play.world) == once
    for who in ("robert", "cyrus"):
        play.world.memory.privacy.forget(W, who)
        assert play.world.memory.audit.check() == []
    assert bytes_left(store, ["robert", "cyrus", "zyzzy"]) == []
    with store.read() as tx:
        assert tx.topics.within(W) == []


@given(acts)
def test_nothing_that_others_gave_is_lost(history: list[Act]) -> None:
    with closing(SqlStore.in_memory()) as store:
        forgets(store, history)


@given(acts)
def test_no_byte_of_the_persons_words_is_left_in_the_files_of_the_database(history: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(open_file(Path(folder) / "goodbot.db")) as store:
        forgets(store, history)
