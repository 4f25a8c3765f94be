"""How alike two goals are by their words: what recall goes by when nothing can be embedded."""

from memory.rules.feedback import content_words


def likeness(left: str, right: str) -> float:
    """Dice coefficient of the words that carry meaning, 0..1; 0 when either side has none."""
    one, other = content_words(left), content_words(right)
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0
