"""The small typed interface that another agent imports."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

import memory
from memory import (
    Episode,
    EpisodeStatus,
    EpisodicMemory,
    EpisodicMemoryConfig,
    NoOpEpisodicMemory,
    ReactionContext,
    ReactionHandler,
    ReactionLedger,
    RetrievalFeedbackSignal,
    ShortMemoryStore,
    WorkingMemory,
)
from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.adapters.system import TimeOrderedIds
from memory.errors import Conflict
from memory.model import Signal, Step, StepKind
from memory.model.teaching import EmojiMap
from memory.rules.retrieval.config import RetrievalConfig
from memory.services import Memory
from tests.doubles.memory_world import FakeClock
from tests.doubles.stores import content, rows

NAMES = [
    "EpisodicMemory", "NoOpEpisodicMemory", "EpisodicMemoryConfig", "Episode", "EpisodeStatus", "ReactionLedger",
    "ReactionContext", "ReactionHandler", "ShortMemoryStore", "WorkingMemory", "RetrievalConfig", "RetrieverAdapter",
    "DefaultRetriever", "set_retriever", "get_retriever", "RetrievalFeedbackSignal", "export_memories",
    "import_memories", "load_export", "content_hash", "init_episode", "record_step_start", "record_step_end",
    "persist_memories", "add_grades_to_memories", "retrieve_memories", "load_all_memories_for_session", "MemoryEntry",
    "EnvironmentState", "Outcome", "Grade", "GradeSource", "Grader", "GradingRequest", "GradingResult", "StepGrade",
    "set_grader", "get_grader", "has_grader", "grade_run", "ReactionGrader", "GraderMissing", "RetrievalInput",
    "GivenMemories", "KeywordDetector", "Placement", "Stage", "Scope", "Audience", "Verdict",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_promised_name_is_there_and_says_what_it_is(name: str) -> None:
    assert name in memory.__all__
    assert getattr(memory, name).__doc__


def test_every_public_name_has_a_home() -> None:
    assert [name for name in memory.__all__ if not hasattr(memory, name)] == []


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    name = "no_such"
    with pytest.raises(AttributeError, match="'no_such'"):
        getattr(memory, name)


def test_importing_costs_nothing_heavy() -> None:
    heavy = ("numpy", "sqlalchemy", "torch", "sentence_transformers", "alembic", "pydantic")
    code = f"import sys, memory, memory.model, memory.errors; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


class Library:
    """A program that uses memory for two of its users."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.service = Memory(
            SqlStore.in_memory(),
            HashingEmbedder(),
            clock=self.clock,
            new_id=TimeOrderedIds(self.clock, Random(7).getrandbits),
            retrieval=RetrievalConfig(env_threshold=0.0, top_k=None, env_weight=0.0, intent_weight=1.0, min_intent=0.3),
        )
        self.config = EpisodicMemoryConfig(service=self.service, app_name="tests")

    def of(self, user: str) -> EpisodicMemory:
        return self.config.with_user_id(user).new_episodic_memory()

    def is_sound(self) -> bool:
        return self.service.audit.check() == []


@pytest.fixture
def library() -> Iterator[Library]:
    library = Library()
    yield library
    assert library.is_sound()


# Episodes -------------------------------------------------------------------------------------------------------


def test_the_seeds_record_of_three_fields_is_enough(library: Library) -> None:
    ana = library.of("ana")
    stored = ana.store(Episode(goal="deploy", trajectory="make release", status=EpisodeStatus.SUCCESS))  # type: ignore[arg-type]
    assert (stored.output, stored.status) == ("make release", EpisodeStatus.SUCCESS)
    assert stored.trajectory == (Step(kind=StepKind.ACT, text="make release"),)
    assert ana.retrieve("deploy", 1) == [stored]


