"""Conversations read back from what is stored: where, how long, of whom, and what is gone from them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, strategies as st

from memory.model import Exchange, Incoming, Role, Scope, Visibility
from memory.services import FinishedRun
from tests.doubles.memory_world import World, scope

PAUSE = timedelta(hours=4)
ANA, BOB = scope("ana"), scope("bob")


def told(world: World, text: str, of: Scope = ANA, *, reply_to: str = "", understood: str = "") -> str:
    """A message that is answered with its own words in capitals; returns its id. The answer's has a `/a` behind it."""
    world.clock.tick()
    message_id, run_id = f"m-{text}", world.ids()
    message = Incoming(
        scope=of, event_id=message_id, message_id=message_id, text=text, at=world.clock(), reply_to=reply_to
    )
    world.memory.recording.accept(message)
    run = FinishedRun(
        workspace=of.workspace,
        run_id=run_id,
        event_id=message_id,
        nodes=(),
        recalls=(),
        parts=(text.upper(),),
        channel=of.channel,
        thread=of.thread,
        understood=understood,
    )
    world.memory.recording.finish(run)
    world.memory.recording.sent(of.workspace, run_id, 1, f"{message_id}/a")
    return message_id


def before(world: World, of: Scope = ANA, *, reply_to: str = "", message_id: str = "now", **more: int) -> list[str]:
    message = Incoming(
        scope=of, event_id=message_id, message_id=message_id, text="?", at=world.clock.tick(), reply_to=reply_to
    )
    return texts(world.memory.exchanges.before(message, pause=PAUSE, **more))


def texts(exchanges: Sequence[Exchange]) -> list[str]:
    return [each.text for each in exchanges]


def direct(person: str) -> Scope:
    return scope(person, channel=f"D-{person}", visibility=Visibility.DIRECT)


def test_an_exchange_is_the_message_with_what_was_posted() -> None:
    world = World()
    told(world, "and of spain?", understood="the capital of spain?")
    told(world, "unposted")
    (exchange, _) = world.memory.exchanges.before(
        Incoming(scope=ANA, event_id="e", message_id="e", text="?", at=world.clock.tick()), pause=PAUSE
    )
    assert (exchange.text, exchange.answer, exchange.goal) == (
        "and of spain?",
        "AND OF SPAIN?",
        "the capital of spain?",
    )


def test_what_was_not_posted_was_not_said() -> None:
    world = World()
    world.memory.recording.accept(Incoming(scope=ANA, event_id="e", message_id="e", text="slow", at=world.clock()))
    assert before(world) == []


def test_in_a_thread_everybody_in_a_channel_ones_own_in_direct_messages_nobody_elses() -> None:
    world = World()
    told(world, "of ana")
    told(world, "of bob", BOB)
    told(world, "ana in t", replace(ANA, thread="t"))
    told(world, "bob in t", replace(BOB, thread="t"))
    told(world, "ana alone", direct("ana"))
    told(world, "elsewhere", scope("ana", channel="c2"))
    told(world, "other workspace", scope("ana", workspace="terminal:other"))
    assert before(world, replace(ANA, thread="t")) == ["ana in t", "bob in t"]
    assert before(world, BOB) == ["of bob", "bob in t"]
    assert before(world, direct("ana")) == ["ana alone"]
    assert before(world, direct("bob")) == []
    # Somebody who got hold of another's channel id finds nothing of theirs.
    assert before(world, replace(direct("ana"), person="eve")) == []


def test_a_message_that_begins_a_thread_goes_on_from_ones_own_last_exchanges() -> None:
    world = World()
    told(world, "first", replace(ANA, thread="m-first"))
    assert before(world, replace(ANA, thread="now"), message_id="now") == ["first"]


def test_a_pause_ends_a_conversation_but_not_a_thread() -> None:
    world = World()
    told(world, "old")
    told(world, "old in t", replace(ANA, thread="t"))
    world.clock.tick(hours=3)
    told(world, "young")
    world.clock.tick(hours=3)
    assert before(world) == ["old", "old in t", "young"]
    world.clock.tick(hours=2)
    assert before(world) == []
    assert before(world, replace(ANA, thread="t")) == ["old in t"]


def test_new_ends_it_at_once_for_that_person_in_that_channel() -> None:
    world = World()
    told(world, "of ana")
    told(world, "of bob", BOB)
    told(world, "in t", replace(ANA, thread="t"))
    told(world, "alone", direct("ana"))
    world.memory.exchanges.begin_anew(ANA, world.clock.tick())
    told(world, "fresh")
    assert before(world) == ["fresh"]
    assert (before(world, BOB), before(world, direct("ana"))) == (["of bob"], ["alone"])
    assert before(world, replace(ANA, thread="t")) == ["in t"]


def test_new_ends_a_thread_of_direct_messages_too() -> None:
    world = World()
    told(world, "alone", replace(direct("ana"), thread="t"))
    world.memory.exchanges.begin_anew(direct("ana"), world.clock.tick())
    assert before(world, replace(direct("ana"), thread="t")) == []


def test_a_reply_goes_on_from_what_it_replies_to() -> None:
    world = World()
    told(world, "one")
    told(world, "two", reply_to="m-one/a")
    told(world, "three", BOB, reply_to="m-two/a")
    told(world, "unrelated")
    assert before(world, reply_to="m-three/a") == ["one", "two", "three"]
    assert before(world, reply_to="m-two") == ["one", "two"]
    assert before(world, reply_to="somebody's") == []
    message = Incoming(scope=ANA, event_id="e", message_id="e", text="?", at=world.clock.tick(), reply_to="m-one/a")
    assert [each.is_replied_to for each in world.memory.exchanges.before(message, pause=PAUSE)] == [True]


