"""What was taught stays right: each question word for word, and pairs of them in one message, as taught and reworded.

    python -m tests.benchmarks.bench_taught --data FILE [--lessons 5] [--pairs 50] [--choose] [--only-pairs]

FILE is that of `goodbot bench learning`. Its labels are answers; one member teaches `--lessons` questions of `train`
for each, and asks them again, and pairs of them joined by "and" or "then". Other wordings come from `test`. Counted is
what is right at once, and what is after a tap for each part that the bot asked about, both parts of a pair.
With `--choose` nothing is learned from taps, and the parts of the reworded pairs are asked each by itself, too: no more
than that can be right of the pairs.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from bot.adapters.llm.offline.model import OfflineModel
from bot.app.bench.fresh_bot import SimulatedClock, fresh_bot
from bot.app.bench.labelled import LabelledMessage, first_of_each, read_splits
from bot.app.bench.people import CHANNEL, Habits, People
from bot.app.bench.stream import shuffled, without_conversation
from bot.app.wiring.startup import make_embedder
from bot.config import load_settings
from bot.model import PersonEvent
from memory.model import offers_of

JOINTS = (" and ", " and then ", ", then ")
Pair = tuple[LabelledMessage, LabelledMessage]
Question = tuple[str, Sequence[LabelledMessage]]
"""A text, and all that it wants."""


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


def questions_of(
    lessons: Sequence[LabelledMessage],
    others: Sequence[LabelledMessage],
    pairs: int,
    *,
    must_choose: bool,
    only_pairs: bool,
) -> dict[str, list[list[Question]]]:
    """What is asked, by its kind. Those in one list count together, as one that is right or not."""
    chance = random.Random(0)
    of_lessons = pairs_of(lessons, pairs, chance)
    as_taught = [joined(pair, chance) for pair in of_lessons]
    of_others = pairs_of(others, pairs, chance)
    reworded = [joined(pair, chance) for pair in of_others]
    return {
        "word for word": [[(lesson.text, [lesson])] for lesson in lessons if not only_pairs],
        "pairs as taught": [[(text, pair)] for text, pair in zip(as_taught, of_lessons, strict=True)],
        "pairs reworded": [[(text, pair)] for text, pair in zip(reworded, of_others, strict=True)],
        "each by itself": [[(part.text, [part]) for part in pair] for pair in of_others if must_choose],
    }


async def measure(
    lessons: Sequence[LabelledMessage], asked: Mapping[str, list[list[Question]]], name: str, *, must_choose: bool
) -> None:
    """Teach, ask and print."""
    folder = Path(tempfile.gettempdir())
    environment = {"GOODBOT_EMBEDDER_NAME": name} if name != "packaged" else {}
    settings = without_conversation(load_settings(environment, config_path=None, cwd=folder, data_dir=folder))
    embedder, clock = make_embedder(settings), SimulatedClock()
    model = OfflineModel(embedder.embed, must_choose=must_choose)
    async with fresh_bot(settings, embedder, clock, model) as bot:
        messenger, memory = bot.messenger, bot.memory
        people = People(Habits(), seed=0, clock=clock, new_id=memory.new_id)

        async def said_by(events: Sequence[PersonEvent]) -> tuple[set[str], list[tuple[str, PersonEvent]]]:
            """The paragraphs that answer these, and the answers on offer, each with the tap that takes it."""
            messenger.answer = None
            for event in events:
                await bot.send(event)
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

        for lesson in lessons:
            await bot.send(people.teach(lesson.text, lesson.label.text))
            clock.advance(timedelta(minutes=2))
        memory.confusion.update(CHANNEL.workspace)  # as upkeep does within the hour
        for kind, questions in filter(lambda each: each[1], asked.items()):
            answered = [[await right(text, wanted) for text, wanted in together] for together in questions]
            found = [tuple(all(each) for each in zip(*together, strict=True)) for together in answered]
            at_once, within_a_tap = (sum(each) for each in zip(*found, strict=True))
            print(f"{kind:<16} {len(found):>6} asked {at_once:>6} right at once {within_a_tap:>6} with a tap")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--lessons", type=int, default=5, help="for each answer")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--embedder", default="packaged", help="packaged, hashing, or any other model")
    parser.add_argument("--choose", action="store_true", help="never ask back, and never say that nothing is known")
    parser.add_argument("--only-pairs", action="store_true", help="do not ask each question again by itself")
    options = parser.parse_args()
    to_teach, others = read_splits(options.data, "train", "test")
    lessons = first_of_each(shuffled(to_teach, 0, None), options.lessons)
    choose = options.choose
    asked = questions_of(lessons, others, options.pairs, must_choose=choose, only_pairs=options.only_pairs)
    asyncio.run(measure(lessons, asked, options.embedder, must_choose=choose))


if __name__ == "__main__":
    main()
