"""Counts as words: `1 lesson`, `2 lessons`."""


def count(number: int, noun: str) -> str:
    """`1 lesson`, `2 lessons`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def counts(*counted: tuple[int, str]) -> str:
    """All of these, without what there is none of."""
    return ", ".join(count(number, noun) for number, noun in counted if number)
