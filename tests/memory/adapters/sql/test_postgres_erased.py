"""What is erased leaves the files of a PostgreSQL server, too."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from memory.adapters.sql import SqlStore
from memory.adapters.sql.copies.move import move
from tests.doubles.postgres import address, files, new_database, open_postgres
from tests.memory.adapters.store_samples import episode, incoming


@pytest.fixture
def store() -> Iterator[SqlStore]:
    with closing(open_postgres()) as store:
        yield store


def test_erased_words_are_in_no_file_of_the_database(store: SqlStore) -> None:
    word = "zyzzyva" * 5
    with store.write() as tx:
        for number in range(50):
            tx.episodes.put(episode(f"e{number}", output=f"{word} {number}", goal="kept" if number else word))
    assert word.encode() in files(address(store))
    with store.write() as tx:
        tx.episodes.delete("w", [f"e{number}" for number in range(50)])
    store.erase_free_space()
    assert word.encode() not in files(address(store))


def test_nor_among_the_samples_that_queries_are_planned_by(store: SqlStore) -> None:
    url = address(store)
    with store.write() as tx:
        for number in range(60):
            person, word = ("ana", "zyzzyva") if number % 2 else ("bob", "quokka")
            said = incoming(f"ev{number}", "w")
            tx.deliveries.accept(replace(said, scope=replace(said.scope, person=person), text=f"{word} {number}"))
    with psycopg.connect(url, autocommit=True) as connection:  # as the server does by itself after some changes
        connection.execute("ANALYZE incoming")
    with store.write() as tx:
        tx.deliveries.delete_by("w", "ana")
    store.erase_free_space()
    assert b"zyzzyva" not in files(url)
    assert b"quokka" in files(url)


def test_whose_database_it_is_not_may_not_clean_those_samples_which_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    url = new_database()
    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute("CREATE ROLE guest LOGIN")
        administrator.execute("GRANT ALL ON SCHEMA public TO guest")
    for owns, told in ((False, ["forgotten words may stay in samples"]), (True, [])):
        caplog.clear()
        with closing(SqlStore.open(url.replace("postgres:@", "guest:@"))) as guest:
            guest.erase_free_space()
        assert [record.message.partition(" of columns")[0] for record in caplog.records] == told, owns
        with psycopg.connect(url, autocommit=True) as administrator:
            administrator.execute(f"ALTER DATABASE {administrator.info.dbname} OWNER TO guest")


def test_what_is_erased_before_a_move_is_continued_stays_in_none_of_its_files(tmp_path: Path) -> None:
    def break_off() -> None:
        raise KeyboardInterrupt

    file, url = f"sqlite:///{tmp_path / 'file'}.db", new_database()
    with closing(SqlStore.open(file)) as store:
        with store.write() as tx:
            for number in range(50):
                tx.episodes.put(episode(f"e{number}", output=f"zyzzyva {number}", goal="kept" if number else "zyzzyva"))
        with pytest.raises(KeyboardInterrupt):
            move(file, url, lambda *_: None, also=break_off)
        assert b"zyzzyva" in files(url)
        with store.write() as tx:
            tx.episodes.delete("w", [f"e{number}" for number in range(50)])
    move(file, url, lambda *_: None)
    assert b"zyzzyva" not in files(url)
