"""What each part is in, for whoever asks whether all is ready."""

from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.discord.messenger import DiscordMessenger
from bot.adapters.web.health import Part, ReadyCheck, readiness
from bot.app.processes.logins import SharedLogin, lease_name
from bot.app.processes.platform_runner import PlatformRunner
from bot.app.processes.readiness import checks_of
from bot.app.processes.shards import group_of, shard_keeper
from bot.config import Settings, load_settings
from memory.adapters.sql import SqlStore
from tests.doubles.memory_world import World
from tests.doubles.queries import QUERIES

TOKENS = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "DISCORD_TOKEN": "d.1.x"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(SqlStore.open(f"sqlite:///{tmp_path / 'goodbot.db'}"))


def settings(tmp_path: Path, **given: str) -> Settings:
    return load_settings(given, config_path=None, cwd=tmp_path, data_dir=tmp_path)


async def parts(found: Settings, world: World) -> dict[str, Part]:
    return {part.name: part for part in (await readiness(checks_of(found, world.memory))).parts}


async def test_without_platforms_everything_is_ready(world: World, tmp_path: Path) -> None:
    found = await parts(settings(tmp_path), world)
    assert all(part.is_ready for part in found.values())
    assert found["slack"].state == found["discord"].state == "not configured"
    assert found["migrations"].state.startswith("0")
    assert found["embedder"].state == world.memory.embedder.name


async def test_the_web_alone_tells_whether_any_process_is_on_a_platform(world: World, tmp_path: Path) -> None:
    given = settings(tmp_path, **TOKENS)
    world.memory.leases.take(lease_name(given, "slack"), "host/1", timedelta(seconds=6))
    found = await parts(given, world)
    assert (found["slack"].is_ready, found["slack"].state) == (True, "another process is connected")
    assert (found["discord"].is_ready, found["discord"].state) == (False, "no process is connected")
    assert not found["discord"].is_needed
    world.clock.tick(seconds=7)
    assert not (await parts(given, world))["slack"].is_ready, "the lease has run out"


async def test_shards_that_nobody_serves_are_told(world: World, tmp_path: Path) -> None:
    server = {"DATABASE_URL": "postgresql://nowhere/goodbot", "GOODBOT_DISCORD_SHARDS": "3"}
    given, memory = settings(tmp_path, **TOKENS, **server), world.memory
    messenger = DiscordMessenger(
        given.discord, clock=world.clock, new_id=world.ids, queries=QUERIES, shares_shards=True
    )
    messenger._logged_in.set()
    keeper = shard_keeper(given, memory, messenger, "host/1")
    runners = [PlatformRunner(messenger=messenger, login=SharedLogin(), shards=keeper)]
    memory.shared_leases.renew_and_take(group_of(given), 3, "host/2")
    memory.shared_leases.give_up(group_of(given), "host/2", {1, 2})

    async def discord() -> Part:
        return next(
            each for each in (await readiness(checks_of(given, memory, runners))).parts if each.name == "discord"
        )

    assert (await discord()).state == "no process serves shards 1, 2 of 3"
    for _ in range(2):
        await keeper.poll()
    ready = await discord()
    assert (ready.is_ready, ready.state) == (True, "shards 1, 2 of 3 here")


async def test_jobs_that_nobody_runs_are_told(world: World, tmp_path: Path) -> None:
    assert (await parts(settings(tmp_path), world))["scheduler"].is_ready, "nothing ever ran: it is a new database"
    world.memory.upkeep.run("sweep")
    assert "lease free" in (await parts(settings(tmp_path), world))["scheduler"].state
    world.memory.upkeep.hold("host/1")
    assert "lease held" in (await parts(settings(tmp_path), world))["scheduler"].state
    world.clock.tick(hours=1, minutes=16)
    scheduler = (await parts(settings(tmp_path), world))["scheduler"]
    assert (scheduler.is_ready, scheduler.is_needed) == (False, False)
    assert "job sweep" in scheduler.state


async def test_a_database_that_another_version_changed_is_not_ready(world: World, tmp_path: Path) -> None:
    with world.memory.store.write() as tx:
        tx.log._session._connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999_later'")  # type: ignore[attr-defined]
    migrations = (await parts(settings(tmp_path), world))["migrations"]
    assert (migrations.is_ready, migrations.is_needed, migrations.state) == (False, True, "SchemaMismatch")
    assert "newer Goodbot" in migrations.detail


async def test_parts_are_asked_at_most_once_a_second(world: World, tmp_path: Path) -> None:
    now = [0.0]
    check = ReadyCheck(checks_of(settings(tmp_path), world.memory), lambda: now[0])
    first = await check()
    world.memory.store.close()
    assert await check() is first
    now[0] += 1
    assert not (await check()).is_ready
