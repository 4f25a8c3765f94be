"""The law of purging, over random histories: what is left is what there would be if the person had never taught."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from hypothesis import example, given, strategies as st

from memory.model import Audience, Episode, Lesson, Origin, Role, Signal, Verdict
from memory.rules.audience import index_entries_of, partitions_for, partitions_of
from memory.rules.retrieval.config import RetrievalConfig
from tests.doubles.memory_world import START, World, scope

W = "terminal:w"
ROLES = {"ana": Role.MEMBER, "bob": Role.MEMBER, "cy": Role.TEACHER, "mal": Role.TEACHER}
EVERYTHING = RetrievalConfig(env_threshold=0.0, top_k=None, final_k=99, min_intent=0.3)
"""So that one lesson never keeps another from being seen."""

Act = tuple[str, str, int, int]
"""(what, who, which episode, a choice between variants)"""

acts = st.lists(
    st.tuples(
        st.sampled_from(["ask", "follow", "follow", "vote", "correct", "teach", "teach", "promote", "shelve", "undo"]),
        st.sampled_from(["ana", "bob", "cy", "mal", "mal"]),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    min_size=4,
    max_size=25,
)


@dataclass
class Play:
    """A history as it is played: every episode is known by the number of the act that made it."""

    without: str = ""
    """Whose teaching is left out."""
    world: World = field(default_factory=lambda: World(config=EVERYTHING))
    made: dict[int, Episode] = field(default_factory=dict)
    worded: list[int] = field(default_factory=list)
    """The acts that brought words of their own, also those that are left out."""

    def run(self, history: list[Act]) -> "Play":
        for number, act in enumerate(history):
            self.world.clock.now = START + timedelta(minutes=number)
            if act[0] in ("ask", "teach", "correct"):
                self.worded.append(number)
            if act[1] != self.without or act[0] in ("ask", "follow"):
                self.do(number, history, act)
        return self

    def do(self, number: int, history: list[Act], act: Act) -> None:
        what, who, _, variant = act
        match what:
            case "ask" | "follow":
                self.ask(number, act)
            case "teach":
                self.teach(number, who, variant)
            case "undo":
                self.world.memory.teaching.undo(W, who, at=self.world.clock())
            case "vote" | "correct":
                self.judge(number, history, act)
            case _:
                self.decide(number, history, act)

    def ask(self, number: int, act: Act) -> None:
        """An answer of its own, or one that repeats what was said before and that its asker likes."""
        what, who, which, variant = act
        sources = sorted(self.worded) if what == "follow" else []
        said = f"word{sources[-1 - which % len(sources)]}" if sources else f"word{number}"
        answer = self.world.ask("where is it?", f"{said} {said}x", of=scope(who, channel=f"c{variant % 2}"))
        self.made[number] = answer
        if what == "follow" and who != self.without:
            self.world.react(answer, "👍", by=who, role=ROLES[who], at=self.world.clock(), event_id=f"e{number}")

    def teach(self, number: int, who: str, variant: int) -> None:
        lesson = self.world.memory.teaching.teach(
            scope(who, channel=f"c{variant % 2}"),
            "where is it?",
            f"word{number} word{number}x",
            role=ROLES[who],
            audience=Audience.WORKSPACE if variant > 1 else Audience.PERSONAL,
            at=self.world.clock(),
        )
        assert lesson is not None
        self.made[number] = lesson

    def judge(self, number: int, history: list[Act], act: Act) -> None:
        """Votes and corrections are about answers."""
        what, who, which, variant = act
        target = self.target(number, history, which, ("ask", "follow") if what == "vote" else ("ask",))
        if target is None:
            return
        if what == "correct":
            self.made[number] = self.world.correct(target, f"word{number} word{number}x", by=who, role=ROLES[who])
        else:
            at = self.world.clock()
            self.world.react(
                target, "👍👎"[variant % 2], by=who, role=ROLES[who], added=variant < 3, at=at, event_id=f"e{number}"
            )

    def decide(self, number: int, history: list[Act], act: Act) -> None:
        """Teachers promote; the one who is purged archives and restores what others taught.

        Nobody else does: putting away what is put away already is no act, and would not be there to be left over.
        """
        what, who, which, variant = act
        kinds = ("ask", "follow", "teach", "correct")
        target = self.target(number, history, which, kinds if what == "promote" else kinds[:3])
        if target is None:
            return
        curation = self.world.memory.curation
        if what == "promote" and ROLES[who].may_promote:
            audience = [Audience.PERSONAL, Audience.CHANNEL, Audience.WORKSPACE, Audience.WORKSPACE][variant]
            curation.promote(W, target.id, audience, actor=who, role=ROLES[who])
        elif what == "shelve" and who == "mal" and target.author != who:
            (curation.archive if variant < 3 else curation.restore)(W, target.id, actor=who)

    def target(self, number: int, history: list[Act], which: int, kinds: tuple[str, ...]) -> Episode | None:
        made = [number for number in range(number) if history[number][0] in kinds]
        return self.made.get(made[-1 - which % len(made)]) if made else None

    def live(self) -> dict[int, object]:
        """What each living episode is worth, and where it is found."""
        now = {number: self.world.episode(episode) for number, episode in self.made.items()}
        with self.world.memory.store.read() as tx:
            indexed = {number: tx.episodes.index_of(W, episode.id) for number, episode in now.items()}
        for number, episode in now.items():
            assert indexed[number] == index_entries_of(episode)
        return {
            number: (episode.verdicts, episode.status, episode.promoted, indexed[number])
            for number, episode in now.items()
            if episode.archived_at is None
        }

    def used(self, number: int) -> set[int]:
        """The episodes an answer rests on."""
        numbers = {episode.id: each for each, episode in self.made.items()}
        view = self.world.memory.audit.run(W, self.made[number].run_id)
        items = [item for _, items in view.recalls for item in items]
        return {
            numbers[item.episode_id] for item in items if item.signal is Signal.USED and item.lesson is Lesson.REPEAT
        }

    def gives(self, number: int, to: Episode) -> bool:
        """Whether the asker of an answer may be given an episode as a lesson to repeat."""
        if number not in self.made:
            return False
        indexed = partitions_of(self.world.episode(self.made[number]))
        named = partitions_for(to.scope)
        return any(entry.partition in named and entry.verdict is Verdict.SUCCESS for entry in indexed)

    def take_back_approvals(self, number: int) -> None:
        """Everybody takes their 👍 off an answer."""
        with self.world.memory.store.read() as tx:
            given = tx.teaching.reactions_of_run(W, self.made[number].run_id)
        for each in given:
            if each.is_active and each.value > 0:
                taken = replace(each, is_active=False, at=self.world.clock.tick())
                self.world.memory.teaching.react(taken, event_id=self.world.ids())


def resting_on_what_is_gone(full: Play, left: Play) -> set[int]:
    """Answers that used a lesson of the purged person, or one that their asker is not given any more."""
    return {
        number
        for number, answer in left.made.items()
        if answer.origin is Origin.RUN
        for used in full.used(number)
        if used not in left.made or (full.gives(used, answer) and not left.gives(used, answer))
    }


@given(acts)
@example([("teach", "mal", 0, 0), ("follow", "ana", 0, 0), ("vote", "mal", 0, 0), ("follow", "ana", 0, 0)])
def test_what_is_left_is_what_there_would_be_had_the_person_never_taught(history: list[Act]) -> None:
    """But for answers that rested on their teaching: those lose their approval, as if everybody had taken it back."""
    full, left = Play().run(history), Play(without="mal").run(history)
    done: set[int] = set()
    while more := resting_on_what_is_gone(full, left) - done:
        for number in more:
            left.take_back_approvals(number)
        done |= more
    memory = full.world.memory
    planned = memory.purging.plan(W, "mal")
    assert memory.purging.purge(W, "mal", actor="adm", at=full.world.clock.tick(minutes=1)) == planned
    assert full.live() == left.live()
    assert memory.audit.check() == []
    assert memory.purging.plan(W, "mal").is_empty


@given(acts)
def test_a_plan_changes_nothing(history: list[Act]) -> None:
    play = Play().run(history)
    before = play.live()
    play.world.memory.purging.plan(W, "mal")
    assert play.live() == before
    assert play.world.memory.audit.check() == []
