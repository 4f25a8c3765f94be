"""What models may cost in a day: caps hold over people, channels, processes and restarts, and say when they end."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from click.testing import CliRunner

from bot.adapters.llm.provider_model import ProviderModel
from bot.cli.query import spending_lines
from bot.cli.root import goodbot
from bot.config import load_settings
from bot.model import ModelReply
from memory.adapters.sql import SqlStore
from memory.model import Role, Scope, Usage
from memory.model.spending import Cap, Spender
from memory.ports import EpisodeFilter
from tests.bot.conversation.test_message_statements import Count
from tests.doubles.conversation import ANA, BOB, Chat
from tests.doubles.memory_world import World, scope
from tests.doubles.model import answer, call
from tests.doubles.openai_server import OpenAIServer, text

PERSON = Cap(spender=Spender.PERSON, usd=0.5)
SOME = Usage(prompt_tokens=900, completion_tokens=100, cost_usd=0.3)


def capped(chat: Chat, *caps: Cap) -> Chat:
    object.__setattr__(chat.world.memory.core, "caps", caps)
    return chat


class Costly(Chat):
    """Every answer costs the same."""

    def __init__(
        self, *caps: Cap, usage: Usage = SOME, world: World | None = None, known_answers: bool = False
    ) -> None:
        super().__init__(world, known_answers=known_answers)
        self.usage = usage
        capped(self, *caps)

    async def say(self, question: str, by: Scope = ANA) -> str:
        self.oracle.answers[question] = answer(f"so: {question}", usage=self.usage)
        await self.ask(question, by)
        return self.messenger.answers[-1]

    @property
    def requests(self) -> int:
        return len(self.oracle.requests)


async def test_a_person_at_their_cap_is_told_until_when_and_no_model_is_asked() -> None:
    chat = Costly(PERSON)
    for number in range(2):
        assert await chat.say(f"question number {number}?") == f"so: question number {number}?"
    said = await chat.say("one more?")
    assert said == (
        "Sorry, what I may use for your questions in one day (0.50 US dollars) is used up; "
        "that ends at 00:00 UTC, in about 15 hours."
    )
    assert chat.requests == 2
    assert await chat.say("and for me?", BOB) == "so: and for me?"
    chat.world.clock.tick(hours=15)
    assert await chat.say("a new day?") == "so: a new day?"


async def test_a_cap_for_a_channel_and_one_for_the_workspace() -> None:
    chat = Costly(Cap(spender=Spender.CHANNEL, tokens=1_000))
    await chat.say("first?")
    assert "for questions in this channel in one day (1,000 tokens)" in await chat.say("second?", BOB)
    assert await chat.say("elsewhere?", scope("ana", channel="c2")) == "so: elsewhere?"
    chat = Costly(Cap(spender=Spender.WORKSPACE, tokens=1_500))
    await chat.say("first?")
    await chat.say("second?", scope("bob", channel="c2"))
    assert "for questions here in one day" in await chat.say("third?", scope("tea", channel="c3"))
    assert await chat.say("elsewhere?", scope("ana", workspace="terminal:other")) == "so: elsewhere?"


async def test_an_answer_that_needs_no_model_is_still_given() -> None:
    chat = Costly(PERSON, known_answers=True)
    wrong = await chat.ask("where is the spare key?")
    chat.world.actions = ()
    await chat.correct("behind the desk", by=scope("tea"), message_id=wrong, role=Role.TEACHER)
    await chat.say("first?")
    await chat.say("second?")
    asked = chat.requests
    assert await chat.say("where is the spare key?") == "behind the desk"
    assert chat.requests == asked


async def test_a_run_ends_where_the_cap_is_reached() -> None:
    chat = Costly(Cap(spender=Spender.PERSON, tokens=1_500))
    chat.oracle.answers["hard?"] = _thinking(Usage(prompt_tokens=1_000))
    await chat.ask("hard?")
    assert chat.messenger.answers[-1].startswith("I had to stop: what I may use for your questions in one day")
    assert chat.requests == 2


def _thinking(usage: Usage) -> ModelReply:
    return ModelReply(turn=call("think", thought="hm").turn, usage=usage)


async def test_caps_hold_for_other_processes_after_a_restart_and_after_forgetting(tmp_path: Path) -> None:
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(closing(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}"))) for _ in range(2)
        )
        first, second = Costly(PERSON, world=World(one)), Costly(PERSON, world=World(other))
        second.world.ids = first.world.ids
        await first.say("here?")
        chat = Costly(PERSON, world=second.world)
        await chat.say("there?")
        assert "is used up" in await first.say("here again?")
        first.world.memory.privacy.forget("terminal:w", "ana")
        assert "is used up" in await chat.say("and after forgetting?")
        assert _words_in(one) == 0
    with closing(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}")) as again:
        world = World(again)
        world.clock.tick(minutes=30)
        assert "is used up" in await Costly(PERSON, world=world).say("after a restart?")


def _words_in(store: SqlStore) -> int:
    """How many counters name a person or channel in clear."""
    with store.connected() as connection:
        rows = connection.exec_driver_sql("SELECT name FROM counters WHERE name LIKE 'spent/%'").all()
    assert rows
    return sum("ana" in row[0] or "c1" in row[0] for row in rows)


async def test_counts_of_days_before_are_swept() -> None:
    chat = Costly(PERSON)
    await chat.say("today?")
    with chat.store.write() as tx:
        assert tx.totals.sweep_spent(chat.world.clock().date()) == 0
    chat.world.clock.tick(days=1)
    chat.world.memory.upkeep.run("sweep")
    with chat.store.write() as tx:
        assert tx.totals.sweep_spent(chat.world.clock().date()) == 0
    assert chat.world.memory.spending.allowance(ANA).reached(Usage()) is None


async def test_what_a_cap_costs_in_statements(tmp_path: Path) -> None:
    """Without a cap nothing; with one, to look before and to count afterwards."""
    with closing(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}")) as store:
        counted: list[int] = []
        world = World(store)
        caps: Sequence[Sequence[Cap]] = ((), (PERSON, Cap(spender=Spender.WORKSPACE, tokens=10**9)))
        for number, each in enumerate(caps):
            chat = Costly(*each, world=world)
            await chat.say(f"{number} to warm up?")
            world.clock.tick(hours=5)  # nothing was said before in this conversation
            count = Count(store)
            await chat.say(f"{number} is counted?")
            counted.append(len(count.statements))
        assert counted[1] == counted[0] + 2


async def test_prices_come_with_the_library_and_an_unknown_one_leaves_the_tokens() -> None:
    with OpenAIServer() as server:
        server.script(text("Paris."), text("Rome.", model="our-own-7b"))
        model = ProviderModel("openai:gpt-4o-mini", base_url=server.base_url, api_key="k")
        chat = Chat(model=model)
        await chat.ask("the capital of France?")
        await chat.ask("the capital of Italy?", BOB)
        await model.close()
    report = chat.world.memory.spending.report("terminal:w")
    people = dict(report.people)
    # 1,000 tokens at 0.15 and 200 at 0.60 US dollars a million.
    assert round(people["ana"].cost_usd, 6) == 0.00027
    assert (people["ana"].tokens, people["ana"].unpriced_tokens) == (1200, 0)
    assert (people["bob"].cost_usd, people["bob"].tokens, people["bob"].unpriced_tokens) == (0, 1200, 1200)
    assert report.total == report.today
    lines = spending_lines(report)
    assert lines[0] == (
        "models, today (UTC)    0.0003 US$ (2400 tokens, 2 answers; 1,200 of the tokens have no known price)"
    )
    assert "  person bob: 1200 tokens, 1 answer; the price is not known" in lines
    assert "  model our-own-7b: 1200 tokens, 1 answer; the price is not known" in lines


async def test_understanding_the_question_counts_to_its_answer() -> None:
    with OpenAIServer() as server:
        server.script(text("In Paris."), text("What is the capital of Spain?"), text("Madrid."))
        model = ProviderModel("openai:gpt-4o-mini", base_url=server.base_url, api_key="k")
        chat = Chat(model=model)
        await chat.ask("What is the capital of France?")
        await chat.ask("and of Spain?")
        await model.close()
    found = chat.world.memory.audit.episodes("terminal:w", EpisodeFilter(limit=None))
    roots = [chat.world.memory.audit.run("terminal:w", each.run_id).nodes[0] for each in found]
    assert sorted(root.usage.prompt_tokens for root in roots) == [1000, 2000]


def test_stats_and_the_settings(tmp_path: Path) -> None:
    settings = load_settings(
        {"GOODBOT_CAPS_PERSON_USD": "2.5", "GOODBOT_CAPS_WORKSPACE_TOKENS": "1000"},
        config_path=None,
        cwd=tmp_path,
        data_dir=tmp_path,
    )
    assert settings.caps.caps == (
        Cap(spender=Spender.PERSON, usd=2.5),
        Cap(spender=Spender.WORKSPACE, tokens=1000),
    )
    home = {"HOME": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / 'g.db'}", "GOODBOT_EMBEDDER_NAME": "hashing"}
    with closing(SqlStore.open(home["DATABASE_URL"])) as store:
        World(store).ask("what is it?", "that")
    shown = CliRunner().invoke(goodbot, ["stats", "--json"], env=home, catch_exceptions=False)
    assert '"spending"' in shown.output


async def test_why_tells_what_each_node_and_the_whole_answer_cost() -> None:
    chat = Costly(usage=Usage(prompt_tokens=900, completion_tokens=100, cost_usd=0.3))
    await chat.say("what does it cost?")
    why = await chat.command("why")
    assert "- “what does it cost?”: answer → success, 0.3000 US$, 1,000 tokens" in why
    assert "**Cost**: 0.3000 US$, 1,000 tokens" in why
    chat.usage = Usage(prompt_tokens=5)
    await chat.say("what is its price, then?")
    assert "**Cost**: 5 tokens of unknown price" in await chat.command("why")
