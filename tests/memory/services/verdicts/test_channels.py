"""What is indexed anew when a channel's visibility is noted, and how few episodes are read for that."""

from dataclasses import replace
from itertools import product

import pytest

from memory.adapters.sql import SqlStore
from memory.model import Episode, Origin, Verdict, Verdicts, Visibility
from memory.ports import EpisodeFilter
from memory.rules.audience import index_entries_of, visibility_of
from memory.services.core import update_index
from memory.services.verdicts import channels
from tests.doubles.memory_world import World, scope
from tests.doubles.pages import counted_statements
from tests.memory.adapters.store_samples import episode

W = "terminal:w"
YES = Verdict.SUCCESS
NOTED = [each for each in Visibility if each is not Visibility.DIRECT]
KINDS: list[dict[str, object]] = [
    {"verdicts": Verdicts(personal=YES, channel=YES, workspace=YES)},
    {"verdicts": Verdicts(personal=YES), "author": "bo", "origin": Origin.CORRECTION},
    {"verdicts": Verdicts(proposed=YES)},
    {},
]
EVERY = EpisodeFilter(channel="c1", limit=None)


def filled(known: Visibility | None) -> World:
    """A world with episodes of every visibility and kind in one channel, of which this visibility is known."""
    world = World()
    with world.memory.store.write() as tx:
        for number, (visibility, kind) in enumerate(product(Visibility, KINDS)):
            tx.episodes.put(episode(f"e{number}", W, channel="c1", visibility=visibility, **kind))
            tx.episodes.put_vector(W, f"e{number}", world.memory.embedder.name, world.memory.embedder.embed(["x"])[0])
        if known is not None:
            channels.store_visibility(tx, scope(visibility=known), world.clock())
        for each in tx.episodes.search(W, EVERY):
            update_index(tx, each)
    return world


def statements(lessons: int) -> int:
    """How many statements it takes to file a channel's lessons anew."""
    store = SqlStore.in_memory()
    world = World(store)
    for number in range(lessons):
        world.react(world.ask(f"where is key {number}?", f"under mat {number}"))
    with counted_statements(store) as asked:
        assert world.memory.channels.note(scope(visibility=Visibility.PRIVATE))
    return len(asked)


def test_many_lessons_are_filed_anew_by_as_many_statements_as_few() -> None:
    assert statements(2) == statements(20)


@pytest.mark.parametrize("now", NOTED)
@pytest.mark.parametrize("known", [None, *NOTED])
def test_only_what_others_may_see_now_is_read_and_all_is_filed_as_it_should_be(
    monkeypatch: pytest.MonkeyPatch, known: Visibility | None, now: Visibility
) -> None:
    world = filled(known)
    read: set[str] = set()

    def noted(each: Episode) -> object:
        read.add(each.id)
        return index_entries_of(each)

    monkeypatch.setattr(channels, "index_entries_of", noted)
    with world.memory.store.write() as tx:
        before = {each.id: visibility_of(each) for each in tx.episodes.search(W, EVERY)}
        channels.store_visibility(tx, scope(visibility=now), world.clock())
        after = tx.episodes.search(W, EVERY)
        assert {each.id: tx.episodes.index_of(W, each.id) for each in after} == {
            each.id: index_entries_of(each) for each in after
        }
    assert {each.channel_visibility for each in after} == {now}
    assert read == {each.id for each in after if visibility_of(each) is not before[each.id]}
    if known is None:
        assert not read & {each.id for each in after if each.visibility is now}


def test_a_renamed_channel_has_its_new_name_everywhere_and_its_lessons_stay_as_they_are() -> None:
    world = World()
    here, private = scope(), scope(channel="p1", visibility=Visibility.PRIVATE)
    direct = scope(channel="D-ana", visibility=Visibility.DIRECT)
    answers = [world.ask("where is the key?", of=each) for each in (here, private, direct)]
    world.react(answers[0])
    rename = world.memory.channels.rename
    for place in (here, private, direct):
        rename(replace(place, place="#new"))
    rename(replace(here, place=here.channel))  # an id, as the platform does not tell the name
    assert [world.episode(each).place for each in answers] == ["#new", "#new", "#D-ana"]
    assert world.recalled("where is the key?") == [answers[0].id]
    assert world.memory.audit.check() == []
