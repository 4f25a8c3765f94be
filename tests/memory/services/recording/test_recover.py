"""After deaths of the process: who is blamed, who is answered alone, who is set aside and told so."""

import asyncio
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from hypothesis import given, strategies as st

from bot.app.serve import _recover_suspects
from bot.conversation import messages
from bot.errors import ChannelNotFound
from bot.model import BotMessage, MessageRef, ModelReply, ModelRequest
from memory.errors import InvalidInput
from memory.model import AbnormalExit, Incoming, Progress
from memory.model.delivery import CRASHES, KILLS
from memory.services import FinishedRun, Memory
from tests.doubles.conversation import Chat, Oracle, RecordingMessenger
from tests.doubles.memory_world import World, scope
from tests.doubles.model import answer, goal_of

NOTE = "I will not try it any more."


def message(event_id: str, *, person: str = "ana", text: str = "") -> Incoming:
    return Incoming(
        scope=scope(person, channel=f"c-{person}"),
        event_id=event_id,
        message_id=event_id,
        text=text or f"question {event_id}",
        at=World().clock(),
    )


def death(name: str, *event_ids: str, crash: bool = True, workspace: str = "terminal:w") -> AbnormalExit:
    return AbnormalExit(id=name, in_work=tuple((workspace, each) for each in event_ids), is_crash=crash)


def stored(memory: Memory, event_id: str) -> Incoming:
    with memory.store.read() as tx:
        found = tx.deliveries.incoming("terminal:w", event_id)
    assert found is not None
    return found


def parts_of(memory: Memory, event_id: str) -> list[str]:
    run_id = stored(memory, event_id).run_id
    with memory.store.read() as tx:
        return [part.text for part in tx.deliveries.outgoing("terminal:w", run_id)] if run_id else []


def finish(memory: Memory, event_id: str, *parts: str) -> bool:
    run = FinishedRun(
        workspace="terminal:w", run_id=f"run-{event_id}", event_id=event_id, nodes=(), recalls=(), parts=parts
    )
    return memory.recording.finish(run) is not None


def post_everything(memory: Memory) -> list[tuple[str, str]]:
    """(event, text) of each part that was still to be posted."""
    posted = []
    for unsent in memory.recording.unfinished():
        for part in unsent.parts:
            memory.recording.sent(part.workspace, part.run_id, part.part, f"m-{part.run_id}-{part.part}")
            posted.append((unsent.incoming.event_id, part.text))
    return posted


# Blame ------------------------------------------------------------------------------------------------------------


def test_the_second_crash_sets_a_message_aside_and_its_asker_is_told_once() -> None:
    memory = World().memory
    memory.recording.accept(message("e1"))
    assert memory.recovering.count([death("one", "e1")], NOTE) == []
    assert stored(memory, "e1").is_suspect
    assert [each.event_id for each in memory.recovering.count([death("two", "e1")], NOTE)] == ["e1"]
    assert not finish(memory, "e1", "an answer all the same")
    assert post_everything(memory) == [("e1", NOTE)]
    assert memory.recording.unfinished() == []
    assert stored(memory, "e1").progress is Progress.SET_ASIDE
    assert [each.event_id for each in memory.recovering.set_aside()] == ["e1"]


def test_a_death_is_counted_once_however_often_it_is_told() -> None:
    memory = World().memory
    memory.recording.accept(message("e1"))
    for _ in range(3):
        memory.recovering.count([death("one", "e1", "e1")], NOTE)
    assert (stored(memory, "e1").crashes, stored(memory, "e1").progress) == (1, Progress.ACCEPTED)


def test_what_waited_or_was_done_with_is_not_blamed() -> None:
    memory = World().memory
    for event_id in ("waiting", "done", "in work"):
        memory.recording.accept(message(event_id))
    finish(memory, "done", "an answer")
    post_everything(memory)
    memory.recovering.count([death("one", "done", "in work", "never stored")], NOTE)
    assert [stored(memory, each).crashes for each in ("waiting", "done", "in work")] == [0, 0, 1]


def test_kills_set_aside_only_after_many() -> None:
    memory = World().memory
    memory.recording.accept(message("e1"))
    for number in range(KILLS - 1):
        assert memory.recovering.count([death(f"d{number}", "e1", crash=False)], NOTE) == []
        assert stored(memory, "e1").is_suspect == (number >= 2)
    assert memory.recovering.count([death("last", "e1", crash=False)], NOTE)