def test_storing_asks_the_memory_nothing(library: Library) -> None:
    ana = library.of("ana")
    first = ana.store(Episode(goal="deploy", output="make release", status=EpisodeStatus.SUCCESS))
    ana.store(Episode(goal="deploy", output="make all", parent_id=first.id))
    ana.store(Episode(goal="deploy", output="make it", id="e3", parent_id="none such"))
    assert [each.parent_id for each in (ana._known("e3"), ana._known(first.id)) if each] == ["none such", ""]
    assert not any(row.startswith("retrievals ") for row in rows(library.service.store))


@pytest.mark.parametrize(
    ("given", "kept"),
    [("success", "success"), ("failure", "failure"), ("pending", "pending"), ("expand", "expand")],
)
def test_a_status_is_taken_as_the_users_own_judgement(library: Library, given: str, kept: str) -> None:
    ana = library.of("ana")
    stored = ana.store(Episode(goal="deploy", output="done", status=EpisodeStatus(given)))
    assert stored.status.value == kept
    assert [each.id for each in ana.retrieve("deploy")] == ([] if given == "pending" else [stored.id])


def test_users_never_see_each_other(library: Library) -> None:
    users = ["ana", "bob", "ana/direct", "agent/ana", "default"]
    for user in users:
        library.of(user).store(Episode(goal="deploy", output=f"by {user}", status=EpisodeStatus.SUCCESS))
    for user in users:
        assert [each.output for each in library.of(user).retrieve("deploy", 10)] == [f"by {user}"]
    other_app = replace(library.config, app_name="other").with_user_id("ana").new_episodic_memory()
    assert other_app.retrieve("deploy", 10) == []


def test_with_user_id_leaves_the_base_alone() -> None:
    base = EpisodicMemoryConfig()
    derived = base.with_user_id("ana")
    assert (base.user_id, derived.user_id) == ("default", "ana")
    assert derived.service is base.service
    stored = base.new_episodic_memory().store(Episode(goal="deploy", output="x", status=EpisodeStatus.SUCCESS))
    assert derived.new_episodic_memory().retrieve("deploy") == []
    assert base.new_episodic_memory().retrieve("deploy") == [stored]


def test_retrieve_gives_the_best_k_and_nothing_for_nothing(library: Library) -> None:
    ana = library.of("ana")
    for goal in ("deploy the web server", "deploy the web", "deploy", "bake bread"):
        ana.store(Episode(goal=goal, output=goal, status=EpisodeStatus.SUCCESS))
    assert [each.goal for each in ana.retrieve("deploy the web server", 2)] == [
        "deploy the web server",
        "deploy the web",
    ]
    assert "bake bread" not in [each.goal for each in ana.retrieve("deploy the web server", 10)]
    assert ana.retrieve("deploy", 0) == ana.retrieve("deploy", -1) == ana.retrieve("  ", 3) == []


@pytest.mark.parametrize("goal", ["", "   ", "\n"])
def test_an_episode_without_a_goal_is_not_kept(library: Library, goal: str) -> None:
    assert library.of("ana").store(Episode(goal=goal, output="x")).id == ""
    assert library.service.audit.workspaces() == []


def test_storing_an_episode_again_judges_it_and_makes_no_second_one(library: Library) -> None:
    ana = library.of("ana")
    pending = ana.store(Episode(goal="deploy", output="make release"))
    library.clock.tick()
    judged = ana.store(replace(pending, status=EpisodeStatus.SUCCESS))
    assert (judged.id, judged.status) == (pending.id, EpisodeStatus.SUCCESS)
    library.clock.tick()
    assert ana.store(judged) == judged
    with pytest.raises(Conflict, match="somebody else"):
        library.of("bob").store(judged)
    assert ana.store(replace(judged, status=EpisodeStatus.FAILURE)).status is EpisodeStatus.FAILURE
    assert len(ana.retrieve("deploy", 10)) == 1


def test_the_memory_that_does_nothing() -> None:
    nothing = NoOpEpisodicMemory()
    episode = Episode(goal="deploy", status=EpisodeStatus.SUCCESS)
    assert nothing.store(episode) == episode
    assert nothing.retrieve("deploy", 3) == []


# Ledger and reactions -------------------------------------------------------------------------------------------

