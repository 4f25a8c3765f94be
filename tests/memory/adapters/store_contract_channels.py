"""What every store must do with who can read which channel."""

from dataclasses import replace
from datetime import timedelta

from memory.model import Channel, Visibility
from memory.model.topic import Topic
from memory.ports import EpisodeFilter, Store, Transaction
from tests.memory.adapters.store_case import StoreCase
from tests.memory.adapters.store_samples import NOW, at, chat_setting, episode, incoming, muted, outgoing, short


def now_of(tx: Transaction, workspace: str) -> set[Visibility | None]:
    """What everything that is read of one episode, message and part says of its channel."""
    read = [
        tx.episodes.get(workspace, "e1"),
        *tx.episodes.get_many(workspace, ["e1"]).values(),
        *(each for each in tx.episodes.find_prefix("e1") if each.workspace == workspace),
        *tx.episodes.of_run(workspace, "r1"),
        *tx.episodes.search(workspace, EpisodeFilter()),
        tx.deliveries.incoming(workspace, "v1"),
        tx.deliveries.incoming_of_message(workspace, "C1", "m1"),
        tx.deliveries.incoming_of_run(workspace, "r1"),
        *(each for each in tx.deliveries.unfinished() if each.scope.workspace == workspace),
        *tx.deliveries.messages_of(workspace, "C1", "ana", 9),
        *tx.deliveries.outgoing(workspace, "r1"),
    ]
    assert len(read) == 11
    return {each.channel_visibility for each in read if each is not None}


