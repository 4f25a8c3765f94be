"""The table of `memory/README.md`, row by row: who is shown what after a channel changed who reads it."""

import pytest

from memory.adapters.sql import SqlStore
from memory.model import Audience, Episode, Role, Scope, Visibility
from memory.ports import Store
from memory.rules.retrieval.config import RetrievalConfig
from tests import CHECKOUT
from tests.doubles.looking import QUESTION, Looking
from tests.doubles.memory_world import World, scope

FINDING = {"prompt", "memory", "why_by_id", "topics", "ratings"}
IN_THE_PLACE = {"why_by_message", "retry"}
"""Ways that begin with a message, which only its channel has."""
GOAL = f"{QUESTION} of the lab"
ANSWER = "under the green mat"
WAITING = "which plant wants water"
"""Another question of ana's: she alone approved its answer, so it waits for a teacher."""
ROLES = {"ana": Role.MEMBER, "bob": Role.MEMBER, "tea": Role.TEACHER}

README = (CHECKOUT / "memory" / "README.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in README.splitlines()
    if line.startswith(("| public", "| private", "| shared", "| direct"))
]


def shown_to(word: str, person: str) -> set[str]:
    """The ways that show something, of those that the table's word stands for: ana asked, bob voted, tea may review."""
    own = {"history"} if person == "ana" else set()
    reviewed = {"review"} if person == "tea" else set()
    ways = {
        "nothing": set[str](),
        "own": FINDING,
        "lessons": FINDING | reviewed,
        "everything": FINDING | IN_THE_PLACE | own | reviewed,
    }[word]
    return ways if person != "tea" else ways - {"ratings"}  # She has rated nothing.


def team(person: str, channel: str, visibility: Visibility) -> Scope:
    return scope(person, channel=channel, visibility=visibility)


def lived(store: Store, was: Visibility, then: list[Visibility]) -> tuple[World, Episode]:
    """Ana asks where the channel is one thing, bob and an administrator approve; then the channel becomes others."""
    world = World(store, RetrievalConfig(env_threshold=0.0, top_k=None, final_k=99, min_intent=0.0))
    here = team("ana", "c1" if was is not Visibility.DIRECT else "dm-ana", was)
    answer = world.ask(GOAL, ANSWER, of=here)
    for person in ("ana", "bob"):
        world.react(answer, by=person)
    world.react(world.ask(WAITING, "the fern", of=here), by="ana")
    # So that it counts in every circle it can.
    widest = Audience.WORKSPACE if was is Visibility.PUBLIC else Audience.CHANNEL
    world.react(answer, by="boss", role=Role.ADMIN)
    world.memory.curation.promote(answer.workspace, answer.id, widest, actor="boss", role=Role.ADMIN)
    for visibility in then:
        world.memory.channels.note(team("tea", "c1", visibility))
    return world, answer


@pytest.fixture
def store() -> Store:
    return SqlStore.in_memory()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} to {row[1]}")
def test_who_is_shown_what(store: Store, row: list[str]) -> None:
    was, changes, in_it, elsewhere, shared, own, others = row
    now = [Visibility(each) for each in changes.split(", then ")]
    world, answer = lived(store, Visibility(was), now)
    place = (answer.channel, now[-1])
    people = ["ana"] if now[-1] is Visibility.DIRECT else list(ROLES)
    seats = [(team(person, *place), in_it) for person in people]
    for person in ROLES:
        seats.append((team(person, "pub", Visibility.PUBLIC), elsewhere))
        seats.append((team(person, "priv", Visibility.PRIVATE), elsewhere))
        seats.append((team(person, "ext", Visibility.SHARED), shared))
        seats.append((team(person, f"dm-{person}", Visibility.DIRECT), own if person == "ana" else others))
    for here, word in seats:
        shown = Looking(world.memory, here, ROLES[here.person], [answer]).everything()
        review = shown.pop("review")
        found = {way for way, text in shown.items() if GOAL in text or ANSWER in text}
        found |= {"review"} if WAITING in review else set()
        assert found == shown_to(word, here.person), (here.channel, here.person)
    assert world.memory.audit.check() == []


def test_the_table_has_a_row_for_every_change_of_one_visibility_to_another() -> None:
    kinds = [each.value for each in Visibility if each is not Visibility.DIRECT]
    wanted = {(was, now) for was in kinds for now in kinds}
    assert wanted <= {(row[0], row[1]) for row in ROWS}
