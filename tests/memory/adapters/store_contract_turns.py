"""What every store does with the turns of messages that several processes answer."""

from dataclasses import replace
from datetime import timedelta

from memory.model import Incoming, Progress, Turn, Visibility
from memory.model.upkeep import Lease
from memory.ports import LeasedMessage, Store, Transaction
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import NOW, incoming, outgoing

LATER = NOW + timedelta(seconds=7)
"""When whoever lived at first, and did not say so again, counts as dead."""


def said(event_id: str, *, by: str = "", seconds: float = 0, thread: str = "t", person: str = "ana") -> Incoming:
    """A message of a workspace on a platform, held by a process."""
    message = incoming(event_id, "slack:w", seconds=seconds)
    visibility = message.scope.visibility if thread else Visibility.PUBLIC
    scope = replace(message.scope, thread=thread, person=person, visibility=visibility)
    return replace(message, held_by=by, scope=scope)


def accept(tx: Transaction, *messages: Incoming) -> list[Turn]:
    """Accept them one after the other; which turn each is given."""
    accepted = [tx.deliveries.accept(message) for message in messages]
    return [each.turn for each in accepted if each is not None]


def live(tx: Transaction, *processes: str, seconds: float = 6) -> None:
    """Let these processes live for so long from `NOW` on."""
    for name in processes:
        until = NOW + timedelta(seconds=seconds)
        assert tx.upkeep.take_lease(Lease(name=f"process/{name}", owner=name, until=until), NOW)


def taken(tx: Transaction, process: str, *, later: bool = False, limit: int = 9) -> list[str]:
    """The event ids that a process takes."""
    found = tx.conversation_leases.take(process, "slack:w", LATER if later else NOW, limit)
    return [each.event_id for each in found]


