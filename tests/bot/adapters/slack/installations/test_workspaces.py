"""Several workspaces over one connection: each by its own token, nothing crosses, one may go while others stay."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.adapters.slack.installations.workspaces import SlackWorkspaces
from bot.errors import ChannelNotFound, ConfigError, MessengerUnavailable, NotPermitted
from bot.model import BotMessage, MessageRef, PersonCommand, PersonEvent, PersonMessage, PersonReaction, PersonVote
from memory.model import Role
from tests.bot.adapters.messenger_contract import Driver, Heard, MessengerContract, overridden
from tests.bot.adapters.slack.test_contract import SlackDriver
from tests.doubles.postgres import new_database
from tests.doubles.slack import Person, Refused, ServerBroken, SlackServer, Workspace
from tests.doubles.slack_driver import make_messenger
from tests.doubles.slack_workspaces_driver import (
    OTHER_KEY,
    Running,
    install_beforehand,
    installations,
    make_workspaces,
    running,
    workspaces_settings,
)

# slack_sdk uses aiohttp's BasicAuth for the client's id and secret, which newer versions of aiohttp want replaced.
pytestmark = pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")


@pytest.fixture
async def server() -> AsyncIterator[SlackServer]:
    async with SlackServer() as running_server:
        running_server.add_workspace("T0002", "umbrella")
        yield running_server


@pytest.fixture
async def path(tmp_path: Path, server: SlackServer) -> Path:
    """Both workspaces installed the app."""
    path = tmp_path / "goodbot-slack.db"
    await install_beforehand(path, *server.slack.workspaces.values())
    return path


@pytest.fixture
def acme(server: SlackServer) -> Workspace:
    return server.workspace


@pytest.fixture
def umbrella(server: SlackServer) -> Workspace:
    return server.slack.workspaces["T0002"]


def twins(server: SlackServer, acme: Workspace, umbrella: Workspace) -> tuple[Person, Person, str]:
    """A person in each workspace and the channel they write in, with the same ids."""
    here, there = server.person("ana", workspace=acme), server.person("ana", workspace=umbrella)
    channels = {server.channel("general", workspace=workspace) for workspace in (acme, umbrella)}
    assert here.id == there.id
    [channel] = channels
    return here, there, channel


def said(workspace: str, channel: str, text: str = "Paris.") -> BotMessage:
    return BotMessage(workspace=workspace, channel=channel, text=text, is_answer=True)


def content(path: Path) -> bytes:
    return path.read_bytes()


def overwrite(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def texts(session: Running) -> list[tuple[str, str]]:
    return [(e.scope.workspace, e.text) for e in session.heard.events if isinstance(e, PersonMessage)]


# Each for itself ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("settings", "role"), [({}, Role.TEACHER), ({"creators": "members"}, Role.MEMBER)])
async def test_who_installed_the_app_teaches_in_every_channel_there_and_nowhere_else(
    server: SlackServer, tmp_path: Path, acme: Workspace, umbrella: Workspace, settings: dict[str, Any], role: Role
) -> None:
    here, there, channel = twins(server, acme, umbrella)
    path = tmp_path / "installed.db"
    await install_beforehand(path, acme, user_id=here.id)
    await install_beforehand(path, umbrella, user_id="U0OTHER")
    async with running(server, path, **settings) as session:
        for person in (here, there):
            await person.commands(channel, "/goodbot", "review").answered()
        await session.settled()
    found = {each.scope.workspace: each.role for each in session.heard.events if isinstance(each, PersonCommand)}
    assert found == {"slack:T0001": role, "slack:T0002": Role.MEMBER}


@pytest.mark.parametrize("mode", ["socket", "http"])
async def test_equal_ids_in_two_workspaces_stay_two_people_in_two_places(
    server: SlackServer, path: Path, acme: Workspace, umbrella: Workspace, mode: str
) -> None:
    here, there, channel = twins(server, acme, umbrella)
    async with running(server, path, mode=mode) as session:
        for person, text in ((here, "from acme"), (there, "from umbrella")):
            person.says(channel, text, mention=True)
        await session.settled()
        refs = [await session.messenger.post(said(f"slack:{team}", channel, team)) for team in ("T0001", "T0002")]
        for person, ref in zip((here, there), refs, strict=True):
            message = person.workspace.message(ref.channel, ref.message_id)
            assert message.text == person.workspace.id
            person.reacts(message, "+1")
            await person.rates(message, good=True).answered()
            await session.messenger.mark(ref, "🧠", present=True)
        await session.settled()
        assert all(
            "brain" in w.message(channel, r.message_id).reactions for w, r in zip((acme, umbrella), refs, strict=True)
        )
    assert sorted(texts(session)) == [("slack:T0001", "from acme"), ("slack:T0002", "from umbrella")]
    for kind in (PersonReaction, PersonVote):
        found = [event for event in session.heard.events if isinstance(event, kind)]
        assert [(e.scope.workspace, e.scope.person) for e in found] == [
            ("slack:T0001", here.id),
            ("slack:T0002", there.id),
        ]
    assert {call.team_id for call in server.calls("chat.postMessage")} == {"T0001", "T0002"}


async def test_an_answer_goes_where_its_workspace_is_and_nowhere_else(
    server: SlackServer, path: Path, acme: Workspace, umbrella: Workspace
) -> None:
    only_here = acme.add_channel("plans", channel_id="C0PLANS").id
    async with running(server, path) as session:
        with pytest.raises(ChannelNotFound, match="channel_not_found"):
            await session.messenger.post(said("slack:T0002", only_here))
        with pytest.raises(ChannelNotFound, match="not installed"):
            await session.messenger.post(said("slack:T0003", only_here))
        with pytest.raises(ChannelNotFound, match="not installed"):
            await session.messenger.mark(
                MessageRef(workspace="discord:1", channel=only_here, message_id="1.2"), "🧠", present=True
            )
        await session.messenger.post(said("slack:T0001", only_here))
    assert [m.text for m in acme.said_by_bot(only_here)] == ["Paris."]
    assert [call.team_id for call in server.calls("chat.postMessage")] == ["T0002", "T0001"]


async def test_a_token_of_another_workspace_is_not_used(
    server: SlackServer, path: Path, acme: Workspace, umbrella: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    await install_beforehand(path, acme, bot_token=umbrella.bot_token)
    ana = server.person("ana", workspace=acme)
    async with running(server, path) as session:
        ana.says(ana.dm, "hello?")
        await session.settled()
        with pytest.raises(ChannelNotFound):
            await session.messenger.post(said("slack:T0001", ana.dm))
    assert (session.heard.events, "its token belongs to T0002" in caplog.text) == ([], True)


async def test_an_id_is_somebody_in_its_own_workspace_only(
    server: SlackServer, path: Path, acme: Workspace, umbrella: Workspace
) -> None:
    here, there, channel = twins(server, acme, umbrella)
    lists: dict[str, Any] = {
        "teachers": (f"T0001/{here.id}",),
        "allowed_channels": (f"T0001/{channel}", "T0002/C0OTHER"),
    }
    async with running(server, path, **lists) as session:
        refs = [await session.messenger.post(said(f"slack:{w.id}", channel)) for w in (acme, umbrella)]
        for person, ref in zip((here, there), refs, strict=True):
            person.reacts(person.workspace.message(ref.channel, ref.message_id), "+1")
            await person.commands(person.dm, "/goodbot", "help").answered()
        await session.settled()
    reactions = [event for event in session.heard.events if isinstance(event, PersonReaction)]
    assert [(e.scope.workspace, e.role) for e in reactions] == [("slack:T0001", Role.TEACHER)]
    commands = [event for event in session.heard.events if isinstance(event, PersonCommand)]
    assert [(e.scope.workspace, e.role) for e in commands] == [
        ("slack:T0001", Role.TEACHER),
        ("slack:T0002", Role.MEMBER),
    ]


async def test_ids_with_their_workspace_work_with_one_token_too(server: SlackServer, acme: Workspace) -> None:
    ana, channel = server.person("ana"), server.channel("general")
    lists: dict[str, Any] = {"admins": (f"T0001/{ana.id}",), "allowed_users": ("T0002/U1",)}
    for given, expected in ((lists, 0), ({"admins": lists["admins"]}, 1)):
        heard = Heard()
        messenger = make_messenger(server, **given)
        task = asyncio.create_task(messenger.run(heard.__call__))
        await server.connected()
        ana.says(channel, "hello?", mention=True)
        await server.settled()
        await messenger.close()
        await task
        assert len(heard.events) == expected


async def test_it_is_called_by_the_name_it_has_where_it_is_asked(
    server: SlackServer, path: Path, umbrella: Workspace
) -> None:
    umbrella.bot.name = "helper"
    messenger = make_workspaces(workspaces_settings(server), path)
    spelled: list[str] = []

    async def sink(event: PersonEvent) -> None:
        spelled.append(messenger.how_to_type("help"))

    task = asyncio.create_task(messenger.run(sink))
    await server.connected()
    for workspace in (server.workspace, umbrella):
        ana = server.person("ana", workspace=workspace)
        ana.says(ana.dm, "hello?")
        await server.settled()
    await messenger.close()
    await task
    assert spelled == ["@goodbot help", "@helper help"]
    assert messenger.how_to_type("help") == "@goodbot help"


# Coming and going -----------------------------------------------------------------------------------------------------


async def test_one_workspace_removes_the_app_and_the_other_goes_on(
    server: SlackServer, path: Path, acme: Workspace, umbrella: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    here, there, channel = twins(server, acme, umbrella)
    async with running(server, path) as session:
        for person in (here, there):
            person.says(person.dm, "before")
        await session.settled()
        server.uninstall(acme)
        await session.settled()
        assert await installations(path).of("T0001") is None
        there.says(there.dm, "after")
        server.slack.deliveries.repeat(server.deliveries.of("message")[0])
        await session.settled()
        with pytest.raises(ChannelNotFound, match="not installed"):
            await session.messenger.post(said("slack:T0001", channel))
        await session.messenger.post(said("slack:T0002", channel))
        assert not session.task.done()
    assert sorted(texts(session)) == [
        ("slack:T0001", "before"),
        ("slack:T0002", "after"),
        ("slack:T0002", "before"),
    ]
    assert caplog.text.count("no longer serving workspace T0001") == 1
    assert "no longer serving workspace T0002" not in caplog.text


async def test_a_workspace_that_comes_back_has_a_new_token_and_old_news_do_not_remove_it(
    server: SlackServer, path: Path, acme: Workspace
) -> None:
    ana = server.person("ana")
    async with running(server, path) as session:
        ana.says(ana.dm, "before")
        await session.settled()
        server.deliveries.hold()
        server.uninstall(acme)
        assert (await session.browser.install(acme)).status == 200
        for delivery in server.deliveries.held:
            delivery.payload["event_time"] -= 60
        server.deliveries.release()
        await session.settled()
        ana.says(ana.dm, "after")
        await session.settled()
        await session.messenger.post(said("slack:T0001", ana.dm))
    assert [text for _, text in texts(session)] == ["before", "after"]
    assert server.calls("chat.postMessage")[-1].token == acme.bot_token == "xoxb-T0001-2"


async def test_what_another_process_installs_and_removes_is_known_soon(
    server: SlackServer, acme: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    url = new_database()
    await install_beforehand(url, acme)
    ana, elsewhere = server.person("ana"), installations(url)
    async with running(server, url) as session:

        async def until(is_so: Callable[[], bool]) -> None:
            async with asyncio.timeout(30):
                while not is_so():
                    await elsewhere.times()

        ana.says(ana.dm, "before")
        await session.settled()
        first = await session.messenger._messenger("slack:T0001")
        await install_beforehand(url, acme, server.slack.workspaces["T0002"])
        times = await elsewhere.times()
        await until(lambda: session.messenger._connected._read == times)
        assert await session.messenger._messenger("slack:T0001") is first

        acme.bot_token = "xoxb-T0001-2"
        await install_beforehand(url, acme)
        await until(lambda: session.messenger._connected._workspaces == {})
        await session.messenger.post(said("slack:T0001", ana.dm))
        now = await elsewhere.of("T0001")
        assert now is not None
        await elsewhere.remove(now)
        await until(lambda: session.messenger._connected._workspaces == {})
        assert session.messenger.answers_everywhere
        with pytest.raises(ChannelNotFound, match="not installed"):
            await session.messenger.post(said("slack:T0001", ana.dm))
    elsewhere.close()
    assert [call.token for call in server.calls("chat.postMessage")] == ["xoxb-T0001-2"]
    assert not session.messenger.answers_everywhere
    assert caplog.text.count("no longer serving workspace T0001") == 1


async def test_old_news_of_an_installation_that_is_dead_again_do_remove_it(
    server: SlackServer, path: Path, acme: Workspace
) -> None:
    async with running(server, path) as session:
        server.deliveries.hold()
        server.uninstall(acme)
        for delivery in server.deliveries.held:
            delivery.payload["event_time"] -= 60
        server.deliveries.release()
        await session.settled()
        assert not session.task.done()
    assert await installations(path).of("T0001") is None


async def test_other_people_s_tokens_may_be_revoked(server: SlackServer, path: Path, acme: Workspace) -> None:
    async with running(server, path) as session:
        event = {"type": "tokens_revoked", "tokens": {"oauth": ["U9"], "bot": ["U8"]}}
        server.slack.emit(acme, event)
        await session.settled()
    assert await installations(path).of("T0001") is not None


async def test_a_token_that_died_silently_is_noticed_at_its_next_use(
    server: SlackServer, path: Path, acme: Workspace, umbrella: Workspace
) -> None:
    _, there, channel = twins(server, acme, umbrella)
    async with running(server, path) as session:
        await session.messenger.post(said("slack:T0001", channel))
        acme.revoked = "token_revoked"
        with pytest.raises(NotPermitted, match="token_revoked"):
            await session.messenger.post(said("slack:T0001", channel))
        await session.messenger.post(said("slack:T0002", channel))
        there.says(there.dm, "still there?")
        await session.settled()
    assert await installations(path).of("T0001") is None
    assert texts(session) == [("slack:T0002", "still there?")]


async def test_events_of_a_workspace_that_never_installed_it_are_dropped(server: SlackServer, path: Path) -> None:
    stranger = server.person("eve", workspace=server.add_workspace("T0666", "elsewhere"))
    async with running(server, path) as session:
        stranger.says(stranger.dm, "let me in")
        stranger.opens_home()
        await stranger.commands(stranger.dm, "/goodbot", "help").answered()
        await session.settled()
    assert session.heard.events == []
    assert [call for call in server.calls() if call.team_id == "T0666"] == []


async def test_an_event_waits_until_slack_says_whose_token_it_is(server: SlackServer, path: Path) -> None:
    ana = server.person("ana")
    async with running(server, path) as session:
        server.faults.next("auth.test", ServerBroken(503), times=3)
        ana.says(ana.dm, "hello?")
        await server.wait_for(lambda: len(server.calls("auth.test")) == 3)
        ana.says(ana.dm, "another")
        await session.heard.of(PersonMessage, 1)
        server.deliveries.redeliver_unacked()
        await session.settled()
    assert sorted(text for _, text in texts(session)) == ["another", "hello?"]


# Across a restart -----------------------------------------------------------------------------------------------------


async def test_after_a_restart_it_can_post_everywhere_before_it_is_connected(
    server: SlackServer, path: Path, acme: Workspace, umbrella: Workspace
) -> None:
    _, _, channel = twins(server, acme, umbrella)
    async with running(server, path):
        pass
    messenger = make_workspaces(workspaces_settings(server), path)
    for workspace in (acme, umbrella):
        await messenger.post(said(f"slack:{workspace.id}", channel, workspace.domain))
        assert [m.text for m in workspace.said_by_bot(channel)] == [workspace.domain]
    await messenger.close()


async def test_with_a_wrong_key_nothing_is_posted_and_nothing_is_given_up(server: SlackServer, path: Path) -> None:
    messenger = make_workspaces(workspaces_settings(server, token_key=SecretStr(OTHER_KEY)), path)
    with pytest.raises(NotPermitted, match="GOODBOT_SLACK_TOKEN_KEY"):
        await messenger.post(said("slack:T0001", "C1"))


async def test_who_cannot_read_what_another_process_installed_takes_nothing_in(
    server: SlackServer, acme: Workspace
) -> None:
    url = new_database()
    messenger = make_workspaces(workspaces_settings(server, token_key=SecretStr(OTHER_KEY)), url)
    running = asyncio.create_task(messenger.run(Heard().__call__))
    await server.connected()
    await install_beforehand(url, acme)
    async with asyncio.timeout(60):
        with pytest.raises(ConfigError, match="GOODBOT_SLACK_TOKEN_KEY"):
            await running
    assert not messenger.is_connected
    await messenger.close()


async def test_while_the_file_cannot_be_read_an_event_is_kept_by_slack(server: SlackServer, path: Path) -> None:
    ana, good = server.person("ana"), content(path)
    async with running(server, path) as session:
        overwrite(path, b"broken" * 1000)
        ana.says(ana.dm, "hello?")
        await server.wait_for(lambda: server.deliveries.unacked())
        with pytest.raises(MessengerUnavailable, match="check the file"):
            await session.messenger.post(said("slack:T0001", ana.dm))
        overwrite(path, good)
        server.deliveries.redeliver_unacked()
        await session.settled()
    assert texts(session) == [("slack:T0001", "hello?")]


async def test_the_app_s_own_token_is_refused(
    server: SlackServer, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    server.faults.next("apps.connections.open", Refused("invalid_auth"))
    messenger = make_workspaces(workspaces_settings(server), path)
    with pytest.raises(NotPermitted, match="invalid_auth"):
        await messenger.run(Heard().__call__)
    await messenger.close()


# The contract of all messengers -------------------------------------------------------------------------------------


class WorkspacesDriver(SlackDriver):
    """One of two workspaces."""

    def __init__(self, server: SlackServer, messenger: SlackWorkspaces) -> None:
        super().__init__(server)
        self.messenger = messenger  # type: ignore[assignment]

    async def ends(self) -> None:
        """The app as a whole is taken away."""
        self._server.faults.next("apps.connections.open", Refused("token_revoked"), times=100)


class TestSlackWorkspaces(MessengerContract):
    @pytest.fixture(autouse=True)
    async def _slack(self, server: SlackServer, path: Path) -> None:
        self._server, self._path = server, path

    async def make_driver(self) -> Driver:
        return WorkspacesDriver(self._server, make_workspaces(workspaces_settings(self._server), self._path))


def test_nothing_of_the_contract_is_weakened() -> None:
    assert overridden(TestSlackWorkspaces) == []
