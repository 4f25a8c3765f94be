"""Counts as words: `1 lesson`, `2 lessons`."""

from memory.model import Usage


def count(number: int, noun: str) -> str:
    """`1 lesson`, `2 lessons`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def counts(*counted: tuple[int, str]) -> str:
    """These counts as text, without zeros."""
    return ", ".join(count(number, noun) for number, noun in counted if number)


def cost_text(used: Usage) -> str:
    """What models used: an amount where the price is known, and the tokens."""
    tokens = f"{used.tokens:,} {'token' if used.tokens == 1 else 'tokens'}"
    return f"{used.cost_usd:.4f} US$, {tokens}" if used.cost_usd else f"{tokens} of unknown price"
