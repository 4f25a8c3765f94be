"""Where SQLite and PostgreSQL differ in what a statement says.

All other statements are the same for both, but for those that read a partition of the recall index by columns, which
say it themselves (`partition_copies`).
"""

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, ColumnElement, Integer, String, Text, case
from sqlalchemy.dialects.sqlite import Insert as Insert, insert as insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler, TypeCompiler
from sqlalchemy.sql.functions import GenericFunction


class _ByBytes(String):
    """Text in a column of PostgreSQL, which sorts as people of one country do unless it is told to go by bytes."""


class _LongByBytes(Text):
    """The same of any length."""


@compiles(_ByBytes, "postgresql")
@compiles(_LongByBytes, "postgresql")
def _sorted_by_bytes(kind: String, compiler: TypeCompiler, **options: Any) -> str:  # noqa: ANN401 - its
    name = "TEXT" if isinstance(kind, Text) else "VARCHAR"
    # Not where a value is cast: what is said there would go before what columns say.
    return f'{name} COLLATE "C"' if isinstance(options.get("type_expression"), Column) else name


SHORT = String().with_variant(_ByBytes(), "postgresql")
PROSE = Text().with_variant(_LongByBytes(), "postgresql")
NUMBER = Integer().with_variant(BigInteger(), "postgresql")
"""SQLite's whole numbers have 64 bits."""

PLAIN_LOWER = "default"
"""The collation by whose rules PostgreSQL lowers letters where none is known to be better (`postgres.py`)."""


class lowered(GenericFunction[str]):  # noqa: N801 - a function of SQL
    """A text in small letters, of every alphabet."""

    type = Text()
    inherit_cache = True


@compiles(lowered)
def _lower(function: lowered, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - the compiler's
    return f"lower({compiler.process(function.clauses, **options)})"


@compiles(lowered, "postgresql")
def _lower_by_collation(function: lowered, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - its
    # By the bytes of our columns it would lower only A to Z.
    collation = getattr(compiler.dialect, "lowering_collation", PLAIN_LOWER)
    return f'lower(({compiler.process(function.clauses, **options)}) COLLATE "{collation}")'


class like_ascii(GenericFunction[bool]):  # noqa: N801 - a function of SQL
    """Whether a column of ours is like a pattern, by `%` and `_` (`!` before them), A to Z in capitals or not."""

    type = Boolean()
    inherit_cache = True


@compiles(like_ascii)
def _like(function: like_ascii, compiler: SQLCompiler, word: str = "LIKE", **options: Any) -> str:  # noqa: ANN401 - its
    column, pattern = (compiler.process(each, **options) for each in function.clauses)
    return f"{column} {word} {pattern} ESCAPE '!'"


@compiles(like_ascii, "postgresql")
def _ilike(function: like_ascii, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - the compiler's
    return _like(function, compiler, "ILIKE", **options)  # of text that goes by bytes it compares as SQLite does


def later(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """The greater of two values."""
    return case((one > other, one), else_=other)
