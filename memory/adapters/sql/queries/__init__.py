"""The tables of `memory.ports` in SQL: queries and changes of each kind of row."""