def test_of_an_answer_that_cannot_be_posted_the_rest_gives_way_to_the_note() -> None:
    memory = World().memory
    memory.recording.accept(message("e1"))
    finish(memory, "e1", "first", "second", "third")
    memory.recording.sent("terminal:w", "run-e1", 1, "m1")
    for number in range(2 * CRASHES):
        assert "second" in parts_of(memory, "e1")
        memory.recovering.count([death(f"d{number}", "e1")], NOTE)
    assert post_everything(memory) == [("e1", NOTE)]
    assert parts_of(memory, "e1") == ["first", NOTE]


def test_deaths_while_it_was_only_offered_again_do_not_lose_an_answer() -> None:
    memory = World().memory
    memory.recording.accept(message("e1"))
    finish(memory, "e1", "an answer")
    memory.recovering.count([death(f"crash-{number}", "e1") for number in range(CRASHES)], NOTE)
    memory.recovering.count([death(f"kill-{number}", "e1", crash=False) for number in range(KILLS)], NOTE)
    assert post_everything(memory) == [("e1", "an answer")]


async def test_an_answer_that_was_offered_and_not_taken_is_suspect_no_more() -> None:
    world = World()
    world.memory.recording.accept(message("e1"))
    finish(world.memory, "e1", "an answer")
    world.memory.recovering.count([death("one", "e1")], NOTE)
    chat = Chat(world)
    chat.messenger.fails.add("post")
    await chat.bot.recovery.resume(chat.messenger)
    await chat.bot.idle()
    assert stored(world.memory, "e1").progress is Progress.ANSWERED
    assert not stored(world.memory, "e1").is_suspect
    chat.executor.close()


def test_a_note_that_ends_the_process_as_well_is_given_up() -> None:
    memory = World().memory
    memory.recording.accept(message("e1"))
    for number in range(2 * CRASHES):
        assert len(memory.recording.unfinished()) == 1
        memory.recovering.count([death(f"d{number}", "e1")], NOTE)
    assert memory.recording.unfinished() == []


def test_who_was_set_aside_can_be_forgotten() -> None:
    memory = World().memory
    memory.recording.accept(message("e1"))
    memory.recovering.count([death("one", "e1"), death("two", "e1")], NOTE)
    memory.privacy.forget("terminal:w", "ana")
    assert (memory.recovering.set_aside(), memory.recording.unfinished()) == ([], [])


EVENTS = ("e0", "e1", "e2", "e3")


@dataclass
class Fate:
    """What should become of one message, told without a store."""

    crashes: int = 0
    kills: int = 0
    text: str | None = None
    """What its asker is told; empty if even that has to be given up."""
    is_posted: bool = False

    def is_answered(self) -> bool:
        if self.text is not None:
            return False
        self.text = "an answer"
        return True

    def dies(self, is_crash: bool) -> None:
        if self.is_posted:
            return
        self.crashes, self.kills = self.crashes + is_crash, self.kills + (not is_crash)
        tries = 1 if self.text is None else 2
        if self.crashes >= tries * CRASHES or self.kills >= tries * KILLS:
            self.text = "" if self.text in (NOTE, "") else NOTE
            self.crashes, self.kills = min(self.crashes, CRASHES), min(self.kills, KILLS)


lives = st.lists(
    st.tuples(
        st.booleans(),  # whether it was a crash
        st.sets(st.sampled_from(EVENTS)),  # what was in work
        st.sets(st.sampled_from(EVENTS), max_size=1),  # what was answered before that
        st.integers(1, 2),  # how often it is told
        st.booleans(),  # whether the next start gets as far as posting
    ),
    max_size=40,
)


@given(lives)
def test_after_any_history_each_message_is_answered_or_set_aside_and_told_once(
    history: list[tuple[bool, set[str], set[str], int, bool]],
) -> None:
    memory = World().memory
    for event_id in EVENTS:
        memory.recording.accept(message(event_id))
    fates = {event_id: Fate() for event_id in EVENTS}
    posted: list[tuple[str, str]] = []
    for life, (is_crash, in_work, answered, told, posts) in enumerate(history):
        for event_id in answered:
            assert finish(memory, event_id, "an answer") == fates[event_id].is_answered()
        if posts:
            posted += post_everything(memory)
            for fate in fates.values():
                fate.is_posted = fate.is_posted or bool(fate.text)
        for _ in range(told):
            memory.recovering.count([death(f"life-{life}", *sorted(in_work), crash=is_crash)], NOTE)
        for event_id in in_work:
            fates[event_id].dies(is_crash)
    for event_id in EVENTS:
        assert finish(memory, event_id, "an answer") == fates[event_id].is_answered()
    posted += post_everything(memory)
    assert memory.recording.unfinished() == []
    assert sorted(posted) == sorted((event_id, fate.text) for event_id, fate in fates.items() if fate.text != "")
    aside = {each.event_id for each in memory.recovering.set_aside()}
    assert aside == {event_id for event_id, fate in fates.items() if fate.text != "an answer"}