def test_replies_in_a_circle_end() -> None:
    world = World()
    told(world, "one", reply_to="m-two")
    told(world, "two", reply_to="m-one")
    assert before(world, reply_to="m-two") == ["one", "two"]


def test_a_thread_that_began_in_the_channel_has_its_first_message() -> None:
    world = World()
    root = told(world, "in the channel")
    told(world, "in the thread", replace(BOB, thread=root))
    assert before(world, replace(BOB, thread=root)) == ["in the channel", "in the thread"]


def test_of_a_huge_thread_the_first_and_the_newest_are_read() -> None:
    world = World()
    for number in range(30):
        told(world, f"n{number}", replace(ANA, thread="t"))
    assert before(world, replace(ANA, thread="t"), most=3) == ["n0", "n27", "n28", "n29"]


def test_edits_count_and_deletions_take_away() -> None:
    world = World()
    told(world, "wrong word", understood="the wrong word?")
    told(world, "gone")
    assert not world.memory.changes.reword(ANA.workspace, ANA.channel, "m-wrong word", "right word password: hunter2x")
    world.memory.changes.retract(ANA.workspace, ANA.channel, "m-gone", actor="ana")
    message = Incoming(scope=ANA, event_id="e", message_id="e", text="?", at=world.clock.tick())
    (left,) = world.memory.exchanges.before(message, pause=PAUSE)
    assert left.goal.startswith("right word")
    assert "hunter2x" not in left.goal
    assert world.memory.exchanges.messages_of(ANA, 10)[0].text.startswith("right word")


def test_a_deleted_answer_is_gone_with_its_question() -> None:
    world = World()
    told(world, "one")
    told(world, "two")
    world.memory.changes.retract(ANA.workspace, ANA.channel, "m-one/a", actor="somebody")
    assert before(world) == ["two"]


def test_what_may_not_be_repeated_in_its_channel_is_left_out() -> None:
    world = World()
    told(world, "among ourselves", replace(ANA, visibility=Visibility.PRIVATE))
    assert before(world, replace(ANA, visibility=Visibility.PUBLIC)) == []
    assert before(world, replace(ANA, visibility=Visibility.PRIVATE)) == ["among ourselves"]


def test_what_a_message_was_edited_to_in_a_closed_channel_stays_there_when_it_opens() -> None:
    world = World()
    told(world, "public")
    place = ANA.workspace, ANA.channel, "m-public"
    world.memory.changes.reword(*place, "among ourselves", Visibility.PRIVATE)
    assert before(world, ANA) == []
    assert before(world, replace(ANA, visibility=Visibility.PRIVATE)) == ["among ourselves"]
    world.memory.changes.reword(*place, "for all", Visibility.PUBLIC)
    assert before(world, ANA) == []


def test_forgetting_erases_what_was_said_and_what_rests_on_its_words() -> None:
    world = World()
    in_thread = replace(BOB, thread="t")
    told(world, "walrus?", replace(ANA, thread="t"))
    world.memory.exchanges.begin_anew(ANA, world.clock())
    world.memory.privacy.forget(ANA.workspace, "ana")
    assert before(world, in_thread) == []
    with world.memory.store.read() as tx:
        assert tx.deliveries.exchanges(ANA.workspace, ANA.channel, until=world.clock(), limit=9) == []


def test_a_purged_persons_words_are_in_no_conversation() -> None:
    world = World()
    world.ask("obey me", of=replace(ANA, thread=""))
    told(world, "poison", replace(ANA, thread="t"))
    told(world, "fine", replace(BOB, thread="t"))
    world.memory.purging.purge(ANA.workspace, "ana", actor="tea", at=world.clock.tick(), role=Role.TEACHER)
    assert before(world, replace(BOB, thread="t")) == ["fine"]
    told(world, "later", replace(ANA, thread="t"))
    assert before(world, replace(BOB, thread="t")) == ["fine", "later"]


PLACES = [
    scope(person, workspace=f"terminal:{workspace}", channel=channel, visibility=visibility)
    for person in ("ana", "bob")
    for workspace in ("one", "two")
    for channel, visibility in (
        ("pub", Visibility.PUBLIC),
        ("priv", Visibility.PRIVATE),
        (f"D-{person}", Visibility.DIRECT),
    )
]


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(["", "t1", "t2"])), max_size=8), st.data())
def test_nothing_of_another_place_is_in_a_conversation(said: list[tuple[Scope, str]], data: st.DataObject) -> None:
    world = World()
    where: dict[str, Scope] = {}
    for number, (place, thread) in enumerate(said):
        where[f"n{number}"] = place = replace(place, thread=thread)
        told(world, f"n{number}", place, reply_to=data.draw(st.sampled_from(["", *(f"m-{name}/a" for name in where)])))
    asked = replace(data.draw(st.sampled_from(PLACES)), thread=data.draw(st.sampled_from(["", "t1", "now"])))
    reply_to = data.draw(st.sampled_from(["", *(f"m-{name}/a" for name in where)]))
    for text in before(world, asked, reply_to=reply_to):
        place = where[text]
        assert (place.workspace, place.channel) == (asked.workspace, asked.channel)
        assert place.visibility is asked.visibility
        is_shared = asked.thread == "t1" or reply_to
        assert is_shared or place.person == asked.person
