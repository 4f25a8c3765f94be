"""Statements in the words of a driver, which run again without SQLAlchemy looking at them in several ways."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, repeat
from typing import Any, NamedTuple

from sqlalchemy import Dialect, Row, TextClause
from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData
from sqlalchemy.types import TupleType

Parameters = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Maker = Callable[[Any], Any]

_FEW = 8
"""Rows that are made one by one; it takes as long to begin with columns."""


class Prepared(NamedTuple):
    """A statement in the words of a driver, and what makes its values of ours, and ours of its."""

    words: str
    is_positional: bool
    names: Sequence[str]
    """Of each value."""
    given: Sequence[tuple[int, Maker]]
    """Of the values where the driver takes another, what makes it of ours."""
    constants: dict[str, Any]
    lists: Mapping[str, Sequence[str]]
    """Of each list that is given, the names of its values."""
    columns: SimpleResultMetaData
    found: Sequence[tuple[int, Maker]]
    """Of the columns where ours is another, what makes it of the driver's value."""

    def values(self, given: Parameters) -> Any:  # noqa: ANN401 - what this driver takes
        """The driver's values. A list of fewer than its names has its last one again, which changes no `IN`."""
        if not isinstance(given, Mapping):
            return list(map(self.values, given)) if len(given) < _FEW else self._of_rows(given)
        every = {**self.constants, **given} if self.constants else given
        for name, names in self.lists.items():
            own = given[name]
            every = {**every, **dict.fromkeys(names, own[-1] if own else None), **dict(zip(names, own, strict=False))}
        made = list(map(every.__getitem__, self.names))
        for place, make in self.given:
            made[place] = make(made[place])
        return tuple(made) if self.is_positional else dict(zip(self.names, made, strict=True))

    def _of_rows(self, given: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The same of many rows, column by column: in half of the time."""
        columns: list[Iterable[Any]] = [
            repeat(self.constants[name]) if name in self.constants else [row[name] for row in given]
            for name in self.names
        ]
        for place, make in self.given:
            columns[place] = map(make, columns[place])
        made = islice(zip(*columns, strict=False), len(given))
        return list(made) if self.is_positional else [dict(zip(self.names, row, strict=True)) for row in made]

    def rows(self, found: Iterable[Sequence[Any]]) -> Sequence[Row[Any]]:
        """The driver's rows as SQLAlchemy would give them."""
        made = list(map(list, found))
        for row in made:
            for place, make in self.found:
                row[place] = make(row[place])
        return IteratorResult[Any](self.columns, iter(made)).all()


@lru_cache(maxsize=1024)
def prepare(
    statement: Any,  # noqa: ANN401 - of any kind
    dialect: Dialect,
    names: tuple[str, ...],
    sizes: tuple[tuple[str, int], ...] = (),
) -> Prepared | None:
    """A statement that is given these values, of which some are lists of so many; None where its words depend on more.

    SQLAlchemy would look at all of it in several ways whenever it runs.
    """
    compiled = statement.compile(dialect=dialect, column_keys=list(names))
    binds = {name: each for each, name in compiled.bind_names.items()}
    lists = {name for name, each in binds.items() if each.expanding and name in names}
    in_words = {compiled.bind_names[each] for each in compiled.literal_execute_params}
    is_of_rows = any(isinstance(each.type, TupleType) for each in binds.values())
    if compiled.escaped_bind_names or is_of_rows or in_words & set(names) or not lists <= dict(sizes).keys():
        return None
    sample = {name: [""] * size for name, size in sizes if name in lists}
    state = compiled.construct_expanded_state({**compiled.params, **sample})
    origins = {each: name for name, several in state.parameter_expansion.items() for each in several}
    order = [(name, origins.get(name, name)) for name in state.positiontup or state.parameters]
    of_binds = {name: each.type.dialect_impl(dialect).bind_processor(dialect) for name, each in binds.items()}
    constants = {name: state.parameters[name] for name, origin in order if origin not in names}
    columns = [] if isinstance(statement, TextClause) else list(getattr(statement, "exported_columns", ()))
    of_results = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in columns]
    return Prepared(
        words=state.statement,
        is_positional=compiled.positional,
        names=[name for name, _ in order],
        given=[(place, make) for place, (_, origin) in enumerate(order) if (make := of_binds[origin]) is not None],
        constants=constants,
        lists={name: state.parameter_expansion[name] for name in lists},
        columns=SimpleResultMetaData([column.key for column in columns]),
        found=[(place, make) for place, make in enumerate(of_results) if make is not None],
    )
