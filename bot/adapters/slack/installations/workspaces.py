"""The messenger for several Slack workspaces: one connection, and a `SlackMessenger` for each workspace.

A payload goes to the messenger of the workspace that Slack names, a message to that of its own workspace. Each
messenger has the token of its own workspace only, so nothing can reach another one.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Concatenate, ParamSpec, TypeVar

from pydantic import SecretStr

from bot.adapters import command_words
from bot.adapters.flow_control import Sleep
from bot.adapters.slack.connection import Connections, check_given, make_connections, needed_by_mode
from bot.adapters.slack.incoming.context import LISTS
from bot.adapters.slack.incoming.listeners import WorkspaceListeners, make_app
from bot.adapters.slack.installations.connected_workspaces import ConnectedWorkspaces
from bot.adapters.slack.installations.database import InstallationDatabase
from bot.adapters.slack.installations.encryption import TokenCipher
from bot.adapters.slack.installations.installations import Installations, Installed
from bot.adapters.slack.installations.oauth import INSTALL_PATH, oauth_pages
from bot.adapters.slack.messenger import SlackMessenger
from bot.adapters.slack.outgoing.streaming import PACE_S
from bot.adapters.slack.web import Web
from bot.config import SlackSettings
from bot.conversation.executor import run_unless
from bot.errors import ChannelNotFound, ConfigError, MessengerError, NotPermitted
from bot.ports import ConversationQueries, EventSink
from memory.ports import Clock

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger(__name__)

_at_work: ContextVar[SlackMessenger | None] = ContextVar("workspace_at_work", default=None)
"""The workspace whose payload is being handled."""

_PREFIX = "slack:"
_NAME = "goodbot"
_LOOK_S = 1.0
"""How often to check, in seconds, where other processes installed or removed the app."""


def _in_its_workspace(
    method: Callable[Concatenate[SlackMessenger, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate["SlackWorkspaces", P], Coroutine[Any, Any, R]]:
    """A method that calls the messenger of the workspace in its first argument. Raises what that raises."""

    async def of_its_workspace(of: "SlackWorkspaces", /, *args: P.args, **kwargs: P.kwargs) -> R:
        first: Any = next(iter((*args, *kwargs.values())))
        workspace = first if isinstance(first, str) else getattr(first, "scope", first).workspace
        return await method(await of._messenger(workspace), *args, **kwargs)

    return of_its_workspace


class SlackWorkspaces:
    """Slack with several workspaces. `database` has their installations; the rest is as for `SlackMessenger`."""

    platform = "slack"
    pace_s = PACE_S

    def __init__(
        self,
        settings: SlackSettings,
        *,
        database: InstallationDatabase,
        clock: Clock,
        queries: ConversationQueries,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._database = database
        self._clock = clock
        self._queries = queries
        self._sleep = sleep
        self._started_at = clock()
        self._ended = asyncio.Event()
        self._running: asyncio.Task[Any] | None = None
        self._connections = Connections()
        self._opening = asyncio.Lock()
        self._opened: Installations | None = None
        self._wrong_key: ConfigError | None = None
        self._connected = ConnectedWorkspaces(self._installations, self._new_messenger, self._still_works)
        self._web = self._web_of("", gone=self._end)
        """Belongs to no workspace: it asks for connections and exchanges codes."""

    @property
    def is_connected(self) -> bool:
        """Whether payloads come in now."""
        return self._connections.are_up

    @property
    def answers_everywhere(self) -> bool:
        """Whether payloads come in. Also where the app was removed: answers that wait there have to be given up."""
        return self.is_connected

    # Taking in ------------------------------------------------------------------------------------------------------

    async def run(self, sink: EventSink) -> None:
        """Deliver events of all workspaces until `close` is called; people may install and remove the app meanwhile.

        Waits for Slack as long as it is out of reach. Raises `ConfigError` when a setting is missing or a key does not
        fit, `NotPermitted` when Slack refuses the app's own token.
        """
        self._running = asyncio.current_task()
        await self._web.open()
        refreshing: asyncio.Task[None] | None = None
        try:
            installations = await self._installations()
            if self._database.is_shared:
                refreshing = asyncio.create_task(self._keep_refreshed())
            await self._deliver(sink, installations)
            if self._wrong_key is not None:
                raise self._wrong_key
        except NotPermitted:
            if not self._ended.is_set():
                raise
        finally:
            self._running = None
            self._ended.set()
            if refreshing is not None:
                await asyncio.wait({refreshing})
            await self._connected.leave()
            await self._web.close()
            self._give_up_database()

    async def close(self) -> None:
        """End `run` once what it is handling is done. What is still posted afterwards opens connections of its own."""
        self._ended.set()
        running = self._running
        if running is not None and running is not asyncio.current_task():
            await asyncio.wait({running})
        await self._connected.leave()
        self._give_up_database()

    async def _keep_refreshed(self) -> None:
        is_told = False
        # Not broken off: a thread is in the database.
        while not self._ended.is_set():
            try:
                await self._connected.refresh()
                is_told = False
            except ConfigError as error:
                self._end_by(error)
            except MessengerError as error:
                if not is_told:
                    log.error("it is not known which workspaces have the app: %s", error)
                is_told = True
            await run_unless(self._ended, self._sleep(_LOOK_S))

    def _end_by(self, error: ConfigError) -> None:
        """Stop receiving: a workspace whose token this process cannot decrypt is for processes that can."""
        self._wrong_key = error
        self._ended.set()

    def _give_up_database(self) -> None:
        if self._opened is not None:
            self._opened.close()

    async def _deliver(self, sink: EventSink, installations: Installations) -> None:
        settings = self._settings

        async def find(team: str) -> WorkspaceListeners | None:
            try:
                connected = await self._connected.of(team)
            except ConfigError as error:
                self._end_by(error)
                raise
            if connected is None:
                log.warning("something of workspace %s is dropped: the app is not installed there", team)
                return None
            if connected.listeners is None:
                connected.listeners = connected.messenger.listeners(sink)
            _at_work.set(connected.messenger)
            return connected.listeners

        app = make_app(
            self._web,
            signing_secret=settings.signing_secret.get_secret_value(),
            command=settings.command,
            find=find,
            removed=self._connected.removed,
        )
        pages = oauth_pages(settings, installations, self._web.library_client, self._connected.keep)
        self._connections = make_connections(app, self._web, settings, pages, pages_wait=self._database.is_shared)
        address = settings.public_url or f"http://{settings.http_host}:{settings.http_port}"
        on_open = f"connected to Slack; install the app in a workspace at {address}{INSTALL_PATH}"
        await self._connections.keep_open(self._ended, self._sleep, on_open=on_open)

    def _end(self, code: str) -> None:
        if not self._ended.is_set():
            log.error(
                "disconnected: Slack says %s of the app's own token. Make a new one and set it.",
                code,
            )
        self._ended.set()

    # Which workspaces there are -------------------------------------------------------------------------------------

    async def _installations(self) -> Installations:
        async with self._opening:
            if self._opened is None:
                check_oauth(self._settings)
                cipher = TokenCipher(self._settings.token_key)
                installations = Installations(
                    self._database, client_id=self._settings.client_id, cipher=cipher, clock=self._clock
                )
                await installations.open()
                self._opened = installations
        return self._opened

    def _new_messenger(self, installed: Installed, on_end: Callable[[str], None]) -> SlackMessenger:
        return SlackMessenger(
            self._settings.model_copy(update={"bot_token": SecretStr(installed.token)}),
            clock=self._clock,
            queries=self._queries,
            sleep=self._sleep,
            started_at=self._started_at,
            on_end=on_end,
            installer=installed.installer,
        )

    def _web_of(self, token: str, gone: Callable[[str], None]) -> Web:
        settings = self._settings
        return Web(token=token, api_url=settings.api_url, max_wait_s=settings.max_wait_s, sleep=self._sleep, gone=gone)

    async def _still_works(self, token: str) -> bool:
        try:
            await self._web_of(token, gone=lambda code: None).identity()
        except NotPermitted:
            return False
        return True

    # Saying ---------------------------------------------------------------------------------------------------------

    async def _messenger(self, workspace: str) -> SlackMessenger:
        """The messenger of a workspace. Raises `ChannelNotFound` if the app is not installed there."""
        try:
            team = workspace.removeprefix(_PREFIX)
            connected = await self._connected.of(team) if team != workspace else None
        except ConfigError as error:
            raise NotPermitted(str(error)) from error
        if connected is None:
            raise ChannelNotFound(f"cannot reach {workspace}: the app is not installed there")
        return connected.messenger

    def how_to_type(self, command: str) -> str:
        """How to type a command: after a mention, by the bot's name in the workspace whose payload is being handled."""
        messenger = _at_work.get()
        return messenger.how_to_type(command) if messenger is not None else command_words.after_mention(_NAME, command)

    split = staticmethod(SlackMessenger.split)
    post = _in_its_workspace(SlackMessenger.post)
    mark = _in_its_workspace(SlackMessenger.mark)
    ask_correction = _in_its_workspace(SlackMessenger.ask_correction)
    progress = _in_its_workspace(SlackMessenger.progress)
    stream_partial = _in_its_workspace(SlackMessenger.stream_partial)
    drop_partial = _in_its_workspace(SlackMessenger.drop_partial)
    hand_over = _in_its_workspace(SlackMessenger.hand_over)
    remarks = _in_its_workspace(SlackMessenger.remarks)
    answered_question = _in_its_workspace(SlackMessenger.answered_question)
    profile = _in_its_workspace(SlackMessenger.profile)
    channel_card = _in_its_workspace(SlackMessenger.channel_card)
    approvers = _in_its_workspace(SlackMessenger.approvers)
    teachers = _in_its_workspace(SlackMessenger.teachers)
    name_of = _in_its_workspace(SlackMessenger.name_of)


def check_oauth(settings: SlackSettings) -> None:
    """Raise `ConfigError` if several workspaces cannot be served with these settings; it says what is missing."""
    check_given(settings, "client_id", "client_secret", *needed_by_mode(settings))
    for name in LISTS:
        for each in getattr(settings, name):
            if "/" not in each:
                raise ConfigError(
                    f"slack.{name}: {each} must name its workspace (T.../{each}), for with several workspaces "
                    "the same id may be somebody else's"
                )