CONTEXT = ReactionContext(goal="deploy", output="make release", sender_key="slack:ana:c1")


def test_a_reaction_gives_the_agent_its_cookie(library: Library) -> None:
    ana = library.of("ana")
    ledger = ReactionLedger(ana)
    handler = ReactionHandler(ledger, ana)
    ledger.record("m1", CONTEXT)
    assert ledger.lookup("m1") == CONTEXT
    assert ana.retrieve("deploy") == []
    library.clock.tick()
    episode = handler.handle_reaction("m1", "👍🏽")
    assert episode is not None
    assert episode.status is EpisodeStatus.SUCCESS
    assert [each.output for each in ana.retrieve("deploy")] == ["make release"]
    library.clock.tick()
    rejected = handler.handle_reaction("m1", "-1::skin-tone-2")
    assert rejected is not None
    assert rejected.status is EpisodeStatus.FAILURE
    library.clock.tick()
    handler.handle_reaction("m1", "-1::skin-tone-2", added=False)
    library.clock.tick()
    handler.handle_reaction("m1", "👍🏽", added=False)
    assert ana.retrieve("deploy") == []


def test_repeats_unknown_emoji_and_unknown_messages_are_nothing(library: Library) -> None:
    ana = library.of("ana")
    ledger = ReactionLedger(ana)
    handler = ReactionHandler(ledger, ana)
    ledger.record("m1", CONTEXT)
    assert handler.handle_reaction("m1", "🤷") is None
    assert handler.handle_reaction("no-such", "👍") is None
    assert handler.handle_reaction("m1", "👍", channel="elsewhere") is None
    assert handler.handle_reaction("m1", "👍", event_id="e1") is not None
    assert handler.handle_reaction("m1", "👍", event_id="e1") is None
    assert handler.handle_reaction("m1", "👍", event_id="e2") is None
    assert (ledger.lookup("no-such"), ledger.lookup("")) == (None, None)


def test_the_ledger_forgets_in_time(library: Library) -> None:
    ana = library.of("ana")
    ledger = ReactionLedger(ana, ttl=timedelta(minutes=10))
    handler = ReactionHandler(ledger, ana)
    ledger.record("m1", CONTEXT)
    library.clock.tick(minutes=9)
    assert ledger.lookup("m1") == CONTEXT
    library.clock.tick(minutes=1)
    assert ledger.lookup("m1") is None
    assert handler.handle_reaction("m1", "👍") is None


def test_the_same_message_recorded_again_is_replaced(library: Library) -> None:
    ana = library.of("ana")
    ledger = ReactionLedger(ana)
    ledger.record("m1", CONTEXT)
    library.clock.tick()
    ledger.record("m1", ReactionContext(goal="release", output="make all"))
    found = ledger.lookup("m1")
    assert found is not None
    assert (found.goal, found.output) == ("release", "make all")
    episode = ReactionHandler(ledger, ana).handle_reaction("m1", "👍")
    assert episode is not None
    assert episode.goal == "release"


def test_ledgers_of_two_users_and_two_channels_are_apart(library: Library) -> None:
    ana, bob = ReactionLedger(library.of("ana")), ReactionLedger(library.of("bob"))
    ana.record("m1", CONTEXT)
    ana.record("m1", replace(CONTEXT, goal="in c2"), channel="c2")
    assert bob.lookup("m1") is None
    found = ana.lookup("m1", channel="c2")
    assert found is not None
    assert found.goal == "in c2"
    assert ana.lookup("m1") == CONTEXT


def test_reactions_of_other_people_count_as_theirs(library: Library) -> None:
    ana = library.of("ana")
    ledger = ReactionLedger(ana)
    handler = ReactionHandler(ledger, ana, emoji=EmojiMap(success=["partyparrot"], failure=[]))
    ledger.record("m1", CONTEXT)
    assert handler.handle_reaction("m1", "👍", actor="bob") is None
    pending = handler.handle_reaction("m1", "partyparrot", actor="bob")
    assert pending is not None
    assert pending.status is EpisodeStatus.PENDING
    decided = handler.handle_reaction("m1", "<:partyparrot:123456789012345678>", actor="cy")
    assert decided is not None
    assert decided.status is EpisodeStatus.SUCCESS


