"""Which process takes what others left."""

from memory.model import Incoming
from tests.doubles.memory_world import World, scope


def _accepted(world: World, workspace: str) -> str:
    event_id = world.ids()
    where = scope("ana", workspace=workspace)
    message = Incoming(scope=where, event_id=event_id, message_id=event_id, text="hello?", at=world.clock())
    assert world.memory.recording.accept(message) is not None
    return event_id


def test_what_waits_is_taken_in_every_workspace_of_a_platform_whoever_knew_it() -> None:
    world = World()
    there, elsewhere = _accepted(world, "slack:T1"), _accepted(world, "discord:G1")
    look = world.memory.conversation_leases.renew_and_take
    assert look("p", ["slack:T2", "slack:T3"]).taken == ()
    assert [each.event_id for each in look("p", [], platforms=["slack"]).taken] == [there]
    assert [each.event_id for each in look("p", ["discord:G1"]).taken] == [elsewhere]