# Lives of the bot ---------------------------------------------------------------------------------------------------


class Deadly(Oracle):
    """Answers what it may, after a while of its own, and ends the process at some questions."""

    def __init__(self, deadly: dict[str, bool], slow: Sequence[str]) -> None:
        super().__init__()
        self.deadly, self.slow = deadly, slow
        self.died = asyncio.Event()
        self.is_crash = False

    async def reply(self, request: ModelRequest) -> ModelReply:
        goal = goal_of(request)
        if goal in self.deadly:
            self.is_crash = self.deadly[goal]
            self.died.set()
            await asyncio.Event().wait()
        if goal in self.slow:
            await asyncio.wait({asyncio.create_task(self.died.wait())}, timeout=0.01)
        return answer(f"the answer to {goal}")


class Platform(RecordingMessenger):
    """Knows what it has posted, as both platforms do: a part that a dead process got posted is not posted twice."""

    def __init__(self, posted: dict[tuple[str, int], MessageRef]) -> None:
        super().__init__()
        self.posted = posted

    async def post(self, message: BotMessage) -> MessageRef:
        key = (message.run_id, message.part)
        if key not in self.posted:
            self.posted[key] = await super().post(message)
        return self.posted[key]


@dataclass
class Noted:
    """What is in work, as the report of a process has it."""

    now: list[tuple[str, str]] = field(default_factory=list)

    @contextmanager
    def __call__(self, incoming: Incoming) -> Iterator[None]:
        key = (incoming.scope.workspace, incoming.event_id)
        self.now.append(key)
        try:
            yield
        finally:
            self.now.remove(key)


async def live(
    world: World, model: Deadly, name: str, posted: dict[tuple[str, int], MessageRef]
) -> tuple[list[str], list[str]]:
    """One process from its start to its death or its end. Returns who was answered and told, and who was in work."""
    noted = Noted()
    chat = Chat(world, model, record_in_progress=noted, messenger=Platform(posted))

    async def start() -> None:
        await chat.bot.recovery.answer_suspects(chat.messenger)
        await chat.bot.recovery.resume(chat.messenger)
        await chat.bot.idle()

    starting, dying = asyncio.create_task(start()), asyncio.create_task(model.died.wait())
    await asyncio.wait({starting, dying}, return_when=asyncio.FIRST_COMPLETED)
    in_work = tuple(noted.now)
    posts = [f"{post.channel}: {post.text}" for post in chat.messenger.posts]
    if model.died.is_set():
        starting.cancel()
        await chat.bot.conversations.cancel_all(1.0)
        world.memory.recovering.count(
            [AbnormalExit(id=name, in_work=in_work, is_crash=model.is_crash)], messages.SET_ASIDE
        )
    await asyncio.gather(starting, return_exceptions=True)
    dying.cancel()
    chat.executor.close()
    return posts, [event_id for _, event_id in in_work]


@given(
    kinds=st.lists(st.sampled_from(["fine", "slow", "crashes", "kills"]), min_size=1, max_size=5),
    seed=st.integers(0, 1000),
)
def test_whatever_kills_the_process_innocents_are_answered_and_the_guilty_set_aside(
    kinds: list[str], seed: int
) -> None:
    async def run() -> None:
        world = World()
        order = random.Random(seed).sample(range(len(kinds)), len(kinds))
        for number in order:
            world.clock.tick()
            asked = message(f"e{number}", person=f"p{number}")
            world.memory.recording.accept(asked)
        deadly = {f"question e{n}": kind == "crashes" for n, kind in enumerate(kinds) if kind in ("crashes", "kills")}
        slow = [f"question e{n}" for n, kind in enumerate(kinds) if kind == "slow"]
        said: list[str] = []
        posted: dict[tuple[str, int], MessageRef] = {}
        for life in range((KILLS + 1) * len(kinds) + 2):
            posts, in_work = await live(world, Deadly(deadly, slow), f"life-{life}", posted)
            said += posts
            if not in_work and not world.memory.recording.unfinished():
                break
        assert world.memory.recording.unfinished() == []
        expected = [
            f"c-p{n}: {messages.SET_ASIDE if f'question e{n}' in deadly else f'the answer to question e{n}'}"
            for n in range(len(kinds))
        ]
        assert sorted(said) == sorted(expected)
        aside = {each.event_id for each in world.memory.recovering.set_aside()}
        assert aside == {goal.removeprefix("question ") for goal in deadly}

    asyncio.run(run())


