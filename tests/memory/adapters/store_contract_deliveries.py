"""What every store does with messages and the parts of their answers."""

from dataclasses import replace
from datetime import timedelta

import pytest

from memory.errors import NotFound
from memory.model import (
    Channel,
    PostedPart,
    Progress,
    Visibility,
)
from memory.ports import Store, Transaction
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import (
    NOW,
    at,
    episode,
    incoming,
    outgoing,
    reaction,
)


class DeliveriesContract(StoreCase):
    """Messages, and the parts of their answers."""

    def test_a_message_is_accepted_once(self, store: Store) -> None:
        first = incoming("ev1", message_id="m1")
        with store.write() as tx:
            assert tx.deliveries.accept(first)
            assert not tx.deliveries.accept(incoming("ev1", message_id="m2"))
            assert not tx.deliveries.accept(incoming("ev2", message_id="m1"))
            assert tx.deliveries.accept(incoming("ev2", message_id="m1", channel="C2"))
            assert tx.deliveries.accept(replace(incoming("ev3"), message_id=""))
            assert tx.deliveries.accept(replace(incoming("ev4"), message_id=""))
        with store.read() as tx:
            assert tx.deliveries.incoming("w", "ev1") == first
            assert tx.deliveries.incoming("w", "none") is None

    def test_progress_and_what_is_unfinished(self, store: Store) -> None:
        with store.write() as tx:
            for number, progress in enumerate(Progress):
                tx.deliveries.accept(incoming(f"ev{number}", seconds=-number))
                assert tx.deliveries.advance("w", f"ev{number}", Progress.ACCEPTED, progress, f"r{number}")
            tx.deliveries.put_outgoing(replace(outgoing(1), sent_at=None, message_id=""))
            tx.deliveries.accept(incoming("ev0", "v", seconds=-10))
            assert not tx.deliveries.advance("w", "ev1", Progress.ACCEPTED, Progress.DELIVERED)
            assert not tx.deliveries.advance("w", "none", Progress.ACCEPTED, Progress.ANSWERED)
        with store.read() as tx:
            assert unfinished_in(tx, "w") == ["ev1", "ev0"]
            assert [m.scope.workspace for m in tx.deliveries.unfinished()] == ["v", "w", "w"]
            found = tx.deliveries.incoming_of_run("w", "r0")
            assert tx.deliveries.incoming_of_run("w", "") is None
            assert tx.deliveries.incoming_of_run("w", "none") is None
        assert found is not None
        assert (found.event_id, found.progress, found.run_id) == ("ev0", Progress.ACCEPTED, "r0")

    def test_the_message_of_a_run_moves_only_from_where_it_is(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("w", "v"):
                tx.deliveries.accept(incoming("ev1", workspace))
                tx.deliveries.accept(incoming("ev2", workspace))
                tx.deliveries.advance(workspace, "ev1", Progress.ACCEPTED, Progress.ANSWERED, "r1")
                tx.deliveries.put_outgoing(replace(outgoing(1, workspace), sent_at=None, message_id=""))
            for run, before in (("r1", Progress.ACCEPTED), ("r2", Progress.ANSWERED), ("", Progress.ACCEPTED)):
                assert not tx.deliveries.advance_run("w", run, before, Progress.UNDELIVERABLE)
            assert tx.deliveries.advance_run("w", "r1", Progress.ANSWERED, Progress.UNDELIVERABLE)
            assert not tx.deliveries.advance_run("w", "r1", Progress.ANSWERED, Progress.UNDELIVERABLE)
        with store.read() as tx:
            assert unfinished_in(tx, "w") == ["ev2"]
            assert unfinished_in(tx, "v") == ["ev1", "ev2"]
            moved = tx.deliveries.incoming_of_run("w", "r1")
        assert moved is not None
        assert moved.progress is Progress.UNDELIVERABLE

    def test_what_was_set_aside_is_unfinished_until_its_asker_was_told(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("w", "v"):
                tx.deliveries.accept(incoming("ev1", workspace))
                tx.deliveries.accept(incoming("ev2", workspace, seconds=1))
                for run in ("r1", "r2"):
                    tx.deliveries.put_outgoing(replace(outgoing(1, workspace), run_id=run))
                    tx.deliveries.put_outgoing(replace(outgoing(2, workspace), run_id=run, sent_at=None))
                    event_id = run.replace("r", "ev")
                    assert tx.deliveries.advance(workspace, event_id, Progress.ACCEPTED, Progress.SET_ASIDE, run)
            assert unfinished_in(tx, "w") == ["ev1", "ev2"]
            assert tx.deliveries.drop_unsent("w", "r1")
            assert not tx.deliveries.drop_unsent("w", "r1")
            assert [part.part for part in tx.deliveries.outgoing("w", "r1")] == [1]
        with store.read() as tx:
            assert unfinished_in(tx, "w") == ["ev2"]
            assert unfinished_in(tx, "v") == ["ev1", "ev2"]
            aside = [(m.scope.workspace, m.event_id) for m in tx.deliveries.set_aside()]
        assert aside == [("w", "ev2"), ("v", "ev2"), ("w", "ev1"), ("v", "ev1")]

    def test_deaths_are_kept_with_their_message(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("w", "v"):
                tx.deliveries.accept(incoming("ev1", workspace))
            tx.deliveries.put_exit_counts("w", "ev1", crashes=1, kills=4)
            tx.deliveries.put_exit_counts("w", "none", crashes=1, kills=4)
        with store.read() as tx:
            found = [tx.deliveries.incoming(workspace, "ev1") for workspace in ("w", "v")]
            assert tx.deliveries.incoming("w", "none") is None
        assert [(m.crashes, m.kills) for m in found if m is not None] == [(1, 4), (0, 0)]

    def test_a_message_is_found_by_its_place_and_reworded(self, store: Store) -> None:
        with store.write() as tx:
            tx.deliveries.accept(incoming("ev1", message_id="m1"))
            tx.deliveries.accept(incoming("ev1", "v", message_id="m1"))
            tx.deliveries.reword("w", "ev1", "said better")
            with pytest.raises(NotFound):
                tx.deliveries.reword("w", "none", "said better")
        with store.read() as tx:
            found = tx.deliveries.incoming_of_message("w", "C1", "m1")
            foreign = tx.deliveries.incoming_of_message("v", "C1", "m1")
            for nowhere in (("w", "C2", "m1"), ("w", "C1", "m2"), ("w", "C1", ""), ("u", "C1", "m1")):
                assert tx.deliveries.incoming_of_message(*nowhere) is None
        assert found is not None
        assert foreign is not None
        assert (found.text, foreign.text) == ("said better", incoming("ev1", "v").text)

    def test_a_message_is_answered_once(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("w", "v"):
                tx.deliveries.accept(replace(incoming("ev1", workspace), asked_by="bo"))
            tx.channels.put(Channel(workspace="v", channel="C1", visibility=Visibility.PRIVATE, since=NOW))
            answered = replace(incoming("ev1", run_id="r1"), asked_by="bo", progress=Progress.ANSWERED)
            tx.deliveries.put_outgoing(replace(outgoing(1), sent_at=None, message_id=""))
            assert tx.deliveries.answer("w", "ev1", "r1") == answered
            assert tx.deliveries.answer("w", "ev1", "r2") is None
            assert tx.deliveries.answer("w", "ev9", "r1") is None
            assert tx.deliveries.incoming("w", "ev1") == answered
            other = tx.deliveries.answer("v", "ev1", "r1")
            assert other is not None
            assert (other.channel_visibility, other.scope.workspace) == (Visibility.PRIVATE, "v")

    def test_a_part_is_noted_as_sent_once_with_what_follows_from_it(self, store: Store) -> None:
        unsent = replace(outgoing(1), sent_at=None, message_id="")
        with store.write() as tx:
            tx.deliveries.put_outgoing(unsent, replace(unsent, part=2), replace(unsent, run_id="r2"))
            tx.teaching.put_reaction(reaction(message_id="m1"))
            tx.episodes.put(episode("e0", step_number=2), episode("e1"), episode("e2", "v"))
            tx.teaching.put_reaction(reaction("v", message_id="m1", run_id=""))
            tx.teaching.put_reaction(reaction(message_id="m2", run_id=""))
            tx.teaching.put_reaction(reaction(message_id="m3"))
            assert tx.deliveries.post("w", "r1", 1, "m1", at(1)) == PostedPart(
                channel="C1", root_id="e1", has_early_reactions=False
            )
            assert tx.deliveries.post("w", "r1", 1, "m9", at(2)) is None
            assert tx.deliveries.post("w", "r1", 3, "m9", at(2)) is None
            assert tx.deliveries.post("v", "r1", 1, "m9", at(2)) is None
            overtaken = tx.deliveries.post("w", "r1", 2, "m2", at(1))
            assert overtaken == PostedPart(channel="C1", root_id="e1", has_early_reactions=True)
            rootless = tx.deliveries.post("w", "r2", 1, "m3", at(1))
            assert rootless == PostedPart(channel="C1", root_id="", has_early_reactions=False, is_of_another=True)
        with store.read() as tx:
            sent = [(part.part, part.message_id, part.sent_at) for part in tx.deliveries.outgoing("w", "r1")]
            assert sent == [(1, "m1", at(1)), (2, "m2", at(1))]

    def test_the_runs_that_reactions_on_a_message_belong_to(self, store: Store) -> None:
        with store.write() as tx:
            assert tx.teaching.runs_reacted_to("w", "C1", "m1") == set()
            for run_id in ("", "r1", "r2"):
                tx.teaching.put_reaction(reaction(run_id=run_id, source=run_id, is_active=run_id != "r2"))
            tx.teaching.put_reaction(reaction("v", run_id="r3"))
            tx.teaching.put_reaction(reaction(run_id="r4", message_id="m2"))
        with store.read() as tx:
            assert tx.teaching.runs_reacted_to("w", "C1", "m1") == {"r1", "r2"}
            assert tx.teaching.runs_reacted_to("w", "C2", "m1") == set()

    def test_an_answer_is_delivered_when_every_part_is_sent(self, store: Store) -> None:
        unsent = replace(outgoing(1), sent_at=None, message_id="")
        with store.write() as tx:
            for workspace in ("w", "v"):
                tx.deliveries.accept(incoming("ev1", workspace))
                tx.deliveries.put_outgoing(replace(unsent, workspace=workspace), outgoing(2, workspace))
            for workspace in ("w", "v"):
                tx.deliveries.answer(workspace, "ev1", "r1")
            assert _progress(tx, "w", "v") == [Progress.ANSWERED, Progress.ANSWERED]
            tx.deliveries.post("w", "r1", 1, "m1", NOW)
            assert _progress(tx, "w", "v") == [Progress.DELIVERED, Progress.ANSWERED]
            assert [each.scope.workspace for each in tx.deliveries.unfinished()] == ["v"]
            assert not tx.deliveries.advance_run("w", "r1", Progress.ANSWERED, Progress.UNDELIVERABLE)
            assert not tx.deliveries.advance("w", "ev1", Progress.ANSWERED, Progress.UNDELIVERABLE)
            assert tx.deliveries.advance_run("v", "r1", Progress.ANSWERED, Progress.UNDELIVERABLE)

    def test_a_thread_counts_as_answered_once_a_part_was_sent(self, store: Store) -> None:
        unsent = replace(outgoing(1), sent_at=None, message_id="", thread="t1")
        with store.write() as tx:
            tx.deliveries.put_outgoing(unsent)
        with store.read() as tx:
            assert not tx.deliveries.has_sent("w", unsent.channel, "t1")
        with store.write() as tx:
            tx.deliveries.put_outgoing(replace(outgoing(1), thread="t1"))
        with store.read() as tx:
            assert tx.deliveries.has_sent("w", unsent.channel, "t1")
            for nowhere in (("v", unsent.channel, "t1"), ("w", "C9", "t1"), ("w", unsent.channel, "t2")):
                assert not tx.deliveries.has_sent(*nowhere)

    def test_whose_question_was_answered_last_in_a_thread(self, store: Store) -> None:
        with store.write() as tx:
            for number, person in enumerate(("ana", "bo", "cy"), start=1):
                message = incoming(f"ev{number}", run_id=f"r{number}")
                tx.deliveries.accept(replace(message, scope=replace(message.scope, person=person)))
                sent_at = NOW + timedelta(seconds=number) if person != "cy" else None
                tx.deliveries.put_outgoing(replace(outgoing(1), run_id=f"r{number}", thread="t1", sent_at=sent_at))
        with store.read() as tx:
            assert tx.deliveries.asker_in("w", "C1", "t1") == "bo"
            for nowhere in (("v", "C1", "t1"), ("w", "C9", "t1"), ("w", "C1", "t2")):
                assert tx.deliveries.asker_in(*nowhere) == ""

    def test_what_a_person_said_is_newest_first(self, store: Store) -> None:
        with store.write() as tx:
            for number, channel in enumerate(("C1", "C2", "C1")):
                tx.deliveries.accept(incoming(f"ev{number}", seconds=number, channel=channel))
        with store.read() as tx:
            assert [m.event_id for m in tx.deliveries.messages_of("w", "C1", "ana", 10)] == ["ev2", "ev0"]
            assert [m.event_id for m in tx.deliveries.messages_of("w", "", "ana", 2)] == ["ev2", "ev1"]
            assert tx.deliveries.messages_of("w", "C1", "bo", 10) == []

    def test_parts_are_in_order_and_replaced(self, store: Store) -> None:
        sent = outgoing(2)
        unsent = replace(outgoing(1), sent_at=None, message_id="")
        with store.write() as tx:
            for part in (outgoing(10), replace(sent, text="draft"), unsent, sent):
                tx.deliveries.put_outgoing(part)
        with store.read() as tx:
            assert tx.deliveries.outgoing("w", "r1") == [unsent, sent, outgoing(10)]

    def test_what_one_person_said_is_erased_with_the_answers(self, store: Store) -> None:
        with store.write() as tx:
            tx.deliveries.accept(incoming("ev1", run_id="r1"))
            tx.deliveries.accept(incoming("ev2"))
            other = incoming("ev3", run_id="r3")
            tx.deliveries.accept(replace(other, scope=replace(other.scope, person="bo")))
            for run in ("r1", "r3", ""):
                tx.deliveries.put_outgoing(outgoing(1, run_id=run))
            assert tx.deliveries.delete_by("w", "ana") == 2
            assert tx.deliveries.outgoing("w", "r1") == []
            assert [len(tx.deliveries.outgoing("w", run)) for run in ("r3", "")] == [1, 1]
            assert tx.deliveries.incoming("w", "ev1") is None
            tx.deliveries.delete_runs("w", ["r3"])
            assert tx.deliveries.outgoing("w", "r3") == []
            assert tx.deliveries.incoming("w", "ev3") is not None

    def test_what_is_tried_again_is_its_askers_words(self, store: Store) -> None:
        again = replace(incoming("ev2", run_id="r2"), asked_by="bo")
        with store.write() as tx:
            assert tx.deliveries.accept(incoming("ev1", run_id="r1"))
            assert tx.deliveries.accept(again)
            assert not tx.deliveries.accept(replace(again, asked_by="cy"))
            tx.deliveries.put_outgoing(outgoing(1, run_id="r2"))
        with store.read() as tx:
            assert tx.deliveries.incoming("w", "ev2") == again
            assert tx.deliveries.incoming_of_run("w", "r2") == again
            assert tx.deliveries.incoming_of_message("w", "C1", "m-ev2") == again
            assert [each.asked_by for each in tx.deliveries.unfinished()] == ["", "bo"]
            assert [each.event_id for each in tx.deliveries.messages_of("w", "", "ana", 9)] == ["ev1"]
            assert tx.deliveries.messages_of("w", "", "bo", 9) == []
        with store.write() as tx:
            assert tx.deliveries.delete_by("w", "bo") == 1
            assert tx.deliveries.incoming("w", "ev2") is None
            assert tx.deliveries.outgoing("w", "r2") == []
            assert tx.deliveries.delete_by("w", "ana") == 1


def _progress(tx: Transaction, *workspaces: str) -> list[Progress]:
    found = [tx.deliveries.incoming(each, "ev1") for each in workspaces]
    return [each.progress for each in found if each is not None]


def unfinished_in(tx: Transaction, workspace: str) -> list[str]:
    return [each.event_id for each in tx.deliveries.unfinished() if each.scope.workspace == workspace]