def test_without_a_memory_or_a_ledger_everything_is_a_no_op(library: Library) -> None:
    ana = library.of("ana")
    for ledger in (ReactionLedger(None), ReactionLedger(NoOpEpisodicMemory())):
        ledger.record("m1", CONTEXT)
        assert ledger.lookup("m1") is None
        assert ReactionHandler(ledger, ana).handle_reaction("m1", "👍") is None
    for handler in (
        ReactionHandler(None, ana),
        ReactionHandler(ReactionLedger(ana), None),
        ReactionHandler(ReactionLedger(ana), NoOpEpisodicMemory()),
    ):
        assert handler.handle_reaction("m1", "👍") is None
    ReactionLedger(ana).record("", CONTEXT)
    assert ana.retrieve("deploy") == []


def test_a_context_may_be_given_in_the_seeds_order() -> None:
    assert ReactionContext("deploy", "make release", "slack:ana:c1") == CONTEXT


def test_the_generic_table_behind_the_ledger_forgets_in_time(library: Library) -> None:
    ana, bob = ShortMemoryStore(library.of("ana")), ShortMemoryStore(library.of("bob"))
    ana.set("question", "k", {"asked": ["when?", 1]}, ttl=timedelta(minutes=10))
    ana.set("dedupe", "k", {}, ttl=timedelta(minutes=20))
    assert (ana.get("question", "k"), ana.get("dedupe", "k"), ana.get("other", "k")) == (
        {"asked": ["when?", 1]},
        {},
        None,
    )
    assert bob.get("question", "k") is None
    bob.set("question", "k", {"asked": []}, ttl=timedelta(minutes=30))
    library.clock.tick(minutes=10)
    assert (ana.get("question", "k"), ana.get("dedupe", "k")) == (None, {})
    assert (ana.cleanup(), ana.cleanup()) == (1, 0)
    assert (bob.delete("question", "k"), bob.delete("question", "k")) == (True, False)
    with pytest.raises(ValueError, match="above zero"):
        ana.set("question", "k", {}, ttl=timedelta(0))
    with pytest.raises(ValueError, match="above zero"):
        ReactionLedger(ana, ttl=timedelta(0))
    for nothing in (ShortMemoryStore(None), ShortMemoryStore(NoOpEpisodicMemory())):
        nothing.set("question", "k", {}, ttl=timedelta(1))
        assert (nothing.get("question", "k"), nothing.delete("question", "k"), nothing.cleanup()) == (None, False, 0)


def test_a_ledger_over_the_generic_table_is_the_same_ledger(library: Library) -> None:
    ana = library.of("ana")
    ReactionLedger(ShortMemoryStore(ana)).record("m1", CONTEXT)
    assert ReactionLedger(ana).lookup("m1") == CONTEXT


def test_recording_again_begins_the_time_anew_and_makes_no_second_episode(library: Library) -> None:
    ana = library.of("ana")
    ledger = ReactionLedger(ana, ttl=timedelta(minutes=10))
    for _ in range(3):
        ledger.record("m1", CONTEXT)
        library.clock.tick(minutes=9)
    assert ledger.lookup("m1") == CONTEXT
    assert library.service.audit.statistics(ana.scope.workspace)[0]["episodes"] == 1


def test_what_is_erased_is_erased_from_the_ledger(library: Library) -> None:
    ana = library.of("ana")
    ledger = ReactionLedger(ana)
    ledger.record("m1", ReactionContext(goal="zyzzyva", output="zyzzyva"))
    library.service.privacy.forget(ana.scope.workspace, "ana")
    assert b"zyzzyva" not in content(library.service.store)
    assert not any(row.startswith("short_memories ") for row in rows(library.service.store))
    assert ledger.lookup("m1") is None


