"""Whatever is done to a database, all who have it open see the same, search included."""

import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory.errors import MemoryFault
from memory.model import EventKind, LinkKind, Progress, Signal, Verdict, Verdicts
from memory.ports import IndexEntry, Store, Transaction
from tests.doubles.stores import open_file
from tests.memory.adapters.store_samples import (
    CHANNEL,
    EVERYONE,
    MODEL,
    NOW,
    aborted,
    at,
    dump,
    entry,
    episode,
    event,
    grade,
    incoming,
    item,
    link,
    outgoing,
    reaction,
    retrieval,
    session_run,
    short,
    step,
    unit,
    vote,
)

pytestmark = pytest.mark.slow

Change = Callable[[Transaction], object]

workspaces = st.sampled_from(["w", "v"])
episode_ids = st.sampled_from(["e1", "e2", "e3"])
seconds = st.integers(-3, 3)


class TwoStores(RuleBasedStateMachine):
    """Two stores on one file, as two processes have them: either does something, in turns, and both see it."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.stores = self.open_stores(Path(self._folder.name))
        self._turns = cycle(self.stores)

    def open_stores(self, folder: Path) -> tuple[Store, Store]:
        self._path = folder / "goodbot.db"
        return open_file(self._path), open_file(self._path)

    def open_third(self) -> Store:
        return open_file(self._path)

    def teardown(self) -> None:
        """A third one, which comes when all is done, sees it too."""
        with closing(self.open_third()) as third:
            for workspace in ("w", "v"):
                assert dump(third, workspace) == dump(self.stores[0], workspace)
        for store in self.stores:
            store.close()
        self._folder.cleanup()

    def do(self, *changes: Change) -> None:
        with next(self._turns).write() as tx:
            for change in changes:
                with suppress(MemoryFault):
                    change(tx)

    @invariant()
    def both_see_the_same(self) -> None:
        for workspace in ("w", "v"):
            first, second = (dump(store, workspace) for store in self.stores)
            assert first == second
        assert self.stores[0].workspaces() == self.stores[1].workspaces()

    @rule(w=workspaces, e=episode_ids, verdict=st.sampled_from(Verdict), moment=seconds, step=st.integers(1, 3))
    def put(self, w: str, e: str, verdict: Verdict, moment: int, step: int) -> None:
        new = episode(e, w, verdicts=Verdicts(channel=verdict), created_at=at(moment), step_number=step)
        self.do(lambda tx: tx.episodes.put(new))

    @rule(w=workspaces, e=episode_ids, x=st.integers(-2, 2), y=st.integers(1, 3), model=st.sampled_from([MODEL, "o"]))
    def put_vector(self, w: str, e: str, x: int, y: int, model: str) -> None:
        self.do(lambda tx: tx.episodes.put_vector(w, e, model, unit(x, y, 1)))

    @rule(w=workspaces, e=episode_ids, entries=st.sets(st.sampled_from([EVERYONE, CHANNEL])))
    def set_index(self, w: str, e: str, entries: set[object]) -> None:
        wanted = [each for each in (EVERYONE, CHANNEL) if each in entries]
        self.do(lambda tx: tx.episodes.set_index(w, e, wanted))

    @rule(w=workspaces, ids=st.sets(episode_ids), entries=st.sets(st.sampled_from([EVERYONE, CHANNEL])))
    def set_indexes(self, w: str, ids: set[str], entries: set[IndexEntry]) -> None:
        wanted = [each for each in (EVERYONE, CHANNEL) if each in entries]
        self.do(lambda tx: tx.episodes.set_indexes(w, dict.fromkeys(sorted(ids), wanted)))

    @rule(w=workspaces, ids=st.lists(episode_ids, max_size=2))
    def delete(self, w: str, ids: list[str]) -> None:
        self.do(lambda tx: tx.episodes.delete(w, ids))

    @rule(w=workspaces, a=episode_ids, b=episode_ids, kind=st.sampled_from(LinkKind), removes=st.booleans())
    def change_link(self, w: str, a: str, b: str, kind: LinkKind, removes: bool) -> None:
        with suppress(ValueError):
            edge = link(a, b, kind, w)
            self.do(lambda tx: tx.episodes.remove_link(edge) if removes else tx.episodes.add_link(edge))

    @rule(w=workspaces, e=episode_ids, kind=st.sampled_from(EventKind), source=st.sampled_from(["", "s1", "s2"]))
    def log(self, w: str, e: str, kind: EventKind, source: str) -> None:
        self.do(lambda tx: tx.log.append(event(e, kind, w, source)))

    @rule(w=workspaces, source=st.sampled_from(["s1", "s2"]))
    def claim(self, w: str, source: str) -> None:
        self.do(lambda tx: tx.log.claim(w, source, NOW))

    @rule(w=workspaces, actor=st.sampled_from(["ana", "bo"]))
    def erase_person(self, w: str, actor: str) -> None:
        self.do(
            lambda tx: tx.log.erase_actor(w, actor),
            lambda tx: tx.teaching.delete_reactions(w, actor),
            lambda tx: tx.deliveries.delete_by(w, actor),
        )

    @rule(w=workspaces, m=st.sampled_from(["m1", "m2"]), value=st.integers(-1, 1), moment=seconds, known=st.booleans())
    def react(self, w: str, m: str, value: int, moment: int, known: bool) -> None:
        new = reaction(w, message_id=m, value=value, at=at(moment), run_id="r1" if known else "")
        self.do(lambda tx: tx.teaching.put_reaction(new))

    @rule(w=workspaces, actors=st.sets(st.sampled_from(["ana", "bo"])))
    def cast(self, w: str, actors: set[str]) -> None:
        self.do(lambda tx: tx.teaching.set_votes(w, "r1", [vote(actor, w) for actor in actors]))

    @rule(w=workspaces, part=st.integers(1, 3), message=st.sampled_from(["m1", "m3"]))
    def send(self, w: str, part: int, message: str) -> None:
        self.do(
            lambda tx: tx.deliveries.put_outgoing(outgoing(part, w)),
            lambda tx: tx.teaching.put_ledger(entry(message, w, part)),
        )

    @rule(moment=st.sampled_from([99, 100]))
    def sweep(self, moment: int) -> None:
        self.do(lambda tx: tx.teaching.sweep_ledger(at(moment)))

    @rule(w=workspaces, ev=st.sampled_from(["ev1", "ev2"]), m=st.sampled_from(["", "m1"]), moment=seconds)
    def accept(self, w: str, ev: str, m: str, moment: int) -> None:
        self.do(lambda tx: tx.deliveries.accept(incoming(ev, w, m, seconds=moment)))

    @rule(w=workspaces, ev=st.sampled_from(["ev1", "ev2"]), progress=st.sampled_from(Progress), run=st.booleans())
    def move(self, w: str, ev: str, progress: Progress, run: bool) -> None:
        def advance(tx: Transaction) -> bool:
            known = tx.deliveries.incoming(w, ev)
            before = known.progress if known else Progress.ACCEPTED
            return tx.deliveries.advance(w, ev, before, progress, "r1" if run else "")

        self.do(advance)

    @rule(w=workspaces, before=st.sampled_from(Progress), after=st.sampled_from(Progress))
    def move_run(self, w: str, before: Progress, after: Progress) -> None:
        self.do(lambda tx: tx.deliveries.advance_run(w, "r1", before, after))

    @rule(w=workspaces, q=st.sampled_from(["q1", "q2"]), ids=st.lists(episode_ids, unique=True), moment=seconds)
    def recall(self, w: str, q: str, ids: list[str], moment: int) -> None:
        items = [item(q, each, rank, w) for rank, each in enumerate(ids, 1)]
        self.do(lambda tx: tx.retrievals.put(retrieval(q, w, seconds=moment), items))

    @rule(w=workspaces, q=st.sampled_from(["q1", "q2"]), e=episode_ids, signal=st.sampled_from(Signal))
    def judge(self, w: str, q: str, e: str, signal: Signal) -> None:
        self.do(lambda tx: tx.retrievals.set_signal(replace(item(q, e, workspace=w), signal=signal)))

    @rule(w=workspaces, e=episode_ids, number=st.integers(1, 3), session=st.sampled_from(["s1", "s2"]))
    def take_step(self, w: str, e: str, number: int, session: str) -> None:
        new = step(e, w, number=number, session_id=session)
        self.do(lambda tx: tx.steps.put_run(session_run(workspace=w, rep=number)), lambda tx: tx.steps.put(new))

    @rule(w=workspaces, e=episode_ids, actor=st.sampled_from(["ana", "bo"]), right=st.booleans())
    def grade_step(self, w: str, e: str, actor: str, right: bool) -> None:
        self.do(lambda tx: tx.steps.add_grade(grade(e, w, actor, is_correct=right)))

    @rule(w=workspaces, key=st.sampled_from(["k1", "k2"]), person=st.sampled_from(["ana", "bo"]), end=seconds)
    def keep_for_a_while(self, w: str, key: str, person: str, end: int) -> None:
        self.do(lambda tx: tx.short.put(short(key, w, person=person, created_at=at(end), expires_at=at(end))))

    @rule(w=workspaces, actor=st.sampled_from(["ana", "bo"]), moment=seconds)
    def erase_steps(self, w: str, actor: str, moment: int) -> None:
        self.do(
            lambda tx: tx.steps.erase_grades(w, actor),
            lambda tx: tx.steps.delete_runs(w, actor),
            lambda tx: tx.short.delete_by(w, actor),
            lambda tx: tx.short.sweep(at(moment)),
            lambda tx: tx.short.delete(w, "notes", "k1"),
        )

    @rule(w=workspaces)
    def erase_run(self, w: str) -> None:
        self.do(
            lambda tx: tx.teaching.delete_runs(w, ["r1"]),
            lambda tx: tx.deliveries.delete_runs(w, ["r1"]),
            lambda tx: tx.retrievals.delete_runs(w, ["r1"]),
        )

    @rule(w=workspaces)
    def roll_back(self, w: str) -> None:
        store = next(self._turns)
        before = dump(store, w)
        with aborted(store) as tx:
            tx.episodes.delete(w, ["e1", "e2", "e3"])
            tx.episodes.put(episode("e2", w, goal="never"))
            tx.teaching.delete_runs(w, ["r1"])
        assert dump(store, w) == before

    @rule()
    def erase_free_space(self) -> None:
        next(self._turns).erase_free_space()


TestTwoStores = TwoStores.TestCase
TestTwoStores.settings = settings(
    deadline=None, max_examples=max(5, settings().max_examples // 5), stateful_step_count=30
)
