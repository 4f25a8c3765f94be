"""What every store must do with events, teaching, deliveries and recalls."""

from dataclasses import replace

import pytest

from memory.errors import NotFound
from memory.model import Channel, EventKind, Posted, Progress, Reaction, Role, Signal, Visibility
from memory.ports import EpisodeFilter, Store
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import (
    NOW,
    at,
    entry,
    episode,
    event,
    evidence,
    incoming,
    item,
    outgoing,
    reaction,
    retrieval,
    vote,
)


class TablesContract(StoreCase):
    """The log, teaching, deliveries and retrievals."""

    # the log

    def test_an_event_is_claimed_once(self, store: Store) -> None:
        with store.write() as tx:
            assert tx.log.claim("w", "ev", NOW)
            assert not tx.log.claim("w", "ev", at(1))
        with store.write() as tx:
            assert not tx.log.claim("w", "ev", NOW)
            assert tx.log.claim("w", "ev2", NOW)

    def test_an_event_comes_back_whole(self, store: Store) -> None:
        whole = replace(
            event("e1", EventKind.REGRADED, source="s"), detail={"from": "pending", "n": [1, {"é": None}], "ok": True}
        )
        with store.write() as tx:
            assert tx.log.append(whole)
        with store.read() as tx:
            (found,) = tx.log.of_episode("w", "e1")
        assert found.seq > 0
        assert replace(found, seq=0) == whole

    def test_of_several_events_those_with_a_known_source_are_left_out(self, store: Store) -> None:
        known, new = event("e1", EventKind.VOTED, source="s"), event("e2", EventKind.VOTED, source="s")
        plain = event("e1", EventKind.VOTED)
        with store.write() as tx:
            tx.log.append(known)
            tx.log.append(event("e2", EventKind.VOTED, "v", source="s"))
            assert tx.log.append(plain, known, new, plain, new, known) == [plain, new, plain]
            assert tx.log.append(known, new) == []
            assert tx.log.append() == []
        with store.read() as tx:
            assert [len(tx.log.of_episode("w", each)) for each in ("e1", "e2")] == [3, 1]

    def test_a_source_is_logged_once_per_episode_and_kind(self, store: Store) -> None:
        with store.write() as tx:
            assert tx.log.append(event("e1", EventKind.VOTED, source="s"))
            assert not tx.log.append(event("e1", EventKind.VOTED, source="s", actor="bo"))
            assert tx.log.append(event("e2", EventKind.VOTED, source="s"))
            assert tx.log.append(event("e1", EventKind.GRADED, source="s"))
            assert tx.log.append(event("e1", EventKind.VOTED))
            assert tx.log.append(event("e1", EventKind.VOTED))
        with store.read() as tx:
            assert len(tx.log.of_episode("w", "e1")) == 4

    def test_several_events_keep_their_order_and_the_known_ones_are_left_out(self, store: Store) -> None:
        known, twice = event("e2", EventKind.VOTED, source="s"), event("e1", EventKind.USED, source="s")
        others = [event("e1", kind) for kind in (EventKind.VOTED, EventKind.GRADED, EventKind.VOTED)]
        with store.write() as tx:
            assert tx.log.append() == []
            assert tx.log.append(known) == [known]
            assert tx.log.append(others[0], known, twice, others[1], twice, others[2]) == [
                others[0],
                twice,
                *others[1:],
            ]
            assert tx.log.append(known, twice) == []
            with pytest.raises(ValueError, match="workspace by workspace"):
                tx.log.append(others[0], event("e1", EventKind.VOTED, "v"))
        with store.read() as tx:
            log = tx.log.of_episode("w", "e1")
            assert [each.kind for each in log] == [EventKind.VOTED, EventKind.USED, EventKind.GRADED, EventKind.VOTED]
            assert len(tx.log.of_episode("w", "e2")) == 1
            assert tx.log.of_episode("v", "e1") == []

    def test_the_log_is_in_order(self, store: Store) -> None:
        kinds = [EventKind.VOTED, EventKind.CREATED, EventKind.UNVOTED, EventKind.GRADED]
        with store.write() as tx:
            tx.episodes.put(episode("e1"))
            tx.episodes.put(episode("e2", run_id="r2"))
            for kind in kinds:
                tx.log.append(event("e1", kind))
                tx.log.append(event("e2", kind, actor="bo"))
        with store.read() as tx:
            found = tx.log.of_episode("w", "e1")
            assert [e.kind for e in found] == kinds
            assert [e.seq for e in found] == sorted({e.seq for e in found})
            assert tx.log.of_run("w", "r1") == found
            assert tx.log.by_actor("w", "ana", kinds) == found[::-1]
            assert tx.log.by_actor("w", "ana", kinds[:2], limit=1) == [found[1]]
            assert tx.log.by_actor("w", "ana", []) == []

    def test_what_one_person_did_is_erased(self, store: Store) -> None:
        with store.write() as tx:
            for name, actor in [("e2", "ana"), ("e1", "ana"), ("e1", "bo"), ("e2", "ana"), ("e3", "bo")]:
                tx.log.append(event(name, EventKind.VOTED, actor=actor))
            assert tx.log.erase_actor("w", "ana") == ["e1", "e2"]
            assert tx.log.erase_actor("w", "ana") == []
            assert [e.actor for name in ("e1", "e2", "e3") for e in tx.log.of_episode("w", name)] == ["bo", "bo"]

    # teaching

    def test_a_reaction_comes_back_whole(self, store: Store) -> None:
        whole = reaction(value=-1, role=Role.GUEST, node_id="e2", is_active=False, at=at(0.000001))
        with store.write() as tx:
            tx.teaching.put_reaction(whole)
        with store.read() as tx:
            found = tx.teaching.reaction(whole.key)
            assert tx.teaching.reaction(reaction(actor="bo").key) is None
        assert found is not None
        assert replace(found, seq=0) == whole

    def test_reactions_are_registers_in_order_of_arrival(self, store: Store) -> None:
        def texts(found: list[Reaction]) -> list[tuple[str, int]]:
            return [(r.source, r.value) for r in found]

        with store.write() as tx:
            for source in ("a", "b", "c"):
                tx.teaching.put_reaction(reaction(source=source, at=at(-ord(source))))
            tx.teaching.put_reaction(reaction(source="a", value=-1, at=at(5), is_active=False))
            tx.teaching.put_reaction(reaction(source="z", actor="bo", run_id=""))
            tx.teaching.put_reaction(reaction(source="y", run_id="", message_id="m2"))
        with store.read() as tx:
            assert texts(tx.teaching.reactions_of_run("w", "r1")) == [("b", 1), ("c", 1), ("a", -1)]
            assert texts(tx.teaching.reactions_by("w", "ana")) == [("a", -1), ("y", 1), ("b", 1), ("c", 1)]
            assert texts(tx.teaching.unclaimed_reactions("w", "C1", "m1")) == [("z", 1)]
            arrived = [r.seq for r in tx.teaching.reactions_of_run("w", "r1")]
            assert arrived == sorted(set(arrived))
        with store.write() as tx:
            assert tx.teaching.delete_reactions("w", "ana") == 4
            assert texts(tx.teaching.reactions_by("w", "bo")) == [("z", 1)]

    def test_a_persons_votes_are_found_around_one_of_them(self, store: Store) -> None:
        early, late = replace(vote(), run_id="r2", at=at(-5)), vote()
        same, node = replace(vote(), run_id="r3"), replace(vote(), run_id="r3", node_id="e2")
        with store.write() as tx:
            tx.teaching.set_votes("w", "r1", [late, vote("bo")])
            tx.teaching.set_votes("w", "r2", [early])
            tx.teaching.set_votes("w", "r3", [node, same, replace(vote("bo"), run_id="r3")])
            tx.teaching.set_votes("v", "r1", [vote(workspace="v")])
        gone = replace(vote(), run_id="r2")
        with store.read() as tx:
            assert tx.teaching.votes_from(early, before=at(5), limit=9) == [early, late, same, node]
            assert tx.teaching.votes_from(early, before=at(5), limit=3) == [early, late, same]
            assert tx.teaching.votes_from(early, before=NOW, limit=9) == [early]
            assert tx.teaching.votes_from(gone, before=at(5), limit=9) == [same, node]
            assert tx.teaching.votes_from(vote("cy"), before=at(5), limit=9) == []
            assert tx.teaching.times_before(node, 9) == [at(-5), NOW, NOW]
            assert tx.teaching.times_before(gone, 2) == [at(-5), NOW]
            assert tx.teaching.times_before(same, 1) == [NOW]
            assert tx.teaching.times_before(early, 9) == tx.teaching.times_before(vote("cy"), 9) == []

    def test_the_runs_that_people_voted_on(self, store: Store) -> None:
        with store.write() as tx:
            tx.teaching.set_votes("w", "r1", [replace(vote(), is_limited=False), vote("bo")])
            tx.teaching.set_votes("w", "r2", [replace(vote(), run_id="r2", is_limited=True)])
            tx.teaching.set_votes("v", "r3", [replace(vote(workspace="v"), run_id="r3")])
        with store.read() as tx:
            assert tx.teaching.runs_voted_on("w", ["ana", "cy"]) == {"r1", "r2"}
            assert tx.teaching.runs_voted_on("w", ["ana"], within_limit=True) == {"r1"}
            assert tx.teaching.runs_voted_on("w", []) == tx.teaching.runs_voted_on("w", ["cy"]) == set()

    def test_evidence_is_replaced_and_counted_by_person_and_workspace(self, store: Store) -> None:
        with store.write() as tx:
            tx.teaching.set_evidence("w", "r1", [evidence("old")])
            tx.teaching.set_evidence("w", "r1", [evidence("bo", agrees=False), evidence(), evidence(node_id="e2")])
            tx.teaching.set_evidence("w", "r2", [replace(evidence(agrees=False), run_id="r2")])
            tx.teaching.set_evidence("v", "r1", [evidence(workspace="v")])
            with pytest.raises(ValueError):
                tx.teaching.set_evidence("w", "r2", [evidence()])
        with store.read() as tx:
            found = [(each.node_id, each.actor, each.agrees) for each in tx.teaching.evidence("w", "r1")]
            assert found == [("", "ana", True), ("", "bo", False), ("e2", "ana", True)]
            record = tx.teaching.record_of("w", ["ana", "bo", "old", "nobody"])
            assert record == {"ana": (2, 1), "bo": (0, 1), "old": (0, 0), "nobody": (0, 0)}
        with store.write() as tx:
            tx.teaching.delete_runs("w", ["r1"])
            assert tx.teaching.record_of("w", ["ana", "bo"]) == {"ana": (0, 1), "bo": (0, 0)}

    def test_quarantine_comes_and_goes_with_its_episode(self, store: Store) -> None:
        held = episode("e1", quarantine=("injection", "length"))
        wanted = EpisodeFilter(quarantined_only=True)
        with store.write() as tx:
            for each in (held, episode("e2"), episode("e1", "v")):
                tx.episodes.put(each)
            assert tx.episodes.get("w", "e1") == held
            assert [each.quarantine for each in tx.episodes.search("w", wanted)] == [held.quarantine]
            assert (tx.episodes.count("w", wanted), tx.episodes.count("v", wanted)) == (1, 0)
            tx.episodes.put(episode("e1"))
            assert tx.episodes.search("w", wanted) == []
            tx.episodes.put(held)
            tx.episodes.delete("w", ["e1"])
            assert tx.episodes.count("w", wanted) == 0

    def test_votes_are_replaced_and_sorted(self, store: Store) -> None:
        votes = [vote("bo"), vote("ana", node_id="e2", value=-1), vote("ana")]
        with store.write() as tx:
            tx.teaching.set_votes("w", "r1", [vote("old")])
            tx.teaching.set_votes("w", "r1", votes)
        with store.read() as tx:
            assert tx.teaching.votes("w", "r1") == [votes[2], votes[0], votes[1]]
            assert tx.teaching.votes("w", "r2") == []

    def test_the_ledger_finds_until_it_expires(self, store: Store) -> None:
        first = entry("m1")
        with store.write() as tx:
            tx.teaching.put_ledger(replace(first, run_id="other"))
            tx.teaching.put_ledger(first)
        with store.read() as tx:
            assert tx.teaching.ledger("w", "C1", "m1", at(99.999999)) == first
            assert tx.teaching.ledger("w", "C1", "m1", at(100)) is None
            assert tx.teaching.ledger("w", "C2", "m1", NOW) is None
            assert tx.teaching.ledger_of_run("w", "r1") == [first]
            assert tx.teaching.ledger_of_run("w", "other") == []

    def test_the_ledger_of_a_channel_is_newest_first(self, store: Store) -> None:
        parts = [entry("m2", part=2), entry("m1", part=1), entry("m3", part=3), entry("m4", part=4, channel="C2")]
        with store.write() as tx:
            for part in parts:
                tx.teaching.put_ledger(part)
        with store.read() as tx:
            assert [e.part for e in tx.teaching.ledger_of_run("w", "r1")] == [1, 2, 3, 4]
            assert [e.part for e in tx.teaching.recent_ledger("w", "C1", 2)] == [3, 2]

    def test_expired_entries_are_swept_everywhere(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("v", "w"):
                tx.teaching.put_ledger(entry("m1", workspace))
                tx.teaching.put_ledger(replace(entry("m2", workspace), expires_at=at(200)))
            assert tx.teaching.sweep_ledger(at(99)) == 0
            assert tx.teaching.sweep_ledger(at(100)) == 2
            assert tx.teaching.ledger("w", "C1", "m1", NOW) is None
            assert tx.teaching.ledger("v", "C1", "m2", NOW) is not None

    def test_the_teaching_of_runs_is_erased(self, store: Store) -> None:
        with store.write() as tx:
            for run in ("r1", "r2"):
                tx.teaching.put_ledger(entry(f"m-{run}", run_id=run))
                tx.teaching.put_reaction(reaction(run_id=run, message_id=f"m-{run}"))
                tx.teaching.set_votes("w", run, [replace(vote(), run_id=run)])
            tx.teaching.delete_runs("w", ["r1", "none"])
            for run, left in (("r1", 0), ("r2", 1)):
                assert len(tx.teaching.ledger_of_run("w", run)) == left
                assert len(tx.teaching.reactions_of_run("w", run)) == left
                assert len(tx.teaching.votes("w", run)) == left

    # deliveries

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
            tx.deliveries.accept(incoming("ev0", "v", seconds=-10))
            assert not tx.deliveries.advance("w", "ev1", Progress.ACCEPTED, Progress.DELIVERED)
            assert not tx.deliveries.advance("w", "none", Progress.ACCEPTED, Progress.ANSWERED)
        with store.read() as tx:
            assert [m.event_id for m in tx.deliveries.unfinished("w")] == ["ev1", "ev0"]
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
            for run, before in (("r1", Progress.ACCEPTED), ("r2", Progress.ANSWERED), ("", Progress.ACCEPTED)):
                assert not tx.deliveries.advance_run("w", run, before, Progress.DELIVERED)
            assert tx.deliveries.advance_run("w", "r1", Progress.ANSWERED, Progress.DELIVERED)
            assert not tx.deliveries.advance_run("w", "r1", Progress.ANSWERED, Progress.DELIVERED)
        with store.read() as tx:
            assert [m.event_id for m in tx.deliveries.unfinished("w")] == ["ev2"]
            assert [m.event_id for m in tx.deliveries.unfinished("v")] == ["ev1", "ev2"]
            moved = tx.deliveries.incoming_of_run("w", "r1")
        assert moved is not None
        assert moved.progress is Progress.DELIVERED

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
            assert [m.event_id for m in tx.deliveries.unfinished("w")] == ["ev1", "ev2"]
            assert tx.deliveries.drop_unsent("w", "r1")
            assert not tx.deliveries.drop_unsent("w", "r1")
            assert [part.part for part in tx.deliveries.outgoing("w", "r1")] == [1]
        with store.read() as tx:
            assert [m.event_id for m in tx.deliveries.unfinished("w")] == ["ev2"]
            assert [m.event_id for m in tx.deliveries.unfinished("v")] == ["ev1", "ev2"]
            aside = [(m.scope.workspace, m.event_id) for m in tx.deliveries.set_aside()]
        assert aside == [("w", "ev2"), ("v", "ev2"), ("w", "ev1"), ("v", "ev1")]

    def test_deaths_are_kept_with_their_message(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("w", "v"):
                tx.deliveries.accept(incoming("ev1", workspace))
            tx.deliveries.put_deaths("w", "ev1", crashes=1, kills=4)
            tx.deliveries.put_deaths("w", "none", crashes=1, kills=4)
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
            tx.episodes.put(episode("e0", step_number=2), episode("e1"), episode("e2", "v"))
            tx.teaching.put_reaction(reaction("v", message_id="m1", run_id=""))
            tx.teaching.put_reaction(reaction(message_id="m2", run_id=""))
            tx.teaching.put_reaction(reaction(message_id="m3"))
            assert tx.deliveries.post("w", "r1", 1, "m1", at(1)) == Posted(
                channel="C1", root_id="e1", is_overtaken=False
            )
            assert tx.deliveries.post("w", "r1", 1, "m9", at(2)) is None
            assert tx.deliveries.post("w", "r1", 3, "m9", at(2)) is None
            assert tx.deliveries.post("v", "r1", 1, "m9", at(2)) is None
            overtaken = tx.deliveries.post("w", "r1", 2, "m2", at(1))
            assert overtaken == Posted(channel="C1", root_id="e1", is_overtaken=True)
            rootless = tx.deliveries.post("w", "r2", 1, "m3", at(1))
            assert rootless == Posted(channel="C1", root_id="", is_overtaken=False)
        with store.read() as tx:
            sent = [(part.part, part.message_id, part.sent_at) for part in tx.deliveries.outgoing("w", "r1")]
            assert sent == [(1, "m1", at(1)), (2, "m2", at(1))]

    def test_an_answer_is_delivered_when_every_part_is_sent(self, store: Store) -> None:
        unsent = replace(outgoing(1), sent_at=None, message_id="")
        with store.write() as tx:
            for workspace in ("w", "v"):
                tx.deliveries.accept(incoming("ev1", workspace))
                tx.deliveries.put_outgoing(replace(unsent, workspace=workspace), outgoing(2, workspace))
            assert not tx.deliveries.deliver("w", "r1")
            tx.deliveries.answer("w", "ev1", "r1")
            assert not tx.deliveries.deliver("w", "r1")
            tx.deliveries.post("w", "r1", 1, "m1", NOW)
            assert not tx.deliveries.deliver("v", "r1")
            assert tx.deliveries.deliver("w", "r1")
            assert not tx.deliveries.deliver("w", "r1")
            found = tx.deliveries.incoming("w", "ev1")
            assert found is not None
            assert found.progress is Progress.DELIVERED

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

    def test_what_a_person_said_is_newest_first(self, store: Store) -> None:
        with store.write() as tx:
            for number, channel in enumerate(("C1", "C2", "C1")):
                tx.deliveries.accept(incoming(f"ev{number}", seconds=number, channel=channel))
        with store.read() as tx:
            assert [m.event_id for m in tx.deliveries.said_by("w", "C1", "ana", 10)] == ["ev2", "ev0"]
            assert [m.event_id for m in tx.deliveries.said_by("w", "", "ana", 2)] == ["ev2", "ev1"]
            assert tx.deliveries.said_by("w", "C1", "bo", 10) == []

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
            assert [each.asked_by for each in tx.deliveries.unfinished("w")] == ["", "bo"]
            assert [each.event_id for each in tx.deliveries.said_by("w", "", "ana", 9)] == ["ev1"]
            assert tx.deliveries.said_by("w", "", "bo", 9) == []
        with store.write() as tx:
            assert tx.deliveries.delete_by("w", "bo") == 1
            assert tx.deliveries.incoming("w", "ev2") is None
            assert tx.deliveries.outgoing("w", "r2") == []
            assert tx.deliveries.delete_by("w", "ana") == 1

    # recalls

    def test_several_recalls_are_added_at_once(self, store: Store) -> None:
        recalls, items = [retrieval("q1"), retrieval("q2", seconds=1)], [item("q1", "e1"), item("q2", "e1")]
        with store.write() as tx:
            tx.retrievals.add([], [])
            tx.retrievals.add(recalls, items)
            assert tx.retrievals.of_run("w", "r1") == [(recalls[0], items[:1]), (recalls[1], items[1:])]
            tx.retrievals.add([retrieval("q2", seconds=2), retrieval("q3", seconds=3)], [item("q3", "e2")])
            found = [(each.id, [item.episode_id for item in of]) for each, of in tx.retrievals.of_run("w", "r1")]
            assert found == [("q1", ["e1"]), ("q2", []), ("q3", ["e2"])]
            assert tx.retrievals.of_run("v", "r1") == []

    def test_votes_of_several_runs_are_read_at_once(self, store: Store) -> None:
        mine, theirs = vote("ana"), vote("bo")
        with store.write() as tx:
            tx.teaching.set_votes("w", "r1", [theirs, mine])
            tx.teaching.set_votes("w", "r2", [replace(mine, run_id="r2")])
            tx.teaching.set_votes("v", "r1", [vote("cy", "v")])
        with store.read() as tx:
            assert tx.teaching.votes_of_runs("w", ["r1", "r2", "r3"]) == {
                "r1": [mine, theirs],
                "r2": [replace(mine, run_id="r2")],
            }
            assert tx.teaching.votes_of_runs("w", []) == {}

    def test_a_recall_comes_back_whole(self, store: Store) -> None:
        items = [item("q1", "e2", rank=2), replace(item("q1", "e1"), signal=None)]
        with store.write() as tx:
            tx.retrievals.put(retrieval("q2", seconds=-1), [])
            tx.retrievals.put(retrieval("q1"), [item("q1", "e9")])
            tx.retrievals.put(retrieval("q1"), items)
            tx.retrievals.put(retrieval("q3", run_id="r2"), [])
        with store.read() as tx:
            assert tx.retrievals.of_run("w", "r1") == [
                (retrieval("q2", seconds=-1), []),
                (retrieval("q1"), [items[1], items[0]]),
            ]
            assert tx.retrievals.of_run("w", "none") == []
            assert tx.retrievals.get("w", "q1") == (retrieval("q1"), [items[1], items[0]])
            assert tx.retrievals.get("w", "q2") == (retrieval("q2", seconds=-1), [])
            assert tx.retrievals.get("w", "none") is None
            assert tx.retrievals.get("v", "q1") is None

    def test_a_signal_is_stored_and_nothing_else_of_the_item(self, store: Store) -> None:
        with store.write() as tx:
            tx.retrievals.put(retrieval("q1"), [replace(item("q1", "e1"), signal=None), item("q1", "e2", rank=2)])
            tx.retrievals.set_signal(replace(item("q1", "e1", rank=7), signal=Signal.CONTRADICTED, ratio=0.9))
            with pytest.raises(NotFound):
                tx.retrievals.set_signal(item("q1", "none"))
        with store.read() as tx:
            ((_, items),) = tx.retrievals.of_run("w", "r1")
        assert items == [replace(item("q1", "e1"), signal=Signal.CONTRADICTED, ratio=0.9), item("q1", "e2", rank=2)]

    def test_where_an_episode_was_injected_is_newest_first(self, store: Store) -> None:
        with store.write() as tx:
            for number in range(3):
                name = f"q{number}"
                tx.retrievals.put(retrieval(name, seconds=number, run_id=name), [item(name, "e1"), item(name, "e2", 2)])
            tx.retrievals.delete_runs("w", ["q1", "none"])
        with store.read() as tx:
            found = tx.retrievals.of_episode("w", "e1")
            assert [(r.id, i) for r, i in found] == [("q2", item("q2", "e1")), ("q0", item("q0", "e1"))]
            assert found[0][0] == retrieval("q2", seconds=2, run_id="q2")
            assert len(tx.retrievals.of_episode("w", "e2", limit=1)) == 1
            assert tx.retrievals.of_episode("w", "none") == []
            assert tx.retrievals.of_run("w", "q1") == []
