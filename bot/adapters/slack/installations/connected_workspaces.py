"""Keeps a messenger for each workspace that has the app, and follows installs and removals."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from slack_sdk.oauth.installation_store import Installation

from bot.adapters.flow_control import KeyedLock
from bot.adapters.slack.events import Json, ends_installation
from bot.adapters.slack.incoming.listeners import WorkspaceListeners
from bot.adapters.slack.installations.installations import Installations, Installed
from bot.adapters.slack.messenger import SlackMessenger
from bot.errors import NotPermitted

log = logging.getLogger(__name__)

OnEnd = Callable[[str], None]
NewMessenger = Callable[[Installed, OnEnd], SlackMessenger]
"""Makes the messenger of an installation, which calls `OnEnd` when its token no longer works."""


@dataclass(slots=True, kw_only=True)
class ConnectedWorkspace:
    """A workspace that has the app, with its messenger."""

    installed: Installed
    messenger: SlackMessenger
    listeners: WorkspaceListeners | None = None
    """Made when its first payload comes in."""


class ConnectedWorkspaces:
    """Finds, adds and removes workspaces with their messengers. Raises as `Installations` does.

    `still_works` asks Slack about a token.
    """

    def __init__(
        self,
        installations: Callable[[], Awaitable[Installations]],
        new_messenger: NewMessenger,
        still_works: Callable[[str], Awaitable[bool]],
    ) -> None:
        self._installations = installations
        self._new_messenger = new_messenger
        self._still_works = still_works
        self._workspaces: dict[str, ConnectedWorkspace] = {}
        self._in_order = KeyedLock()
        """One change at a time for each workspace."""
        self._removing: set[asyncio.Task[None]] = set()
        self._read: dict[str, datetime] = {}
        """When each installation was made whose token this process could read, by workspace."""
        self._is_closed = False

    async def of(self, team: str) -> ConnectedWorkspace | None:
        """A workspace that has the app, ready for use; None if it has not, or its token is not valid.

        Raises also `MessengerUnavailable` and `RateLimited` if Slack cannot tell now whose token it is.
        """
        async with self._in_order(team):
            connected = self._workspaces.get(team)
            if connected is None:
                installed = await (await self._installations()).of(team)
                connected = await self._joined(installed) if installed is not None else None
                if connected is not None:
                    self._workspaces[team] = connected
        return connected

    async def keep(self, installation: Installation) -> None:
        """Store an installation, which may be a repeated one: the workspace uses its token from now on."""
        team = str(installation.team_id)
        await (await self._installations()).save(installation)
        log.info("the app was installed in workspace %s", team)
        async with self._in_order(team):
            connected = self._taken_out(team, lambda token: token != installation.bot_token)
        await _leave(connected)

    async def removed(self, team: str, body: Json) -> None:
        """Handle an event that says that the app was removed from a workspace, or tokens were revoked."""
        installed = await (await self._installations()).of(team)
        if installed is None:
            return
        why = ends_installation(body["event"], installed.bot_user)
        # An event may come late, when the app has been installed again. Its time is in whole seconds.
        is_old = int(body.get("event_time") or 0) < int(installed.at.timestamp())
        if why and not (is_old and await self._still_works(installed.token)):
            await self._remove(installed, why)

    async def refresh(self) -> None:
        """Follow what other processes did: which workspaces have the app now, and with which token.

        Raises `ConfigError` if another process encrypted a token with a key that this one lacks.
        """
        installations = await self._installations()
        times = await installations.times()
        for team in [team for team, at in times.items() if self._read.get(team) != at]:
            await installations.of(team)
        self._read = times
        for team, connected in list(self._workspaces.items()):
            if times.get(team) != connected.installed.at:
                await self._replace(team)

    async def leave(self) -> None:
        """Finish interactions and close connections. Messages posted later open connections of their own."""
        self._is_closed = True
        await asyncio.gather(*self._removing, return_exceptions=True)
        await asyncio.gather(*(_leave(connected) for connected in self._workspaces.values()))

    async def _joined(self, installed: Installed) -> ConnectedWorkspace | None:
        messenger = self._new_messenger(installed, lambda why: self._remove_soon(installed, why))
        connected = None
        try:
            identity = await messenger.join()
            if identity.team == installed.team:
                connected = ConnectedWorkspace(installed=installed, messenger=messenger)
            else:
                log.error("workspace %s cannot be served: its token belongs to %s", installed.team, identity.team)
        except NotPermitted as error:
            log.error("workspace %s cannot be served: %s", installed.team, error)
        finally:
            if connected is None or self._is_closed:
                await messenger.leave()
        return connected

    async def _replace(self, team: str) -> None:
        """Drop a workspace whose token changed or is gone; the next `of` joins it again."""
        async with self._in_order(team):
            installed = await (await self._installations()).of(team)
            token = installed.token if installed is not None else ""
            left = self._taken_out(team, lambda used: used != token)
            if installed is not None and team in self._workspaces:
                self._workspaces[team].installed = installed
        if left is not None and installed is None:
            log.warning("no longer serving workspace %s: another process removed its installation", team)
        await _leave(left)

    def _remove_soon(self, installed: Installed, why: str) -> None:
        """Remove an installation in a task of its own, as the refused call that tells of it has to end first."""
        task = asyncio.ensure_future(self._remove(installed, why))
        self._removing.add(task)
        task.add_done_callback(self._removing.discard)

    async def _remove(self, installed: Installed, why: str) -> None:
        """Forget an installation, unless there is a newer one."""
        team, token = installed.team, installed.token
        async with self._in_order(team):
            installations = await self._installations()
            now = await installations.of(team)
            if now is not None and now.token == token:
                await installations.remove(now)
                log.warning("no longer serving workspace %s: %s", team, why)
            connected = self._taken_out(team, lambda used: used == token)
        await _leave(connected)

    def _taken_out(self, team: str, is_meant: Callable[[str], bool]) -> ConnectedWorkspace | None:
        connected = self._workspaces.get(team)
        return self._workspaces.pop(team) if connected is not None and is_meant(connected.installed.token) else None


async def _leave(connected: ConnectedWorkspace | None) -> None:
    """Let a messenger finish. Not to be called under the workspace's lock, which its interactions may need."""
    if connected is not None:
        await connected.messenger.leave()