def test_an_empty_user_and_an_unknown_status_are_refused(library: Library) -> None:
    with pytest.raises(ValueError, match="cannot be empty"):
        library.config.with_user_id(" ")
    with pytest.raises(ValueError, match="'great'"):
        library.of("ana").store(Episode(goal="deploy", status="great"))  # type: ignore[arg-type]  # wrong on purpose
    stored = library.of("ana").store(Episode(goal="deploy", output="x", status="success"))  # type: ignore[arg-type]
    assert stored.status is EpisodeStatus.SUCCESS


# Feedback -------------------------------------------------------------------------------------------------------


def test_feedback_is_one_finding_per_injected_episode_in_order(library: Library) -> None:
    ana = library.of("ana")
    first, second = (
        ana.store(Episode(goal=goal, output=output, status=EpisodeStatus.SUCCESS))
        for goal, output in [("deploy", "run make release"), ("lunch", "canteen downstairs")]
    )
    signal = RetrievalFeedbackSignal(ana)
    gone = Episode(goal="gone", id="no-such")
    found = signal.detect([second, gone, first], "please run MAKE RELEASE now", "how to deploy?")
    assert [(each.episode_id, each.signal, each.context) for each in found] == [
        (second.id, Signal.IGNORED, "how to deploy?"),
        (first.id, Signal.USED, "how to deploy?"),
    ]
    assert signal.detect([], "anything") == []
    assert signal.get_stats(first.id) == {"used": 1, "ignored": 0, "unknown": 0, "contradicted": 0}
    assert signal.get_stats("no-such") == {"used": 0, "ignored": 0, "unknown": 0, "contradicted": 0}
    assert ana.retrieve("deploy", 1)[0].strength > first.strength
    assert ana.retrieve("lunch", 1)[0].strength < second.strength


def test_feedback_twice_for_one_retrieval_is_once(library: Library) -> None:
    ana = library.of("ana")
    stored = ana.store(Episode(goal="deploy", output="run make release", status=EpisodeStatus.SUCCESS))
    signal = RetrievalFeedbackSignal(ana)
    for _ in range(3):
        signal.detect([stored, stored], "make release", retrieval_id="q1")
    assert signal.get_stats(stored.id)["used"] == 1
    signal.detect([stored], "make release", retrieval_id="q2")
    assert signal.get_stats(stored.id)["used"] == 2


def test_history_is_newest_first_and_limited(library: Library) -> None:
    ana = library.of("ana")
    stored = ana.store(Episode(goal="deploy", output="run make release", status=EpisodeStatus.SUCCESS))
    signal = RetrievalFeedbackSignal(ana)
    for number in range(5):
        library.clock.tick()
        signal.detect([stored], "make release" if number % 2 else "no idea", str(number))
    assert [each.context for each in signal.get_history(stored.id)] == ["4", "3", "2", "1", "0"]
    assert [each.context for each in signal.get_history(stored.id, 2)] == ["4", "3"]
    assert signal.get_history(stored.id, 0) == signal.get_history("no-such") == []
    assert len(signal.get_history(stored.id, -1)) == 5


def test_feedback_leaves_nothing_behind_for_a_user_who_is_forgotten(library: Library) -> None:
    ana = library.of("ana")
    stored = ana.store(Episode(goal="deploy", output="run make release", status=EpisodeStatus.SUCCESS))
    RetrievalFeedbackSignal(ana).detect([stored], "make release", "how do I, zyzzyva, deploy?")
    library.service.privacy.forget(ana.scope.workspace, "ana")
    assert b"zyzzyva" not in content(library.service.store)


# Working memory -------------------------------------------------------------------------------------------------


def test_working_memory_by_the_seeds_names() -> None:
    board = WorkingMemory()
    board.store("door", "locked")
    board.store("door", "open")
    board.store("alarm", "off")
    snapshot = board.snapshot()
    assert (board.recall("door"), board.recall("window"), board.keys()) == ("open", None, ["alarm", "door"])
    board.clear()
    assert (board.keys(), board.snapshot(), snapshot) == ([], {}, {"alarm": "off", "door": "open"})