async def test_suspects_are_answered_one_at_a_time_before_anything_is_posted() -> None:
    world = World()
    for number in range(3):
        world.memory.recording.accept(message(f"e{number}", person=f"p{number}"))
    world.memory.recovering.count([death("one", "e0", "e2")], NOTE)
    noted = Noted()
    chat = Chat(world, record_in_progress=noted)
    gate = chat.oracle.gates["question e0"] = asyncio.Event()
    alone = asyncio.create_task(chat.bot.recovery.answer_suspects(chat.messenger))
    assert await chat.oracle.arrived.get() == "question e0"
    assert noted.now == [("terminal:w", "e0")]
    gate.set()
    await alone
    assert (chat.oracle.asked, chat.messenger.posts) == (["question e0", "question e2"], [])
    assert [stored(world.memory, f"e{n}").is_suspect for n in range(3)] == [False] * 3
    assert await chat.bot.recovery.resume(chat.messenger) == 3
    await chat.bot.idle()
    assert sorted(chat.messenger.answers) == [f"the answer to question e{n}" for n in range(3)]
    chat.executor.close()


async def test_what_may_be_deadly_to_post_is_posted_before_anything_else_begins() -> None:
    world = World()
    for number in range(2):
        world.memory.recording.accept(message(f"e{number}", person=f"p{number}"))
    finish(world.memory, "e1", "a deadly answer")
    world.memory.recovering.count([death("one", "e1")], NOTE)
    chat = Chat(world)
    seen: list[list[str]] = []

    async def look() -> None:
        seen.append(list(chat.oracle.asked))

    chat.messenger.after_post = look
    await chat.bot.recovery.resume(chat.messenger)
    await chat.bot.idle()
    assert chat.messenger.answers == ["a deadly answer", "the answer to question e0"]
    assert seen[0] == []
    chat.executor.close()


async def test_told_to_end_while_a_suspect_is_answered_it_ends_and_keeps_it() -> None:
    world = World()
    world.memory.recording.accept(message("e0"))
    world.memory.recovering.count([death("one", "e0")], NOTE)
    chat = Chat(world)
    chat.oracle.gates["question e0"] = asyncio.Event()
    stop = asyncio.Event()
    ending = asyncio.create_task(_recover_suspects(chat.bot, [chat.messenger], stop))
    await chat.oracle.arrived.get()
    stop.set()
    await ending
    assert stored(world.memory, "e0").progress is Progress.ACCEPTED
    assert stored(world.memory, "e0").crashes == 1
    chat.executor.close()


async def test_a_note_that_is_not_taken_is_offered_again_and_given_up_where_its_place_is_gone() -> None:
    world = World()
    for number in range(2):
        world.memory.recording.accept(message(f"e{number}", person=f"p{number}"))
    world.memory.recovering.count([death(name, "e0", "e1") for name in ("one", "two")], NOTE)
    chat = Chat(world)
    chat.messenger.fails.add("post")
    await chat.bot.recovery.resume(chat.messenger)
    await chat.bot.idle()
    chat.messenger.fails.clear()
    assert await chat.bot.recovery.redeliver(chat.messenger) == 2
    await chat.bot.idle()
    assert chat.messenger.answers == [NOTE, NOTE]
    world.memory.recording.accept(message("e2", person="p2"))
    world.memory.recovering.count([death(name, "e2") for name in ("three", "four")], NOTE)
    chat.messenger.fails.add("post")
    chat.messenger.refusal = ChannelNotFound("it is gone")
    await chat.bot.recovery.redeliver(chat.messenger)
    await chat.bot.idle()
    assert await chat.bot.recovery.redeliver(chat.messenger) == 0
    assert stored(world.memory, "e2").progress is Progress.SET_ASIDE
    chat.executor.close()


# The longest message ------------------------------------------------------------------------------------------------


async def test_a_message_that_is_too_long_is_answered_with_its_limit_and_not_run() -> None:
    chat = Chat()
    await chat.ask("x" * 100_001)
    assert chat.oracle.asked == []
    assert chat.messenger.notices[-1].startswith("This message has 100,001 characters")
    await chat.ask("x" * 100_000)
    assert len(chat.messenger.answers) == 1
    chat.executor.close()


def test_an_edit_that_is_too_long_leaves_the_question_as_it_was() -> None:
    memory = World().memory
    memory.recording.accept(message("e1"))
    with pytest.raises(InvalidInput, match="Please shorten it"):
        memory.changes.reword("terminal:w", "c-ana", "e1", "x" * 100_001)
    assert not memory.changes.reword("terminal:w", "c-ana", "no question", "x" * 100_001)
    assert stored(memory, "e1").text == "question e1"
