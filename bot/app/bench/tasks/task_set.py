"""The tasks: seventy-two, a third of each difficulty, drawn at random, but always the same, from the office's tools.

Easy tasks have two independent parts. Medium tasks have three: the second is about the person found by the first. Hard
tasks have four: two parts and one that follows from one of them, or two ways to the same goal of which the first is
blocked. No two are the same, and the wording of each part is drawn too.
"""

import random
from dataclasses import dataclass
from enum import StrEnum

from bot.app.bench.tasks.office import OPERATIONS, PEOPLE, ROOMS, TAKEN, Act, Operation

OF_EACH = 24
THAT_PERSON = "that person"
_SEED = 20_260


class Difficulty(StrEnum):
    """The difficulty of a task."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeTask:
    """One task, with what has to be done and said."""

    text: str
    difficulty: Difficulty
    acts: tuple[Act, ...]
    """The required uses of tools, each once, in any order, and nothing else with side effects."""
    results: tuple[str, ...]
    """The texts that the answer must contain."""


@dataclass(frozen=True, slots=True)
class _Part:
    words: str
    act: Act
    result: str
    person: str = ""


class _Drawing:
    """Draws parts, no kind twice in one task."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._used: set[str] = set()

    def part(self, *, of: str = "", names_person: bool = False, about: str = "") -> _Part:
        """Draw a part of a new kind; `about` is the person that an earlier part finds."""
        fitting = [
            each
            for each in OPERATIONS
            if each.tool not in self._used and (not of or each.of == of) and (each.names_person or not names_person)
        ]
        operation = self._chance.choice(fitting)
        self._used.add(operation.tool)
        if operation.tool == "fac_hold":
            return self._made(operation, self._chance.choice([each for each in ROOMS if each not in TAKEN]))
        return self._made(operation, about or self._chance.choice(operation.options), is_meant=bool(about))

    def _made(self, operation: Operation, of: str, *, is_meant: bool = False) -> _Part:
        words = self._chance.choice(operation.asked_as).format(of=THAT_PERSON if is_meant else of)
        result = operation.result(of)
        person = next((each for each in PEOPLE if each in result and each != of), "")
        return _Part(words=words, act=(operation.tool, of), result=result, person=person)

    def way(self, room: str) -> _Part:
        """A way to get one room."""
        operation = next(each for each in OPERATIONS if each.tool == "fac_hold")
        self._used.add(operation.tool)
        return self._made(operation, room)


def tasks() -> list[OfficeTask]:
    """All tasks, by difficulty; always the same."""
    chance = random.Random(_SEED)
    found: dict[str, OfficeTask] = {}
    for make in (_easy, _medium, _hard):
        before = len(found)
        while len(found) < before + OF_EACH:
            task = make(chance, len(found))
            found.setdefault(task.text, task)
    return list(found.values())


def _easy(chance: random.Random, _: int) -> OfficeTask:
    drawing = _Drawing(chance)
    one, other = drawing.part(), drawing.part()
    return _task(f"{one.words} and {other.words}", Difficulty.EASY, one, other)


def _medium(chance: random.Random, _: int) -> OfficeTask:
    drawing = _Drawing(chance)
    first = drawing.part(names_person=True)
    second, third = drawing.part(of="person", about=first.person), drawing.part()
    text = f"{first.words}, then {second.words}, then {third.words}"
    return _task(text, Difficulty.MEDIUM, first, second, third)


def _hard(chance: random.Random, number: int) -> OfficeTask:
    drawing = _Drawing(chance)
    if number % 2:
        barred, free = drawing.way(chance.choice(TAKEN)), drawing.way(chance.choice(ROOMS[len(TAKEN) :]))
        then = drawing.part(of="supplier")
        text = f"{barred.words}, then {then.words}, or else {free.words}, then {then.words}"
        return _task(text, Difficulty.HARD, free, then)
    first, beside = drawing.part(names_person=True), drawing.part(of="thing")
    second, last = drawing.part(of="person", about=first.person), drawing.part(of="room")
    text = f"{first.words} and {beside.words}, then {second.words}, then {last.words}"
    return _task(text, Difficulty.HARD, first, beside, second, last)


def _task(text: str, difficulty: Difficulty, *parts: _Part) -> OfficeTask:
    return OfficeTask(
        text=text,
        difficulty=difficulty,
        acts=tuple(part.act for part in parts),
        results=tuple(part.result for part in parts),
    )
