"""The faults of the system that the reaction loop was learned from, each with a test that would catch it.

Numbers are those of the list of its weaknesses. Where a fault is of a platform, its own tests go further.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest

from bot.adapters.commonmark import size, split
from bot.adapters.discord.client import intents
from bot.agent.tools.registry import Tool, ToolContext, ToolRegistry
from bot.config import DiscordSettings
from memory import (
    Episode,
    EpisodeStatus,
    EpisodicMemoryConfig,
    ReactionContext,
    ReactionHandler,
    ReactionLedger,
    WorkingMemory,
    export_memories,
)
from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.adapters.sql.engines.in_memory import IN_MEMORY
from memory.adapters.sql.engines.sqlite import SqliteDatabase
from memory.adapters.system import TimeOrderedIds
from memory.errors import InvalidInput
from memory.model import EventKind, Role, Termination, Verdict
from memory.rules.retrieval.config import RetrievalConfig
from memory.services import Memory
from tests import CHECKOUT
from tests.doubles.memory_world import FakeClock, World, scope
from tests.doubles.model import SCOPE, tool_call

CONTEXT = ReactionContext("how do I deploy the web server?", "run make release", "slack:ana:C1")


class Loop:
    """One person's ledger, handler and memory."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.service = Memory(
            SqlStore.in_memory(),
            HashingEmbedder(),
            clock=self.clock,
            new_id=TimeOrderedIds(self.clock, Random(7).getrandbits),
            retrieval=RetrievalConfig(env_threshold=0.0, env_weight=0.0, intent_weight=1.0, min_intent=0.3),
        )
        self.config = EpisodicMemoryConfig(service=self.service, app_name="slack")
        self.ana = self.config.with_user_id("ana").new_episodic_memory()
        self.ledger = ReactionLedger(self.ana)
        self.handler = ReactionHandler(self.ledger, self.ana)

    def react(self, emoji: str, message: str = "m1", *, actor: str = "", added: bool = True) -> Episode | None:
        self.clock.tick()
        return self.handler.handle_reaction(message, emoji, actor=actor, added=added)

    def remembered(self, goal: str = CONTEXT.goal) -> list[tuple[str, str]]:
        return [(each.output, each.status.value) for each in self.ana.retrieve(goal, 5)]

    def count(self) -> int:
        return self.service.audit.statistics(self.ana.scope.workspace)[0]["episodes"]


@pytest.fixture
def loop() -> Iterator[Loop]:
    loop = Loop()
    yield loop
    assert loop.service.audit.check() == []


