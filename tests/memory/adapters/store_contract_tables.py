"""What every store must do with events, teaching, deliveries and recalls."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from memory.errors import NotFound
from memory.model import (
    Channel,
    EventKind,
    PlacedVote,
    Poll,
    Reaction,
    Role,
    Signal,
    Visibility,
    Vote,
)
from memory.model.evidence import EvidenceRecord
from memory.ports import EpisodeFilter, Store
from memory.rules.fold import GRADINGS
from memory.rules.verdict import may_be_limited
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import (
    NOW,
    at,
    entry,
    episode,
    event,
    evidence,
    item,
    outgoing,
    reaction,
    retrieval,
    vote,
)


def placed(*votes: Vote) -> list[PlacedVote]:
    return [PlacedVote(each.at, each.run_id, each.node_id, each.actor, each.is_limited) for each in votes]


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

    def test_the_newest_answer_to_a_person_outside_of_threads(self, store: Store) -> None:
        with store.write() as tx:
            for number, person in enumerate(("ana", "ana", "bo"), start=1):
                answer = episode(f"e{number}", run_id=f"r{number}", person=person, thread="")
                tx.episodes.put(answer)
                posted_at = NOW + timedelta(minutes=number)
                tx.teaching.put_ledger(replace(entry(f"m{number}"), run_id=f"r{number}", posted_at=posted_at))
        with store.read() as tx:
            newest = tx.teaching.newest_answer_to
            assert newest("w", "C1", "ana", NOW) == newest("w", "C1", "ana", NOW + timedelta(minutes=2)) == "r2"
            assert newest("w", "C1", "ana", NOW + timedelta(minutes=3)) is None
            assert newest("w", "C1", "bo", NOW) == "r3"
            assert newest("v", "C1", "ana", NOW) is newest("w", "C2", "ana", NOW) is None

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
            appended = tx.log.append(known, numbered=True)
            appended += tx.log.append(others[0], known, twice, others[1], twice, others[2], numbered=True)
            assert [replace(each, seq=0) for each in appended] == [known, others[0], twice, *others[1:]]
            assert tx.log.append(known, twice) == []
            with pytest.raises(ValueError, match="workspace by workspace"):
                tx.log.append(others[0], event("e1", EventKind.VOTED, "v"))
        with store.read() as tx:
            log = tx.log.of_episode("w", "e1")
            assert [each.kind for each in log] == [EventKind.VOTED, EventKind.USED, EventKind.GRADED, EventKind.VOTED]
            assert log == appended[1:]
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

    def test_of_what_happened_to_episodes_the_gradings_are_read_alone(self, store: Store) -> None:
        kinds = [EventKind.VOTED, EventKind.GRADED, EventKind.QUERY_BUMP, EventKind.REGRADED, EventKind.UNGRADED]
        with store.write() as tx:
            tx.log.append(*(event(name, kind) for kind in kinds for name in ("e1", "e2", "e3")))
            tx.log.append(event("e4", EventKind.VOTED), event("e1", EventKind.GRADED, actor="bo"))
        with store.read() as tx:
            found = tx.log.gradings("w", ["e1", "e2", "e4"])
            assert {name: [(each.kind, each.actor) for each in given] for name, given in found.items()} == {
                "e1": [*((kind, "ana") for kind in GRADINGS), (EventKind.GRADED, "bo")],
                "e2": [(kind, "ana") for kind in GRADINGS],
            }
            assert tx.log.gradings("v", ["e1"]) == {}

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

    def test_what_a_message_said_is_found_by_its_event(self, store: Store) -> None:
        with store.write() as tx:
            for n, source in enumerate(("correction", "words", "correction:l1", "emoji:👍")):
                tx.teaching.put_reaction(reaction(source=source, event_id="ev1", at=at(n)))
            assert [each.source for each in tx.teaching.reactions_in_words("w", "ev1")] == ["words", "correction"]

    def test_a_persons_votes_are_found_around_one_of_them(self, store: Store) -> None:
        early, late = replace(vote(), run_id="r2", at=at(-5)), vote()
        same, node = replace(vote(), run_id="r3"), replace(vote(), run_id="r3", node_id="e2")
        with store.write() as tx:
            tx.teaching.set_votes("w", "r1", [late, vote("bo")])
            tx.teaching.set_votes("w", "r2", [early])
            tx.teaching.set_votes("w", "r3", [node, same, replace(vote("bo"), run_id="r3")])
            tx.teaching.set_votes("v", "r1", [vote(workspace="v")])
            tx.teaching.set_trust_evidence("w", "r1", [evidence(agrees=False)])
        gone = replace(vote(), run_id="r2")
        wide, narrow = timedelta(minutes=1), timedelta(seconds=5)

        def around(*votes: Vote, window: timedelta = wide, limit: int = 9) -> list[PlacedVote]:
            with store.read() as tx:
                return tx.teaching.votes_around(votes, window=window, limit=limit)

        assert around(early) == placed(early, late, same, node)
        assert around(early, limit=2) == placed(early, late, same)
        assert around(early, window=narrow) == placed(early)
        assert around(gone, limit=1) == placed(late, same, node)
        assert around(node, limit=1) == placed(same, node)
        assert around(node, limit=0) == placed(node)
        assert around(late, window=narrow) == placed(late, same, node)
        assert around(early, node, window=narrow, limit=1) == placed(early, same, node)
        assert around(vote("cy")) == around() == []
        assert around(early, vote("bo"), limit=0) == placed(early, vote("bo"))

    def test_votes_around_many_are_those_around_each(self, store: Store) -> None:
        cast = [replace(vote(), run_id=f"r{number:02}", at=at(-number)) for number in range(12)]
        with store.write() as tx:
            tx.teaching.put_votes(*cast, replace(vote(), run_id="r12", role=Role.ADMIN, at=at(-1)))
        gone = replace(vote(), run_id="r13", at=at(-2))
        with store.read() as tx:
            found = tx.teaching.votes_around([*cast[2:], gone], window=timedelta(seconds=3), limit=2)
        assert found == placed(*reversed(cast))

    def test_a_mark_changes_nothing_else_of_a_vote(self, store: Store) -> None:
        cast = [vote(), vote("bo"), replace(vote(), node_id="e2")]
        with store.write() as tx:
            tx.teaching.put_votes(*cast, replace(vote(), run_id="r2"), vote(workspace="v"))
            tx.teaching.mark_limited("w", {("r1", "", "ana"): not vote().is_limited, ("r1", "", "cy"): True})
            tx.teaching.mark_limited("w", {})
        with store.read() as tx:
            found = [tx.teaching.votes(*key) for key in (("w", "r1"), ("w", "r2"), ("v", "r1"))]
        assert found == [
            [replace(vote(), is_limited=not vote().is_limited), *cast[1:]],
            [replace(vote(), run_id="r2")],
            [vote(workspace="v")],
        ]

    def test_the_votes_around_one_are_those_that_may_be_limited(self, store: Store) -> None:
        sources = ["", "button", "emoji:👍", "grade", "correction", "correction:e1", "corrections", "Correction:e1"]
        sources += ["review", "review:e1", "reviewed", "emoji:review", "e:correction", ":correction"]
        cast = [
            replace(vote(), run_id=f"r{number}", role=role, source=source)
            for number, (role, source) in enumerate(product(Role, sources))
        ]
        with store.write() as tx:
            tx.teaching.put_votes(*cast)
        with store.read() as tx:
            found = tx.teaching.votes_around(cast[:1], window=timedelta(minutes=1), limit=len(cast))
        by_run = {each.run_id: each for each in found}
        assert [each for each in cast if each.run_id in by_run] == [each for each in cast if may_be_limited(each)]
        assert len(found) == len(by_run) < len(cast)

    def test_a_poll_is_everything_said_about_an_answer(self, store: Store) -> None:
        with store.write() as tx:
            for told in (reaction(), reaction(actor="bo", value=-1, is_active=False), reaction(run_id="", source="x")):
                tx.teaching.put_reaction(told)
            tx.teaching.put_reaction(replace(reaction(actor="cy"), run_id="r2"))
            tx.teaching.put_reaction(replace(reaction(workspace="v"), run_id="r1"))
            cast = [vote(), vote("bo"), replace(vote("bo"), node_id="e2", is_limited=False)]
            tx.teaching.set_votes("w", "r1", cast)
            tx.teaching.set_votes("v", "r1", [vote(workspace="v")])
            tx.teaching.set_trust_evidence("w", "r2", [replace(evidence(), run_id="r2")])
        with store.read() as tx:
            polls = tx.teaching.polls("w", ["r1", "r2", "r3"])
            assert list(polls["r1"].reactions) == tx.teaching.reactions_of_run("w", "r1") != []
            assert list(polls["r1"].votes) == tx.teaching.votes("w", "r1") == cast
            assert polls["r1"].records == {"ana": (1, 0), "bo": (0, 0)}
            assert [each.actor for each in polls["r2"].reactions] == ["cy"]
            assert polls["r2"].votes == ()
            assert polls["r3"] == Poll(people=polls["r1"].people)
            [asked] = tx.teaching.polls("w", ["r3"], people=["ana", "cy"]).values()
            assert asked.records == {"ana": (1, 0), "cy": (0, 0)}

    def test_only_other_votes_than_the_known_ones_are_written(self, store: Store) -> None:
        with store.write() as tx:
            tx.teaching.set_votes("w", "r1", [vote(), vote("bo")])
            changed = replace(vote("bo"), value=-vote().value)
            tx.teaching.set_votes("w", "r1", [changed, vote("cy")], known=tx.teaching.votes("w", "r1"))
            tx.teaching.put_votes(replace(vote("cy"), is_limited=not vote().is_limited), replace(vote(), run_id="r2"))
        with store.read() as tx:
            assert tx.teaching.votes("w", "r1") == [changed, replace(vote("cy"), is_limited=not vote().is_limited)]
            assert tx.teaching.votes("w", "r2") == [replace(vote(), run_id="r2")]

    def test_a_register_has_the_number_of_its_event_or_one_of_its_own(self, store: Store) -> None:
        with store.write() as tx:
            tx.teaching.put_reaction(reaction(source="a"))
            tx.episodes.put(episode("e1"))
            tx.log.append(event("e1", EventKind.USED))
            (voted,) = tx.log.append(event("e1", EventKind.VOTED), numbered=True)
            tx.teaching.put_reaction(replace(reaction(source="b"), seq=voted.seq))
            tx.teaching.put_reaction(reaction(source="c"))
        with store.read() as tx:
            assert [each.seq for each in tx.log.of_episode("w", "e1")] == [1, voted.seq]
            arrived = {each.source: each.seq for each in tx.teaching.reactions_of_run("w", "r1")}
            assert arrived == {"a": 1, "b": voted.seq, "c": 2}

    def test_an_answer_is_found_by_each_of_its_messages(self, store: Store) -> None:
        first, second = entry("m1"), replace(entry("m2"), part=2)
        with store.write() as tx:
            for each in (second, first, replace(entry("m3"), run_id="r2"), entry("m1", "v")):
                tx.teaching.put_ledger(each)
            tx.channels.put(Channel(workspace="w", channel="C1", visibility=Visibility.PRIVATE, since=NOW))
        with store.read() as tx:
            seen = [replace(each, channel_visibility=Visibility.PRIVATE) for each in (first, second)]
            assert tx.teaching.answer_of("w", "C1", "m1", NOW) == tx.teaching.answer_of("w", "C1", "m2", NOW) == seen
            assert tx.teaching.answer_of("v", "C1", "m1", NOW) == [entry("m1", "v")]
            assert tx.teaching.answer_of("w", "C1", "m9", NOW) == tx.teaching.answer_of("w", "C2", "m1", NOW) == []
            assert tx.teaching.answer_of("w", "C1", "m1", first.expires_at) == []

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
            tx.teaching.set_trust_evidence("w", "r1", [evidence("old")])
            tx.teaching.set_trust_evidence(
                "w", "r1", [evidence("bo", agrees=False), evidence(), evidence(node_id="e2")]
            )
            tx.teaching.set_trust_evidence("w", "r2", [replace(evidence(agrees=False), run_id="r2")])
            tx.teaching.set_trust_evidence("v", "r1", [evidence(workspace="v")])
            with pytest.raises(ValueError):
                tx.teaching.set_trust_evidence("w", "r2", [evidence()])
        with store.read() as tx:
            found = [(each.node_id, each.actor, each.agrees) for each in tx.teaching.trust_evidence("w", "r1")]
            assert found == [("", "ana", True), ("", "bo", False), ("e2", "ana", True)]
            record = tx.teaching.record_of("w", ["ana", "bo", "old", "nobody"])
            assert record == {"ana": (2, 1), "bo": (0, 1), "old": (0, 0), "nobody": (0, 0)}
        with store.write() as tx:
            tx.teaching.delete_runs("w", ["r1"])
            assert tx.teaching.record_of("w", ["ana", "bo"]) == {"ana": (0, 1), "bo": (0, 0)}

    def test_people_are_newcomers_for_a_while_unless_they_are_among_the_first(self, store: Store) -> None:
        week = timedelta(days=7)
        with store.write() as tx:
            tx.people.note("w", "ana", NOW, week)
            tx.people.note("w", "bo", NOW + week, week)
            tx.people.note("w", "cy", NOW + timedelta(days=8), week)
            tx.people.note("w", "cy", NOW + timedelta(days=9), week)
            tx.people.note("v", "cy", NOW + timedelta(days=9), week)
            of_member = replace(vote("ana"), role=Role.MEMBER)
            later = [replace(vote("tea"), run_id=f"r{weeks}", at=NOW + weeks * week) for weeks in (2, 1)]
            tx.teaching.put_votes(of_member, *later)
        with store.read() as tx:
            known = tx.people.known_people("w", ["ana", "bo", "cy", "nobody"])
            assert known.known_from.keys() == {"ana", "bo", "cy"}
            assert known.known_from["cy"] == NOW + timedelta(days=15)
            assert max(known.known_from[each] for each in ("ana", "bo")) < NOW
            assert known.taught_from == NOW + week
            other = tx.people.known_people("v", ["ana", "cy"])
            assert (other.known_from["cy"] < NOW, other.taught_from) == (True, None)
            assert [each.actor for each in tx.teaching.votes_between("w", NOW - week, None)] == ["ana"]
            assert tx.teaching.votes_between("w", NOW - week, vote("ana").at) == []
        with store.write() as tx:
            tx.people.forget("w", "ana")
            assert tx.people.known_people("w", ["ana"]).known_from == {}
            tx.people.note("w", "ana", NOW + 2 * week, week)
            assert tx.people.known_people("w", ["ana"]).known_from == {"ana": NOW + 3 * week}

    def test_quarantine_comes_and_goes_with_its_episode(self, store: Store) -> None:
        held = episode("e1", quarantine=("injection", "length"))
        wanted = EpisodeFilter(quarantined_only=True)
        with store.write() as tx:
            for each in (held, episode("e2"), episode("e1", "v")):
                tx.episodes.put(each)
            assert tx.episodes.get("w", "e1") == held
            assert [each.quarantine for each in tx.episodes.search("w", wanted)] == [held.quarantine]
            assert (len(tx.episodes.search("w", wanted)), len(tx.episodes.search("v", wanted))) == (1, 0)
            tx.episodes.put(episode("e1"))
            assert tx.episodes.search("w", wanted) == []
            tx.episodes.put(held)
            tx.episodes.delete("w", ["e1"])
            assert len(tx.episodes.search("w", wanted)) == 0

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

    def test_the_parts_of_an_answer_are_in_order(self, store: Store) -> None:
        parts = [entry("m2", part=2), entry("m1", part=1), entry("m3", part=3), entry("m4", part=4, channel="C2")]
        with store.write() as tx:
            for part in parts:
                tx.teaching.put_ledger(part)
        with store.read() as tx:
            assert [e.part for e in tx.teaching.ledger_of_run("w", "r1")] == [1, 2, 3, 4]

    def test_the_newest_answer_of_a_channel_and_of_a_thread(self, store: Store) -> None:
        with store.write() as tx:
            for seconds, (run, thread) in enumerate([("r1", "t1"), ("r2", "t2"), ("r3", "t1"), ("gone", "t1")]):
                if run != "gone":
                    tx.episodes.put(episode(f"e-{run}", run_id=run, thread=thread, parent_id=""))
                tx.teaching.put_ledger(replace(entry(f"m-{run}", run_id=run), posted_at=at(seconds)))
            tx.episodes.put(episode("node", run_id="gone", parent_id="e-r3"))
        with store.read() as tx:
            assert tx.teaching.newest_answer("w", "C1") == "r3"
            assert [tx.teaching.newest_answer("w", "C1", each) for each in ("t1", "t2", "t3")] == ["r3", "r2", None]
            assert tx.teaching.newest_answer("w", "C2") is None
            assert tx.teaching.newest_answer_to("w", "C1", "ana", NOW) is None  # all are in threads
            assert tx.teaching.newest_answer("v", "C1") is None

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

    def test_a_recall_keeps_its_evidence_if_it_has_any(self, store: Store) -> None:
        recalls = [retrieval("q1"), replace(retrieval("q2"), evidence=None)]
        recalls.append(replace(retrieval("q3"), evidence=EvidenceRecord()))
        with store.write() as tx:
            tx.retrievals.add(recalls, [])
            tx.retrievals.put(replace(retrieval("q4"), evidence=None), [item("q4", "e1")])
            tx.retrievals.put(retrieval("q4"), [item("q4", "e1")])
        with store.read() as tx:
            assert [tx.retrievals.get("w", each.id) for each in recalls] == [(each, []) for each in recalls]
            assert tx.retrievals.of_episode("w", "e1") == [(retrieval("q4"), item("q4", "e1"))]
            assert retrieval("q1").evidence is not None

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

    def test_parts_and_recalls_of_several_runs_are_read_at_once(self, store: Store) -> None:
        recalls = [retrieval("q1"), retrieval("q2", run_id="r2")]
        with store.write() as tx:
            tx.deliveries.put_outgoing(outgoing(2), outgoing(1), outgoing(1, run_id="r2"), outgoing(1, run_id="r4"))
            tx.retrievals.add(recalls, [item("q1", "e1")])
            tx.retrievals.put(retrieval("q3", "v"), [])
        with store.read() as tx:
            parts = tx.deliveries.outgoing_of_runs("w", ["r1", "r2", "r3"])
            assert parts == {"r1": [outgoing(1), outgoing(2)], "r2": [outgoing(1, run_id="r2")]}
            found = {"r1": [(recalls[0], [item("q1", "e1")])], "r2": [(recalls[1], [])]}
            assert tx.retrievals.of_runs("w", ["r1", "r2", "r3"]) == found
            assert tx.retrievals.of_runs("w", []) == {}
            assert tx.deliveries.outgoing_of_runs("w", []) == {}

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
