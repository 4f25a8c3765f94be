"""Shares that processes hold between them: each by one, all of them soon, and nobody more than is fair."""

from hypothesis import given, strategies as st

from memory.services.upkeep.leases import most_of_one, shares_of

NUMBERS = st.integers(1, 12)
MEMBERS = st.sets(st.sampled_from("abcdef"), min_size=1)


@st.composite
def holdings(draw: st.DrawFn) -> tuple[int, dict[int, str], set[str]]:
    """How many shares there are, who of the living holds which, and who lives."""
    number, members = draw(NUMBERS), draw(MEMBERS)
    holders = draw(st.dictionaries(st.integers(0, number - 1), st.sampled_from(sorted(members))))
    return number, holders, members


@given(holdings(), st.data())
def test_nobody_takes_what_another_holds_or_more_than_is_fair(
    given_: tuple[int, dict[int, str], set[str]], data: st.DataObject
) -> None:
    number, holders, members = given_
    member, takes = data.draw(st.sampled_from(sorted(members))), data.draw(st.booleans())
    shares = shares_of(member, number, holders, members, takes=takes)
    own = {share for share, holder in holders.items() if holder == member}
    assert all(holders.get(share, member) == member for share in shares)
    assert len(shares) <= most_of_one(number, len(members))
    assert takes or shares <= own
    assert own <= shares or len(shares) == most_of_one(number, len(members)), "only what is too many is given up"


@given(holdings(), st.data())
def test_after_everybody_has_looked_twice_all_shares_are_held_whatever_the_order(
    given_: tuple[int, dict[int, str], set[str]], data: st.DataObject
) -> None:
    number, holders, members = given_
    for _ in range(2):
        for member in data.draw(st.permutations(sorted(members))):
            shares = shares_of(member, number, holders, members)
            holders = {share: holder for share, holder in holders.items() if holder != member}
            holders |= dict.fromkeys(shares, member)
    assert holders.keys() == set(range(number))
    settled = {member: shares_of(member, number, holders, members) for member in members}
    assert settled == {
        member: {share for share, holder in holders.items() if holder == member} for member in members
    }, "nothing moves any more"


def test_whoever_is_alone_has_all_and_gives_up_the_last_ones() -> None:
    assert shares_of("a", 3, {}, []) == {0, 1, 2}
    assert shares_of("a", 3, dict.fromkeys(range(3), "a"), {"a", "b"}) == {0, 1}
    assert shares_of("b", 3, {0: "a", 1: "a"}, {"a", "b"}) == {2}
    assert shares_of("c", 2, {0: "a", 1: "b"}, {"a", "b", "c"}) == frozenset()