def test_fault_1_the_loop_was_not_wired_message_reaction_episode_later_prompt(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    assert loop.remembered() == []
    loop.react("👍")
    assert loop.remembered("deploy the web server") == [("run make release", "success")]
    prompt = export_memories(loop.ana.retrieve("deploy the web server", 3), "prompt")
    assert "1. REPEAT: " in prompt


def test_fault_1_it_works_from_a_posted_answer_on(loop: Loop) -> None:
    world = World()
    answer = world.ask("how do I deploy?", "run make release", parts=2)
    world.react(answer, "👍")
    assert world.recalled("how do I deploy?") == [answer.id]


def test_fault_2_no_reactions_were_received_on_slack_and_discord() -> None:
    manifest = json.loads((CHECKOUT / "config" / "slack-manifest.json").read_text(encoding="utf-8"))
    assert {"reaction_added", "reaction_removed"} <= set(manifest["settings"]["event_subscriptions"]["bot_events"])
    assert "reactions:read" in manifest["oauth_config"]["scopes"]["bot"]
    wanted = intents(DiscordSettings())
    assert wanted.guild_reactions
    assert wanted.dm_reactions


def test_fault_3_the_ledgers_key_was_a_bare_message_id(loop: Loop) -> None:
    other = ReactionLedger(
        EpisodicMemoryConfig(service=loop.service, app_name="discord", user_id="ana").new_episodic_memory()
    )
    for number, (ledger, channel) in enumerate([(loop.ledger, "C1"), (loop.ledger, "C2"), (other, "C1")]):
        ledger.record("7", ReactionContext(f"goal {number}", "output"), channel=channel)
    found = [ledger.lookup("7", channel=channel) for ledger, channel in
             [(loop.ledger, "C1"), (loop.ledger, "C2"), (other, "C1"), (other, "C2"), (loop.ledger, "")]]  # fmt: skip
    assert [each and each.goal for each in found] == ["goal 0", "goal 1", "goal 2", None, None]


def test_fault_3_the_ledger_forgot_after_an_hour(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    loop.clock.tick(days=29)
    assert loop.ledger.lookup("m1") == CONTEXT
    loop.clock.tick(days=1)
    assert loop.ledger.lookup("m1") is None


@pytest.mark.parametrize("output", ["ok", "x" * 600, "line\n**bold**\n## head", "⚠️ Error", "plain, short"])
def test_fault_3_short_and_ordinary_answers_were_not_recorded(loop: Loop, output: str) -> None:
    loop.ledger.record("m1", ReactionContext("say it", output))
    episode = loop.react("👍")
    assert episode is not None
    assert episode.output == output


def test_fault_3_only_one_part_of_a_long_answer_would_have_counted() -> None:
    world = World()
    answer = world.ask("tell me all", "long", parts=3, message_id="m")
    taught = world.memory.teaching.react(world.reaction(answer, message_id="m/3"), event_id="e1")
    assert taught.changed


def test_fault_4_episodes_were_only_appended_never_upgraded_flipped_or_retracted(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    loop.react("👍")
    assert (loop.remembered(), loop.count()) == ([("run make release", "success")], 1)
    loop.react("👎")
    assert (loop.remembered(), loop.count()) == ([("run make release", "failure")], 1)
    loop.react("👎", added=False)
    assert loop.remembered() == [("run make release", "success")]
    loop.react("👍", added=False)
    assert (loop.remembered(), loop.count()) == ([], 1)


def test_fault_4_each_delivery_of_one_reaction_made_another_episode(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    found = [loop.handler.handle_reaction("m1", "👍", event_id="e1") for _ in range(3)]
    assert [each is not None for each in found] == [True, False, False]
    assert loop.count() == 1


@pytest.mark.parametrize(("actor", "role", "status"), [
    ("bob", Role.MEMBER, "pending"), ("bob", Role.GUEST, "pending"), ("bob", Role.TEACHER, "success"),
])  # fmt: skip
def test_fault_5_anybodys_reaction_counted(loop: Loop, actor: str, role: Role, status: str) -> None:
    loop.ledger.record("m1", CONTEXT)
    episode = loop.handler.handle_reaction("m1", "👍", actor=actor, role=role)
    assert episode is not None
    assert episode.status.value == status


def test_fault_5_the_bots_own_reactions_counted(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    assert loop.handler.handle_reaction("m1", "👍", actor="goodbot", role=Role.BOT) is None
    assert loop.remembered() == []


@pytest.mark.parametrize(("emoji", "status"), [
    ("👍", "success"), ("👍🏽", "success"), ("+1", "success"), ("+1::skin-tone-3", "success"),
    (":thumbsup:", "success"),
    ("❤️", "success"), ("❤", "success"), ("🔥", "success"), ("👏🏿", "success"), ("🎉", "success"), ("💯", "success"),
    ("👎", "failure"), ("👎🏻", "failure"), ("-1", "failure"), ("thumbsdown", "failure"),
    ("🤔", None), ("👀", None), ("", None), ("shipit", None),
])  # fmt: skip
def test_fault_6_the_map_knew_emoji_in_one_spelling_only(loop: Loop, emoji: str, status: str | None) -> None:
    loop.ledger.record("m1", CONTEXT)
    episode = loop.react(emoji)
    assert (episode and episode.status.value) == status


@pytest.mark.parametrize("goal", [
    'say "hi" & <bye>\nnow', "50% of_all", "how do I deploy the web server", "deploying the web server: how?",
    "HOW DO I DEPLOY THE WEB SERVER", "q" * 400,
])  # fmt: skip
def test_fault_7_a_goal_was_found_only_as_part_of_the_stored_text(loop: Loop, goal: str) -> None:
    stored = "how do I deploy the web server?" if "web server" in goal.lower() else goal
    loop.ana.store(Episode(goal=stored, output="right", status=EpisodeStatus.SUCCESS))
    loop.ana.store(Episode(goal="what shall we have for lunch", output="wrong", status=EpisodeStatus.SUCCESS))
    assert loop.remembered(goal)[:1] == [("right", "success")]


@pytest.mark.parametrize("wildcard", ["%", "_", "%%"])
def test_fault_7_wildcards_matched_everything(loop: Loop, wildcard: str) -> None:
    loop.ana.store(Episode(goal="deploy", output="x", status=EpisodeStatus.SUCCESS))
    assert loop.remembered(wildcard) == []


def test_fault_8_success_was_self_awarded_and_pending_shown_as_fact() -> None:
    world = World()
    answer = world.ask("deploy?", "run make release", children=[("build", Termination.SUCCESS)])
    assert {node.status.value for node in world.nodes(answer)} == {"pending"}
    assert (world.recalled("deploy?"), world.recalled("build")) == ([], [])
    assert export_memories(world.nodes(answer), "prompt") == ""


def test_fault_8_one_turn_left_several_copies_of_itself(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    loop.react("👍")
    assert loop.count() == len(loop.remembered()) == 1


def test_fault_9_memories_leaked_between_people_and_platforms(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    loop.react("👍")
    for other in (
        loop.config.with_user_id("bob"),
        EpisodicMemoryConfig(service=loop.service, app_name="discord", user_id="ana"),
        loop.config,
    ):
        memory = other.new_episodic_memory()
        assert memory.retrieve(CONTEXT.goal, 9) == []
        assert ReactionLedger(memory).lookup("m1") is None


def test_fault_9_the_nodes_of_a_run_shared_one_global_memory() -> None:
    world = World()
    answer = world.ask("deploy?", "done", children=[("build the image", Termination.SUCCESS)])
    world.react(answer, "👍")
    assert len(world.recalled("build the image")) == 1
    assert world.recalled("build the image", scope("bob", channel="c2")) == []


def test_fault_10_nothing_could_be_inspected_forgotten_or_counted(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    loop.react("👍")
    workspace = loop.ana.scope.workspace
    stats = loop.service.audit.statistics(workspace)[0]
    assert (stats["episodes"], stats["verdict.success"]) == (1, 1)
    (episode,) = loop.ana.retrieve(CONTEXT.goal, 1)
    view = loop.service.audit.run(workspace, episode.run_id)
    assert [vote.actor for vote in view.votes] == ["ana"]
    assert [event.kind for event in view.events] == [EventKind.CREATED, EventKind.VOTED, EventKind.GRADED]
    loop.service.privacy.forget(workspace, "ana")
    assert loop.service.privacy.personal_data(workspace, "ana").is_empty
    assert (loop.remembered(), loop.ledger.lookup("m1")) == ([], None)


def test_fault_11_expired_rows_were_never_removed(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    loop.clock.tick(days=10)
    loop.ledger.record("m2", CONTEXT)
    loop.clock.tick(days=20)
    with loop.service.store.write() as tx:
        assert tx.teaching.sweep_ledger(loop.clock()) == 1
    assert loop.ledger.lookup("m2") == CONTEXT


async def test_fault_12_approval_could_be_bypassed() -> None:
    ran: list[str] = []

    async def run(arguments: object, context: ToolContext) -> str:
        ran.append("ran")
        return "done"

    tool = Tool(name="wipe", description="Wipes.", parameters={"type": "object"}, run=run, has_side_effects=True)
    call = tool_call("wipe")
    context = ToolContext(scope=SCOPE, run_id="R", node_path="0", question="Q", memory=WorkingMemory())
    result = await ToolRegistry([tool]).run(call, context)
    assert result.is_error
    assert ran == []


def test_fault_13_errors_of_memory_were_swallowed(loop: Loop) -> None:
    with pytest.raises(InvalidInput, match="NUL character"):
        loop.ana.store(Episode(goal="deploy", output="a\0b", status=EpisodeStatus.SUCCESS))
    loop.service.store.close()
    with pytest.raises(Exception, match="closed"):
        loop.ledger.record("m1", CONTEXT)
    loop.service.store.__init__(SqliteDatabase(IN_MEMORY))  # type: ignore[misc]  # for the check after it


def test_fault_14_long_answers_were_not_split() -> None:
    text = "word " * 3000
    parts = split(text, 2000)
    assert all(size(part) <= 2000 for part in parts)
    assert " ".join(parts).split() == text.split()


def test_a_rejected_answer_is_a_warning_not_silence(loop: Loop) -> None:
    loop.ledger.record("m1", CONTEXT)
    episode = loop.react("👎")
    assert episode is not None
    assert episode.verdict is Verdict.FAILURE
    assert "AVOID" in export_memories(loop.ana.retrieve(CONTEXT.goal, 1), "prompt")
    loop.clock.tick(seconds=timedelta(days=1).total_seconds())
    assert loop.remembered() == [("run make release", "failure")]
