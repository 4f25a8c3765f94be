"""SQL constructs and types that compile differently for SQLite and PostgreSQL.

All other statements are the same for both, except those of `partition_copies`, which read a partition of the recall
index by columns.
"""

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, ColumnElement, Integer, String, Text, case
from sqlalchemy.dialects.sqlite import Insert as Insert, insert as insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler, TypeCompiler
from sqlalchemy.sql.functions import GenericFunction


class _ByBytes(String):
    """Text that PostgreSQL compares by bytes (collation C), and not by a locale."""


class _LongByBytes(Text):
    """`_ByBytes` of any length."""


@compiles(_ByBytes, "postgresql")
@compiles(_LongByBytes, "postgresql")
def _sorted_by_bytes(kind: String, compiler: TypeCompiler, **options: Any) -> str:  # noqa: ANN401 - its
    name = "TEXT" if isinstance(kind, Text) else "VARCHAR"
    # Not in casts, whose collation would take precedence over that of columns.
    return f'{name} COLLATE "C"' if isinstance(options.get("type_expression"), Column) else name


SHORT = String().with_variant(_ByBytes(), "postgresql")
PROSE = Text().with_variant(_LongByBytes(), "postgresql")
NUMBER = Integer().with_variant(BigInteger(), "postgresql")
"""64-bit integers in both databases."""

PLAIN_LOWER = "default"
"""The collation of `lowered` in PostgreSQL, unless the server has a better one (`postgres.py`)."""


class lowered(GenericFunction[str]):  # noqa: N801 - a function of SQL
    """A text in lower case, for letters of all alphabets."""

    type = Text()
    inherit_cache = True


@compiles(lowered)
def _lower(function: lowered, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - the compiler's
    return f"lower({compiler.process(function.clauses, **options)})"


@compiles(lowered, "postgresql")
def _lower_by_collation(function: lowered, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - its
    # With collation C, as columns have, `lower` changes only A to Z.
    collation = getattr(compiler.dialect, "lowering_collation", PLAIN_LOWER)
    return f'lower(({compiler.process(function.clauses, **options)}) COLLATE "{collation}")'


class like_ascii(GenericFunction[bool]):  # noqa: N801 - a function of SQL
    """Whether a column matches a LIKE pattern, with `!` as its escape character; ignores the case of A to Z."""

    type = Boolean()
    inherit_cache = True


@compiles(like_ascii)
def _like(function: like_ascii, compiler: SQLCompiler, word: str = "LIKE", **options: Any) -> str:  # noqa: ANN401 - its
    column, pattern = (compiler.process(each, **options) for each in function.clauses)
    return f"{column} {word} {pattern} ESCAPE '!'"


@compiles(like_ascii, "postgresql")
def _ilike(function: like_ascii, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401 - the compiler's
    return _like(function, compiler, "ILIKE", **options)  # with collation C, it ignores case of A to Z only


def later(one: ColumnElement[Any], other: ColumnElement[Any]) -> ColumnElement[Any]:
    """The greater of two values."""
    return case((one > other, one), else_=other)
