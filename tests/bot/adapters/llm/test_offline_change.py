"""What is to hold for a thing from now on, as people say it; everything else is no such request."""

import pytest

from bot.adapters.llm.offline.change import find_change


@pytest.mark.parametrize(
    ("goal", "thing", "name", "value"),
    [
        ("change the owner of the deploy to Bianca", "deploy", "owner", "Bianca"),
        ("Please update the room of our standup to “4.12”.", "standup", "room", "4.12"),
        ("set the deploy's owner to Aya", "deploy", "owner", "Aya"),
        ("The owner of the deploy is now Aya Okafor.", "deploy", "owner", "Aya Okafor"),
        ("note that the room of the standup will be Hopper", "standup", "room", "Hopper"),
        ("from now on, the team’s lead is now Priya", "team", "lead", "Priya"),
    ],
)
def test_requests(goal: str, thing: str, name: str, value: str) -> None:
    assert find_change(goal) == {"thing": thing, "property": name, "new_value": value}


@pytest.mark.parametrize(
    "goal",
    [
        "who is the owner of the deploy?",
        "is the owner of the deploy now Aya?",
        "how do I change the owner of a file to root?",
        "set the table",
        "change to the release branch",
        "the owner of the deploy is Aya",
        "what is now on the menu",
        "change the owner of the deploy to ",
        " is now ",
        "",
        "change the owner of the deploy to " + "x" * 600,
    ],
)
def test_everything_else_is_none(goal: str) -> None:
    assert find_change(goal) == {}
