"""What was taught stays right: each question word for word, and pairs of them in one message, as taught and reworded.

    python -m tests.benchmarks.bench_taught --data FILE [--lessons 5] [--pairs 50] [--embedder packaged] [--choose]

FILE is that of `goodbot bench learning`. Its labels are answers; one member teaches `--lessons` questions of `train`
for each, and asks them again, and pairs of them joined by "and" or "then". Other wordings come from `test`. Counted is
what is right at once, and what is after a tap for each part that the bot asked about, both parts of a pair.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from bot.adapters.llm.offline.model import OfflineModel
from bot.app.bench.fresh_memory import SimulatedClock, fresh_memory
from bot.app.bench.labelled import LabelledMessage, first_of_each, read_splits
from bot.app.bench.messenger import BenchMessenger
from bot.app.bench.people import CHANNEL, Habits, People
from bot.app.bench.stream import shuffled
from bot.app.build import assemble, make_embedder
from bot.config import ConversationSettings, load_settings
from bot.model import PersonEvent
from memory.model import offers_of

JOINTS = (" and ", " and then ", ", then ")
Pair = tuple[LabelledMessage, LabelledMessage]


def pairs_of(messages: Sequence[LabelledMessage], count: int, chance: random.Random) -> list[Pair]:
    """Pairs of messages that want different things."""
    found: list[Pair] = []
    while len(found) < count:
        one, other = chance.sample(messages, 2)
        if one.label != other.label:
            found.append((one, other))
    return found


def joined(pair: Pair, chance: random.Random) -> str:
    """Two messages in one."""
    return pair[0].text.rstrip("?.") + chance.choice(JOINTS) + pair[1].text


async def measure(
    lessons: Sequence[LabelledMessage], others: Sequence[LabelledMessage], pairs: int, name: str, *, must_choose: bool
) -> None:
    """Teach, ask and print."""
    chance = random.Random(0)
    folder = Path(tempfile.gettempdir())
    environment = {"GOODBOT_EMBEDDER_NAME": name} if name != "packaged" else {}
    settings = load_settings(environment, config_path=None, cwd=folder, data_dir=folder)
    settings = settings.model_copy(update={"conversation": ConversationSettings(pause_hours=0.0)})
    embedder, clock = make_embedder(settings), SimulatedClock()
    with fresh_memory(settings, embedder, clock, seed=0) as memory:
        running = assemble(settings, memory, model=OfflineModel(embedder.embed, must_choose=must_choose))
        messenger = BenchMessenger()
        sink = running.goodbot.sink(messenger)
        people = People(Habits(), seed=0, clock=clock, new_id=memory.new_id)

        async def said_by(events: Sequence[PersonEvent]) -> tuple[set[str], list[tuple[str, PersonEvent]]]:
            """The paragraphs that answer these, and the answers on offer, each with the tap that takes it."""
            messenger.answer = None
            for event in events:
                await sink(event)
                await running.goodbot.idle()
            if (answer := messenger.answer) is None:
                return set(), []
            offers = offers_of(memory.audit.run(CHANNEL.workspace, answer.run_id).nodes)
            return set(answer.text.split("\n\n")), [
                (each.option.candidate[1], tap)
                for number, each in enumerate(offers, start=1)
                for tap in people.tap(answer.run_id, number)
            ]

        async def right(text: str, wanted: Sequence[LabelledMessage]) -> tuple[bool, bool]:
            """Whether all that is wanted is said at once, and whether it is said after a tap for each part."""
            clock.advance(timedelta(minutes=2))
            said, offered = await said_by([people.ask(text)])
            missing = {each.label.text for each in wanted} - said
            is_said_at_once = not missing
            for _ in wanted:
                taps = [tap for answer, tap in offered if answer in missing]
                if taps:
                    said, offered = await said_by(taps[:1])
                    missing -= said
            return is_said_at_once, not missing

        try:
            await running.warm_up
            for lesson in lessons:
                await sink(people.teach(lesson.text, lesson.label.text))
                clock.advance(timedelta(minutes=2))
            asked = {"word for word": [(lesson.text, [lesson]) for lesson in lessons]}
            for kind, messages in (("pairs as taught", lessons), ("pairs reworded", others)):
                asked[kind] = [(joined(pair, chance), list(pair)) for pair in pairs_of(messages, pairs, chance)]
            for kind, questions in asked.items():
                found = [await right(text, wanted) for text, wanted in questions]
                at_once, within_a_tap = (sum(each) for each in zip(*found, strict=True))
                print(f"{kind:<16} {len(found):>6} asked {at_once:>6} right at once {within_a_tap:>6} with a tap")
        finally:
            await running.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--lessons", type=int, default=5, help="for each answer")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--embedder", default="packaged", help="packaged, hashing, or any other model")
    parser.add_argument("--choose", action="store_true", help="never ask back, and never say that nothing is known")
    options = parser.parse_args()
    to_teach, others = read_splits(options.data, "train", "test")
    lessons = first_of_each(shuffled(to_teach, 0, None), options.lessons)
    asyncio.run(measure(lessons, others, options.pairs, options.embedder, must_choose=options.choose))


if __name__ == "__main__":
    main()
