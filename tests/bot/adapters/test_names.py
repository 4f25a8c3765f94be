"""People are shown by the names they chose, never by ids, and a name can do nothing but be read."""

import pytest

from bot.adapters.naming import by_name, plain_name
from bot.model import BotMessage
from tests.doubles import slack as slack_side
from tests.doubles.discord import DiscordServer
from tests.doubles.discord_driver import connected as discord_connected
from tests.doubles.slack import SlackServer
from tests.doubles.slack_driver import connected as slack_connected


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ana María", "Ana María"),
        ("@everyone", "everyone"),
        ("<!channel>", "channel"),
        ("[x](http://evil)\n# hi", "x http evil hi"),
        ("**`b`**", "b"),
        ("a" * 40, "a" * 30),
        ("🎈", ""),
    ],
)
def test_a_name_is_plain_words(name: str, shown: str) -> None:
    assert plain_name(name) == shown


async def test_only_whole_ids_become_names_and_an_answers_own_text_stays() -> None:
    async def name_of(person: str) -> str:
        return {"U1": "Ana", "U2": ""}[person]

    notice = BotMessage(workspace="w", channel="c", text="by U1, U11 and U2", people=("U1", "U2"))
    assert (await by_name(notice, name_of)).text == "by Ana, U11 and U2"
    answer = BotMessage(workspace="w", channel="c", text="U1", lessons=("by U1",), people=("U1",), is_answer=True)
    shown = await by_name(answer, name_of)
    assert (shown.text, shown.lessons) == ("U1", ("by Ana",))


async def test_slack_is_asked_once_and_an_unknown_person_keeps_the_id() -> None:
    async with SlackServer() as server:
        ana, channel = server.person("ana"), server.channel("general")
        ana.says(channel, "talking", mention=False)
        async with slack_connected(server) as session:
            server.faults.next("users.info", slack_side.Refused("user_not_found"))
            for text in ("by U404GONE", f"by {ana.id}", f"and {ana.id}"):
                notice = session.notice(channel, ana, text, people=(text.split()[-1],))
                await session.messenger.post(notice)
        said = [one.text for one in server.ephemerals(ana)]
        asked = [call for call in server.calls("users.info") if call.args.get("user") == ana.id]
    assert said == ["by U404GONE", "by ana", "and ana"]
    assert len(asked) == 1


async def test_discord_names_whoever_taught() -> None:
    async with DiscordServer() as server, discord_connected(server) as session:
        ana = session.ana
        lessons = (f"“key” (97% match, taught by {ana.id})",)
        ref = await session.posted(lessons=lessons, people=(ana.id,))
        assert "taught by Ana)" in server.current(ref.message_id).content
