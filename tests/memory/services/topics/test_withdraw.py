"""What one person said of a topic holds no more once it was taken back, whoever is purged or forgotten afterwards."""

from hypothesis import given, strategies as st

from memory.model import Audience
from memory.services.topics import FieldInput, Ingest, Placement
from tests.doubles.attack_world import Attacked
from tests.doubles.memory_world import World, scope

W = "terminal:w"


def say(world: World, who: str, value: object, topic_id: str, name: str = "owner") -> None:
    world.clock.tick()
    given = Ingest(placement=Placement.EXTEND_TOPIC, topic_id=topic_id, fields=[FieldInput(name=name, value=value)])
    world.memory.world.ingest(scope(who), given)


def opened(world: World, who: str, title: str = "deploy", topic_id: str = "") -> str:
    new = Ingest(title=title, audience=Audience.CHANNEL, topic_id=topic_id)
    return world.memory.world.ingest(scope(who), new).topic_id


def held(world: World, topic_id: str) -> dict[str, object]:
    """The fields that have a value, as anybody in the channel finds them."""
    asked = {"q": "", "topic_ids": [topic_id], "reinforce": False, "stages": ["temporal"]}
    found = world.memory.world.query(scope("zoe"), asked).candidates
    values = {f.name: f.current and f.current.value for bundle in found for f in bundle.fields}
    return {name: value for name, value in values.items() if value is not None}


def is_found(world: World, topic_id: str) -> bool:
    asked = {"q": "", "topic_ids": [topic_id], "reinforce": False}
    return bool(world.memory.world.query(scope("zoe"), asked).candidates)


def purge(world: World, who: str) -> None:
    planned = world.memory.purging.plan(W, who)
    assert world.memory.purging.purge(W, who, actor="owner", at=world.clock.tick()) == planned
    assert world.memory.purging.plan(W, who).is_empty


class TestWithdrawing(Attacked):
    def test_the_purge_of_one_brings_back_nothing_of_another(self, world: World) -> None:
        topic = opened(world, "eve")
        for who in ("cy", "mal", "bob"):
            say(world, who, f"of {who}", topic)
        purge(world, "mal")
        purge(world, "bob")
        assert held(world, topic) == {"owner": "of cy"}
        world.memory.privacy.forget(W, "cy")
        assert held(world, topic) == {}
        say(world, "mal", "again", topic)
        assert held(world, topic) == {"owner": "again"}

    def test_a_topic_that_stands_for_anothers_stays(self, world: World) -> None:
        mals, bobs = opened(world, "mal", topic_id="a"), opened(world, "bob", topic_id="b")
        world.memory.world.revise(W)
        say(world, "bob", "Priya", bobs)
        purge(world, "mal")
        assert is_found(world, mals)
        assert held(world, bobs) == {"owner": "Priya"}

    def test_topics_they_put_away_or_brought_back_are_as_before(self, world: World) -> None:
        away, back = opened(world, "bob"), opened(world, "bob", "release")
        world.memory.world.archive(scope("bob"), back)
        world.memory.world.archive(scope("mal"), away)
        world.memory.world.restore(scope("mal"), back)
        assert world.memory.purging.plan(W, "mal").shelved == 2
        purge(world, "mal")
        assert (is_found(world, away), is_found(world, back)) == (True, False)


acts = st.lists(
    st.tuples(
        st.sampled_from(["say", "say", "say", "purge", "forget"]),
        st.sampled_from(["bob", "cy", "mal"]),
        st.integers(0, 2),
    ),
    max_size=14,
)


@given(acts)
def test_what_holds_is_the_last_that_nobody_took_back(history: list[tuple[str, str, int]]) -> None:
    """Values one, two and three, for one topic of somebody else's."""
    world = World()
    topic = opened(world, "eve")
    standing: list[tuple[str, int]] = []
    for what, who, value in history:
        if what == "say":
            say(world, who, value, topic)
            if not standing or standing[-1][1] != value:  # the same value again is a confirmation
                standing.append((who, value))
        else:
            purge(world, who) if what == "purge" else world.memory.privacy.forget(W, who)
            standing = [each for each in standing if each[0] != who]
        assert held(world, topic) == ({"owner": standing[-1][1]} if standing else {})
    assert world.memory.audit.check() == []