class ChannelsContract(StoreCase):
    """Channels, and what is read of things that were said in them."""

    def test_the_last_that_was_noted_of_a_channel_counts(self, store: Store) -> None:
        public = Channel(workspace="w", channel="C1", visibility=Visibility.PUBLIC, since=NOW)
        private = replace(public, visibility=Visibility.PRIVATE, since=NOW + timedelta(days=1))
        elsewhere = replace(public, workspace="v", visibility=Visibility.SHARED)
        with store.write() as tx:
            for each in (public, elsewhere, private):
                tx.channels.put(each)
        with store.read() as tx:
            assert tx.channels.get("w", "C1") == private
            assert tx.channels.get("v", "C1") == elsewhere
            assert tx.channels.get("w", "C2") is None

    def test_the_last_value_of_a_setting_counts_at_its_very_place(self, store: Store) -> None:
        first, last = chat_setting(), replace(chat_setting(value="mention"), changed_by="tim", at=at(1))
        whole = chat_setting(channel="", name="digest", value="off")
        with store.write() as tx:
            for each in (first, last, whole, chat_setting("v"), chat_setting(channel="C2")):
                tx.settings.put(each)
            tx.settings.erase_person("w", "ana")
        with store.write() as tx:
            assert tx.settings.within("w", "C1") == [replace(whole, changed_by=""), last]
            assert tx.settings.within("w", "") == tx.settings.within("w", "C3") == [replace(whole, changed_by="")]
            assert tx.settings.within("v", "C1") == [chat_setting("v")]
            assert tx.settings.get("w", "C1", "mode") == last
            assert tx.settings.get("w", "", "mode") is None
            tx.settings.drop("w", "C1", "mode")
            tx.settings.drop("w", "C3", "mode")
            assert [each.channel for each in tx.settings.within("w", "C2")] == ["", "C2"]
            assert tx.settings.get("w", "C1", "mode") is None
            assert tx.settings.get("v", "C1", "mode") == chat_setting("v")

    def test_what_is_read_says_who_can_read_its_channel_now(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("w", "v"):
                # What a caller read before is no record of the channel.
                said = incoming("v1", workspace, message_id="m1", run_id="r1")
                tx.deliveries.accept(replace(said, channel_visibility=Visibility.SHARED))
                tx.episodes.put(episode("e1", workspace, channel_visibility=Visibility.SHARED))
                tx.deliveries.put_outgoing(replace(outgoing(1, workspace), channel_visibility=Visibility.SHARED))
                assert now_of(tx, workspace) == {None}
            tx.channels.put(Channel(workspace="w", channel="C1", visibility=Visibility.PRIVATE, since=NOW))
            tx.channels.put(Channel(workspace="v", channel="C2", visibility=Visibility.PRIVATE, since=NOW))
        with store.read() as tx:
            assert now_of(tx, "w") == {Visibility.PRIVATE}
            assert now_of(tx, "v") == {None}

    def test_a_muted_thread_stays_so_until_it_is_unmuted(self, store: Store) -> None:
        with store.write() as tx:
            for _ in range(2):
                tx.channels.mute(muted())
        with store.write() as tx:
            assert tx.channels.is_muted("w", "C1", "t1")
            for elsewhere in (("v", "C1", "t1"), ("w", "C2", "t1"), ("w", "C1", "t2"), ("w", "C1", "")):
                assert not tx.channels.is_muted(*elsewhere)
                tx.channels.unmute(*elsewhere)
            assert tx.channels.is_muted("w", "C1", "t1")
            tx.channels.unmute("w", "C1", "t1")
            assert not tx.channels.is_muted("w", "C1", "t1")

    def test_a_sweep_ends_old_mutes_of_threads_and_none_of_a_channel(self, store: Store) -> None:
        with store.write() as tx:
            for workspace, thread, since in (("w", "t1", 0), ("v", "t1", 1), ("w", "t2", 2), ("w", "", 0)):
                tx.channels.mute(replace(muted(workspace, thread), since=at(since)))
            assert tx.channels.sweep_mutes(at(2)) == 2
            assert tx.channels.sweep_mutes(at(2)) == 0
            left = [("w", "t1"), ("v", "t1"), ("w", "t2"), ("w", "")]
            assert [tx.channels.is_muted(w, "C1", t) for w, t in left] == [False, False, True, True]

    def test_everybody_and_every_place_is_welcomed_once_until_forgotten(self, store: Store) -> None:
        others: tuple[dict[str, str], ...] = ({}, {"channel": "C1"}, {"person": "bo"}, {"person": "C1"})
        with store.write() as tx:
            assert all(tx.people.welcome("w", NOW, **who) for who in ({"person": "ana"}, *others))
            assert tx.people.welcome("v", NOW, person="ana")
            assert not tx.people.welcome("w", at(1), person="ana")
            assert tx.people.welcomed_at("w", "ana") == NOW
        with store.write() as tx:
            tx.people.forget("w", "ana")
            assert tx.people.welcomed_at("w", "ana") is None
            assert tx.people.welcomed_at("v", "ana") == NOW
            assert not any(tx.people.welcome("w", NOW, **who) for who in others)
            assert tx.people.welcome("w", at(2), person="ana")

    def test_an_accepted_message_says_whether_its_thread_is_muted(self, store: Store) -> None:
        with store.write() as tx:
            for elsewhere in (muted("v", "t"), muted("w", "t2")):
                tx.channels.mute(elsewhere)
            assert tx.deliveries.accept(incoming("ev1")) == incoming("ev1")
            tx.channels.mute(muted("w", "t"))
            assert tx.deliveries.accept(incoming("ev2")) == replace(incoming("ev2"), is_muted=True)
            assert tx.deliveries.incoming("w", "ev2") == incoming("ev2")

    def test_a_topic_says_where_it_was_brought_up_and_who_can_read_that_now(self, store: Store) -> None:
        here = Topic(
            workspace="w", id="t1", partition="workspace", person="ana", created_at=NOW, salience_at=NOW, channel="C1"
        )
        nowhere = replace(here, id="t2", channel="")
        with store.write() as tx:
            for topic in (here, nowhere, replace(here, visibility=Visibility.PRIVATE)):
                tx.topics.put(replace(topic, channel_visibility=Visibility.SHARED))
            tx.channels.put(Channel(workspace="w", channel="C2", visibility=Visibility.SHARED, since=NOW))
        with store.write() as tx:
            assert [(t.channel, t.visibility) for t in tx.topics.within("w")] == [
                ("C1", Visibility.PRIVATE),
                ("", Visibility.PUBLIC),
            ]
            assert [t.channel_visibility for t in tx.topics.of_person("w", "ana")] == [None, None]
            tx.channels.put(Channel(workspace="w", channel="C1", visibility=Visibility.SHARED, since=NOW))
            found = tx.topics.get("w", "t1")
            assert found is not None
            assert found.channel_visibility is Visibility.SHARED
            tx.topics.put(found)
            tx.topics.delete("w", ["t1", "t2"])
        with store.read() as tx:
            assert tx.topics.within("w") == []

    def test_an_accepted_message_comes_with_what_is_known_of_its_channel_and_sender(self, store: Store) -> None:
        known = Channel(workspace="w", channel="C1", visibility=Visibility.PRIVATE, since=NOW)
        with store.write() as tx:
            tx.channels.put(replace(known, workspace="v"))
            tx.channels.put(replace(known, channel="C2"))
            tx.short.put(short("k1", workspace="v"))
            tx.short.put(replace(short("k2"), person="bo"))
            assert tx.deliveries.accept(incoming("ev1")) == incoming("ev1")
            tx.channels.put(known)
            tx.short.put(short("k3"))
            accepted = tx.deliveries.accept(incoming("ev2"))
            assert accepted == replace(incoming("ev2"), channel_visibility=Visibility.PRIVATE, has_notes=True)
            stored = tx.deliveries.incoming("w", "ev2")
            assert stored == replace(incoming("ev2"), channel_visibility=Visibility.PRIVATE)

    def test_an_accepted_message_says_whether_its_sender_is_noted(self, store: Store) -> None:
        sender = incoming("ev1").scope.person
        with store.write() as tx:
            tx.people.note("v", sender, NOW, timedelta(0))
            tx.people.note("w", "somebody else", NOW, timedelta(0))
            assert tx.deliveries.accept(incoming("ev1")) == incoming("ev1")
            tx.people.note("w", sender, NOW, timedelta(0))
            assert tx.deliveries.accept(incoming("ev2")) == replace(incoming("ev2"), is_noted=True)
