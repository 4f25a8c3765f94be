"""Settings changed in chat: who may, what is taken, what it reaches, the record, several processes at once."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from memory.adapters.embedding import HashingEmbedder
from memory.adapters.sql import SqlStore
from memory.errors import InvalidInput
from memory.model import Role, Scope, Visibility
from memory.rules.chat_settings import CATALOGUE, admits, canonical_value, effective_role, names_of
from memory.services import Memory
from memory.services.settings.chat_settings import ChatSettings
from tests.doubles.memory_world import World, scope

W = scope().workspace
HERE, THERE, ELSEWHERE = scope("root"), scope("root", channel="c2"), scope("root", workspace="terminal:v")
VALUES = {
    "mode": "always",
    "known-answers": "on",
    "teachers": "ana bo",
    "allowed-people": "ana",
    "allowed-channels": "c1 c2",
    "digest": "c1",
    "control-arm": "0.25",
    "approvals": "learned",
}


@pytest.fixture
def world() -> Iterator[World]:
    store = SqlStore.in_memory()
    yield World(store)
    store.close()


@pytest.fixture
def settings(world: World) -> ChatSettings:
    return world.memory.chat_settings


def values(settings: ChatSettings, at: Scope) -> dict[str, str]:
    return settings.values(at.workspace, at.channel)


def test_every_setting_is_kept_where_it_was_set_and_nowhere_else(settings: ChatSettings) -> None:
    assert set(VALUES) == set(CATALOGUE)
    for name, value in VALUES.items():
        settings.change(HERE, Role.ADMIN, name, value)
    assert values(settings, HERE) == VALUES
    of_the_workspace = {name: value for name, value in VALUES.items() if not CATALOGUE[name].is_per_channel}
    assert values(settings, THERE) == settings.values(W) == of_the_workspace
    assert values(settings, ELSEWHERE) == {}


def test_a_channel_s_own_value_comes_before_the_workspace_s(settings: ChatSettings) -> None:
    settings.change(HERE, Role.ADMIN, "mode", "always", everywhere=True)
    settings.change(HERE, Role.ADMIN, "mode", "mention")
    assert (values(settings, HERE), values(settings, THERE)) == ({"mode": "mention"}, {"mode": "always"})
    settings.change(HERE, Role.ADMIN, "mode", None)
    assert values(settings, HERE) == {"mode": "always"}


_ACTS = st.lists(
    st.tuples(
        st.sampled_from([HERE, THERE, ELSEWHERE]),
        st.sampled_from(sorted(VALUES)),
        st.booleans(),
        st.sampled_from(["set", "drop", "undo"]),
    ),
    max_size=12,
)


@given(_ACTS)
def test_what_is_done_in_one_place_reaches_no_other(acts: list[tuple[Scope, str, bool, str]]) -> None:
    """Law: another workspace sees nothing of it, another channel only what is the workspace's."""
    with closing(SqlStore.in_memory()) as store:
        settings = World(store).memory.chat_settings
        places = (HERE, THERE, ELSEWHERE)
        for at, name, everywhere, act in acts:
            before = [values(settings, place) for place in places]
            if act == "undo":
                settings.undo(at, Role.ADMIN, name, everywhere=everywhere)
            else:
                value = VALUES[name] if act == "set" else None
                settings.change(at, Role.ADMIN, name, value, everywhere=everywhere)
            is_wide = everywhere or not CATALOGUE[name].is_per_channel
            for place, earlier in zip(places, before, strict=True):
                is_reached = place == at or (is_wide and place.workspace == at.workspace)
                now = values(settings, place)
                assert is_reached or now == earlier
                assert {**earlier, name: ""} == {**now, name: ""} or is_reached


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("mode", "Always", "always"),
        ("digest", "DM", "dm"),
        ("digest", "C0123", "C0123"),
        ("control-arm", "5%", "0.05"),
        ("control-arm", "50 %", "0.5"),
        ("control-arm", "0", "0"),
        ("teachers", "bo ana  bo", "ana bo"),
    ],
)
def test_what_is_taken(name: str, value: str, stored: str) -> None:
    assert canonical_value(name, value) == stored
    assert canonical_value(name, stored) == stored


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("mode", "sometimes", "mode takes mention, threads or always"),
        ("mode", "", "mode takes"),
        ("known-answers", "on off", "known-answers takes on or off"),
        ("control-arm", "0.51", r"a share from 0 to 0.5, for example 0.05 or 5%"),
        ("control-arm", "nan", "a share"),
        ("control-arm", "-0.1", "a share"),
        ("digest", "in the morning", "digest takes dm, off or a channel"),
        ("digest", "On", "digest takes dm, off or a channel"),
        ("teachers", "", "up to 100 people"),
        ("teachers", "<@ana>", "up to 100 people"),
        ("teachers", " ".join(f"p{number}" for number in range(101)), "up to 100 people"),
        ("weather", "fine", "there is no setting 'weather' to change in chat; there are mode, known-answers, teachers"),
    ],
)
def test_what_is_not_taken_says_what_is(settings: ChatSettings, name: str, value: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        settings.change(HERE, Role.ADMIN, name, value)
    assert settings.changes(W) == []


@pytest.mark.parametrize("name", sorted(VALUES))
@pytest.mark.parametrize("role", [Role.TEACHER, Role.MEMBER, Role.GUEST, Role.BOT])
def test_who_may_not_change_it_changes_nothing(settings: ChatSettings, name: str, role: Role) -> None:
    if role is Role.TEACHER and name in ("mode", "known-answers", "approvals"):
        settings.change(HERE, role, name, VALUES[name])
        return
    for act in (
        lambda: settings.change(HERE, role, name, VALUES[name]),
        lambda: settings.change(HERE, role, name, None),
        lambda: settings.undo(HERE, role, name),
        lambda: settings.edit_list(HERE, role, name, add="ana"),
    ):
        with pytest.raises(InvalidInput, match=r"only (teachers and )?administrators"):
            act()
    assert settings.changes(W) == []


def test_the_settings_file_decides_what_may_be_set_in_chat(world: World) -> None:
    """Law: what the file keeps for itself cannot be set, and what was set before has no effect."""
    world.memory.chat_settings.change(HERE, Role.ADMIN, "mode", "always")
    world.memory.chat_settings.change(HERE, Role.ADMIN, "digest", "off")
    closed = Memory(
        world.memory.store, HashingEmbedder(), clock=world.clock, new_id=world.ids, settable=names_of(["digest"])
    )
    assert closed.chat_settings.values(W, HERE.channel) == {"digest": "off"}
    assert closed.listening.state(HERE).mode is None
    with pytest.raises(InvalidInput, match="settings file"):
        closed.chat_settings.change(HERE, Role.ADMIN, "mode", "mention")
    with pytest.raises(ValueError, match="weather"):
        names_of(["weather"])


def test_lists_take_and_lose_people(settings: ChatSettings) -> None:
    settings.edit_list(HERE, Role.ADMIN, "teachers", add="bo ana")
    settings.edit_list(THERE, Role.ADMIN, "teachers", add="cy", remove="bo nobody")
    assert values(settings, HERE) == {"teachers": "ana cy"}
    settings.edit_list(HERE, Role.ADMIN, "teachers", remove="ana cy")
    assert values(settings, HERE) == {}
    with pytest.raises(InvalidInput, match="no list"):
        settings.edit_list(HERE, Role.ADMIN, "mode", add="always")


def test_every_change_is_recorded_and_the_last_can_be_taken_back(world: World, settings: ChatSettings) -> None:
    for value in ("dm", "off", "off"):
        world.clock.tick()
        settings.change(HERE, Role.ADMIN, "digest", value)
    settings.change(replace(THERE, person="tim"), Role.TEACHER, "mode", "always")
    recorded = [(c.channel, c.name, c.before, c.after, c.changed_by) for c in settings.changes(W)]
    assert recorded == [
        ("c2", "mode", None, "always", "tim"),
        ("", "digest", "dm", "off", "root"),
        ("", "digest", None, "dm", "root"),
    ]
    assert settings.undo(THERE, Role.ADMIN, "digest")
    assert values(settings, HERE) == {"digest": "dm"}
    assert settings.undo(HERE, Role.ADMIN, "digest")
    assert values(settings, HERE) == {"digest": "off"}
    assert settings.undo(THERE, Role.TEACHER, "mode")
    assert not settings.undo(HERE, Role.TEACHER, "mode")
    assert values(settings, THERE) == {"digest": "off"}
    assert len(settings.changes(W)) == 6
    assert settings.changes(ELSEWHERE.workspace) == []


def test_forgetting_who_changed_it_keeps_the_value(world: World, settings: ChatSettings) -> None:
    settings.change(HERE, Role.ADMIN, "digest", "off")
    world.memory.privacy.forget(W, "root")
    assert [(each.value, each.changed_by) for each in settings.here(HERE).values()] == [("off", "")]
    assert settings.changes(W) == []
    assert world.memory.audit.check() == []


def test_direct_messages_have_no_channel_settings(settings: ChatSettings) -> None:
    alone = replace(HERE, visibility=Visibility.DIRECT)
    with pytest.raises(InvalidInput, match="for channels"):
        settings.change(alone, Role.ADMIN, "mode", "always")
    settings.change(alone, Role.ADMIN, "mode", "always", everywhere=True)
    settings.change(alone, Role.ADMIN, "digest", "dm")
    assert values(settings, THERE) == {"mode": "always", "digest": "dm"}


def test_another_process_sees_a_change_at_once(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'goodbot.db'}"
    with closing(SqlStore.open(address)) as one, closing(SqlStore.open(address)) as other:
        here, there = World(one).memory, World(other).memory
        for value in ("mention", "always", "threads", None):
            here.chat_settings.change(HERE, Role.ADMIN, "mode", value)
            assert there.chat_settings.values(W, HERE.channel).get("mode") == value
            assert there.listening.state(HERE).mode == value


def test_chat_makes_members_teachers_and_takes_no_role_away() -> None:
    named = {"teachers": "ana bo"}
    assert effective_role(Role.MEMBER, "ana", named) is Role.TEACHER
    assert effective_role(Role.MEMBER, "an", named) is Role.MEMBER
    for role in (Role.ADMIN, Role.TEACHER, Role.GUEST, Role.BOT):
        assert effective_role(role, "ana", named) is role
        assert effective_role(role, "cy", {}) is role


def test_whom_the_lists_let_in() -> None:
    def lets_in(values: dict[str, str], role: Role = Role.MEMBER, *, is_direct: bool = False) -> bool:
        return admits(role, "ana", "c1", values, is_direct=is_direct)

    assert lets_in({})
    assert lets_in({"allowed-people": "ana bo", "allowed-channels": "c1"})
    assert not lets_in({"allowed-people": "bo"})
    assert not lets_in({"allowed-people": "ana", "allowed-channels": "c2"})
    assert lets_in({"allowed-channels": "c2"}, is_direct=True)
    assert not lets_in({"allowed-people": "bo", "allowed-channels": "c1"}, Role.TEACHER)
    assert lets_in({"allowed-people": "bo", "allowed-channels": "c2"}, Role.ADMIN)
