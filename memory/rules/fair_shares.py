"""Who has which of a number of shares, so that each process that lives has about as many."""

from collections.abc import Collection, Mapping
from math import ceil


def most_of_one(number: int, members: int) -> int:
    """How many of so many shares one of so many members may have."""
    return ceil(number / max(members, 1))


def shares_of(
    member: str, number: int, holders: Mapping[int, str], members: Collection[str], *, takes: bool = True
) -> frozenset[int]:
    """Which of the shares 0 to `number` - 1 a member has from now on: of its own and the free ones as many as are fair.

    `holders` are those of now, `members` whoever lives. Whoever has more than is fair gives up the last of them.
    """
    own = [share for share in range(number) if holders.get(share) == member]
    free = [share for share in range(number) if share not in holders] if takes else []
    return frozenset([*own, *free][: most_of_one(number, len({*members, member}))])