class TurnsContract(StoreCase):
    """Which process answers which message."""

    def test_the_first_message_of_a_conversation_has_its_turn_at_once_and_the_next_waits(self, store: Store) -> None:
        with store.write() as tx:
            live(tx, "p", "q")
            assert accept(tx, said("1", by="p"), said("2", by="q", seconds=1)) == [Turn.HAS, Turn.WAITS]
            assert accept(tx, said("3", by="q", thread="other")) == [Turn.HAS]
            assert accept(tx, said("4", by="p", thread=""), said("5", by="p", thread="", person="bo")) == [Turn.HAS] * 2
            assert taken(tx, "p") == taken(tx, "q") == []
            assert [each.event_id for each in tx.conversation_leases.held("q")] == ["3"]
        with store.read() as tx:
            kept = tx.deliveries.incoming("slack:w", "2")
        assert kept is not None
        assert (kept.held_by, kept.turn) == ("q", Turn.WAITS)

    def test_it_is_known_in_which_workspaces_something_waits_to_be_answered_or_posted(self, store: Store) -> None:
        unsent = replace(outgoing(1, "slack:w"), sent_at=None, message_id="")
        with store.write() as tx:
            assert tx.conversation_leases.unfinished_in() == set()
            accept(tx, said("1", by="p"), replace(incoming("1", "slack:v"), held_by="p"))
            assert tx.conversation_leases.unfinished_in() == {"slack:v", "slack:w"}
            tx.deliveries.answer("slack:w", "1", unsent.run_id)
            assert tx.deliveries.advance("slack:v", "1", Progress.ACCEPTED, Progress.WITHDRAWN)
            assert tx.conversation_leases.unfinished_in() == set()
            tx.deliveries.put_outgoing(unsent)
            assert tx.conversation_leases.unfinished_in() == {"slack:w"}

    def test_a_turn_is_over_when_every_part_of_the_answer_is_posted(self, store: Store) -> None:
        part = replace(outgoing(1, "slack:w"), sent_at=None, message_id="")
        with store.write() as tx:
            live(tx, "p", "q")
            accept(tx, said("1", by="p"), said("2", by="q", seconds=1))
            assert tx.deliveries.answer("slack:w", "1", "r1", "")
            tx.deliveries.put_outgoing(part)
            assert taken(tx, "q") == []
            assert accept(tx, said("3", by="p", seconds=2)) == [Turn.WAITS]
            assert tx.deliveries.post("slack:w", "r1", 1, "m1", NOW)
            assert (taken(tx, "p"), taken(tx, "q")) == ([], ["2"])
            assert tx.conversation_leases.held("p") == []

    def test_what_waits_goes_in_order_and_is_taken_by_whoever_holds_it(self, store: Store) -> None:
        with store.write() as tx:
            live(tx, "p", "q")
            accept(tx, said("1", by="p"), said("2", by="q", seconds=2), said("3", by="p", seconds=1))
            assert tx.deliveries.advance("slack:w", "1", Progress.ACCEPTED, Progress.WITHDRAWN)
            assert (taken(tx, "q"), taken(tx, "p"), taken(tx, "q")) == ([], ["3"], [])
            assert tx.deliveries.advance("slack:w", "3", Progress.ACCEPTED, Progress.WITHDRAWN)
            assert (taken(tx, "p"), taken(tx, "q")) == ([], ["2"])

    def test_of_a_dead_process_the_first_message_of_each_conversation_is_taken(self, store: Store) -> None:
        with store.write() as tx:
            live(tx, "p")
            live(tx, "q", seconds=60)
            accept(tx, said("1", by="p"), said("2", by="p", seconds=1), said("3", by="p", thread="other", seconds=2))
            assert taken(tx, "q") == []
            found = tx.conversation_leases.take("q", "slack:w", LATER, 9)
            assert found == [
                LeasedMessage(workspace="slack:w", event_id=each, holder_before="p") for each in ("1", "3")
            ]
            assert taken(tx, "q", later=True) == []
            assert [each.event_id for each in tx.conversation_leases.held("q")] == ["1", "3"]

    def test_what_nobody_holds_is_taken_once_and_only_in_its_workspace(self, store: Store) -> None:
        with store.write() as tx:
            live(tx, "p", "q")
            accept(tx, said("1"), said("2", thread="other", seconds=1), incoming("3", "discord:w"))
            assert (taken(tx, "p", limit=1), taken(tx, "q"), taken(tx, "p")) == (["1"], ["2"], [])

    def test_an_answer_that_nobody_alive_holds_is_taken_to_be_posted(self, store: Store) -> None:
        with store.write() as tx:
            live(tx, "q", seconds=60)
            accept(tx, said("1", by="p"))
            assert tx.deliveries.answer("slack:w", "1", "r1", "")
            assert taken(tx, "q") == []  # nothing is left to post
            tx.deliveries.put_outgoing(replace(outgoing(1, "slack:w"), sent_at=None, message_id=""))
            assert taken(tx, "q") == ["1"]

    def test_what_is_left_holds_up_nobody_until_its_process_dies(self, store: Store) -> None:
        with store.write() as tx:
            live(tx, "p")
            live(tx, "q", seconds=60)
            accept(tx, said("1", by="p"), said("2", by="q", seconds=1))
            tx.conversation_leases.leave("q", [("slack:w", "1")])
            assert taken(tx, "q") == []
            tx.conversation_leases.leave("p", [("slack:w", "1")])
            assert taken(tx, "q") == ["2"]
            assert accept(tx, said("3", by="p", seconds=2)) == [Turn.WAITS]
            assert taken(tx, "q", later=True) == []
            assert tx.deliveries.advance("slack:w", "2", Progress.ACCEPTED, Progress.WITHDRAWN)
            assert taken(tx, "q", later=True) == ["1"]

    def test_whoever_works_on_a_message_is_asked_to_stop(self, store: Store) -> None:
        with store.write() as tx:
            live(tx, "p")
            accept(tx, said("1", by="p"), said("2", by="p", seconds=1))
            here = tx.deliveries.being_answered("slack:w", "C1", "t", NOW)
            assert [each.event_id for each in here] == ["1"]
            assert tx.deliveries.being_answered("slack:w", "C1", "t", LATER) == []
            assert tx.conversation_leases.stop("slack:w", "1")
            assert not tx.conversation_leases.stop("slack:w", "1")
            assert not tx.conversation_leases.stop("slack:w", "2")
            assert tx.conversation_leases.held("p") == [
                LeasedMessage(workspace="slack:w", event_id="1", is_stopped=True)
            ]
            tx.conversation_leases.announce("stop")

    def test_the_dead_hold_no_lease(self, store: Store) -> None:
        with store.write() as tx:
            live(tx, "p")
            live(tx, "q", seconds=60)
            for name, owner in (("upkeep", "p"), ("grading", "q"), ("login", "a process before there were turns")):
                tx.upkeep.take_lease(Lease(name=name, owner=owner, until=NOW + timedelta(hours=1)), NOW)
            assert tx.conversation_leases.alive(NOW) == ["p", "q"]
            tx.conversation_leases.release_dead(NOW)
            assert tx.upkeep.lease("upkeep")
            tx.conversation_leases.release_dead(LATER)
            assert (tx.conversation_leases.alive(LATER), tx.upkeep.lease("upkeep")) == (["q"], None)
            assert tx.upkeep.lease("grading")
            assert tx.upkeep.lease("login")
