"""The tables of `memory.ports` in SQL: what each kind of row is asked for, and how it is written."""
